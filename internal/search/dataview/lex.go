package dataview

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"lore/internal/fault"
)

// What a token is.
const (
	tokEnd = iota
	tokWord
	tokNumber
	tokText // "text"
	tokTag  // #tag
	tokLink // [[link]]
	tokSign
)

type token struct {
	kind int
	text string // of a text or link without its quotes or brackets
	at   int    // in bytes
}

// maxQuery is the longest query or expression, in bytes.
const maxQuery = 8000

// scan cuts a query into tokens.
func scan(src string) ([]token, error) {
	if len(src) > maxQuery {
		return nil, fault.Field("query", "use a shorter query", "has %d bytes; the limit is %d", len(src), maxQuery)
	}
	var out []token
	for i := 0; i < len(src); {
		r, size := utf8.DecodeRuneInString(src[i:])
		switch {
		case unicode.IsSpace(r):
			i += size
			continue
		case r == '"' || r == '\'':
			text, end, err := quoted(src, i)
			if err != nil {
				return nil, err
			}
			out = append(out, token{tokText, text, i})
			i = end
			continue
		case strings.HasPrefix(src[i:], "[["):
			end := strings.Index(src[i:], "]]")
			if end < 0 {
				return nil, errorAt(src, i, "close it with ]]", "the link is not closed")
			}
			out = append(out, token{tokLink, src[i+2 : i+end], i})
			i += end + 2
			continue
		}
		for _, p := range patterns {
			if m := p.form.FindString(src[i:]); m != "" {
				out = append(out, token{p.kind, m, i})
				i += len(m)
				size = 0
				break
			}
		}
		if size > 0 {
			return nil, errorAt(src, i, "remove it", "%q is not expected here", r)
		}
	}
	return append(out, token{tokEnd, "", len(src)}), nil
}

var patterns = []struct {
	kind int
	form *regexp.Regexp
}{
	{tokTag, regexp.MustCompile(`^#[\pL\pN_/-]+`)},
	{tokNumber, regexp.MustCompile(`^\d+(\.\d+)?`)},
	// A dash belongs to a name when a letter follows at once: due-date.
	{tokWord, regexp.MustCompile(`^[\pL_][\pL\pN_]*(-[\pL_][\pL\pN_]*)*`)},
	{tokSign, regexp.MustCompile(`^(<=|>=|!=|==|&&|\|\||=>|[-+*/%=<>!().,\[\]])`)},
}

// quoted reads a text in quotes; a backslash takes the next character as it is.
func quoted(src string, at int) (text string, end int, err error) {
	var b strings.Builder
	for i := at + 1; i < len(src); i++ {
		switch c := src[i]; {
		case c == src[at]:
			return b.String(), i + 1, nil
		case c == '\\' && i+1 < len(src) && (src[i+1] == src[at] || src[i+1] == '\\'):
			i++
			b.WriteByte(src[i])
		default:
			b.WriteByte(c)
		}
	}
	return "", 0, errorAt(src, at, "close it with "+src[at:at+1], "the quote is not closed")
}

// errorAt is an error that points at its place.
func errorAt(src string, at int, fix, format string, args ...any) error {
	at = min(at, len(src))
	line := 1 + strings.Count(src[:at], "\n")
	column := 1 + utf8.RuneCountInString(src[strings.LastIndexByte(src[:at], '\n')+1:at])
	near := []rune(strings.TrimSpace(src[at:]))
	place := fmt.Sprintf("line %d, column %d", line, column)
	if len(near) > 0 {
		place += fmt.Sprintf(" at %q", string(near[:min(len(near), 20)]))
	}
	return fault.Field("query", fix, "%s: %s", place, fmt.Sprintf(format, args...))
}
