package note

import (
	"strings"
	"testing"
)

func TestNotesOfTooManyParts(t *testing.T) {
	const most = 100
	for _, c := range []struct {
		what, text string
		count      func(n *Note) int
	}{
		{"links", "[[a]] ", func(n *Note) int { return len(n.Links) }},
		{"links", "[a](b) ", func(n *Note) int { return len(n.Links) }},
		{"links", "http://a.b ", func(n *Note) int { return len(n.Links) }},
		{"links", "[a]: b\n\n", func(n *Note) int { return len(n.Links) }},
		{"links", "![[a]]", func(n *Note) int { return len(n.Links) }},
		{"tags", "#a ", func(n *Note) int { return len(n.Tags) }},
		{"tasks", "- [ ] a\n", func(n *Note) int { return len(n.Tasks) }},
		{"headings", "# a\n", func(n *Note) int { return len(n.Headings) }},
		{"headings", "a\n===\n", func(n *Note) int { return len(n.Headings) }},
		{"fields", "a:: b\n\n", func(n *Note) int { return len(n.Fields) }},
		{"block ids", "a ^b\n\n", func(n *Note) int { return len(n.Blocks) }},
		{"block ids", "- a ^b\n", func(n *Note) int { return len(n.Blocks) }},
	} {
		for _, times := range []int{most - 1, most, most + 1, 3 * most} {
			n := Options{Most: most}.Parse("a.md", []byte(strings.Repeat(c.text, times)))
			if got := c.count(n); got != min(times, most) {
				t.Errorf("%q, %d times: %d %s", c.text, times, got, c.what)
			}
			told := false
			for _, p := range n.Problems {
				told = told || p.Kind == "too_many" && p.Detail == "more than 100 "+c.what+"; the rest is ignored"
			}
			if told != (times > most) || n.ReadOnly {
				t.Errorf("%q, %d times: %+v, read-only %v", c.text, times, n.Problems, n.ReadOnly)
			}
		}
	}
	// Without a limit of its own a note keeps what edits need; beyond, none is made.
	if n := Parse("a.md", []byte(strings.Repeat("# a\n", maxParts+1))); !n.ReadOnly || len(n.Headings) != maxParts {
		t.Errorf("%d headings, read-only %v", len(n.Headings), n.ReadOnly)
	}
	if n := Parse("a.md", []byte(strings.Repeat("# a\n", maxParts))); n.ReadOnly || len(n.Headings) != maxParts {
		t.Errorf("%d headings, read-only %v", len(n.Headings), n.ReadOnly)
	}
}
