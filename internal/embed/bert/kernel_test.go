package bert

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

func noise(r *rand.Rand, n int, size float64) []float32 {
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(r.NormFloat64() * size)
	}
	return v
}

func each(t *testing.T, test func(t *testing.T, k *kernel, r *rand.Rand)) {
	for _, k := range append(detect(), &scalarBytes) {
		t.Run(k.name, func(t *testing.T) { test(t, k, rand.New(rand.NewPCG(1, 2))) })
	}
}

func near(t *testing.T, what string, got, want []float32, tolerance float64) {
	t.Helper()
	for i := range want {
		if d := math.Abs(float64(got[i]) - float64(want[i])); !(d <= tolerance*(1+math.Abs(float64(want[i])))) {
			t.Fatalf("%s: number %d is %v, want %v", what, i, got[i], want[i])
		}
	}
}

// The tile of floats is a product, for every depth, and touches nothing else.
func TestGemm(t *testing.T) {
	each(t, func(t *testing.T, k *kernel, r *rand.Rand) {
		for depth := 1; depth < 70; depth++ {
			for accumulate := range 2 {
				lda, ldc := depth+3, k.cols+5
				a, b, c := noise(r, k.rows*lda, 1), noise(r, depth*k.cols, 1), noise(r, k.rows*ldc, 1)
				want := append([]float32(nil), c...)
				for i := range k.rows {
					for j := range k.cols {
						sum := float64(accumulate) * float64(c[i*ldc+j])
						for d := range depth {
							sum += float64(a[i*lda+d]) * float64(b[d*k.cols+j])
						}
						want[i*ldc+j] = float32(sum)
					}
				}
				k.gemm(depth, &a[0], lda, &b[0], &c[0], ldc, accumulate)
				near(t, fmt.Sprintf("depth %d", depth), c, want, 1e-5)
			}
		}
	})
}

// randomMatrix makes weights of the shape, as they would be in a file.
func randomMatrix(r *rand.Rand, out, in int) (m matrix, dense []float32) {
	dense = noise(r, out*in, 1)
	q, scales, sums := quantiseRows(dense, out, in)
	for i, x := range q {
		dense[i] = float32(x) * scales[i/in]
	}
	raw := make([]byte, len(q))
	for i, x := range panels(q, out, in) {
		raw[i] = byte(x)
	}
	return matrix{in: in, out: out, panels: string(raw), scales: scales, sums: sums, bias: noise(r, out, 1)}, dense
}

// A linear layer is near its exact result: to rounding for floats, to a few
// thousandths of the range for bytes.
func TestLinear(t *testing.T) {
	each(t, func(t *testing.T, k *kernel, r *rand.Rand) {
		for _, shape := range [][3]int{{1, 32, 32}, {5, 64, 96}, {13, 96, 32}, {29, 32, 416}, {7, 64, 800}} {
			rows, out, in := shape[0], shape[1], shape[2]
			m, dense := randomMatrix(r, out, in)
			x := noise(r, (rows+slack)*in, 1)
			want := make([]float32, rows*out)
			for i := range rows {
				for j := range out {
					sum := float64(m.bias[j])
					for d := range in {
						sum += float64(x[i*in+d]) * float64(dense[j*in+d])
					}
					want[i*out+j] = float32(sum)
				}
			}
			dst := make([]float32, (rows+slack)*out)
			k.linear(new(workspace), dst, x, rows, &m)
			tolerance := 1e-4
			if k.bytes != nil {
				tolerance = 0.02 * math.Sqrt(float64(in))
			}
			near(t, fmt.Sprint(shape), dst, want, tolerance)
		}
	})
}

// The kernels with bytes all compute the same sums: given the same bytes they
// differ by the rounding of the last three operations only.
func TestBytesAgree(t *testing.T) {
	each(t, func(t *testing.T, k *kernel, r *rand.Rand) {
		if k.bytes == nil {
			t.Skip("this kernel multiplies floats")
		}
		for _, in := range []int{16, 32, 48, 384, 1536} {
			m, _ := randomMatrix(r, 32, in)
			a := make([]uint8, k.byteRows*in)
			for i := range a {
				a[i] = uint8(r.Uint32())
				if i < in {
					a[i] = 255 // the extreme, in the first row
				}
			}
			scales, zeros := noise(r, k.byteRows, 0.01), noise(r, k.byteRows, 1)
			got, want := make([]float32, k.byteRows*32), make([]float32, k.byteRows*32)
			for c := 0; c < 32; c += 16 {
				for row := range k.byteRows {
					f := finish{&scales[row], &zeros[row], &m.scales[c], &m.sums[c], &m.bias[c], nil}
					bytesScalar(in/4, &a[row*in], in, m.panel(c), 0, &want[row*32+c], 0, &f)
				}
			}
			if k.signed {
				for i := range a {
					a[i] ^= 128
				}
				for i := range zeros {
					zeros[i] += 128 * scales[i]
				}
			}
			for c := 0; c < 32; c += k.byteCols {
				for row := 0; row < k.byteRows; row += k.byteRows {
					f := finish{&scales[row], &zeros[row], &m.scales[c], &m.sums[c], &m.bias[c], nil}
					k.bytes(in/4, &a[row*in], in, m.panel(c), 16*in, &got[row*32+c], 32, &f)
				}
			}
			near(t, fmt.Sprintf("depth %d", in), got, want, 1e-4)
		}
	})
}

func TestRows(t *testing.T) {
	each(t, func(t *testing.T, k *kernel, r *rand.Rand) {
		for _, n := range []int{32, 64, 96, 384, 1536} {
			x, y := noise(r, n, 3), noise(r, n, 3)
			x[3], x[4], x[5], x[6] = 0, -60, 60, -1e-8
			clone := func() []float32 { return append([]float32(nil), x...) }

			got, want := clone(), clone()
			k.gelu(got)
			geluScalar(want)
			near(t, "gelu", got, want, 1e-6)

			got, want = clone(), clone()
			got[n-1], want[n-1] = -1e30, -1e30
			k.softmax(got)
			softmaxScalar(want)
			near(t, "softmax", got, want, 1e-6)

			weight, bias := noise(r, n, 1), noise(r, n, 1)
			got, want = clone(), clone()
			k.addNorm(got, y, norm{weight, bias}, 1e-12)
			scalar.addNorm(want, y, norm{weight, bias}, 1e-12)
			near(t, "addNorm", got, want, 1e-5)

			bytes, expect := make([]uint8, n), make([]uint8, n)
			scale, zero := k.quantiseRow(bytes, x)
			quantiseScalar(expect, x, x[4], 1/scale)
			offset := 0
			if k.signed {
				offset = 128
			}
			for i := range x {
				b := int(bytes[i] ^ uint8(offset))
				if d := b - int(expect[i]); d < -1 || d > 1 {
					t.Fatalf("quantise: %v became %d, want %d", x[i], b, expect[i])
				}
				if back := float32(b-offset)*scale + zero; math.Abs(float64(back-x[i])) > 0.51*float64(scale) {
					t.Fatalf("quantise: %v came back as %v", x[i], back)
				}
			}
		}
		flat := make([]float32, 64)
		for i := range flat {
			flat[i] = 2.5
		}
		bytes := make([]uint8, 64)
		if scale, zero := k.quantiseRow(bytes, flat); math.Abs(float64(float32(int8(bytes[9]))*scale+zero)-2.5) > 1e-6 {
			t.Errorf("a row of equal numbers: %v %v %v", bytes[9], scale, zero)
		}
	})
}
