package doctext

import (
	"slices"
	"strings"
)

// A Text is a document as lines: each page that has a name begins with it.
type Text struct {
	Text  string
	Empty bool // no page has text, as in a PDF of scanned pages
	Cut   bool // as in [Document]

	starts []int // the line on which each page begins, counted from 1
	names  []string
}

// Lines puts the pages together.
func (d Document) Lines() Text {
	t := Text{Cut: d.Cut, Empty: true}
	var b strings.Builder
	line := 1
	for _, p := range d.Pages {
		t.starts, t.names = append(t.starts, line), append(t.names, p.Name)
		t.Empty = t.Empty && p.Text == ""
		text := p.Text + "\n"
		if p.Name != "" {
			text = "[" + p.Name + "]\n" + text
		}
		b.WriteString(text)
		line += strings.Count(text, "\n")
	}
	t.Text = b.String()
	return t
}

// Pages is how many pages there are.
func (t Text) Pages() int { return len(t.starts) }

// Page is the text of one page, counted from 1.
func (t Text) Page(n int) string {
	lines := strings.SplitAfter(t.Text, "\n")
	last := len(lines)
	if n < len(t.starts) {
		last = t.starts[n] - 1
	}
	return strings.Join(lines[t.starts[n-1]-1:last], "")
}

// PageAt names the page that a line is on.
func (t Text) PageAt(line int) string {
	i, found := slices.BinarySearch(t.starts, line)
	if !found {
		i--
	}
	if i < 0 || i >= len(t.names) {
		return ""
	}
	return t.names[i]
}
