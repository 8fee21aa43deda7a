package vector

import (
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
)

func gaussian(r *rand.Rand, dim int) []float32 {
	v := make([]float32, dim)
	for i := range v {
		v[i] = float32(r.NormFloat64())
	}
	return v
}

func filled(dim, rows int, seed uint64) (*Matrix, [][]float32, *rand.Rand) {
	r := rand.New(rand.NewPCG(seed, 1))
	m := NewMatrix(dim)
	vs := make([][]float32, rows)
	for i := range vs {
		vs[i] = gaussian(r, dim)
		m.Append(vs[i])
	}
	return m, vs, r
}

// sortAll is Top without any of its means: every cosine, then a sort.
func sortAll(m *Matrix, query []float32, k int, keep func(int) bool) []Scored {
	q, _ := Quantise(query)
	var all []Scored
	for row, inverse := range m.inverse {
		if inverse != inverse || keep != nil && !keep(row) {
			continue
		}
		var dot int32
		for j, x := range q {
			dot += int32(x) * int32(m.rows[row*m.dim+j])
		}
		all = append(all, Scored{row, float32(dot) * inverse * inverseNorm(q)})
	}
	return sorted(all, k)
}

func TestTopIsExact(t *testing.T) {
	for _, tt := range []struct{ dim, rows int }{{1, 10}, {7, 300}, {33, 1000}, {384, 513}, {384, 24000}} {
		m, _, r := filled(tt.dim, tt.rows, uint64(tt.dim))
		for i := 0; i < tt.rows; i += 5 {
			m.Remove(i)
		}
		odd := func(row int) bool { return row%2 == 1 }
		query := gaussian(r, tt.dim)
		ks := []int{0, 1, 3, 50, tt.rows + 5}
		if tt.rows > 10000 { // large enough to be split, and slow to check
			ks = []int{50}
		}
		for _, k := range ks {
			for _, keep := range []func(int) bool{nil, odd, func(int) bool { return false }} {
				got, want := m.Top(query, k, keep), sortAll(m, query, max(k, 0), keep)
				if !slices.Equal(got, want) {
					t.Fatalf("dim %d rows %d k %d: %d rows, want %d, or another order", tt.dim, tt.rows, k, len(got), len(want))
				}
			}
		}
	}
}

func TestTopBreaksTiesByRow(t *testing.T) {
	m := NewMatrix(3)
	for range 40 {
		m.Append([]float32{1, 2, 3})
	}
	got := m.Top([]float32{1, 2, 3}, 4, nil)
	for i, s := range got {
		if s.Row != i || math.Abs(float64(s.Score)-1) > 1e-6 {
			t.Errorf("place %d: %+v", i, s)
		}
	}
}

func TestTopOfNothing(t *testing.T) {
	m := NewMatrix(2)
	if got := m.Top([]float32{1, 0}, 3, nil); got != nil {
		t.Errorf("found %v in an empty matrix", got)
	}
	m.Append([]float32{0, 0})
	if got := m.Top([]float32{1, 0}, 3, nil); len(got) != 1 || got[0].Score != 0 {
		t.Errorf("a vector without direction: %v", got)
	}
	if got := m.Top([]float32{1, 0}, -1, nil); got != nil {
		t.Errorf("minus one results: %v", got)
	}
}

func TestRowsAreReplacedAndReused(t *testing.T) {
	m := NewMatrix(2)
	a, b := m.Append([]float32{1, 0}), m.Append([]float32{0, 1})
	m.Set(a, []float32{0, -1})
	if got := m.Top([]float32{0, -2}, 1, nil); got[0].Row != a || got[0].Score < 0.999 {
		t.Errorf("after Set: %v", got)
	}
	m.Remove(b)
	if m.Len() != 1 || len(m.Top([]float32{0, 1}, 9, nil)) != 1 {
		t.Errorf("after Remove: %d rows", m.Len())
	}
	if again := m.Append([]float32{0, 1}); again != b {
		t.Errorf("row %d was not reused but %d", b, again)
	}
	m.Remove(b)
	for name, misuse := range map[string]func(){
		"remove twice":    func() { m.Remove(b) },
		"set removed":     func() { m.Set(b, []float32{1, 1}) },
		"set unknown":     func() { m.Set(99, []float32{1, 1}) },
		"wrong dimension": func() { m.Append([]float32{1}) },
		"wrong query":     func() { m.Top([]float32{1}, 1, nil) },
		"no dimension":    func() { NewMatrix(0) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s did not panic", name)
				}
			}()
			misuse()
		}()
	}
}

// The look at the signs finds what the whole scan finds when there are as many
// candidates as rows, and nearly all of it when there are fewer.
func TestPrefilter(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	m := NewMatrix(100)
	m.prefilterFrom = 2000 // crossed while rows are added
	centre := gaussian(r, 100)
	for range 30000 {
		v := gaussian(r, 100)
		for i := range v {
			v[i] += centre[i] * float32(r.Float64())
		}
		m.Append(v)
	}
	m.Remove(17)
	m.Set(18, centre)
	m.Append(centre)
	got, want := m.Top(centre, 20, nil), sortAll(m, centre, 20, nil)
	common := 0
	for _, s := range got {
		if slices.Contains(want, s) {
			common++
		}
	}
	if common < 19 || got[0].Row != 17 || got[1].Row != 18 {
		t.Errorf("%d of 20 found; first %v", common, got[:2])
	}
	m.prefilterFrom = 1 << 40
	if exact := m.Top(centre, 20, nil); !slices.Equal(exact, want) {
		t.Error("the whole scan differs")
	}
}

func TestMatrixIsSafeConcurrently(t *testing.T) {
	m, vs, _ := filled(64, 2000, 9)
	var group sync.WaitGroup
	for i := range 4 {
		group.Go(func() {
			for j := range 50 {
				m.Set(i*100+j, vs[j])
				m.Remove(1000 + i*50 + j)
				m.Append(vs[j])
				if got := m.Top(vs[i], 5, func(row int) bool { return row%3 != 0 }); len(got) != 5 {
					t.Errorf("%d results", len(got))
				}
			}
		})
	}
	group.Wait()
	if m.Len() != 2000 {
		t.Errorf("%d rows", m.Len())
	}
}

func BenchmarkTop(b *testing.B) {
	const dim, rows = 384, 100_000
	m := NewMatrix(dim)
	m.Grow(rows)
	for i := range rows {
		m.AppendQuantised(random(dim, uint64(i)))
	}
	query := gaussian(rand.New(rand.NewPCG(1, 1)), dim)
	q, _ := Quantise(query)
	for _, k := range available {
		b.Run("scan/"+k.name, func(b *testing.B) {
			b.SetBytes(dim * rows)
			out := make([]int32, scanRows)
			for b.Loop() {
				for row := 0; row+scanRows <= rows; row += scanRows {
					k.dots(q, m.rows[row*dim:(row+scanRows)*dim], out)
				}
			}
		})
	}
	b.Run("top20/one", func(b *testing.B) {
		b.SetBytes(dim * rows)
		for b.Loop() {
			var best best
			best.limit(20)
			m.scan(target{q, inverseNorm(q)}, 0, rows, nil, &best)
		}
	})
	b.Run("top20/all", func(b *testing.B) {
		b.SetBytes(dim * rows)
		for b.Loop() {
			m.Top(query, 20, nil)
		}
	})
	// What the memory gives: the same bytes, only looked at.
	b.Run("floor", func(b *testing.B) {
		b.SetBytes(dim * rows)
		dst := make([]int8, scanRows*dim)
		for b.Loop() {
			for row := 0; row+scanRows <= rows; row += scanRows {
				copy(dst, m.rows[row*dim:(row+scanRows)*dim])
			}
		}
	})
	b.Run("prefilter", func(b *testing.B) {
		m.prefilterFrom = 1
		m.Set(0, query)
		for b.Loop() {
			m.Top(query, 20, nil)
		}
	})
}
