package vector

import (
	"cmp"
	"math"
	"slices"
)

// best keeps the k best rows of those added in ascending order. It is a heap
// whose first element is the worst of them: the lowest score, and of equal
// scores the highest row.
type best struct {
	rows  []Scored
	k     int
	worst float32 // a row must score more than this to enter
}

func (b *best) limit(k int) {
	b.k = k
	b.worst = float32(math.Inf(-1))
}

// add takes a row whose score is above b.worst.
func (b *best) add(row int, score float32) {
	s := Scored{row, score}
	if len(b.rows) < b.k {
		b.rows = append(b.rows, s)
		b.up(len(b.rows) - 1)
	} else {
		b.rows[0] = s
		b.down(0)
	}
	if len(b.rows) == b.k {
		b.worst = b.rows[0].Score
	}
}

func (b *best) up(i int) {
	for i > 0 {
		parent := (i - 1) / 2
		if compare(b.rows[i], b.rows[parent]) <= 0 {
			return
		}
		b.rows[i], b.rows[parent] = b.rows[parent], b.rows[i]
		i = parent
	}
}

func (b *best) down(i int) {
	for {
		child := 2*i + 1
		if child >= len(b.rows) {
			return
		}
		if child+1 < len(b.rows) && compare(b.rows[child+1], b.rows[child]) > 0 {
			child++
		}
		if compare(b.rows[child], b.rows[i]) <= 0 {
			return
		}
		b.rows[i], b.rows[child] = b.rows[child], b.rows[i]
		i = child
	}
}

// compare puts the better of two rows first.
func compare(a, b Scored) int {
	return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Row, b.Row))
}

func sorted(rows []Scored, k int) []Scored {
	slices.SortFunc(rows, compare)
	return rows[:min(k, len(rows))]
}
