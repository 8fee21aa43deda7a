package note

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// simpleFront reads the front matter that most notes have: flat keys with plain
// or quoted scalars and simple lists. It is some forty times faster than the
// library and must agree with it (FuzzFrontMatter); at anything that it does not
// know for certain it gives up and returns false.
func (p *parser) simpleFront(lines []int) bool {
	f := &p.note.Front
	if !plainYAML(p.text[f.YAML.Start:f.YAML.End]) {
		return false
	}
	s := simple{text: p.text, lines: lines, end: f.YAML.End}
	f.Props = make([]Property, 0, min(len(lines), fewProps))
	for s.at = 0; s.at < len(lines); {
		from, to := s.line(s.at)
		first := trimLeft(p.text, from, to)
		if first == to || p.text[first] == '#' {
			s.at++
			continue
		}
		if first != from || !s.entry(f, from, to) {
			return false
		}
	}
	return true
}

// plainYAML refuses characters on which YAML has opinions of its own.
func plainYAML(s string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c < utf8.RuneSelf {
			if c < ' ' && c != '\n' && c != '\r' || c == 0x7F {
				return false
			}
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError || r < 0xA0 || r == 0x2028 || r == 0x2029 || r == 0xFEFF || r >= 0xFFF0 && r <= 0xFFFF {
			return false
		}
		i += size - 1
	}
	return true
}

type simple struct {
	text  string
	lines []int
	end   int
	at    int // index of the line to read
}

// line gives the bounds of a line without its line end.
func (s *simple) line(i int) (from, to int) {
	from, to = s.lines[i], s.end
	if i+1 < len(s.lines) {
		to = s.lines[i+1]
	}
	for to > from && (s.text[to-1] == '\n' || s.text[to-1] == '\r') {
		to--
	}
	return from, to
}

// after is the end of a line with its line end.
func (s *simple) after(i int) int {
	if i+1 < len(s.lines) {
		return s.lines[i+1]
	}
	return s.end
}

// entry reads the key at the line s.at and what follows it.
func (s *simple) entry(f *Front, from, to int) bool {
	colon := from
	for colon < to && (s.text[colon] != ':' || colon+1 < to && s.text[colon+1] != ' ') {
		c := s.text[colon]
		if !isWordByte(c) && c != '_' && (colon == from || c != '-' && c != ' ' && c != '.' && c != ':') && c < utf8.RuneSelf {
			return false
		}
		colon++
	}
	if colon == from || colon == to || colon-from > 200 || s.text[colon-1] == ' ' {
		return false
	}
	prop := Property{Key: s.text[from:colon], Name: Span{from, colon}}
	start := trimLeft(s.text, colon+1, to)
	if start == to || s.text[start] == '#' {
		return s.list(f, prop, colon+1)
	}
	v, val, ok := s.value(start, to, false)
	if !ok {
		return false
	}
	prop.Value, prop.Val = v, val
	prop.Span = Span{from, s.after(s.at)}
	f.Props = append(f.Props, prop)
	s.at++
	return s.noIndent()
}

// noIndent reports whether the next line with content begins without indent:
// otherwise it would go on with the value above.
func (s *simple) noIndent() bool {
	for i := s.at; i < len(s.lines); i++ {
		from, to := s.line(i)
		if first := trimLeft(s.text, from, to); first < to && s.text[first] != '#' {
			return first == from
		} else if first < to && first > from {
			return false // an indented comment: the library knows better
		}
	}
	return true
}

// list reads the block list below a bare key, or takes the key as null.
func (s *simple) list(f *Front, prop Property, from int) bool {
	line := s.at
	s.at++
	indent := -1
	var items []any
	last := 0
	for ; s.at < len(s.lines); s.at++ {
		start, to := s.line(s.at)
		first := trimLeft(s.text, start, to)
		if first == to {
			continue
		}
		if s.text[first] == '#' {
			if first > start {
				return false
			}
			continue
		}
		if s.text[first] != '-' || first+1 < to && s.text[first+1] != ' ' {
			if first > start {
				return false
			}
			break
		}
		if indent >= 0 && first-start != indent {
			return false
		}
		at := trimLeft(s.text, first+1, to)
		if at == to {
			return false
		}
		v, val, ok := s.value(at, to, false)
		if !ok {
			return false
		}
		if indent < 0 {
			indent, prop.Val.Start = first-start, first
		}
		items = append(items, v)
		last, prop.Val.End = s.at, val.End
		prop.Val.End = trimRight(s.text, val.End, to)
	}
	if indent < 0 {
		prop.Val = Span{from, from}
		prop.Span = Span{prop.Name.Start, s.after(line)}
	} else {
		prop.Value = items
		prop.Span = Span{prop.Name.Start, s.after(last)}
	}
	f.Props = append(f.Props, prop)
	return true
}

// value reads a scalar or a flow list that fills the rest of a line.
func (s *simple) value(from, to int, inList bool) (v any, val Span, ok bool) {
	switch c := s.text[from]; c {
	case '"', '\'':
		n := strings.IndexByte(s.text[from+1:to], c)
		if n < 0 {
			return nil, Span{}, false
		}
		end := from + n + 2
		inner := s.text[from+1 : end-1]
		if strings.IndexByte(inner, '\\') >= 0 && c == '"' || !s.onlyComment(end, to) {
			return nil, Span{}, false
		}
		return inner, Span{from, end}, true
	case '[':
		if inList {
			return nil, Span{}, false
		}
		return s.flow(from, to)
	}
	end := to
	if i := strings.Index(s.text[from:to], " #"); i >= 0 {
		end = from + i
	}
	end = trimRight(s.text, from, end)
	v, ok = plainValue(s.text[from:end])
	return v, Span{from, end}, ok
}

func (s *simple) onlyComment(from, to int) bool {
	i := trimLeft(s.text, from, to)
	return i == to || i > from && s.text[i] == '#'
}

func (s *simple) flow(from, to int) (any, Span, bool) {
	shut := strings.IndexByte(s.text[from:to], ']')
	if shut < 0 || !s.onlyComment(from+shut+1, to) {
		return nil, Span{}, false
	}
	end := from + shut + 1
	items := []any{}
	if trimLeft(s.text, from+1, end-1) == end-1 {
		return items, Span{from, end}, true
	}
	for at := from + 1; at < end; {
		stop := end - 1
		if i := strings.IndexByte(s.text[at:end-1], ','); i >= 0 {
			stop = at + i
		}
		a, b := trimLeft(s.text, at, stop), trimRight(s.text, at, stop)
		if a >= b || strings.ContainsAny(s.text[a:b], "[]{}#&*!|>%@`:?") {
			return nil, Span{}, false
		}
		v, val, ok := s.value(a, b, true)
		if !ok || val.End != b {
			return nil, Span{}, false
		}
		items = append(items, v)
		at = stop + 1
	}
	return items, Span{from, end}, true
}

// plainValue resolves an unquoted scalar.
func plainValue(v string) (any, bool) {
	c := v[0]
	if strings.Contains(v, ": ") || v[len(v)-1] == ':' {
		return nil, false
	}
	if c >= '0' && c <= '9' || c == '+' {
		return plainNumber(v)
	}
	if !isLetter(c) && c < utf8.RuneSelf && c != '/' && c != '(' && (c != '-' && c != ':' || len(v) == 1 || !isLetter(v[1]) && v[1] != '-' && v[1] != ':') {
		return nil, false
	}
	switch v {
	case "true", "false":
		return v == "true", true
	case "null":
		return nil, true
	}
	if len(v) <= 5 {
		switch strings.ToLower(v) {
		case "true", "false", "null":
			return nil, false
		}
	}
	return v, true
}

// plainNumber resolves what begins like a number.
func plainNumber(v string) (any, bool) {
	if len(v) == 10 && v[4] == '-' && v[7] == '-' && digits(v[:4]) && digits(v[5:7]) && digits(v[8:]) {
		return v, true
	}
	if digits(v) && len(v) < 18 && (v[0] != '0' || len(v) == 1) {
		i, err := strconv.ParseInt(v, 10, 64)
		return i, err == nil
	}
	if whole, part, ok := strings.Cut(v, "."); ok && len(v) < 16 && digits(whole) && digits(part) && (whole[0] != '0' || len(whole) == 1) {
		f, err := strconv.ParseFloat(v, 64)
		return f, err == nil
	}
	if !maybeNumber(v) {
		return v, true
	}
	return nil, false
}

// maybeNumber reports whether v could be a number in any notation: it has no
// other letters than those of hexadecimal digits and prefixes, one point at
// most, and a sign only before an exponent.
func maybeNumber(v string) bool {
	points := 0
	for i := 0; i < len(v); i++ {
		switch c := v[i]; {
		case c >= '0' && c <= '9', unhex(c) >= 0, c|0x20 == 'x', c|0x20 == 'o', c == '_':
		case c == '.':
			if points++; points > 1 {
				return false
			}
		case (c == '-' || c == '+') && (i == 0 || v[i-1]|0x20 == 'e'):
		default:
			return false
		}
	}
	return true
}

func digits(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}
