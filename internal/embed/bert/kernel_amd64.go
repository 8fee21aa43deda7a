package bert

import "golang.org/x/sys/cpu"

// The assembly trusts its arguments: lengths are positive multiples as said in
// kernel, and pointers have room for whole tiles.

//go:noescape
func gemmAVX2(k int, a *float32, lda int, b, c *float32, ldc, accumulate int)

//go:noescape
func gemmAVX512(k int, a *float32, lda int, b, c *float32, ldc, accumulate int)

//go:noescape
func unpackAVX2(dst *float32, stride int, panel *int8, k4 int, scales *float32)

//go:noescape
func unpackAVX512(dst *float32, stride int, panel *int8, k4 int, scales *float32)

//go:noescape
func bytesAVX2(k4 int, a *uint8, lda int, b *int8, panel int, c *float32, ldc int, f *finish)

//go:noescape
func bytesAVX512(k4 int, a *uint8, lda int, b *int8, panel int, c *float32, ldc int, f *finish)

//go:noescape
func bytesAMX(rows, k64 int, a *uint8, lda int, b *int8, panel int, c *float32, ldc int, f *finish)

//go:noescape
func softmaxAVX2(x *float32, n int)

//go:noescape
func softmaxAVX512(x *float32, n int)

//go:noescape
func geluAVX2(x *float32, n int)

//go:noescape
func geluAVX512(x *float32, n int)

//go:noescape
func addSumAVX2(x, t *float32, n int) (sum, squares float32)

//go:noescape
func addSumAVX512(x, t *float32, n int) (sum, squares float32)

//go:noescape
func normaliseAVX2(x, weight, bias *float32, n int, mean, inverse float32)

//go:noescape
func normaliseAVX512(x, weight, bias *float32, n int, mean, inverse float32)

//go:noescape
func extremesAVX2(x *float32, n int) (low, high float32)

//go:noescape
func extremesAVX512(x *float32, n int) (low, high float32)

//go:noescape
func quantiseAVX2(dst *uint8, x *float32, n int, low, inverse float32)

//go:noescape
func quantiseAVX512(dst *uint8, x *float32, n int, low, inverse float32)

// detect returns the kernels of this CPU, the best last.
func detect() []*kernel {
	found := []*kernel{&scalar}
	avx2 := kernel{
		name: "avx2",
		rows: 6, cols: 16, gemm: gemmAVX2, unpack: unpackAVX2, batch: 512, feed: 512,
		softmax: func(x []float32) { softmaxAVX2(&x[0], len(x)) },
		gelu:    func(x []float32) { geluAVX2(&x[0], len(x)) },
		addSum:  func(x, t []float32) (float32, float32) { return addSumAVX2(&x[0], &t[0], len(x)) },
		normalise: func(x, weight, bias []float32, mean, inverse float32) {
			normaliseAVX2(&x[0], &weight[0], &bias[0], len(x), mean, inverse)
		},
		extremes: func(x []float32) (float32, float32) { return extremesAVX2(&x[0], len(x)) },
		quantise: func(dst []uint8, x []float32, low, inverse float32) {
			quantiseAVX2(&dst[0], &x[0], len(x), low, inverse)
		},
	}
	avx512 := kernel{
		name: "avx512",
		rows: 12, cols: 32, gemm: gemmAVX512, unpack: unpackAVX512, batch: 512, feed: 512,
		softmax: func(x []float32) { softmaxAVX512(&x[0], len(x)) },
		gelu:    func(x []float32) { geluAVX512(&x[0], len(x)) },
		addSum:  func(x, t []float32) (float32, float32) { return addSumAVX512(&x[0], &t[0], len(x)) },
		normalise: func(x, weight, bias []float32, mean, inverse float32) {
			normaliseAVX512(&x[0], &weight[0], &bias[0], len(x), mean, inverse)
		},
		extremes: func(x []float32) (float32, float32) { return extremesAVX512(&x[0], len(x)) },
		quantise: func(dst []uint8, x []float32, low, inverse float32) {
			quantiseAVX512(&dst[0], &x[0], len(x), low, inverse)
		},
	}
	has := cpu.X86
	if has.HasAVX2 && has.HasFMA {
		found = append(found, &avx2)
	}
	if has.HasAVX512F && has.HasAVX512BW && has.HasAVX512DQ && has.HasAVX512VL {
		found = append(found, &avx512)
	}
	if has.HasAVX2 && has.HasFMA && has.HasAVXVNNI {
		vnni := avx2
		vnni.name = "avx2-vnni"
		vnni.byteRows, vnni.byteCols, vnni.bytes = 6, 16, bytesAVX2
		vnni.batch, vnni.feed = 256, 64
		found = append(found, &vnni)
	}
	if has.HasAVX512F && has.HasAVX512BW && has.HasAVX512DQ && has.HasAVX512VL && has.HasAVX512VNNI {
		vnni := avx512
		vnni.name = "avx512-vnni"
		vnni.byteRows, vnni.byteCols, vnni.bytes = 12, 32, bytesAVX512
		vnni.batch, vnni.feed = 256, 64
		found = append(found, &vnni)
		if has.HasAMXTile && has.HasAMXInt8 && mayUseTiles() {
			amx := vnni
			amx.name = "amx"
			amx.columns = bytesAMX
			found = append(found, &amx)
		}
	}
	return found
}
