package page

import (
	"fmt"
	"slices"
	"strings"

	"lore/internal/note"
)

// Read reads a note as a conversation, and reports whether it is one.
func Read(text string) (Page, bool) {
	n := note.Parse("", []byte(text))
	front := func(key string) string {
		v, ok := n.Front.Get(key)
		if !ok || v == nil {
			return ""
		}
		return fmt.Sprint(v)
	}
	return Parse(front, text[n.Front.Span.End:])
}

// ours are the properties that Render writes.
var ours = []string{"chat", "title", "model", "tokens", "cost"}

// Update is a page as Render has it now, with the properties that a person gave
// the note that shows it.
func Update(old, fresh string) string {
	n := note.Parse("", []byte(old))
	var kept strings.Builder
	for _, p := range n.Front.Props {
		if !slices.Contains(ours, p.Key) {
			kept.WriteString(strings.TrimRight(old[p.Span.Start:p.Span.End], "\r\n") + "\n")
		}
	}
	head, body, _ := strings.Cut(strings.TrimPrefix(fresh, "---\n"), "---\n")
	return "---\n" + head + kept.String() + "---\n" + body
}
