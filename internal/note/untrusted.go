package note

import (
	"strings"

	"lore/internal/change"
)

// UntrustedKey is the property of notes that hold words from outside: of a web
// page, of another server, or of a run that had read such words. Whoever trusts
// the note removes it.
const UntrustedKey = "untrusted"

// IsUntrusted reports whether a note says that it holds words from outside.
func (n *Note) IsUntrusted() bool {
	p, err := n.property(UntrustedKey)
	if err != nil || p == nil {
		return err != nil // set twice: one of them may say so
	}
	switch v := p.Value.(type) {
	case bool:
		return v
	case string:
		return !strings.EqualFold(v, "false") && !strings.EqualFold(v, "no") && v != ""
	case nil:
		return false
	}
	return true
}

// MarkUntrusted is the text of a note with the property.
func MarkUntrusted(path, text string) (string, error) {
	n := Parse(path, []byte(text))
	if n.IsUntrusted() {
		return text, nil
	}
	patches, err := SetProperty(n, UntrustedKey, true)
	if err != nil {
		return text, err
	}
	return change.Splice(text, patches...)
}
