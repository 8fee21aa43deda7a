package note

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// maxCanvasDepth bounds the nesting that is followed in a canvas file.
const maxCanvasDepth = 20

// ParseCanvas reads a .canvas file: a link for every file node, and every text
// node as chunks with the links and tags in it. The spans of links point at
// bytes inside of JSON strings, which are escaped.
func ParseCanvas(path string, src []byte) *Note {
	n := &Note{Path: path, canvas: true}
	n.decode(src)
	p := &parser{note: n, text: n.text[:n.end]}
	for pos := 0; pos < n.end; {
		n.starts = append(n.starts, pos)
		_, pos = lineEnd(p.text, pos, false)
	}
	n.Lines = len(n.starts)
	if n.end < len(n.text) {
		n.problem("broken_canvas", "the canvas is too large to be read completely", 0)
	} else if strings.TrimSpace(p.text) != "" {
		c := canvas{note: n, src: []byte(strings.TrimPrefix(p.text, bom))}
		c.shift = len(p.text) - len(c.src)
		c.dec = json.NewDecoder(bytes.NewReader(c.src))
		c.dec.UseNumber()
		if err := c.root(); err != nil {
			n.problem("broken_canvas", err.Error(), n.line(int(c.dec.InputOffset())))
		}
	}
	n.Title = p.title()
	return n
}

type canvas struct {
	note  *Note
	src   []byte
	shift int
	dec   *json.Decoder
}

var errCanvas = errors.New("the canvas is not a JSON object with a list of nodes")

// object calls f with every key of the object that comes next.
func (c *canvas) object(f func(key string) error) error {
	if t, err := c.dec.Token(); err != nil || t != json.Delim('{') {
		return errors.Join(errCanvas, err)
	}
	for c.dec.More() {
		t, err := c.dec.Token()
		if err != nil {
			return err
		}
		key, _ := t.(string)
		if err := f(key); err != nil {
			return err
		}
	}
	_, err := c.dec.Token()
	return err
}

func (c *canvas) root() error {
	return c.object(func(key string) error {
		if key != "nodes" {
			return c.skip()
		}
		if t, err := c.dec.Token(); err != nil || t != json.Delim('[') {
			return errors.Join(errCanvas, err)
		}
		for c.dec.More() {
			if err := c.node(); err != nil {
				return err
			}
		}
		_, err := c.dec.Token()
		return err
	})
}

// skip passes over one value.
func (c *canvas) skip() error {
	for depth := 0; ; {
		t, err := c.dec.Token()
		if err != nil {
			return err
		}
		switch t {
		case json.Delim('{'), json.Delim('['):
			if depth++; depth > maxCanvasDepth {
				return errCanvas
			}
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if depth == 0 {
			return nil
		}
	}
}

// A jsonText is a string value and the bytes inside of its quotes.
type jsonText struct {
	val  string
	span Span
}

func (c *canvas) node() error {
	vals := make(map[string]jsonText)
	err := c.object(func(key string) error {
		switch key {
		case "type", "file", "subpath", "text", "url", "label":
			t, err := c.dec.Token()
			if err != nil {
				return err
			}
			s, ok := t.(string)
			if !ok {
				return fmt.Errorf("%q of a node is not text", key)
			}
			end := int(c.dec.InputOffset()) - 1
			vals[key] = jsonText{s, Span{c.opening(end) + c.shift, end + c.shift}}
			return nil
		}
		return c.skip()
	})
	if err != nil {
		return err
	}
	c.take(vals)
	return nil
}

// opening finds the first byte inside the string whose closing quote is at end.
func (c *canvas) opening(end int) int {
	for i := end - 1; i >= 0; i-- {
		if c.src[i] != '"' {
			continue
		}
		k := i
		for k > 0 && c.src[k-1] == '\\' {
			k--
		}
		if (i-k)%2 == 0 {
			return i + 1
		}
	}
	return end
}

func (c *canvas) take(vals map[string]jsonText) {
	n := c.note
	if f, ok := vals["file"]; ok && f.val != "" {
		l := Link{Kind: Canvas, Target: f.val, Span: f.span, Dest: f.span, Line: n.line(f.span.Start)}
		if sub := vals["subpath"]; strings.HasPrefix(sub.val, "#") && len(sub.val) > 1 {
			l.Fragment = sub.val[1:]
			if c.src[sub.span.Start-c.shift] == '#' {
				l.Frag = Span{sub.span.Start + 1, sub.span.End}
			}
		}
		n.addLink(l)
	}
	if u, ok := vals["url"]; ok && u.val != "" {
		n.addLink(Link{Kind: Canvas, Target: u.val, External: true, Span: u.span, Dest: u.span, Line: n.line(u.span.Start)})
	}
	t := vals["text"]
	if strings.TrimSpace(t.val) == "" || !utf8.ValidString(t.val) {
		return
	}
	inner := Parse(n.Path, []byte(t.val))
	line := n.line(t.span.Start)
	at := c.placer(t, len(inner.Links)+len(inner.Tags) > 0)
	for _, l := range inner.Links {
		l.Span, l.Dest, l.Frag, l.Line = at(l.Span), at(l.Dest), at(l.Frag), line
		if l.Span == (Span{}) {
			l.Span = t.span
		}
		n.addLink(l)
	}
	for _, tag := range inner.Tags {
		if tag.Span = at(tag.Span); tag.Span == (Span{}) {
			tag.Span = t.span
		}
		n.addTag(tag)
	}
	for _, ch := range inner.Chunks {
		ch.Span, ch.Line = t.span, line
		n.Chunks = append(n.Chunks, ch)
	}
	n.Words += inner.Words
}

// placer turns spans of a string's value into spans of the file. Where the two
// cannot be matched, and for the zero Span, it gives the zero Span.
func (c *canvas) placer(t jsonText, wanted bool) func(Span) Span {
	var offs []int
	if wanted {
		offs = jsonOffsets(string(c.src[t.span.Start-c.shift:t.span.End-c.shift]), len(t.val))
	}
	return func(s Span) Span {
		if offs == nil || s == (Span{}) {
			return Span{}
		}
		return Span{t.span.Start + offs[s.Start], t.span.Start + offs[s.End]}
	}
}

// jsonOffsets tells for each of the size bytes of a string's value, and for its
// end, where it stands in the string as written; nil when that is not clear.
func jsonOffsets(raw string, size int) []int {
	offs := make([]int, 0, size+1)
	for i := 0; i < len(raw); {
		step, width := 1, 1
		if raw[i] == '\\' {
			r, n := jsonEscape(raw[i:])
			if n == 0 {
				return nil
			}
			step, width = n, utf8.RuneLen(r)
		}
		for range width {
			offs = append(offs, i)
		}
		i += step
	}
	if len(offs) != size {
		return nil
	}
	return append(offs, len(raw))
}

// jsonEscape reads the escape at the beginning of s: what it stands for, and
// its length, 0 when it is none.
func jsonEscape(s string) (rune, int) {
	if len(s) < 2 {
		return 0, 0
	}
	if s[1] != 'u' {
		return rune(s[1]), 2 // all of them are one byte long
	}
	r, ok := jsonUnit(s)
	if !ok {
		return 0, 0
	}
	if !utf16.IsSurrogate(r) {
		return r, 6
	}
	if low, ok := jsonUnit(s[6:]); ok {
		if both := utf16.DecodeRune(r, low); both != utf8.RuneError {
			return both, 12
		}
	}
	return utf8.RuneError, 6
}

func jsonUnit(s string) (rune, bool) {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
		return 0, false
	}
	r := rune(0)
	for i := 2; i < 6; i++ {
		h := unhex(s[i])
		if h < 0 {
			return 0, false
		}
		r = r<<4 | rune(h)
	}
	return r, true
}
