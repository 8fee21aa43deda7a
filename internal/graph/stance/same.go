package stance

import (
	"fmt"
	"slices"
	"strings"
)

// DuplicateFrom is the likeness (cosine of the built-in embedder) from which two
// texts are worth a look as duplicates, if they do not Differ. Of such pairs
// people called four of ten the same, and three of four mostly the same;
// bench/README.md has the table it was chosen from.
const DuplicateFrom = 0.80

// Differ says why two texts that look alike do not say the same: other numbers,
// a denial that only one has, or a word against its opposite. It is empty where
// nothing of the kind is found, which does not make them the same.
func Differ(a, b string) string {
	x, y := flatten(read(a)), flatten(read(b))
	m, n := digits([]sentence{x}), digits([]sentence{y})
	slices.Sort(m)
	slices.Sort(n)
	if m, n := slices.Compact(m), slices.Compact(n); !slices.Equal(m, n) && len(m) > 0 && len(n) > 0 {
		return fmt.Sprintf("the numbers differ (%s; %s)", strings.Join(m, ", "), strings.Join(n, ", "))
	}
	one, two, opposed := opposite(x, y)
	mine, yours := denials(x), denials(y)
	// Two denials undo each other in a sentence, not in a title and a text.
	odd := (len(mine)+len(yours))%2 == 1 || (len(mine) == 0) != (len(yours) == 0)
	switch {
	case opposed && !odd:
		return fmt.Sprintf("%q versus %q", one, two)
	case odd && !opposed:
		return fmt.Sprintf("only one says %s", quoted(append(mine, yours...)))
	}
	return ""
}

// Overlap is the part of the words of the two texts that both have, 0 to 1.
func Overlap(a, b string) float64 {
	x, y := roots(read(a)), roots(read(b))
	both := 0
	for r := range x {
		if y[r] {
			both++
		}
	}
	if both == 0 {
		return 0
	}
	return float64(both) / float64(len(x)+len(y)-both)
}

func roots(list []sentence) map[string]bool {
	out := map[string]bool{}
	for _, s := range list {
		for _, t := range s {
			if t.root != "" {
				out[t.root] = true
			}
		}
	}
	return out
}

// flatten is the first words of a text as one sentence: what makes the
// difference between near duplicates stands anywhere, but comparing each word
// with each other has to end.
func flatten(list []sentence) sentence {
	var out sentence
	for _, s := range list {
		if out = append(out, s...); len(out) >= 2*longest {
			return out[:2*longest]
		}
	}
	return out
}
