// Package jsoncanvas edits the text of canvas files (JSON Canvas 1.0). Fields
// that it does not know, their order, and the bytes of every node and edge that
// an edit does not touch stay as they are.
package jsoncanvas

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// maxItems bounds the nodes and the edges of a canvas.
const maxItems = 20_000

// A Canvas is a canvas file that was read.
type Canvas struct {
	fields object // of the file
	Nodes  []*Item
	Edges  []*Item
}

// An Item is a node or an edge.
type Item struct {
	ID     string
	fields object
	raw    json.RawMessage // as it was read; nil when it is new or changed
}

// object is a JSON object with the order of its keys.
type object []member

type member struct {
	key   string
	value json.RawMessage
}

// errFormat says that a file is no canvas.
var errFormat = errors.New("the file is not a canvas: expected a JSON object with lists of nodes and edges")

// New is an empty canvas.
func New() *Canvas { return &Canvas{} }

// Parse reads a canvas file. An empty one is an empty canvas.
func Parse(text string) (*Canvas, error) {
	c := New()
	if strings.TrimSpace(text) == "" {
		return c, nil
	}
	fields, err := parseObject([]byte(text))
	if err != nil {
		return nil, err
	}
	c.fields = fields
	if c.Nodes, err = parseItems(fields.get("nodes")); err != nil {
		return nil, err
	}
	c.Edges, err = parseItems(fields.get("edges"))
	return c, err
}

func parseItems(raw json.RawMessage) ([]*Item, error) {
	if raw == nil {
		return nil, nil
	}
	var list []json.RawMessage
	if err := json.Unmarshal(raw, &list); err != nil || len(list) > maxItems {
		return nil, errFormat
	}
	var out []*Item
	for _, r := range list {
		fields, err := parseObject(r)
		if err != nil {
			return nil, err
		}
		i := &Item{fields: fields, raw: r}
		i.ID = i.Text("id")
		out = append(out, i)
	}
	return out, nil
}

func parseObject(raw []byte) (object, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, errFormat
	}
	var out object
	for d.More() {
		t, err := d.Token()
		key, ok := t.(string)
		if err != nil || !ok {
			return nil, errFormat
		}
		var v json.RawMessage
		if err := d.Decode(&v); err != nil {
			return nil, errFormat
		}
		out = append(out, member{key, v})
	}
	if _, err := d.Token(); err != nil {
		return nil, errFormat
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errFormat
	}
	return out, nil
}

func (o object) get(key string) json.RawMessage {
	for _, m := range o {
		if m.key == key {
			return m.value
		}
	}
	return nil
}

// set replaces the value of a key, or adds it at the end; nil removes it.
func (o object) set(key string, value json.RawMessage) object {
	i := slices.IndexFunc(o, func(m member) bool { return m.key == key })
	switch {
	case value == nil && i >= 0:
		return slices.Delete(slices.Clone(o), i, i+1)
	case value == nil:
		return o
	case i >= 0:
		o = slices.Clone(o)
		o[i].value = value
		return o
	}
	return append(slices.Clone(o), member{key, value})
}

// Text is a field that is a string; "" when it is none.
func (i *Item) Text(key string) string {
	var s string
	_ = json.Unmarshal(i.fields.get(key), &s) // anything else is no string
	return s
}

// Number is a field that is a number; 0 when it is none.
func (i *Item) Number(key string) int {
	var f float64
	if json.Unmarshal(i.fields.get(key), &f) != nil || f < -1e9 || f > 1e9 {
		return 0
	}
	return int(f)
}

// Set changes a field; an empty string removes it.
func (i *Item) Set(key string, value any) {
	var raw json.RawMessage
	if value != "" {
		raw = encode(value)
	}
	i.fields, i.raw = i.fields.set(key, raw), nil
}

func encode(v any) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return json.RawMessage(`""`) // texts and numbers always can be written
	}
	return bytes.TrimSpace(b.Bytes())
}

// Node finds a node; nil when there is none.
func (c *Canvas) Node(id string) *Item { return find(c.Nodes, id) }

// Edge finds an edge; nil when there is none.
func (c *Canvas) Edge(id string) *Item { return find(c.Edges, id) }

func find(list []*Item, id string) *Item {
	for _, i := range list {
		if i.ID == id {
			return i
		}
	}
	return nil
}

// NewID is an id that no item has. It depends on the canvas and the words alone,
// so that planning twice gives the same.
func (c *Canvas) NewID(words ...string) string {
	for n := 0; ; n++ {
		sum := sha256.Sum256(fmt.Appendf(nil, "%d %d %d %q", n, len(c.Nodes), len(c.Edges), words))
		id := hex.EncodeToString(sum[:8])
		if c.Node(id) == nil && c.Edge(id) == nil {
			return id
		}
	}
}

// AddNode adds a node of a type.
func (c *Canvas) AddNode(id, kind string) *Item {
	i := newItem(id)
	i.Set("type", kind)
	c.Nodes = append(c.Nodes, i)
	return i
}

// AddEdge connects two nodes.
func (c *Canvas) AddEdge(id, from, to string) *Item {
	i := newItem(id)
	i.Set("fromNode", from)
	i.Set("toNode", to)
	c.Edges = append(c.Edges, i)
	return i
}

func newItem(id string) *Item {
	i := &Item{ID: id}
	i.Set("id", id)
	return i
}

// Remove removes a node with its edges, or an edge. It returns how many edges went
// with a node, and false when there is no such id.
func (c *Canvas) Remove(id string) (edges int, ok bool) {
	is := func(i *Item) bool { return i.ID == id }
	if c.Edge(id) != nil {
		c.Edges = slices.DeleteFunc(c.Edges, is)
		return 0, true
	}
	if c.Node(id) == nil {
		return 0, false
	}
	c.Nodes = slices.DeleteFunc(c.Nodes, is)
	before := len(c.Edges)
	c.Edges = slices.DeleteFunc(c.Edges, func(e *Item) bool { return e.Text("fromNode") == id || e.Text("toNode") == id })
	return before - len(c.Edges), true
}

// A Box is a rectangle on the canvas.
type Box struct{ X, Y, Width, Height int }

// gap is the space between nodes that are laid out.
const gap = 60

// Free is where a node of that size has room: right of all nodes that were there
// before, below those that were placed so.
func (c *Canvas) Free(width, height, before int) Box {
	if before == 0 && len(c.Nodes) == 0 {
		return Box{0, 0, width, height}
	}
	right, top, bottom := 0, 0, 0
	for n, i := range c.Nodes[:min(before, len(c.Nodes))] {
		if x := i.Number("x") + i.Number("width"); n == 0 || x > right {
			right = x
		}
		if y := i.Number("y"); n == 0 || y < top {
			top = y
		}
	}
	x := right + gap
	if before == 0 {
		x = 0
	}
	bottom = top - gap
	for _, i := range c.Nodes[min(before, len(c.Nodes)):] {
		if i.Number("x") < x+width && i.Number("x")+i.Number("width") > x {
			bottom = max(bottom, i.Number("y")+i.Number("height"))
		}
	}
	return Box{x, bottom + gap, width, height}
}

// String writes the canvas as Obsidian does: one line for each node and edge.
func (c *Canvas) String() string {
	fields := c.fields
	for _, key := range []string{"nodes", "edges"} {
		if fields.get(key) == nil {
			fields = fields.set(key, json.RawMessage("[]"))
		}
	}
	var b strings.Builder
	b.WriteString("{")
	for n, m := range fields {
		if n > 0 {
			b.WriteString(",")
		}
		b.WriteString("\n\t" + string(encode(m.key)) + ":")
		switch m.key {
		case "nodes":
			writeItems(&b, c.Nodes)
		case "edges":
			writeItems(&b, c.Edges)
		default:
			b.Write(m.value)
		}
	}
	b.WriteString("\n}")
	return b.String()
}

func writeItems(b *strings.Builder, list []*Item) {
	if len(list) == 0 {
		b.WriteString("[]")
		return
	}
	b.WriteString("[")
	for n, i := range list {
		if n > 0 {
			b.WriteString(",")
		}
		b.WriteString("\n\t\t")
		if i.raw != nil {
			b.Write(i.raw)
			continue
		}
		b.WriteString("{")
		for k, m := range i.fields {
			if k > 0 {
				b.WriteString(",")
			}
			b.Write(encode(m.key))
			b.WriteString(":")
			b.Write(m.value)
		}
		b.WriteString("}")
	}
	b.WriteString("\n\t]")
}
