package vector

import "math/bits"

// How many rows are compared exactly after the look at their signs. Both are
// generous: the exact comparison of 8,192 rows costs far less than the look at
// the signs of half a million.
const (
	minCandidates       = 8192
	candidatesPerResult = 100
)

func signWords(dim int) int { return (dim + 63) / 64 }

func signs(dst []uint64, q []int8) {
	clear(dst)
	for i, x := range q {
		if x < 0 {
			dst[i/64] |= 1 << (i % 64)
		}
	}
}

// A near is the outcome of a look at the signs: the distance of each row, and
// up to which distance rows are candidates.
type near struct {
	distance []uint16
	limit    uint16
}

// prefilter takes the distance so that at least want rows are within it, or
// all. Rows at the same distance are all in or all out, which keeps the result
// independent of how the work is split.
func (m *Matrix) prefilter(q []int8, want int) near {
	words := signWords(m.dim)
	query := make([]uint64, words)
	signs(query, q)
	n := near{distance: make([]uint16, len(m.inverse))}
	counts := make([]int, 64*words+1)
	for row := range n.distance {
		d := 0
		for i, s := range m.signs[row*words : row*words+words] {
			d += bits.OnesCount64(s ^ query[i])
		}
		n.distance[row] = uint16(d)
		if inverse := m.inverse[row]; inverse == inverse {
			counts[d]++
		}
	}
	for d, c := range counts {
		n.limit = uint16(d)
		if want -= c; want <= 0 {
			break
		}
	}
	return n
}

// rescore compares the candidates exactly. A removed row scores NaN, which
// never enters.
func (m *Matrix) rescore(q target, near near, from, to int, best *best) {
	var dot [1]int32
	for row := from; row < to; row++ {
		if near.distance[row] > near.limit {
			continue
		}
		fastest.dots(q.row, m.rows[row*m.dim:(row+1)*m.dim], dot[:])
		if score := float32(dot[0]) * m.inverse[row] * q.inverse; score > best.worst {
			best.add(row, score)
		}
	}
}
