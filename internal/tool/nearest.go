package tool

import (
	"cmp"
	"slices"
	"strings"
)

// Nearest returns up to n of the names that someone who typed word may have
// meant, most likely first.
func Nearest(word string, names []string, n int) []string {
	type near struct {
		name string
		dist int
	}
	w := strings.ToLower(word)
	var found []near
	for _, name := range names {
		l := strings.ToLower(name)
		d := distance(w, l)
		if len(w) >= 3 && (strings.Contains(l, w) || strings.Contains(w, l)) {
			d = min(d, 1)
		}
		if d <= max(1, len(w)/3) {
			found = append(found, near{name, d})
		}
	}
	slices.SortFunc(found, func(a, b near) int { return cmp.Or(a.dist-b.dist, strings.Compare(a.name, b.name)) })
	var out []string
	for _, f := range found[:min(n, len(found))] {
		out = append(out, f.name)
	}
	return out
}

// distance counts the insertions, deletions and replacements between a and b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		last := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := last
			if a[i] != b[j] {
				cost++
			}
			last = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
