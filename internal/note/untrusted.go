package note

import (
	"bytes"
	"strings"

	"lore/internal/change"
)

// UntrustedKey is the property of notes that hold words from outside: of a web
// page, of another server, or of a run that had read such words. Whoever trusts
// the note removes it.
const UntrustedKey = "untrusted"

// IsUntrusted reports whether a note says that it holds words from outside. This
// is the only rule: the index keeps its answer. The property takes the mark away
// where it plainly says no: false, "no", or nothing. A list, a map, any other word,
// and a property that is set twice leave it open, so they count as the mark; and so
// does front matter that cannot be read and names the property.
func (n *Note) IsUntrusted() bool {
	f := &n.Front
	if f.Broken != "" {
		return strings.Contains(strings.ToLower(n.text[f.YAML.Start:f.YAML.End]), UntrustedKey)
	}
	times, marked := 0, false
	for i := range f.Props {
		if p := &f.Props[i]; p.IsMark() {
			times++
			marked = marked || !saysNo(p.Value)
		}
	}
	return marked || times > 1
}

// IsMark reports whether a property is the one that marks a note as untrusted, in
// whichever case it is written.
func (p *Property) IsMark() bool { return strings.EqualFold(p.Key, UntrustedKey) }

func saysNo(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case bool:
		return !v
	case string:
		switch strings.ToLower(strings.TrimSpace(v)) {
		case "", "false", "no":
			return true
		}
	}
	return false
}

// IsUntrusted is [Note.IsUntrusted] of the text of a file, of which it reads the
// front matter alone.
func IsUntrusted(src []byte) bool {
	utf16 := len(src) >= 2 && (src[0] == 0xFF && src[1] == 0xFE || src[0] == 0xFE && src[1] == 0xFF)
	if !utf16 && !bytes.HasPrefix(bytes.TrimPrefix(src, []byte(bom)), []byte("---")) {
		return false
	}
	n := &Note{}
	n.decode(src)
	p := &parser{note: n, text: n.text[:n.end]}
	p.front()
	return n.IsUntrusted()
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
