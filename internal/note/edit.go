package note

import (
	"strings"

	"lore/internal/fault"
)

// editable refuses a note whose bytes are not text.
func (n *Note) editable() error {
	if n.ReadOnly {
		why := "it is not plain text"
		if len(n.Problems) > 0 {
			why = n.Problems[0].Detail
		}
		return fault.New(fault.ReadOnly, "%s: %s", n.Path, why)
	}
	return nil
}

// eol is the line end that the note uses: its first one.
func (n *Note) eol() string {
	i := strings.IndexAny(n.text, "\r\n")
	switch {
	case i < 0 || n.text[i] == '\n':
		return "\n"
	case i+1 < len(n.text) && n.text[i+1] == '\n':
		return "\r\n"
	}
	return "\r"
}
