package change

import (
	"fmt"
	"slices"
	"strings"
)

// A Patch replaces the bytes [Start, End) of a text by Text.
type Patch struct {
	Start int    `json:"start"`
	End   int    `json:"end"`
	Text  string `json:"text"`
}

// Splice applies patches to src. Every byte outside the patches is kept. The
// patches may come in any order and must not overlap; two insertions at the
// same place keep the order they were given in.
func Splice(src string, patches ...Patch) (string, error) {
	ps := slices.Clone(patches)
	slices.SortStableFunc(ps, func(a, b Patch) int { return a.Start - b.Start })
	var b strings.Builder
	at := 0
	for _, p := range ps {
		if p.Start < at || p.End < p.Start || p.End > len(src) {
			return "", fmt.Errorf("patch %d..%d of a text of %d bytes overlaps or leaves it", p.Start, p.End, len(src))
		}
		b.WriteString(src[at:p.Start])
		b.WriteString(p.Text)
		at = p.End
	}
	b.WriteString(src[at:])
	return b.String(), nil
}
