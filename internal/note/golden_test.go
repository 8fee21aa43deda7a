package note

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// golden is a note as it is written into a golden file: spans as the text they
// cover, so that a person can judge it.
func golden(n *Note) any {
	at := func(s Span) string { return n.text[s.Start:s.End] }
	out := map[string]any{"title": n.Title, "words": n.Words, "lines": n.Lines}
	add := func(key string, v any) { out[key] = append(list(out[key]), v) }
	if n.Type != "" {
		out["type"] = n.Type
	}
	for _, a := range n.Aliases {
		add("aliases", a)
	}
	for _, p := range n.Front.Props {
		add("props", map[string]any{"key": p.Key, "value": p.Value, "raw": at(p.Val), "entry": at(p.Span)})
	}
	for _, g := range n.Tags {
		add("tags", g.Name+" <- "+at(g.Span))
	}
	for _, h := range n.Headings {
		add("headings", map[string]any{"level": h.Level, "text": h.Text, "raw": at(h.Span), "line": h.Line, "nested": h.Nested, "section": len(at(h.Section))})
	}
	for _, b := range n.Blocks {
		add("blocks", b.ID+" <- "+at(b.Span))
	}
	for _, l := range n.Links {
		m := map[string]any{"kind": l.Kind, "target": l.Target, "raw": at(l.Span), "dest": at(l.Dest), "line": l.Line}
		for k, v := range map[string]string{"fragment": l.Fragment, "text": l.Text, "field": l.Field} {
			if v != "" {
				m[k] = v
			}
		}
		if l.External {
			m["external"] = true
		}
		if l.Definition {
			m["definition"] = true
		}
		add("links", m)
	}
	for _, f := range n.Fields {
		add("fields", map[string]any{"key": f.Key, "value": f.Value, "raw": at(f.Span), "line": f.Line})
	}
	for _, k := range n.Tasks {
		add("tasks", map[string]any{"mark": string(k.Mark), "text": k.Text, "raw": at(k.Span), "line": k.Line})
	}
	for _, c := range n.Chunks {
		add("chunks", map[string]any{"path": strings.Join(c.Headings, " > "), "plain": Plain(c.Text), "line": c.Line})
	}
	for _, p := range n.Problems {
		add("problems", p)
	}
	return out
}

func list(v any) []any {
	l, _ := v.([]any)
	return l
}

// TestGolden reads testdata/golden/*.txtar: a comment, the note, and what is
// read from it as JSON. A file note.dendron.md is read with Dendron's order.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/golden/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden files: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			ar, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			src := ar.Files[0]
			var n *Note
			switch {
			case strings.HasSuffix(src.Name, ".canvas"):
				n = ParseCanvas(src.Name, src.Data)
			default:
				n = Options{DendronAlias: strings.Contains(src.Name, ".dendron.")}.Parse(src.Name, src.Data)
				check(t, n)
			}
			var got bytes.Buffer
			enc := json.NewEncoder(&got)
			enc.SetEscapeHTML(false)
			enc.SetIndent("", "  ")
			if err := enc.Encode(golden(n)); err != nil {
				t.Fatal(err)
			}
			if *update {
				ar.Files = []txtar.File{src, {Name: "want.json", Data: got.Bytes()}}
				if err := os.WriteFile(file, txtar.Format(ar), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if len(ar.Files) < 2 || !bytes.Equal(ar.Files[1].Data, got.Bytes()) {
				t.Errorf("differs; got\n%s", got.Bytes())
			}
		})
	}
}
