package vector

import (
	"fmt"
	"math"
	"runtime"
	"sync"
)

// A Scored is a row of a [Matrix] and how near it is to the query: the cosine
// of the quantised vectors, from -1 to 1.
type Scored struct {
	Row   int
	Score float32
}

// A Matrix holds rows of one dimension and finds those nearest to a query.
//
// A row keeps its number until it is removed; the number of a removed row is
// given to a later Append. All methods may be called from several goroutines:
// searches run side by side, a change waits for them and they for it. What is
// not promised is that a row found by Top is still the same row when the
// caller looks at it: who removes rows while others search keeps the table of
// row numbers under a lock of its own.
type Matrix struct {
	dim int
	mu  sync.RWMutex
	// rows is the flat matrix, and inverse has 1/|row| for each row, NaN for
	// one that was removed: no comparison with NaN holds, so that the scan
	// passes over it without a further test.
	rows    []int8
	inverse []float32
	free    []int
	// signs has one bit per number, kept from prefilterFrom rows on.
	signs         []uint64
	prefilterFrom int
}

// PrefilterRows is the size from which [Matrix.Top] without a filter looks at
// one bit per number first. Below it the whole scan is fast enough.
const PrefilterRows = 500_000

// NewMatrix makes an empty matrix for vectors of dim numbers. It panics if dim
// is not positive.
func NewMatrix(dim int) *Matrix {
	if dim <= 0 {
		panic(fmt.Sprintf("vector: matrix of dimension %d", dim))
	}
	return &Matrix{dim: dim, prefilterFrom: PrefilterRows}
}

// Dim is the length of every row.
func (m *Matrix) Dim() int { return m.dim }

// Len is the number of rows that were added and not removed.
func (m *Matrix) Len() int {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return len(m.inverse) - len(m.free)
}

// Grow makes room for n more rows, so that adding them copies nothing.
func (m *Matrix) Grow(n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	rows := make([]int8, len(m.rows), len(m.rows)+n*m.dim)
	copy(rows, m.rows)
	m.rows = rows
	inverse := make([]float32, len(m.inverse), len(m.inverse)+n)
	copy(inverse, m.inverse)
	m.inverse = inverse
}

// Append adds a vector and tells its row number. It panics if the vector is
// not of the matrix's dimension. The length of the vector does not matter,
// only its direction.
func (m *Matrix) Append(v []float32) int {
	q, _ := Quantise(v)
	return m.AppendQuantised(q)
}

// AppendQuantised is [Matrix.Append] for a row that [Quantise] made before.
// The scale is not needed: a cosine does not depend on it. The row is copied.
func (m *Matrix) AppendQuantised(q []int8) int {
	m.mustFit(q)
	m.mu.Lock()
	defer m.mu.Unlock()
	row := len(m.inverse)
	if n := len(m.free); n > 0 {
		row = m.free[n-1]
		m.free = m.free[:n-1]
	} else {
		m.rows = append(m.rows, q...)
		m.inverse = append(m.inverse, 0)
	}
	m.put(row, q)
	return row
}

// Row is a row that was added and not removed, quantised. It is the matrix's own
// memory: read it, and only while nothing changes.
func (m *Matrix) Row(row int) []int8 {
	m.mustLive(row)
	return m.rows[row*m.dim:][:m.dim:m.dim]
}

// Set replaces a row that was added and not removed; it panics otherwise.
func (m *Matrix) Set(row int, v []float32) {
	q, _ := Quantise(v)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.mustLive(row)
	m.put(row, q)
}

// Remove takes a row out. It panics if the row was not there.
func (m *Matrix) Remove(row int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.mustLive(row)
	m.inverse[row] = float32(math.NaN())
	m.free = append(m.free, row)
}

func (m *Matrix) mustFit(q []int8) {
	if len(q) != m.dim {
		panic(fmt.Sprintf("vector: row of %d numbers in a matrix of %d", len(q), m.dim))
	}
}

func (m *Matrix) mustLive(row int) {
	if row < 0 || row >= len(m.inverse) || m.inverse[row] != m.inverse[row] {
		panic(fmt.Sprintf("vector: no row %d", row))
	}
}

func (m *Matrix) put(row int, q []int8) {
	m.mustFit(q)
	copy(m.rows[row*m.dim:], q)
	m.inverse[row] = inverseNorm(q)
	if len(m.inverse) < m.prefilterFrom {
		return
	}
	words := signWords(m.dim)
	for have := len(m.signs) / words; have < len(m.inverse); have++ {
		m.signs = append(m.signs, make([]uint64, words)...)
		signs(m.signs[have*words:][:words], m.rows[have*m.dim:][:m.dim])
	}
	signs(m.signs[row*words:][:words], q)
}

func inverseNorm(q []int8) float32 {
	square := Dot(q, q)
	if square == 0 {
		return 0
	}
	return float32(1 / math.Sqrt(float64(square)))
}

// Top returns the k rows nearest to query, best first; rows of equal score
// come in the order of their numbers. keep, if not nil, is asked for rows that
// would enter the result and leaves out those it answers false for; it may be
// called from several goroutines at once and must not change the matrix. It
// panics if the query is not of the matrix's dimension.
//
// The result is that of comparing all rows. Only a matrix of [PrefilterRows]
// or more, searched without keep, is read approximately at first: the rows
// whose signs agree best with the query's are compared exactly.
func (m *Matrix) Top(query []float32, k int, keep func(row int) bool) []Scored {
	if len(query) != m.dim {
		panic(fmt.Sprintf("vector: query of %d numbers for a matrix of %d", len(query), m.dim))
	}
	var q target
	q.row, _ = Quantise(query)
	q.inverse = inverseNorm(q.row)
	m.mu.RLock()
	defer m.mu.RUnlock()
	k = min(k, len(m.inverse)-len(m.free))
	if k <= 0 {
		return nil
	}
	search := func(from, to int, best *best) { m.scan(q, from, to, keep, best) }
	if len(m.inverse) >= m.prefilterFrom && keep == nil {
		near := m.prefilter(q.row, max(minCandidates, candidatesPerResult*k))
		search = func(from, to int, best *best) { m.rescore(q, near, from, to, best) }
	}
	return m.split(k, search)
}

// A target is the quantised query and 1/|query|.
type target struct {
	row     []int8
	inverse float32
}

// bytesPerThread is how much of the matrix one goroutine reads at least. Less
// is done before a second one has started.
const bytesPerThread = 4 << 20

// split searches ranges of rows at the same time and joins their results.
func (m *Matrix) split(k int, search func(from, to int, best *best)) []Scored {
	rows := len(m.inverse)
	parts := max(1, min(runtime.GOMAXPROCS(0), len(m.rows)/bytesPerThread))
	found := make([]best, parts)
	var group sync.WaitGroup
	for i := range parts {
		found[i].limit(k)
		from, to := rows*i/parts, rows*(i+1)/parts
		if i == parts-1 {
			search(from, to, &found[i])
			continue
		}
		group.Go(func() { search(from, to, &found[i]) })
	}
	group.Wait()
	all := found[0].rows
	for _, part := range found[1:] {
		all = append(all, part.rows...)
	}
	return sorted(all, k)
}

// scanRows is how many rows are compared before their scores are looked at: so
// few that the scores stay in the nearest cache.
const scanRows = 256

func (m *Matrix) scan(q target, from, to int, keep func(int) bool, best *best) {
	var dots [scanRows]int32
	for start := from; start < to; start += scanRows {
		n := min(scanRows, to-start)
		fastest.dots(q.row, m.rows[start*m.dim:(start+n)*m.dim], dots[:n])
		for i, inverse := range m.inverse[start : start+n] {
			score := float32(dots[i]) * inverse * q.inverse
			if score > best.worst && (keep == nil || keep(start+i)) {
				best.add(start+i, score)
			}
		}
	}
}
