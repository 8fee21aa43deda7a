package tool

import (
	"fmt"
	"strings"
	"testing"

	"lore/internal/change"
)

func lines(from, to int) string {
	var b strings.Builder
	for i := from; i < to; i++ {
		fmt.Fprintf(&b, "line %d has its words\n", i)
	}
	return b.String()
}

// TestContinued: steps are measured as the one change that they come to.
func TestContinued(t *testing.T) {
	all, half := lines(0, 20), lines(0, 11)
	for name, c := range map[string]struct {
		earlier, set change.Set
		gone         int // words
	}{
		"one cut":                  {nil, change.Set{change.Replace("a.md", all, half)}, 45},
		"a second one":             {change.Set{change.Replace("a.md", all, half)}, change.Set{change.Replace("a.md", half, lines(0, 6))}, 70},
		"another file":             {change.Set{change.Replace("a.md", all, half)}, change.Set{change.Replace("b.md", all, half)}, 90},
		"its own note":             {change.Set{change.Create("a.md", all)}, change.Set{change.Replace("a.md", all, "x")}, 0},
		"its own, with my words":   {change.Set{change.Create("a.md", all)}, change.Set{change.Replace("a.md", all+"words of mine are here\n", "x")}, 5},
		"mine, written over again": {change.Set{change.Replace("a.md", all, half)}, change.Set{change.Replace("a.md", half+"words of mine are here\n", half)}, 50},
		"text that moved":          {change.Set{change.Create("b.md", lines(11, 20))}, change.Set{change.Replace("a.md", all, half)}, 0},
		"and then went":            {change.Set{change.Create("b.md", lines(11, 20)), change.Replace("a.md", all, half)}, change.Set{change.Replace("b.md", lines(11, 20), "x")}, 45},
		"a move as it is":          {change.Set{change.Replace("a.md", all, half)}, change.Set{change.Move("a.md", "b.md")}, 45},
		"a move with a cut":        {change.Set{change.Replace("a.md", all, half)}, change.Set{change.MoveReplace("a.md", "b.md", half, lines(0, 6))}, 70},
	} {
		gone := 0
		for _, l := range continued(c.earlier, c.set).Losses() {
			gone += l.Gone
		}
		if gone != c.gone {
			t.Errorf("%s: %d words are gone, want %d", name, gone, c.gone)
		}
	}
}
