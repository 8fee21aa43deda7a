package note

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// tag reads "#name" or Logseq's "#[[several words]]" at s[i].
func (in *inline) tag(i int) int {
	s := in.s
	if !tagMayFollow(s[:i]) {
		return i + 1
	}
	if strings.HasPrefix(s[i:], "#[[") {
		end := wikiEnd(s, i+3)
		if end == 0 {
			return i + 1
		}
		if name := strings.TrimSpace(s[i+3 : end-2]); name != "" && !strings.ContainsAny(name, "#|") {
			in.addTag(name, in.span(i, end))
		}
		return i + 1
	}
	end := tagEnd(s, i+1)
	if name := strings.TrimRight(s[i+1:end], "/"); validTag(name) {
		in.addTag(name, in.span(i, i+1+len(name)))
	}
	return max(end, i+1)
}

func (in *inline) addTag(name string, span Span) {
	in.p.note.addTag(Tag{Name: name, Span: span})
}

// tagMayFollow reports whether a tag may stand behind before: at the beginning,
// after a blank, after an opening mark, or after punctuation of other scripts.
func tagMayFollow(before string) bool {
	if before == "" {
		return true
	}
	switch c := before[len(before)-1]; c {
	case ' ', '\t', '\n', '\r', '(', '*', '_', '~', ',', '|', '"':
		return true
	case '=':
		return strings.HasSuffix(before, "==")
	default:
		if c < utf8.RuneSelf {
			return false
		}
	}
	r, _ := utf8.DecodeLastRuneInString(before)
	return unicode.IsSpace(r) || unicode.IsPunct(r)
}

// tagEnd returns the end of the tag characters at s[i].
func tagEnd(s string, i int) int {
	for i < len(s) {
		c := s[i]
		if c < utf8.RuneSelf {
			if !isWordByte(c) && c != '_' && c != '-' && c != '/' {
				return i
			}
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError || !unicode.In(r, unicode.L, unicode.N, unicode.M, unicode.S) && r != '\u200d' {
			return i
		}
		i += size
	}
	return i
}

// validTag reports whether name is a tag: not empty and more than a number.
func validTag(name string) bool {
	other, solid := false, false
	for _, r := range name {
		if r < '0' || r > '9' {
			other = true
		}
		if r != '/' && r != '-' && r != '_' {
			solid = true
		}
	}
	return other && solid
}
