package change

import "strings"

// splitLines cuts s after every '\n'. The line ends stay on the lines, so
// joining the parts gives s again, whatever its line ends are and whether or
// not the last line has one.
func splitLines(s string) []string {
	if s == "" {
		return nil
	}
	out := make([]string, 0, strings.Count(s, "\n")+1)
	for s != "" {
		i := strings.IndexByte(s, '\n') + 1
		if i == 0 {
			i = len(s)
		}
		out = append(out, s[:i])
		s = s[i:]
	}
	return out
}

// number gives every distinct part a number, so that comparing two parts costs
// the same however long they are.
func number(a, b []string) (x, y []int) {
	ids := make(map[string]int, len(a))
	of := func(parts []string) []int {
		out := make([]int, len(parts))
		for i, p := range parts {
			id, ok := ids[p]
			if !ok {
				id = len(ids)
				ids[p] = id
			}
			out[i] = id
		}
		return out
	}
	x = of(a)
	return x, of(b)
}

// A region says that parts [a0, a1) of one sequence became parts [b0, b1) of
// another. Between two regions the sequences are equal.
type region struct{ a0, a1, b0, b1 int }

// regions compares two sequences of numbers. The result is in order, no region
// is empty on both sides, and two regions never touch.
func regions(a, b []int) []region {
	d := differ{a: a, b: b}
	d.compare(0, len(a), 0, len(b), 0)
	return d.out
}

const (
	// maxEdits bounds the search for the shortest edit between two anchors.
	// Its cost grows with (lines x edits) and its memory with edits squared;
	// a part that differs more is shown as replaced whole.
	maxEdits = 400
	// maxDepth bounds how often a part is cut again at lines that occur once.
	maxDepth = 64
)

type differ struct {
	a, b []int
	out  []region
}

// add appends a changed region, joining it to the last one when they touch.
func (d *differ) add(a0, a1, b0, b1 int) {
	if a0 == a1 && b0 == b1 {
		return
	}
	if n := len(d.out); n > 0 && d.out[n-1].a1 == a0 && d.out[n-1].b1 == b0 {
		d.out[n-1].a1, d.out[n-1].b1 = a1, b1
		return
	}
	d.out = append(d.out, region{a0, a1, b0, b1})
}

// compare cuts off what is equal at both ends, then cuts at lines that occur
// once on each side (a reader's landmarks), and searches the shortest edit in
// the small parts that are left.
func (d *differ) compare(a0, a1, b0, b1, depth int) {
	for a0 < a1 && b0 < b1 && d.a[a0] == d.b[b0] {
		a0, b0 = a0+1, b0+1
	}
	for a0 < a1 && b0 < b1 && d.a[a1-1] == d.b[b1-1] {
		a1, b1 = a1-1, b1-1
	}
	if a0 == a1 || b0 == b1 {
		d.add(a0, a1, b0, b1)
		return
	}
	if depth < maxDepth {
		if marks := landmarks(d.a[a0:a1], d.b[b0:b1]); len(marks) > 0 {
			pa, pb := a0, b0
			for _, m := range marks {
				d.compare(pa, a0+m[0], pb, b0+m[1], depth+1)
				pa, pb = a0+m[0]+1, b0+m[1]+1
			}
			d.compare(pa, a1, pb, b1, depth+1)
			return
		}
	}
	d.shortest(a0, a1, b0, b1)
}

// landmarks returns the longest increasing run of pairs of numbers that occur
// exactly once in a and once in b.
func landmarks(a, b []int) [][2]int {
	type seen struct{ na, nb, ib int }
	count := make(map[int]*seen, len(a))
	for _, n := range a {
		if s := count[n]; s != nil {
			s.na++
		} else {
			count[n] = &seen{na: 1}
		}
	}
	for i, n := range b {
		if s := count[n]; s != nil {
			s.nb++
			s.ib = i
		}
	}
	var pairs [][2]int
	for i, n := range a {
		if s := count[n]; s.na == 1 && s.nb == 1 {
			pairs = append(pairs, [2]int{i, s.ib})
		}
	}
	return increasing(pairs)
}

// increasing keeps a longest subsequence of pairs whose second numbers rise,
// by patience sorting. The first numbers rise already.
func increasing(pairs [][2]int) [][2]int {
	prev := make([]int, len(pairs))
	var tops []int // index of the pair on top of each pile
	for i, p := range pairs {
		lo, hi := 0, len(tops)
		for lo < hi {
			mid := (lo + hi) / 2
			if pairs[tops[mid]][1] < p[1] {
				lo = mid + 1
			} else {
				hi = mid
			}
		}
		prev[i] = -1
		if lo > 0 {
			prev[i] = tops[lo-1]
		}
		if lo == len(tops) {
			tops = append(tops, i)
		} else {
			tops[lo] = i
		}
	}
	if len(tops) == 0 {
		return nil
	}
	out := make([][2]int, len(tops))
	for k, i := len(tops)-1, tops[len(tops)-1]; k >= 0; k, i = k-1, prev[i] {
		out[k] = pairs[i]
	}
	return out
}

// shortest is Myers' greedy search. Past maxEdits it gives up and calls the
// whole part replaced, which is always a correct answer.
func (d *differ) shortest(a0, a1, b0, b1 int) {
	n, m := a1-a0, b1-b0
	limit := min(n+m, maxEdits)
	v := make([]int, 2*limit+3) // v[k+limit+1]: how far diagonal k reaches in a
	var trace [][]int
	for e := 0; e <= limit; e++ {
		trace = append(trace, append([]int(nil), v[limit+1-e:limit+2+e]...))
		for k := -e; k <= e; k += 2 {
			x := v[limit+1+k-1] + 1
			if k == -e || (k != e && v[limit+1+k-1] < v[limit+1+k+1]) {
				x = v[limit+1+k+1]
			}
			for x < n && x-k < m && x-k >= 0 && d.a[a0+x] == d.b[b0+x-k] {
				x++
			}
			v[limit+1+k] = x
			if x >= n && x-k >= m {
				d.walkBack(trace, a0, b0, n, m, e)
				return
			}
		}
	}
	d.add(a0, a1, b0, b1)
}

// walkBack turns the recorded search into regions, from the end to the start.
func (d *differ) walkBack(trace [][]int, a0, b0, n, m, e int) {
	var steps []region
	x, y := n, m
	for ; e > 0; e-- {
		v := trace[e] // v[k+e]: the state before step e
		k := x - y
		pk := k - 1
		if k == -e || (k != e && v[k-1+e] < v[k+1+e]) {
			pk = k + 1
		}
		px := v[pk+e]
		py := px - pk
		if pk == k+1 {
			steps = append(steps, region{px, px, py, py + 1})
		} else {
			steps = append(steps, region{px, px + 1, py, py})
		}
		x, y = px, py
	}
	for i := len(steps) - 1; i >= 0; i-- {
		s := steps[i]
		d.add(a0+s.a0, a0+s.a1, b0+s.b0, b0+s.b1)
	}
}
