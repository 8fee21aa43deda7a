package doctext

import (
	"bytes"
	"strconv"
)

// A lexer reads values. With p it knows references; a content stream has
// operators instead.
type lexer struct {
	src []byte
	pos int
	p   *pdf
	// count is how many values were kept.
	count int
}

// end is what a lexer returns when there is nothing more.
type end struct{}

// closing is a bracket that closes what was opened before.
type closing byte

func isSpace(c byte) bool {
	return c == ' ' || c == '\n' || c == '\r' || c == '\t' || c == '\f' || c == 0
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isDelimiter(c byte) bool { return bytes.IndexByte([]byte("()<>[]{}/%"), c) >= 0 }

func (l *lexer) skip() {
	for l.pos < len(l.src) {
		switch c := l.src[l.pos]; {
		case isSpace(c):
			l.pos++
		case c == '%':
			for l.pos < len(l.src) && l.src[l.pos] != '\n' && l.src[l.pos] != '\r' {
				l.pos++
			}
		default:
			return
		}
	}
}

// value reads the next value. It always moves on, whatever is there.
func (l *lexer) value(depth int) any {
	l.skip()
	if l.pos >= len(l.src) || depth > maxDepth {
		l.pos = max(l.pos, len(l.src))
		return end{}
	}
	c := l.src[l.pos]
	switch {
	case c == '/':
		l.pos++
		return l.name()
	case c == '(':
		l.pos++
		return l.literal()
	case c == '[':
		l.pos++
		return l.list(depth)
	case c == '<':
		l.pos++
		if l.pos < len(l.src) && l.src[l.pos] == '<' {
			l.pos++
			return l.entries(depth)
		}
		return l.hex()
	case c == '>':
		l.pos++
		if l.pos < len(l.src) && l.src[l.pos] == '>' {
			l.pos++
		}
		return closing('>')
	case isDelimiter(c):
		l.pos++
		return closing(c)
	}
	return l.word()
}

// word reads a number, a reference or a word.
func (l *lexer) word() any {
	start := l.pos
	for l.pos < len(l.src) && !isSpace(l.src[l.pos]) && !isDelimiter(l.src[l.pos]) {
		l.pos++
	}
	w := string(l.src[start:min(l.pos, start+64)])
	if f, ok := number(w); ok {
		if l.p != nil {
			if n, ok := l.reference(w); ok {
				return n
			}
		}
		return f
	}
	switch w {
	case "true":
		return true
	case "false":
		return false
	case "null":
		return nil
	}
	return op(w)
}

func number(w string) (float64, bool) {
	if w == "" || !isDigit(w[0]) && w[0] != '-' && w[0] != '+' && w[0] != '.' {
		return 0, false
	}
	f, err := strconv.ParseFloat(w, 64)
	return f, err == nil && f > -1e12 && f < 1e12
}

// reference reads the rest of "12 0 R".
func (l *lexer) reference(w string) (ref, bool) {
	n, err := strconv.Atoi(w)
	if err != nil || n < 0 {
		return 0, false
	}
	i := l.pos
	digits := 0
	for i < len(l.src) && isSpace(l.src[i]) {
		i++
	}
	for i < len(l.src) && isDigit(l.src[i]) && digits < 6 {
		i++
		digits++
	}
	spaces := 0
	for i < len(l.src) && isSpace(l.src[i]) {
		i++
		spaces++
	}
	if digits == 0 || spaces == 0 || i >= len(l.src) || l.src[i] != 'R' || i+1 < len(l.src) && !isSpace(l.src[i+1]) && !isDelimiter(l.src[i+1]) {
		return 0, false
	}
	l.pos = i + 1
	return ref(n), true
}

func (l *lexer) name() name {
	var b []byte
	for l.pos < len(l.src) && !isSpace(l.src[l.pos]) && !isDelimiter(l.src[l.pos]) {
		c := l.src[l.pos]
		if c == '#' && l.pos+2 < len(l.src) && hexValue(l.src[l.pos+1]) >= 0 && hexValue(l.src[l.pos+2]) >= 0 {
			c = byte(hexValue(l.src[l.pos+1])<<4 | hexValue(l.src[l.pos+2]))
			l.pos += 2
		}
		b = append(b, c)
		l.pos++
	}
	return name(b)
}

func (l *lexer) hex() str {
	start := l.pos
	i := bytes.IndexByte(l.src[l.pos:], '>')
	if i < 0 {
		l.pos = len(l.src)
		return ""
	}
	l.pos += i + 1
	return str(unhex(l.src[start : start+i]))
}

func (l *lexer) literal() str {
	var b []byte
	for depth := 1; l.pos < len(l.src); {
		c := l.src[l.pos]
		l.pos++
		switch c {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return str(b)
			}
		case '\\':
			b = l.escape(b)
			continue
		}
		b = append(b, c)
	}
	return str(b)
}

var escapes = map[byte]byte{'n': '\n', 'r': '\r', 't': '\t', 'b': '\b', 'f': '\f'}

func (l *lexer) escape(b []byte) []byte {
	if l.pos >= len(l.src) {
		return b
	}
	c := l.src[l.pos]
	l.pos++
	switch {
	case c == '\r':
		if l.pos < len(l.src) && l.src[l.pos] == '\n' {
			l.pos++
		}
		return b
	case c == '\n':
		return b
	case c >= '0' && c <= '7':
		v := int(c - '0')
		for range 2 {
			if l.pos < len(l.src) && l.src[l.pos] >= '0' && l.src[l.pos] <= '7' {
				v = v*8 + int(l.src[l.pos]-'0')
				l.pos++
			}
		}
		return append(b, byte(v))
	}
	if e, ok := escapes[c]; ok {
		c = e
	}
	return append(b, c)
}

func (l *lexer) list(depth int) []any {
	var out []any
	for {
		switch v := l.value(depth + 1).(type) {
		case end:
			return out
		case closing:
			if v == ']' || v == '>' {
				return out
			}
		case op: // it does not belong here
			if v == "endobj" || v == "ET" {
				return out
			}
		default:
			if len(out) < maxItems {
				out = append(out, v)
				l.count++
			}
		}
	}
}

func (l *lexer) entries(depth int) dict {
	d := dict{}
	for {
		switch k := l.value(depth + 1).(type) {
		case end, closing:
			return d
		case op:
			if k == "endobj" || k == "stream" {
				return d
			}
		case name:
			v := l.value(depth + 1)
			switch v.(type) {
			case end, closing:
				return d
			}
			if len(d) < maxItems {
				d[k] = v
				l.count += 3
			}
		}
	}
}

// streamBody is what follows a dictionary between "stream" and "endstream".
func (l *lexer) streamBody(d dict) ([]byte, bool) {
	l.skip()
	if !bytes.HasPrefix(l.src[l.pos:], []byte("stream")) {
		return nil, false
	}
	at := l.pos + len("stream")
	if at < len(l.src) && l.src[at] == '\r' {
		at++
	}
	if at < len(l.src) && l.src[at] == '\n' {
		at++
	}
	if n := l.p.integer(d["Length"]); n > 0 && n <= len(l.src)-at {
		// The length is believed only when the stream ends there.
		if bytes.HasPrefix(bytes.TrimLeft(l.src[at+n:min(len(l.src), at+n+16)], " \r\n"), []byte("endst")) {
			return l.src[at : at+n], true
		}
	}
	n := bytes.Index(l.src[at:], []byte("endstream"))
	if n < 0 {
		n = len(l.src) - at
	}
	l.p.work -= n
	return l.src[at : at+n], true
}
