package gemini

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"lore/internal/llm"
)

// saying is a server that says one thing.
type saying []byte

func (s saying) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: 200, Body: io.NopCloser(bytes.NewReader(s))}, nil
}

// FuzzStream: whatever a server sends, an answer has an end, every call is JSON
// with an id of its own, and all of it can be sent back.
func FuzzStream(f *testing.F) {
	names, err := filepath.Glob(filepath.Join("testdata", "*.sse"))
	if err != nil || len(names) == 0 {
		f.Fatal(names, err)
	}
	for _, name := range names {
		raw, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		m := New(Config{Transport: saying(in)}).Model("gemini-3-pro", llm.Tuning{})
		a, err := llm.Ask(t.Context(), m, llm.Request{})
		if err != nil && a.Parts != nil {
			t.Fatal(err, a.Parts)
		}
		ids := map[string]bool{}
		for _, p := range a.Parts {
			if p.Kind == llm.ToolCall && (!json.Valid(p.Args) || p.ID == "" || ids[p.ID]) || p.Opaque != nil && !json.Valid(p.Opaque) {
				t.Fatalf("%+v", p)
			}
			ids[p.ID] = true
		}
		if _, err := llm.Ask(t.Context(), m, llm.Request{Messages: []llm.Message{{Role: llm.Assistant, Parts: a.Parts}}}); err == nil != (a.Stop != "") {
			t.Fatal("it cannot be sent back:", err)
		}
	})
}
