package note

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// maxCanvasDepth bounds the nesting that is followed in a canvas file.
const maxCanvasDepth = 20

// ParseCanvas reads a .canvas file: a link for every file node, and every text
// node as chunks with the links and tags in it. Links of text nodes have no
// Dest: their bytes are inside a JSON string.
func ParseCanvas(path string, src []byte) *Note {
	n := &Note{Path: path}
	n.decode(src)
	p := &parser{note: n, text: n.text[:n.end]}
	for pos := 0; pos < n.end; {
		n.starts = append(n.starts, pos)
		_, pos = lineEnd(p.text, pos, false)
	}
	n.Lines = len(n.starts)
	if n.end < len(n.text) {
		n.problem("broken_canvas", "the canvas is larger than what is read", 0)
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
				return fmt.Errorf("%q of a node is not a text", key)
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
		n.Links = append(n.Links, Link{Kind: Canvas, Target: f.val, Fragment: strings.TrimPrefix(vals["subpath"].val, "#"),
			Span: f.span, Dest: f.span, Line: n.line(f.span.Start)})
	}
	if u, ok := vals["url"]; ok && u.val != "" {
		n.Links = append(n.Links, Link{Kind: Canvas, Target: u.val, External: true, Span: u.span, Dest: u.span, Line: n.line(u.span.Start)})
	}
	t := vals["text"]
	if strings.TrimSpace(t.val) == "" || !utf8.ValidString(t.val) {
		return
	}
	inner := Parse(n.Path, []byte(t.val))
	line := n.line(t.span.Start)
	for _, l := range inner.Links {
		l.Span, l.Dest, l.Line = t.span, Span{}, line
		n.Links = append(n.Links, l)
	}
	for _, tag := range inner.Tags {
		tag.Span = t.span
		n.Tags = append(n.Tags, tag)
	}
	for _, ch := range inner.Chunks {
		ch.Span, ch.Line = t.span, line
		n.Chunks = append(n.Chunks, ch)
	}
	n.Words += inner.Words
}
