package bert

import "unsafe"

// scalarBytes is the reference of the kernels with bytes.
var scalarBytes = kernel{
	name: "scalar-int8",
	rows: 4, cols: 4, gemm: gemmScalar, batch: 512, feed: 512,
	byteRows: 1, byteCols: 16, bytes: bytesScalar,
	softmax: softmaxScalar, gelu: geluScalar, addSum: addSumScalar, normalise: normaliseScalar,
	extremes: extremesScalar, quantise: quantiseScalar,
}

func bytesScalar(k4 int, a *uint8, _ int, b *int8, _ int, c *float32, _ int, f *finish) {
	as, bs, cs := unsafe.Slice(a, 4*k4), unsafe.Slice(b, 64*k4), unsafe.Slice(c, 16)
	scale, sum, bias := unsafe.Slice(f.colScale, 16), unsafe.Slice(f.colSum, 16), unsafe.Slice(f.colBias, 16)
	for j := range cs {
		var dot int32
		for i, x := range as {
			dot += int32(x) * int32(bs[i/4*64+j*4+i%4])
		}
		cs[j] = float32(dot)*scale[j]**f.rowScale + *f.rowZero*sum[j] + bias[j]
	}
}
