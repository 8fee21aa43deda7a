package bert

import (
	"math"
	"unsafe"
)

// scalar is the reference: plain Go with the exact functions. Every other
// kernel is measured against it.
var scalar = kernel{
	name: "scalar",
	rows: 4, cols: 4, gemm: gemmScalar, batch: 512, feed: 512,
	softmax: softmaxScalar, gelu: geluScalar, addSum: addSumScalar, normalise: normaliseScalar,
	extremes: extremesScalar, quantise: quantiseScalar,
}

func bytePointer(s string) *int8 { return (*int8)(unsafe.Pointer(unsafe.StringData(s))) }

func gemmScalar(k int, a *float32, lda int, b, c *float32, ldc, accumulate int) {
	as, bs, cs := unsafe.Slice(a, 3*lda+k), unsafe.Slice(b, k*4), unsafe.Slice(c, 3*ldc+4)
	for r := range 4 {
		var s0, s1, s2, s3 float32
		for i, x := range as[r*lda : r*lda+k] {
			row := bs[i*4 : i*4+4 : i*4+4]
			s0 += x * row[0]
			s1 += x * row[1]
			s2 += x * row[2]
			s3 += x * row[3]
		}
		out := cs[r*ldc : r*ldc+4]
		if accumulate == 0 {
			clear(out)
		}
		out[0] += s0
		out[1] += s1
		out[2] += s2
		out[3] += s3
	}
}

func softmaxScalar(x []float32) {
	largest := x[0]
	for _, v := range x {
		largest = max(largest, v)
	}
	var sum float32
	for i, v := range x {
		x[i] = float32(math.Exp(float64(v - largest)))
		sum += x[i]
	}
	for i := range x {
		x[i] /= sum
	}
}

func geluScalar(x []float32) {
	for i, v := range x {
		x[i] = float32(float64(v) / 2 * (1 + math.Erf(float64(v)/math.Sqrt2)))
	}
}

func addSumScalar(x, t []float32) (sum, squares float32) {
	for i := range x {
		x[i] += t[i]
		sum += x[i]
		squares += x[i] * x[i]
	}
	return sum, squares
}

func normaliseScalar(x, weight, bias []float32, mean, inverse float32) {
	for i, v := range x {
		x[i] = (v-mean)*inverse*weight[i] + bias[i]
	}
}

func extremesScalar(x []float32) (low, high float32) {
	low, high = x[0], x[0]
	for _, v := range x {
		low, high = min(low, v), max(high, v)
	}
	return low, high
}

func quantiseScalar(dst []uint8, x []float32, low, inverse float32) {
	for i, v := range x {
		dst[i] = uint8(min(255, max(0, math.RoundToEven(float64((v-low)*inverse)))))
	}
}
