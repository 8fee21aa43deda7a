package note

import (
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
)

// place finds the bytes of every property. The library gives the line and the
// column, in runes, of each key; the rest is read from the text. A property
// whose bytes are not where they should be keeps empty spans and is not edited.
func (p *parser) place(root *yaml.Node, lines []int) {
	f := &p.note.Front
	for i := range f.Props {
		k, v := root.Content[2*i], root.Content[2*i+1]
		from := p.keyAt(k, lines)
		if from < 0 {
			continue
		}
		limit := f.YAML.End
		if 2*i+2 < len(root.Content) {
			if limit = p.keyAt(root.Content[2*i+2], lines); limit < 0 {
				continue
			}
		}
		p.placeOne(&f.Props[i], k, v, from, limit)
	}
}

// keyAt is where a top-level key begins: always the first byte of a line. A key
// with an anchor, tag or "?" before it is not found.
func (p *parser) keyAt(k *yaml.Node, lines []int) int {
	if k.Column != 1 || k.Line < 1 || k.Line > len(lines) || k.Kind != yaml.ScalarNode || k.Anchor != "" || k.Style&yaml.TaggedStyle != 0 {
		return -1
	}
	return lines[k.Line-1]
}

func (p *parser) placeOne(prop *Property, k, v *yaml.Node, from, limit int) {
	text := p.text
	name := from
	switch {
	case k.Style&yaml.DoubleQuotedStyle != 0:
		name = quotedEnd(text, from, limit)
	case k.Style&yaml.SingleQuotedStyle != 0:
		name = quotedEnd(text, from, limit)
	case strings.HasPrefix(text[from:limit], k.Value) && k.Value != "":
		name = from + len(k.Value)
	}
	colon := trimLeft(text, name, limit)
	if name == from || colon >= limit || text[colon] != ':' {
		return
	}
	val, ok := valueSpan(text, colon+1, limit, v)
	if !ok {
		return
	}
	end := limit
	if i := strings.IndexAny(text[val.End:limit], "\r\n"); i >= 0 {
		end = val.End + i + 1
		if text[end-1] == '\r' && end < limit && text[end] == '\n' {
			end++
		}
	}
	prop.Span, prop.Name, prop.Val = Span{from, end}, Span{from, name}, val
}

// quotedEnd returns the end of the quoted scalar at i, or i.
func quotedEnd(s string, i, limit int) int {
	q := s[i]
	if q != '"' && q != '\'' {
		return i
	}
	for j := i + 1; j < limit; j++ {
		switch {
		case s[j] == '\\' && q == '"':
			j++
		case s[j] == q && q == '\'' && j+1 < limit && s[j+1] == q:
			j++
		case s[j] == q:
			return j + 1
		}
	}
	return i
}

// valueSpan finds the value after the colon at from. The range between two keys
// also holds comments and blank lines, which belong to nobody.
func valueSpan(s string, from, limit int, v *yaml.Node) (Span, bool) {
	start := skipBlank(s, from, limit)
	if start >= limit || v.Kind == yaml.ScalarNode && v.Value == "" && v.Style == 0 && v.ShortTag() == "!!null" && v.Anchor == "" {
		return Span{from, from}, true
	}
	block := v.Kind == yaml.ScalarNode && v.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0
	end := lastContent(s, start, limit, block)
	if end <= start {
		return Span{}, false
	}
	lineStart := strings.LastIndexAny(s[start:end], "\r\n") + 1 + start
	switch {
	case block, v.Kind == yaml.MappingNode && v.Style&yaml.FlowStyle == 0, v.Kind == yaml.SequenceNode && v.Style&yaml.FlowStyle == 0:
		// A comment at the end of the last line stays with the value.
	case v.Kind == yaml.ScalarNode && v.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) != 0 && (s[start] == '"' || s[start] == '\''):
		e := quotedEnd(s, start, end)
		if e == start {
			return Span{}, false
		}
		end = e
	default:
		if i := strings.Index(s[lineStart:end], " #"); i >= 0 {
			end = trimRight(s, lineStart, lineStart+i)
		} else if i := strings.Index(s[lineStart:end], "\t#"); i >= 0 {
			end = trimRight(s, lineStart, lineStart+i)
		}
		if v.Style&yaml.FlowStyle != 0 && s[end-1] != ']' && s[end-1] != '}' {
			return Span{}, false
		}
	}
	return Span{start, end}, end > start
}

// skipBlank moves over blanks, line ends and comments that stand alone.
func skipBlank(s string, i, limit int) int {
	for i < limit {
		switch s[i] {
		case ' ', '\t', '\r', '\n':
			i++
		case '#':
			j := strings.IndexAny(s[i:limit], "\r\n")
			if j < 0 {
				return limit
			}
			i += j
		default:
			// Of the value's first line the indent belongs to the value only
			// where a list begins on a line of its own.
			return i
		}
	}
	return limit
}

// lastContent is the end of the last line in s[start:limit] that is not blank
// and no comment. In a block scalar only a comment without indent is one.
func lastContent(s string, start, limit int, block bool) int {
	end := limit
	for end > start {
		e := end
		for e > start && (s[e-1] == '\n' || s[e-1] == '\r' || s[e-1] == ' ' || s[e-1] == '\t') {
			e--
		}
		line := strings.LastIndexAny(s[start:e], "\r\n") + 1 + start
		first := trimLeft(s, line, e)
		if line > start && first < e && s[first] == '#' && (!block || first == line) {
			end = line
			continue
		}
		return e
	}
	return start
}

// propertyLinks finds the links in the value of a property: [[target]], quoted
// or bare, in texts and lists of any depth, and URLs.
func (p *parser) propertyLinks(prop *Property) {
	s := p.text[:prop.Val.End]
	quote := byte(0)
	block := prop.Val.Len() > 0 && (s[prop.Val.Start] == '|' || s[prop.Val.Start] == '>')
	fresh := true // a scalar may begin here
	for i := prop.Val.Start; i < len(s); i++ {
		c := s[i]
		switch {
		case quote == '"' && c == '\\':
			i++
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && fresh && !block && (c == '"' || c == '\''):
			quote = c
			continue
		case quote == 0 && !block && c == '#' && (s[i-1] == ' ' || s[i-1] == '\t' || s[i-1] == '\n'):
			j := strings.IndexAny(s[i:], "\r\n")
			if j < 0 {
				return
			}
			i += j
		case c == '[' && i+1 < len(s) && s[i+1] == '[':
			if end := p.propertyWiki(prop.Key, s, i, quote); end > 0 {
				i = end - 1
			}
		case c == 'h' && (fresh || quote != 0 && s[i-1] == quote):
			i = p.propertyURL(prop.Key, s, i)
		}
		fresh = strings.IndexByte(" \t\r\n[{,:-", c) >= 0
	}
}

// propertyWiki records the wikilink at s[i]. It must stand as it is in the
// value: one with YAML escapes inside is left alone.
func (p *parser) propertyWiki(key, s string, i int, quote byte) int {
	end := wikiEnd(s, i+2)
	if end == 0 {
		return 0
	}
	inner := s[i+2 : end-2]
	if quote == '"' && strings.IndexByte(inner, '\\') >= 0 || quote == '\'' && strings.IndexByte(inner, '\'') >= 0 ||
		quote == 0 && strings.ContainsAny(inner, "\"'") {
		return 0
	}
	l, dest, ok := splitWiki(inner, p.note.opt)
	if !ok {
		return 0
	}
	start := i
	if s[i-1] == '!' {
		start--
	}
	l.Kind, l.Field = InFront, key
	l.Span, l.Dest = Span{start, end}, Span{i + 2 + dest.Start, i + 2 + dest.End}
	if l.Fragment != "" {
		l.Frag = Span{i + 2 + l.Frag.Start, i + 2 + l.Frag.End}
	}
	p.note.addLink(l)
	return end
}

// propertyURL records a URL at s[i] and returns its last byte.
func (p *parser) propertyURL(key, s string, i int) int {
	if n := schemeLen(s[i:]); !strings.HasPrefix(s[i:], "http") || n == 0 || !strings.HasPrefix(s[i+n:], "//") {
		return i
	}
	end := i
	for end < len(s) && s[end] > ' ' && strings.IndexByte("\"'<>[]{}\\", s[end]) < 0 {
		end++
	}
	for end > i && strings.IndexByte(",.;:", s[end-1]) >= 0 {
		end--
	}
	if !utf8.ValidString(s[i:end]) {
		return i
	}
	span := Span{i, end}
	p.note.addLink(Link{Kind: InFront, External: true, Target: s[i:end], Field: key, Span: span, Dest: span})
	return end - 1
}
