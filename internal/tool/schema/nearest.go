package schema

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
	if len(word) > 200 {
		return nil // nobody mistyped that
	}
	w := strings.ToLower(word)
	var found []near
	for _, name := range names {
		if len(name) > 4*len(word)+200 {
			continue
		}
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

// distance counts the insertions, deletions, replacements and swaps of
// neighbours between a and b.
func distance(a, b string) int {
	two := make([]int, len(b)+1)
	one := make([]int, len(b)+1)
	row := make([]int, len(b)+1)
	for j := range one {
		one[j] = j
	}
	for i := range len(a) {
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(one[j]+cost, one[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], two[j-1]+1)
			}
		}
		two, one, row = one, row, two
	}
	return one[len(b)]
}
