package note

import (
	"strings"
	"unicode/utf8"
)

// A lineField is the range of a view that is the value of a "key:: value" line.
type lineField struct {
	key string
	val Span
}

// maxKey is the longest key of an inline field, in bytes.
const maxKey = 64

// lineFields finds "key:: value" on the lines of the view.
func (in *inline) lineFields() {
	s := in.s
	for pos := 0; pos < len(s); {
		end := len(s)
		next := end
		if i := strings.IndexAny(s[pos:], "\r\n"); i >= 0 {
			end, next = pos+i, pos+i+1
		}
		start := trimLeft(s, pos, end)
		if rest := s[start:end]; len(rest) > 3 && rest[0] == '[' {
			_, size := utf8.DecodeRuneInString(rest[1:])
			if strings.HasPrefix(rest[1+size:], "] ") {
				start = trimLeft(s, start+size+3, end)
			}
		}
		pos = next
		key, val := fieldKey(s, start, end)
		if key == "" {
			continue
		}
		from, to := trimLeft(s, val, end), trimRight(s, val, end)
		from = min(from, to)
		in.fields = append(in.fields, lineField{key, Span{from, max(to, from)}})
		in.addField(key, Span{start, max(to, val)}, Span{from, to})
	}
}

func (in *inline) addField(key string, span, val Span) {
	if in.p.note.full(len(in.p.note.Fields), "fields") {
		return
	}
	in.p.note.Fields = append(in.p.note.Fields, Field{
		Key: key, Value: in.s[val.Start:val.End], Span: in.span(span.Start, span.End), Val: in.span(val.Start, val.End),
	})
}

// fieldKey reads "key::" at s[start:end], with or without marks of emphasis,
// and returns the key and where the value begins. A blank or the end of the
// line must follow, so that std::string is none.
func fieldKey(s string, start, end int) (key string, val int) {
	limit := min(end, start+maxKey+2)
	for i := start; i < limit; i++ {
		switch s[i] {
		case ':':
			if i+1 >= end || s[i+1] != ':' || i+2 < end && s[i+2] != ' ' && s[i+2] != '\t' {
				return "", 0
			}
			key = strings.TrimSpace(strings.Trim(strings.TrimSpace(s[start:i]), "*_~"))
			return key, i + 2
		case '[', ']', '(', ')', '{', '}', '`', '<', '>', '|', '#', '"', '\\', '$', '%', '!', ',', ';', '\n', '\r':
			return "", 0
		}
	}
	return "", 0
}

// bracketField reads [key:: value] or (key:: value) at s[i] and returns where
// its value begins, so that the links in it are read with the field's name. It
// is 0 when there is none.
func (in *inline) bracketField(i int, shut byte) int {
	s := in.s
	key, val := fieldKey(s, i+1, len(s))
	if key == "" {
		return 0
	}
	depth, end := 0, 0
scan:
	for j := val; j < len(s); j++ {
		switch s[j] {
		case '\n', '\r':
			return 0
		case s[i]:
			if depth++; depth > 8 {
				return 0
			}
		case shut:
			if depth == 0 {
				end = j
				break scan
			}
			depth--
		}
	}
	if end == 0 || shut == ']' && end+1 < len(s) && (s[end+1] == '(' || s[end+1] == '[') {
		return 0
	}
	from := trimLeft(s, val, end)
	to := max(from, trimRight(s, from, end))
	in.addField(key, Span{i, end + 1}, Span{from, to})
	if in.fieldEnd <= i {
		in.field, in.fieldEnd = key, end
	}
	return val
}

// fieldAt names the field whose value the position of the view stands in.
func (in *inline) fieldAt(i int) string {
	if i < in.fieldEnd {
		return in.field
	}
	for len(in.fields) > 0 && in.fields[0].val.End <= i {
		in.fields = in.fields[1:]
	}
	if len(in.fields) > 0 && in.fields[0].val.Start <= i {
		return in.fields[0].key
	}
	return ""
}

// logseq reads the page properties that Logseq keeps as fields: tags anywhere,
// title and alias in the first lines.
func (p *parser) logseq() {
	n := p.note
	for _, f := range n.Fields {
		switch strings.ToLower(f.Key) {
		case "tags":
			n.tagList(f)
		case "alias", "aliases":
			if p.inHead(f) {
				for _, a := range strings.Split(f.Value, ",") {
					n.addAlias(strings.Trim(a, " \t[]"))
				}
			}
		case "title":
			if p.inHead(f) && p.logseqTitle == "" {
				p.logseqTitle = strings.TrimSpace(f.Value)
			}
		}
	}
}

// inHead reports whether a field stands in the first block of the body.
func (p *parser) inHead(f Field) bool {
	return len(p.leaves) > 0 && f.Span.End <= p.leaves[0].End && p.text[f.Span.Start] != '[' && p.text[f.Span.Start] != '('
}

// tagList adds the tags of "tags:: a, [[b c]]". Those with a '#' of their own
// are known already.
func (n *Note) tagList(f Field) {
	at := f.Val.Start
	for _, part := range strings.Split(f.Value, ",") {
		name := strings.TrimSpace(part)
		start := at + strings.Index(part, name)
		at += len(part) + 1
		if inner, ok := strings.CutPrefix(name, "[["); ok {
			name = strings.TrimSuffix(inner, "]]")
			start += 2
		}
		if name != "" && !strings.ContainsAny(name, "#[](){}|`") && validTag(name) {
			n.addTag(Tag{Name: name, Span: Span{start, start + len(name)}})
		}
	}
}

func (n *Note) addAlias(a string) {
	if a = strings.TrimSpace(a); a != "" {
		n.Aliases = append(n.Aliases, a)
	}
}
