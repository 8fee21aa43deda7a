package configfile

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"lore/internal/fault"
)

// maxDepth is how deep values may be nested: no settings file comes near it,
// and a hostile one must not exhaust the stack.
const maxDepth = 200

// bom is what some editors put in front of a text.
const bom = "\ufeff"

// A node is one value of a JSON text, by its place.
type node struct {
	kind       byte // '{', '[', '"', or the first byte of a number or a word
	start, end int
	members    []member // of an object
	items      []node   // of an array
	text       string   // of a string, decoded
}

// A member is one name of an object with its value.
type member struct {
	key      string
	keyStart int
	value    node
	comma    int // where the comma after the value stands; -1 when there is none
}

// A doc is a JSON text with comments and trailing commas, parsed.
type doc struct {
	text  string
	root  node
	blank bool // there is no value, only space and comments
}

// parse reads a JSON text as editors do: comments and trailing commas are no
// mistakes. A text that is empty but for them is blank.
func parse(text string) (*doc, error) {
	if !utf8.ValidString(text) {
		return nil, fault.New(fault.Invalid, "the text is not UTF-8")
	}
	p := &parser{text: text}
	if strings.HasPrefix(text, bom) {
		p.pos = len(bom)
	}
	if err := p.skip(); err != nil {
		return nil, err
	}
	d := &doc{text: text}
	if p.pos == len(text) {
		d.blank = true
		return d, nil
	}
	var err error
	if d.root, err = p.value(0); err != nil {
		return nil, err
	}
	if err := p.skip(); err != nil {
		return nil, err
	}
	if p.pos < len(text) {
		return nil, p.bad("there is text after the end of the value")
	}
	return d, nil
}

type parser struct {
	text string
	pos  int
}

func (p *parser) bad(what string) error {
	return fault.New(fault.Invalid, "line %d: %s", 1+strings.Count(p.text[:min(p.pos, len(p.text))], "\n"), what)
}

// peek is the byte that comes next; 0 at the end.
func (p *parser) peek() byte {
	if p.pos < len(p.text) {
		return p.text[p.pos]
	}
	return 0
}

// skip passes over space and comments.
func (p *parser) skip() error {
	for p.pos < len(p.text) {
		switch c := p.text[p.pos]; {
		case isSpace(c):
			p.pos++
		case c == '/':
			end, _ := comment(p.text, p.pos)
			if end < 0 {
				return p.bad("a comment is not closed, or a / is misplaced")
			}
			p.pos = end
		default:
			return nil
		}
	}
	return nil
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// comment returns where the comment that begins at pos ends, and whether it is
// one that reaches to the end of its line. The line end is not a part of it.
// end is -1 when no comment begins there, or when it never ends.
func comment(text string, pos int) (end int, line bool) {
	rest := text[pos:]
	switch {
	case strings.HasPrefix(rest, "//"):
		if i := strings.IndexAny(rest, "\r\n"); i >= 0 {
			return pos + i, true
		}
		return len(text), true
	case strings.HasPrefix(rest, "/*"):
		if i := strings.Index(rest[2:], "*/"); i >= 0 {
			return pos + 2 + i + 2, false
		}
	}
	return -1, false
}

func (p *parser) value(depth int) (node, error) {
	if depth > maxDepth {
		return node{}, p.bad("values are nested too deeply")
	}
	switch c := p.peek(); {
	case c == '{':
		return p.object(depth)
	case c == '[':
		return p.array(depth)
	case c == '"':
		return p.str()
	case c == '-' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z':
		return p.scalar()
	case c == 0 && p.pos == len(p.text):
		return node{}, p.bad("the text ends too early")
	}
	return node{}, p.bad("no value begins with " + quote(p.text[p.pos:p.pos+runeLen(p.text[p.pos:])]))
}

func runeLen(s string) int {
	_, n := utf8.DecodeRuneInString(s)
	return n
}

// scalar reads a number or one of the words true, false and null.
func (p *parser) scalar() (node, error) {
	n := node{kind: p.peek(), start: p.pos}
	for p.pos < len(p.text) && strings.IndexByte("+-.0123456789abcdefghijklmnopqrstuvwxyzE", p.text[p.pos]) >= 0 {
		p.pos++
	}
	n.end = p.pos
	if !json.Valid([]byte(p.text[n.start:n.end])) {
		p.pos = n.start
		return node{}, p.bad(quote(p.text[n.start:n.end]) + " is not a value")
	}
	return n, nil
}

func (p *parser) str() (node, error) {
	n := node{kind: '"', start: p.pos}
	for i := p.pos + 1; i < len(p.text); i++ {
		switch p.text[i] {
		case '\\':
			i++
		case '\n':
			return node{}, p.bad("a string does not end on its line")
		case '"':
			n.end = i + 1
			if err := json.Unmarshal([]byte(p.text[n.start:n.end]), &n.text); err != nil {
				return node{}, p.bad("a string is not valid JSON")
			}
			p.pos = n.end
			return n, nil
		}
	}
	return node{}, p.bad("a string is not closed")
}

func (p *parser) object(depth int) (node, error) {
	n := node{kind: '{', start: p.pos}
	p.pos++
	for {
		if err := p.skip(); err != nil {
			return node{}, err
		}
		if p.peek() == '}' {
			p.pos++
			n.end = p.pos
			return n, nil
		}
		if len(n.members) > 0 && n.members[len(n.members)-1].comma < 0 {
			return node{}, p.bad("a comma or } is missing")
		}
		m, err := p.member(depth)
		if err != nil {
			return node{}, err
		}
		n.members = append(n.members, m)
	}
}

func (p *parser) member(depth int) (member, error) {
	m := member{keyStart: p.pos, comma: -1}
	if p.peek() != '"' {
		return m, p.bad(`a name in quotes or } is missing`)
	}
	key, err := p.str()
	if err != nil {
		return m, err
	}
	m.key = key.text
	if err := p.skip(); err != nil {
		return m, err
	}
	if p.peek() != ':' {
		return m, p.bad("a colon is missing after " + quote(m.key))
	}
	p.pos++
	if err := p.skip(); err != nil {
		return m, err
	}
	if m.value, err = p.value(depth + 1); err != nil {
		return m, err
	}
	m.comma, err = p.comma()
	return m, err
}

// comma passes over the comma after a value, when there is one.
func (p *parser) comma() (int, error) {
	if err := p.skip(); err != nil || p.peek() != ',' {
		return -1, err
	}
	p.pos++
	return p.pos - 1, nil
}

func (p *parser) array(depth int) (node, error) {
	n := node{kind: '[', start: p.pos}
	p.pos++
	comma := 0
	for {
		if err := p.skip(); err != nil {
			return node{}, err
		}
		if p.peek() == ']' {
			p.pos++
			n.end = p.pos
			return n, nil
		}
		if comma < 0 {
			return node{}, p.bad("a comma or ] is missing")
		}
		item, err := p.value(depth + 1)
		if err != nil {
			return node{}, err
		}
		n.items = append(n.items, item)
		if comma, err = p.comma(); err != nil {
			return node{}, err
		}
	}
}

// find returns the index of a name in an object; -1 when it is not there. A
// name that stands twice is an error: programs disagree on which of them counts.
func (n node) find(key string) (int, error) {
	at := -1
	for i, m := range n.members {
		if m.key != key {
			continue
		}
		if at >= 0 {
			return -1, fault.Fix(fault.Invalid, "remove one of them", "%s occurs twice", quote(key))
		}
		at = i
	}
	return at, nil
}

// twice returns the first name that stands twice in one object, anywhere.
func (n node) twice() (string, bool) {
	seen := make(map[string]bool, len(n.members))
	for _, m := range n.members {
		if seen[m.key] {
			return m.key, true
		}
		seen[m.key] = true
		if key, ok := m.value.twice(); ok {
			return key, true
		}
	}
	for _, item := range n.items {
		if key, ok := item.twice(); ok {
			return key, true
		}
	}
	return "", false
}

// plain gives the meaning of a value, for comparing: objects keep their order
// and names that stand twice.
func (d *doc) plain(n node) any {
	switch n.kind {
	case '{':
		out := make([]any, 0, 2*len(n.members))
		for _, m := range n.members {
			out = append(out, m.key, d.plain(m.value))
		}
		return map[string]any{"object": out}
	case '[':
		out := make([]any, 0, len(n.items))
		for _, item := range n.items {
			out = append(out, d.plain(item))
		}
		return out
	case '"':
		return n.text
	}
	return json.RawMessage(d.text[n.start:n.end])
}

// quote writes a string as JSON does, without hiding <, > and &.
func quote(s string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		panic("a string has no JSON: " + err.Error()) // every string has
	}
	return strings.TrimSuffix(b.String(), "\n")
}
