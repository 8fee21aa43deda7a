package ollama_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lore/internal/llm"
	"lore/internal/llm/ollama"
)

// saying is a server that says one thing.
type saying []byte

func (s saying) RoundTrip(r *http.Request) (*http.Response, error) {
	if strings.HasSuffix(r.URL.Path, "/api/show") {
		return shower{}.RoundTrip(r)
	}
	return &http.Response{StatusCode: 200, Body: io.NopCloser(bytes.NewReader(s))}, nil
}

// FuzzStream: whatever a server sends, an answer has an end, and every call JSON
// and an id of its own.
func FuzzStream(f *testing.F) {
	names, err := filepath.Glob(filepath.Join("testdata", "*.ndjson"))
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range names {
		raw, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		a, err := llm.Ask(t.Context(), ollama.New(ollama.Config{Transport: saying(in)}).Model("m", llm.Tuning{}), llm.Request{})
		if err != nil && a.Parts != nil {
			t.Fatal(err, a.Parts)
		}
		ids := map[string]bool{}
		for _, p := range a.Parts {
			if p.Kind == llm.ToolCall && (!json.Valid(p.Args) || p.ID == "" || ids[p.ID]) {
				t.Fatalf("%+v", p)
			}
			ids[p.ID] = true
		}
	})
}
