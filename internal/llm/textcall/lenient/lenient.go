// Package lenient reads values that are nearly JSON: with single quotes, trailing
// commas or the words of Python. It never closes what is open.
package lenient

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
	// ErrMore: what is there may become a call, the rest of it has not come yet.
	ErrMore = errors.New("more is needed")
	// ErrNo: this is no call, whatever comes.
	ErrNo = errors.New("no call")
)

const deepest = 64 // values inside values; more is no call of a tool

// A Reader reads one thing from its beginning. Where the text ends it asks for
// more, unless it is the last: then a thing that is not complete is none.
type Reader struct {
	S     string
	I     int
	Last  bool
	Depth int
	Notes []string // what was mended
	Other bool     // a syntax of its own: quotes and words unlike JSON's are no fault in it
}

// End is the error where the text ends: more may come, or this is none.
func (r *Reader) End() error {
	if r.Last {
		return ErrNo
	}
	return ErrMore
}

// Space skips white space and reports whether something is left.
func (r *Reader) Space() bool {
	for r.I < len(r.S) && strings.IndexByte(" \t\r\n", r.S[r.I]) >= 0 {
		r.I++
	}
	return r.I < len(r.S)
}

// At reports whether the text goes on with any of these, and asks for more
// while it may. Of words that begin alike the longer must come first.
func (r *Reader) At(words ...string) (string, error) {
	rest := r.S[r.I:]
	for _, w := range words {
		if strings.HasPrefix(rest, w) {
			return w, nil
		}
		if !r.Last && strings.HasPrefix(w, rest) {
			return "", ErrMore
		}
	}
	return "", nil
}

// Skip goes over one of these words if it is there, and over the space before it.
func (r *Reader) Skip(words ...string) (bool, error) {
	start := r.I
	r.Space()
	w, err := r.At(words...)
	if err != nil {
		return false, err
	}
	if w == "" {
		r.I = start
		return false, nil
	}
	r.I += len(w)
	return true, nil
}

// Must goes over a word that has to be there.
func (r *Reader) Must(words ...string) error {
	ok, err := r.Skip(words...)
	if err != nil {
		return err
	}
	if !ok {
		if r.I >= len(r.S) {
			return r.End()
		}
		return ErrNo
	}
	return nil
}

// Until is the text before the first of these words; the word is skipped.
func (r *Reader) Until(words ...string) (text, word string, err error) {
	at := -1
	for _, w := range words {
		limit := r.S[r.I:]
		if at >= 0 {
			limit = limit[:min(len(limit), at+len(w)-1)]
		}
		if j := strings.Index(limit, w); j >= 0 && (at < 0 || j < at) {
			at, word = j, w
		}
	}
	if at < 0 {
		r.I = len(r.S) // all of it belongs to what is not complete
		return "", "", r.End()
	}
	text = r.S[r.I : r.I+at]
	r.I += at + len(word)
	return text, word, nil
}

// Mend keeps what had to be mended.
func (r *Reader) Mend(what string) {
	if !r.Other && !slices.Contains(r.Notes, what) {
		r.Notes = append(r.Notes, what)
	}
}

// Value reads a value as JSON has it, or nearly so, and writes it as JSON. What
// is open stays open: no quote and no bracket is ever added.
func (r *Reader) Value(b *bytes.Buffer) error {
	if !r.Space() {
		return r.End()
	}
	if r.Depth++; r.Depth > deepest {
		return ErrNo
	}
	defer func() { r.Depth-- }()
	switch c := r.S[r.I]; {
	case c == '{':
		return r.object(b)
	case c == '[':
		return r.list(b, "]")
	case c == '(':
		return r.round(b)
	case c == '"' || c == '\'' || c == '<':
		return r.Text(b)
	case c == '-' || c == '+' || c == '.' || c >= '0' && c <= '9':
		return r.number(b)
	}
	return r.word(b)
}

func (r *Reader) object(b *bytes.Buffer) error {
	r.I++
	b.WriteByte('{')
	for first := true; ; first = false {
		if done, err := r.Skip("}"); err != nil || done {
			if done && !first {
				r.Mend("a trailing comma")
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
		if err := r.Must(":"); err != nil {
			return err
		}
		b.WriteByte(':')
		if err := r.Value(b); err != nil {
			return err
		}
		more, err := r.Skip(",")
		if err != nil {
			return err
		}
		if !more {
			b.WriteByte('}')
			return r.Must("}")
		}
	}
}

func (r *Reader) key(b *bytes.Buffer) error {
	if !r.Space() {
		return r.End()
	}
	if strings.IndexByte(`"'<`, r.S[r.I]) >= 0 {
		return r.Text(b)
	}
	name := r.Ident()
	if r.I >= len(r.S) {
		return r.End()
	}
	if name == "" {
		return ErrNo
	}
	r.Mend("keys without quotes")
	b.Write(Quoted(name))
	return nil
}

func (r *Reader) list(b *bytes.Buffer, closing string) error {
	r.I++
	b.WriteByte('[')
	for first := true; ; first = false {
		if done, err := r.Skip(closing); err != nil || done {
			if done && !first {
				r.Mend("a trailing comma")
				b.Truncate(b.Len() - 1)
			}
			b.WriteByte(']')
			return err
		}
		if err := r.Value(b); err != nil {
			return err
		}
		more, err := r.Skip(",")
		if err != nil {
			return err
		}
		if !more {
			b.WriteByte(']')
			return r.Must(closing)
		}
		b.WriteByte(',')
	}
}

// round is a list in round brackets, or one value with brackets around it.
func (r *Reader) round(b *bytes.Buffer) error {
	r.Mend("round brackets")
	var in bytes.Buffer
	if err := r.list(&in, ")"); err != nil {
		return err
	}
	var list []json.RawMessage
	out := in.Bytes()
	if json.Unmarshal(out, &list) == nil && len(list) == 1 && !strings.HasSuffix(strings.TrimRight(r.S[:r.I-1], " \t\r\n"), ",") {
		out = list[0]
	}
	b.Write(out)
	return nil
}

// quotes that a text may stand in, the longer first.
var quotes = []string{`"""`, `'''`, `<|"|>`, `<escape>`, `"`, `'`}

// Text reads a text in any of the quotes, and writes it as JSON.
func (r *Reader) Text(b *bytes.Buffer) error {
	q, err := r.At(quotes...)
	if err != nil || q == "" {
		return cmp.Or(err, ErrNo)
	}
	start := r.I
	r.I += len(q)
	var plain []byte
	bad := q != `"`
	for {
		j := strings.IndexAny(r.S[r.I:], "\\\n"+q[:1])
		if j < 0 {
			r.I = len(r.S)
			return r.End()
		}
		plain = append(plain, r.S[r.I:r.I+j]...)
		r.I += j
		switch c := r.S[r.I]; {
		case c == '\\' && len(q) < 5:
			ok, err := r.escape(&plain)
			if err != nil {
				return err
			}
			bad = bad || !ok
		case q == `'` && c == '\'' && r.I+1 == len(r.S) && !r.Last:
			return ErrMore
		case q == `'` && c == '\'' && isApostrophe(r.S[start:], r.I-start):
			r.Mend("an apostrophe")
			plain = append(plain, c)
			r.I++
		case strings.HasPrefix(r.S[r.I:], q):
			r.I += len(q)
			if tok := r.S[start:r.I]; !bad && json.Valid([]byte(tok)) {
				b.WriteString(tok)
				return nil
			}
			if q == `'` {
				r.Mend("single quotes")
			}
			b.Write(Quoted(string(plain)))
			return nil
		default:
			if c == '\n' && len(q) == 1 {
				bad = true
				r.Mend("line breaks in a text")
			}
			plain = append(plain, c)
			r.I++
		}
	}
}

// isApostrophe reports whether a quote stands between letters: no text ends there.
func isApostrophe(s string, i int) bool {
	return i > 1 && i+1 < len(s) && isLetter(s[i-1]) && isLetter(s[i+1])
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= utf8.RuneSelf }

// escape reads a backslash and what it stands for.
func (r *Reader) escape(plain *[]byte) (strict bool, err error) {
	if r.I+1 >= len(r.S) {
		return false, r.End()
	}
	c := r.S[r.I+1]
	if k := strings.IndexByte(`"\/'nrtbf`, c); k >= 0 {
		*plain = append(*plain, "\"\\/'\n\r\t\b\f"[k])
		r.I += 2
		return c != '\'', nil
	}
	if c == 'u' || c == 'x' {
		n := map[byte]int{'u': 4, 'x': 2}[c]
		if r.I+2+n > len(r.S) {
			return false, r.End()
		}
		v, err := strconv.ParseUint(r.S[r.I+2:r.I+2+n], 16, 32)
		if err == nil {
			*plain = utf8.AppendRune(*plain, rune(v))
			r.I += 2 + n
			return c == 'u', nil
		}
	}
	if c == '\n' {
		r.I += 2
		return false, nil
	}
	r.Mend("a backslash before nothing special")
	*plain = append(*plain, '\\')
	r.I++
	return false, nil
}

func (r *Reader) number(b *bytes.Buffer) error {
	start := r.I
	for r.I < len(r.S) && (r.S[r.I] >= '0' && r.S[r.I] <= '9' || strings.IndexByte("+-.eE_", r.S[r.I]) >= 0) {
		r.I++
	}
	if r.I >= len(r.S) && !r.Last {
		return ErrMore
	}
	tok := r.S[start:r.I]
	if json.Valid([]byte(tok)) {
		b.WriteString(tok)
		return nil
	}
	clean := strings.TrimPrefix(strings.ReplaceAll(tok, "_", ""), "+")
	v, err := strconv.ParseFloat(clean, 64)
	if err != nil {
		return ErrNo
	}
	out, err := json.Marshal(v)
	if err != nil {
		return ErrNo
	}
	r.Mend("a number")
	b.Write(out)
	return nil
}

func (r *Reader) word(b *bytes.Buffer) error {
	start := r.I
	w := r.Ident()
	if r.I >= len(r.S) && !r.Last {
		return ErrMore
	}
	switch w {
	case "true", "false", "null":
		b.WriteString(w)
	case "True", "False":
		r.Mend("words of Python")
		b.WriteString(strings.ToLower(w))
	case "None":
		r.Mend("words of Python")
		b.WriteString("null")
	default:
		r.I = start
		return ErrNo
	}
	return nil
}

// Ident reads a name: of a tool, of an argument.
func (r *Reader) Ident() string {
	start := r.I
	for r.I < len(r.S) && IsName(r.S[r.I]) {
		r.I++
	}
	return r.S[start:r.I]
}

// IsName reports whether a byte may be part of a name.
func IsName(c byte) bool {
	return c == '_' || c == '.' || c == '-' || c == '$' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// Quoted is a text as JSON, with < and > as they are.
func Quoted(s string) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a string always can be written
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
