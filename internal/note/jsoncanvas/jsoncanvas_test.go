package jsoncanvas

import (
	"encoding/json"
	"strings"
	"testing"
)

const sample = `{
	"nodes":[
		{"id":"a","type":"text","text":"x <b>","x":0,"y":10,"width":100,"height":50, "own":  {"k":1}},
		{"id":"b","type":"file","file":"Tea.md","x":-300,"y":0,"width":200,"height":50}
	],
	"edges":[
		{"id":"e","fromNode":"a","toNode":"b"}
	],
	"metadata":{"v": 1}
}`

// TestUntouched: what is not edited stays byte for byte.
func TestUntouched(t *testing.T) {
	c, err := Parse(sample)
	if err != nil || c.String() != sample {
		t.Fatalf("%v\n%s", err, c)
	}
	c.Node("b").Set("file", "Green & black.md")
	want := strings.Replace(sample, "Tea.md", "Green & black.md", 1)
	if got := c.String(); got != want {
		t.Errorf("%s", got)
	}
}

func TestEdits(t *testing.T) {
	c, err := Parse(sample)
	if err != nil {
		t.Fatal(err)
	}
	if b := c.Free(250, 60, 2); b != (Box{160, 0, 250, 60}) {
		t.Errorf("the first new node is at %+v", b)
	}
	n := c.AddNode(c.NewID("x"), "text")
	for k, v := range map[string]int{"x": 160, "y": 0, "width": 250, "height": 60} {
		n.Set(k, v)
	}
	if b := c.Free(250, 60, 2); b != (Box{160, 120, 250, 60}) {
		t.Errorf("the second is at %+v", b)
	}
	if edges, ok := c.Remove("a"); edges != 1 || !ok || c.Node("a") != nil || len(c.Edges) != 0 {
		t.Errorf("removed with %d edges, %v", edges, ok)
	}
	if _, ok := c.Remove("a"); ok {
		t.Error("a node that is gone is removed")
	}
	if b := New().Free(1, 2, 0); b != (Box{0, 0, 1, 2}) {
		t.Errorf("on an empty canvas: %+v", b)
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{sample, "", "{}", `{"nodes":[{}],"edges":null}`, `{"nodes":{}}`, `[`, `{"nodes":[],"nodes":[{"id":1}]}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := Parse(text)
		if err != nil {
			return
		}
		out := c.String()
		if !json.Valid([]byte(out)) {
			t.Fatalf("%q becomes %q", text, out)
		}
		again, err := Parse(out)
		if err != nil || again.String() != out {
			t.Errorf("%q: %v\n%s\n%s", text, err, out, again)
		}
	})
}
