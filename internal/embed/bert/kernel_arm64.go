package bert

import "golang.org/x/sys/cpu"

// The assembly trusts its arguments: lengths are positive multiples as said in
// kernel, and pointers have room for whole tiles.

//go:noescape
func gemmNEON(k int, a *float32, lda int, b, c *float32, ldc, accumulate int)

//go:noescape
func bytesSDOT(k4 int, a *uint8, lda int, b *int8, panel int, c *float32, ldc int, f *finish)

//go:noescape
func softmaxNEON(x *float32, n int)

//go:noescape
func geluNEON(x *float32, n int)

//go:noescape
func addSumNEON(x, t *float32, n int) (sum, squares float32)

//go:noescape
func normaliseNEON(x, weight, bias *float32, n int, mean, inverse float32)

//go:noescape
func extremesNEON(x *float32, n int) (low, high float32)

//go:noescape
func quantiseNEON(dst *uint8, x *float32, n int, low, inverse float32)

// detect returns the kernels of this CPU, the best last.
func detect() []*kernel {
	neon := kernel{
		name: "neon",
		rows: 8, cols: 8, gemm: gemmNEON, batch: 512, feed: 512,
		signed:  true,
		softmax: func(x []float32) { softmaxNEON(&x[0], len(x)) },
		gelu:    func(x []float32) { geluNEON(&x[0], len(x)) },
		addSum:  func(x, t []float32) (float32, float32) { return addSumNEON(&x[0], &t[0], len(x)) },
		normalise: func(x, weight, bias []float32, mean, inverse float32) {
			normaliseNEON(&x[0], &weight[0], &bias[0], len(x), mean, inverse)
		},
		extremes: func(x []float32) (float32, float32) { return extremesNEON(&x[0], len(x)) },
		quantise: func(dst []uint8, x []float32, low, inverse float32) {
			quantiseNEON(&dst[0], &x[0], len(x), low, inverse)
		},
	}
	found := []*kernel{&scalar, &neon}
	if cpu.ARM64.HasASIMDDP {
		sdot := neon
		sdot.name = "neon-sdot"
		sdot.byteRows, sdot.byteCols, sdot.bytes = 6, 16, bytesSDOT
		sdot.batch, sdot.feed = 256, 64
		found = append(found, &sdot)
	}
	return found
}
