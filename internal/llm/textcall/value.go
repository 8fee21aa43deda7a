package textcall

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

var (
	// errMore: what is there may become a call, the rest of it has not come yet.
	errMore = errors.New("more is needed")
	// errNo: this is no call, whatever comes.
	errNo = errors.New("no call")
)

const deepest = 64 // values inside values; more is no call of a tool

// A reader reads one thing from its beginning. Where the text ends it asks for
// more, unless it is the last: then a thing that is not complete is none.
type reader struct {
	s     string
	i     int
	last  bool
	tools offer
	depth int
	notes []string // what was mended
	other bool     // a syntax of its own: quotes and words unlike JSON's are no fault in it
}

func (r *reader) end() error {
	if r.last {
		return errNo
	}
	return errMore
}

// space skips white space and reports whether something is left.
func (r *reader) space() bool {
	for r.i < len(r.s) && strings.IndexByte(" \t\r\n", r.s[r.i]) >= 0 {
		r.i++
	}
	return r.i < len(r.s)
}

// at reports whether the text goes on with any of these, and asks for more
// while it may. Of words that begin alike the longer must come first.
func (r *reader) at(words ...string) (string, error) {
	rest := r.s[r.i:]
	for _, w := range words {
		if strings.HasPrefix(rest, w) {
			return w, nil
		}
		if !r.last && strings.HasPrefix(w, rest) {
			return "", errMore
		}
	}
	return "", nil
}

// skip goes over one of these words if it is there, and over the space before it.
func (r *reader) skip(words ...string) (bool, error) {
	start := r.i
	r.space()
	w, err := r.at(words...)
	if err != nil {
		return false, err
	}
	if w == "" {
		r.i = start
		return false, nil
	}
	r.i += len(w)
	return true, nil
}

// must goes over a word that has to be there.
func (r *reader) must(words ...string) error {
	ok, err := r.skip(words...)
	if err != nil {
		return err
	}
	if !ok {
		if r.i >= len(r.s) {
			return r.end()
		}
		return errNo
	}
	return nil
}

// until is the text before the first of these words; the word is skipped.
func (r *reader) until(words ...string) (text, word string, err error) {
	at := -1
	for _, w := range words {
		limit := r.s[r.i:]
		if at >= 0 {
			limit = limit[:min(len(limit), at+len(w)-1)]
		}
		if j := strings.Index(limit, w); j >= 0 && (at < 0 || j < at) {
			at, word = j, w
		}
	}
	if at < 0 {
		r.i = len(r.s) // all of it belongs to what is not complete
		return "", "", r.end()
	}
	text = r.s[r.i : r.i+at]
	r.i += at + len(word)
	return text, word, nil
}

func (r *reader) mend(what string) {
	if !r.other && !slices.Contains(r.notes, what) {
		r.notes = append(r.notes, what)
	}
}

// value reads a value as JSON has it, or nearly so, and writes it as JSON. What
// is open stays open: no quote and no bracket is ever added.
func (r *reader) value(b *bytes.Buffer) error {
	if !r.space() {
		return r.end()
	}
	if r.depth++; r.depth > deepest {
		return errNo
	}
	defer func() { r.depth-- }()
	switch c := r.s[r.i]; {
	case c == '{':
		return r.object(b)
	case c == '[':
		return r.list(b, "]")
	case c == '(':
		return r.round(b)
	case c == '"' || c == '\'' || c == '<':
		return r.text(b)
	case c == '-' || c == '+' || c == '.' || c >= '0' && c <= '9':
		return r.number(b)
	}
	return r.word(b)
}

func (r *reader) object(b *bytes.Buffer) error {
	r.i++
	b.WriteByte('{')
	for first := true; ; first = false {
		if done, err := r.skip("}"); err != nil || done {
			if done && !first {
				r.mend("a trailing comma")
			}
			b.WriteByte('}')
			return err
		}
		if !first {
			b.WriteByte(',')
		}
		if err := r.key(b); err != nil {
			return err
		}
		if err := r.must(":"); err != nil {
			return err
		}
		b.WriteByte(':')
		if err := r.value(b); err != nil {
			return err
		}
		more, err := r.skip(",")
		if err != nil {
			return err
		}
		if !more {
			b.WriteByte('}')
			return r.must("}")
		}
	}
}

func (r *reader) key(b *bytes.Buffer) error {
	if !r.space() {
		return r.end()
	}
	if strings.IndexByte(`"'<`, r.s[r.i]) >= 0 {
		return r.text(b)
	}
	name := r.ident()
	if r.i >= len(r.s) {
		return r.end()
	}
	if name == "" {
		return errNo
	}
	r.mend("keys without quotes")
	b.Write(quoted(name))
	return nil
}

func (r *reader) list(b *bytes.Buffer, closing string) error {
	r.i++
	b.WriteByte('[')
	for first := true; ; first = false {
		if done, err := r.skip(closing); err != nil || done {
			if done && !first {
				r.mend("a trailing comma")
				b.Truncate(b.Len() - 1)
			}
			b.WriteByte(']')
			return err
		}
		if err := r.value(b); err != nil {
			return err
		}
		more, err := r.skip(",")
		if err != nil {
			return err
		}
		if !more {
			b.WriteByte(']')
			return r.must(closing)
		}
		b.WriteByte(',')
	}
}

// round is a list in round brackets, or one value with brackets around it.
func (r *reader) round(b *bytes.Buffer) error {
	r.mend("round brackets")
	var in bytes.Buffer
	if err := r.list(&in, ")"); err != nil {
		return err
	}
	var list []json.RawMessage
	out := in.Bytes()
	if json.Unmarshal(out, &list) == nil && len(list) == 1 && !strings.HasSuffix(strings.TrimRight(r.s[:r.i-1], " \t\r\n"), ",") {
		out = list[0]
	}
	b.Write(out)
	return nil
}

// quotes that a text may stand in, the longer first.
var quotes = []string{`"""`, `'''`, `<|"|>`, `<escape>`, `"`, `'`}

func (r *reader) text(b *bytes.Buffer) error {
	q, err := r.at(quotes...)
	if err != nil || q == "" {
		return cmp.Or(err, errNo)
	}
	start := r.i
	r.i += len(q)
	var plain []byte
	bad := q != `"`
	for {
		j := strings.IndexAny(r.s[r.i:], "\\\n"+q[:1])
		if j < 0 {
			r.i = len(r.s)
			return r.end()
		}
		plain = append(plain, r.s[r.i:r.i+j]...)
		r.i += j
		switch c := r.s[r.i]; {
		case c == '\\' && len(q) < 5:
			ok, err := r.escape(&plain)
			if err != nil {
				return err
			}
			bad = bad || !ok
		case strings.HasPrefix(r.s[r.i:], q):
			r.i += len(q)
			if tok := r.s[start:r.i]; !bad && json.Valid([]byte(tok)) {
				b.WriteString(tok)
				return nil
			}
			if q == `'` {
				r.mend("single quotes")
			}
			b.Write(quoted(string(plain)))
			return nil
		default:
			if c == '\n' && len(q) == 1 {
				bad = true
				r.mend("line breaks in a text")
			}
			plain = append(plain, c)
			r.i++
		}
	}
}

// escape reads a backslash and what it stands for.
func (r *reader) escape(plain *[]byte) (strict bool, err error) {
	if r.i+1 >= len(r.s) {
		return false, r.end()
	}
	c := r.s[r.i+1]
	if k := strings.IndexByte(`"\/'nrtbf`, c); k >= 0 {
		*plain = append(*plain, "\"\\/'\n\r\t\b\f"[k])
		r.i += 2
		return c != '\'', nil
	}
	if c == 'u' || c == 'x' {
		n := map[byte]int{'u': 4, 'x': 2}[c]
		if r.i+2+n > len(r.s) {
			return false, r.end()
		}
		v, err := strconv.ParseUint(r.s[r.i+2:r.i+2+n], 16, 32)
		if err == nil {
			*plain = utf8.AppendRune(*plain, rune(v))
			r.i += 2 + n
			return c == 'u', nil
		}
	}
	if c == '\n' {
		r.i += 2
		return false, nil
	}
	r.mend("a backslash before nothing special")
	*plain = append(*plain, '\\')
	r.i++
	return false, nil
}

func (r *reader) number(b *bytes.Buffer) error {
	start := r.i
	for r.i < len(r.s) && (r.s[r.i] >= '0' && r.s[r.i] <= '9' || strings.IndexByte("+-.eE_", r.s[r.i]) >= 0) {
		r.i++
	}
	if r.i >= len(r.s) && !r.last {
		return errMore
	}
	tok := r.s[start:r.i]
	if json.Valid([]byte(tok)) {
		b.WriteString(tok)
		return nil
	}
	clean := strings.TrimPrefix(strings.ReplaceAll(tok, "_", ""), "+")
	v, err := strconv.ParseFloat(clean, 64)
	if err != nil {
		return errNo
	}
	out, err := json.Marshal(v)
	if err != nil {
		return errNo
	}
	r.mend("a number")
	b.Write(out)
	return nil
}

func (r *reader) word(b *bytes.Buffer) error {
	start := r.i
	w := r.ident()
	if r.i >= len(r.s) && !r.last {
		return errMore
	}
	switch w {
	case "true", "false", "null":
		b.WriteString(w)
	case "True", "False":
		r.mend("words of Python")
		b.WriteString(strings.ToLower(w))
	case "None":
		r.mend("words of Python")
		b.WriteString("null")
	default:
		r.i = start
		return errNo
	}
	return nil
}

// ident reads a name: of a tool, of an argument.
func (r *reader) ident() string {
	start := r.i
	for r.i < len(r.s) && isName(r.s[r.i]) {
		r.i++
	}
	return r.s[start:r.i]
}

func isName(c byte) bool {
	return c == '_' || c == '.' || c == '-' || c == '$' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

func quoted(s string) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a string always can be written
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
