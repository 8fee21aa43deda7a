package note

import (
	"html"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A definition is what "[label]: dest" says.
type definition struct {
	raw string
}

// open reads what begins with "[": a wikilink, a footnote, a bracketed field,
// or perhaps a link whose end is still to come.
func (in *inline) open(i int, image bool) int {
	s := in.s
	start := i
	if image {
		start--
	}
	if i+1 < len(s) {
		switch s[i+1] {
		case '[':
			if end := in.wikilink(start, i); end > 0 {
				return end
			}
		case '^':
			if end := footnoteLabel(s, i); end > 0 && !strings.HasPrefix(s[end:], "(") && !image {
				return end
			}
		}
		if !image {
			if end := in.bracketField(i, ']'); end > 0 {
				return end
			}
		}
	}
	if n := len(in.brackets); n > 0 {
		in.brackets[n-1].inner = true
	}
	if len(in.brackets) == 2*maxBrackets {
		copy(in.brackets, in.brackets[maxBrackets:])
		in.brackets = in.brackets[:maxBrackets]
		in.floor = max(0, in.floor-maxBrackets)
	}
	in.brackets = append(in.brackets, bracket{pos: i, image: image, links: len(in.p.note.Links)})
	return i + 1
}

// close reads what begins with "]".
func (in *inline) close(i int) int {
	if in.fieldEnd > 0 && i == in.fieldEnd {
		return i + 1
	}
	n := len(in.brackets) - 1
	if n < 0 {
		return i + 1
	}
	b := in.brackets[n]
	in.brackets = in.brackets[:n]
	if n > 0 {
		in.brackets[n-1].inner = true
	}
	dead := !b.image && n < in.floor // a link cannot stand in a link
	in.floor = min(in.floor, n)
	if dead {
		return i + 1
	}
	dest, end := Span{}, 0
	raw := ""
	if i+1 < len(in.s) && in.s[i+1] == '(' {
		dest, end = linkTail(in.s, i+2)
		raw = in.s[dest.Start:dest.End]
	}
	defined := false
	if end == 0 && len(in.p.defs) > 0 {
		raw, end = in.reference(b, i)
		defined = end > 0
	}
	if end == 0 {
		return i + 1
	}
	start := b.pos
	if b.image {
		start--
	}
	in.dropBare(b.links)
	in.emit(b, Span{start, end}, Span{b.pos + 1, i}, dest, raw, defined)
	if !b.image {
		in.floor = n
	}
	return end
}

// emit records a Markdown link or image.
func (in *inline) emit(b bracket, span, text, dest Span, raw string, defined bool) {
	if raw == "" {
		return
	}
	l := Link{Kind: Markdown, Field: in.fieldAt(span.Start), Span: in.span(span.Start, span.End)}
	if b.image {
		l.Kind = Embed
	}
	l.Text = plainInline(in.s[text.Start:text.End])
	cut := l.setTarget(raw)
	if !defined {
		l.Dest = in.span(dest.Start, dest.Start+cut)
		if l.Fragment != "" {
			l.Frag = in.span(dest.Start+cut+1, dest.End)
		}
	}
	in.p.note.addLink(l)
}

// dropBare forgets bare URLs inside the text of a link.
func (in *inline) dropBare(from int) {
	links := in.p.note.Links
	keep := links[:from]
	for _, l := range links[from:] {
		if l.External && l.Span == l.Dest {
			continue
		}
		keep = append(keep, l)
	}
	in.p.note.Links = keep
}

// setTarget fills target and fragment from a destination as written and returns
// how much of it is the target.
func (l *Link) setTarget(raw string) int {
	if plain := unescape(raw); isURL(plain) {
		l.Target, l.External = plain, true
		return len(raw)
	}
	cut := len(raw)
	for i := 0; i < len(raw); i++ {
		if raw[i] == '#' && (i == 0 || raw[i-1] != '&' && raw[i-1] != '\\') {
			cut = i
			l.Fragment = decodeDest(raw[i+1:])
			break
		}
	}
	l.Target = decodeDest(raw[:cut])
	return cut
}

// isURL reports whether a decoded destination leads out of the vault.
func isURL(s string) bool {
	n := schemeLen(s)
	return n > 0 && n < len(s) && s[n] != ' ' || strings.HasPrefix(s, "//")
}

// decodeDest undoes what Markdown and URLs escape. A sequence that is no valid
// encoding stays as it is.
func decodeDest(raw string) string { return percentDecode(unescape(raw)) }

// unescape undoes backslashes and entities.
func unescape(s string) string {
	if strings.IndexByte(s, '\\') >= 0 {
		var b strings.Builder
		for i := 0; i < len(s); i++ {
			if s[i] == '\\' && i+1 < len(s) && isPunct(s[i+1]) {
				i++
			}
			b.WriteByte(s[i])
		}
		s = b.String()
	}
	if strings.IndexByte(s, '&') >= 0 {
		s = decodeEntities(s)
	}
	return s
}

// decodeEntities knows only entities that end with a semicolon: a URL may hold
// "&section=1".
func decodeEntities(s string) string {
	var b strings.Builder
	for {
		i := strings.IndexByte(s, '&')
		if i < 0 {
			b.WriteString(s)
			return b.String()
		}
		b.WriteString(s[:i])
		s = s[i:]
		text, n := entity(s)
		b.WriteString(text)
		s = s[n:]
	}
}

// entity reads what the "&" at the beginning of s stands for, and its length.
func entity(s string) (string, int) {
	for j := 1; j < len(s) && j < 33; j++ {
		if c := s[j]; c == ';' {
			if r := html.UnescapeString(s[:j+1]); !strings.HasSuffix(r, ";") || r == ";" {
				return r, j + 1
			}
			break
		} else if !isWordByte(c) && c != '#' {
			break
		}
	}
	return s[:1], 1
}

func percentDecode(s string) string {
	if strings.IndexByte(s, '%') < 0 {
		return s
	}
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			hi, lo := unhex(s[i+1]), unhex(s[i+2])
			if hi >= 0 && lo >= 0 {
				b = append(b, byte(hi<<4|lo))
				i += 2
				continue
			}
		}
		b = append(b, s[i])
	}
	if !utf8.Valid(b) || strings.IndexByte(string(b), 0) >= 0 {
		return s
	}
	return string(b)
}

func unhex(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return int(c|0x20-'a') + 10
	}
	return -1
}

// linkTail reads the rest of "(dest 'title')" after its parenthesis: the
// destination and the end, or 0.
func linkTail(s string, i int) (dest Span, end int) {
	i = skipSpace(s, i)
	dest, i = destination(s, i)
	if i < 0 {
		return Span{}, 0
	}
	j := skipSpace(s, i)
	if j > i && j < len(s) {
		if k := linkTitle(s, j); k > 0 {
			j = skipSpace(s, k)
		}
	}
	if j < len(s) && s[j] == ')' {
		return dest, j + 1
	}
	return Span{}, 0
}

// destination reads <dest> or dest at s[i] and returns what follows, or -1.
func destination(s string, i int) (Span, int) {
	if i < len(s) && s[i] == '<' {
		for j := i + 1; j < len(s); j++ {
			switch s[j] {
			case '\\':
				j++
			case '<', '\n', '\r':
				return Span{}, -1
			case '>':
				return Span{i + 1, j}, j + 1
			}
		}
		return Span{}, -1
	}
	depth, j := 0, i
	for ; j < len(s); j++ {
		switch c := s[j]; {
		case c == '\\' && j+1 < len(s) && isPunct(s[j+1]):
			j++
		case c == '(':
			if depth++; depth > maxBrackets {
				return Span{}, -1
			}
		case c == ')':
			if depth == 0 {
				return Span{i, j}, j
			}
			depth--
		case c <= ' ' || c == 0x7F:
			if depth > 0 {
				return Span{}, -1
			}
			return Span{i, j}, j
		}
	}
	if depth > 0 {
		return Span{}, -1
	}
	return Span{i, j}, j
}

// linkTitle reads a title at s[i] and returns its end, or 0.
func linkTitle(s string, i int) int {
	q := s[i]
	switch q {
	case '"', '\'':
	case '(':
		q = ')'
	default:
		return 0
	}
	for j := i + 1; j < len(s); j++ {
		switch c := s[j]; {
		case c == '\\':
			j++
		case c == q:
			return j + 1
		case c == '(' && q == ')':
			return 0
		case c == '\n' && skipSpace(s, j+1) < len(s) && s[trimLeft(s, j+1, len(s))] == '\n':
			return 0
		}
	}
	return 0
}

// external records a link to a URL that is written as itself.
func (in *inline) external(start, end, from, to int) {
	l := Link{Kind: Markdown, External: true, Target: unescape(in.s[from:to]), Field: in.fieldAt(start),
		Span: in.span(start, end), Dest: in.span(from, to)}
	in.p.note.addLink(l)
}

// bareURL reads http://... around the colon at s[i], with the rules of GFM for
// what ends it, and at marks that only stand between words in other scripts.
func (in *inline) bareURL(i int) int {
	s := in.s
	if !strings.HasPrefix(s[i:], "://") {
		return i + 1
	}
	start := i
	for start > 0 && isLetter(s[start-1]) && i-start < 6 {
		start--
	}
	if scheme := s[start:i]; scheme != "http" && scheme != "https" || start > 0 && isWordByte(s[start-1]) {
		return i + 1
	}
	end, open, shut := i+3, 0, 0
loop:
	for end < len(s) {
		c := s[end]
		switch {
		case c <= ' ' || strings.IndexByte("<>[]\"`|", c) >= 0:
			break loop
		case c == '(':
			open++
		case c == ')':
			shut++
		case c >= utf8.RuneSelf:
			r, size := utf8.DecodeRuneInString(s[end:])
			if unicode.IsPunct(r) || unicode.IsSpace(r) || r == utf8.RuneError {
				break loop
			}
			end += size - 1
		}
		end++
	}
	for end > i+3 {
		c := s[end-1]
		if c == ')' && shut > open {
			shut--
		} else if strings.IndexByte("?!.,:*_~';", c) < 0 {
			break
		}
		end--
	}
	if end == i+3 || !isWordByte(s[i+3]) && s[i+3] < utf8.RuneSelf {
		return i + 1
	}
	in.external(start, end, start, end)
	return end
}

func isWordByte(c byte) bool { return isLetter(c) || c >= '0' && c <= '9' }
