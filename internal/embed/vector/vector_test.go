package vector

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func random(n int, seed uint64) []int8 {
	r := rand.New(rand.NewPCG(seed, 7))
	q := make([]int8, n)
	for i := range q {
		q[i] = int8(r.IntN(256) - 128)
	}
	return q
}

func naiveDots(q, rows []int8, out []int32) {
	for i := range out {
		out[i] = 0
		for j, x := range q {
			out[i] += int32(x) * int32(rows[i*len(q)+j])
		}
	}
}

// Every kernel gives the integers of the naive loop, for every length and for
// the extreme bytes.
func TestKernelsAgree(t *testing.T) {
	for _, k := range available {
		t.Run(k.name, func(t *testing.T) {
			for dim := range 301 {
				const count = 5
				// The slices end where the rows do: reading past them is
				// found by the race detector's checks and by chance.
				q, rows := random(dim, 1), random(dim*count, uint64(dim))
				if dim%3 == 0 {
					for i := range rows {
						rows[i] = -128
					}
					for i := range q {
						q[i] = -128
					}
				}
				want, got := make([]int32, count), make([]int32, count)
				naiveDots(q, rows, want)
				k.dots(q, rows, got)
				if !slices.Equal(got, want) {
					t.Fatalf("dim %d: %v, want %v", dim, got, want)
				}
			}
		})
	}
	t.Logf("kernels of this CPU: %d, fastest %s", len(available), Kernel())
}

func FuzzDot(f *testing.F) {
	f.Add([]byte{1, 2, 3, 255, 128, 127}, uint8(2))
	f.Add(make([]byte, 400), uint8(0))
	f.Fuzz(func(t *testing.T, data []byte, offset uint8) {
		// Odd offsets make unaligned rows.
		bytes := make([]int8, len(data))
		for i, b := range data {
			bytes[i] = int8(b)
		}
		bytes = bytes[min(int(offset), len(bytes)):]
		half := len(bytes) / 2
		var want, got [1]int32
		naiveDots(bytes[:half], bytes[half:], want[:])
		for _, k := range available {
			k.dots(bytes[:half], bytes[half:2*half], got[:])
			if got != want {
				t.Fatalf("%s: %d, want %d", k.name, got[0], want[0])
			}
		}
	})
}

func TestQuantise(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	for _, tt := range []struct {
		name  string
		v     []float32
		q     []int8
		scale float32
	}{
		{"nothing", nil, []int8{}, 0},
		{"zeros", []float32{0, 0}, []int8{0, 0}, 0},
		{"ends", []float32{127, -127, 63.4, -0.4}, []int8{127, -127, 63, 0}, 1},
		{"halves go to even", []float32{254, 1, 3, 5}, []int8{127, 0, 2, 2}, 2},
		{"infinity", []float32{1, inf}, []int8{0, 0}, 0},
		{"minus infinity", []float32{-inf, 1}, []int8{0, 0}, 0},
		{"not a number", []float32{1, nan}, []int8{0, 0}, 0},
		{"not a number first", []float32{nan, 1}, []int8{0, 0}, 0},
		{"too small to divide", []float32{1e-45, 0}, []int8{0, 0}, 0},
	} {
		q, scale := Quantise(tt.v)
		if !slices.Equal(q, tt.q) || scale != tt.scale {
			t.Errorf("%s: %v %v, want %v %v", tt.name, q, scale, tt.q, tt.scale)
		}
	}
	v := Dequantise([]int8{2, -4}, 0.5)
	if !slices.Equal(v, []float32{1, -2}) {
		t.Errorf("dequantised %v", v)
	}
}
