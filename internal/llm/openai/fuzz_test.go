package openai_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"lore/internal/llm"
	"lore/internal/llm/openai"
)

// saying is a server that says one thing.
type saying []byte

func (s saying) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: 200, Body: io.NopCloser(bytes.NewReader(s))}, nil
}

// FuzzStream: whatever a server sends, an answer has an end, and every call JSON
// and an id of its own.
func FuzzStream(f *testing.F) {
	names, err := filepath.Glob(filepath.Join("testdata", "*.sse"))
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range names {
		raw, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw, false)
		f.Add(raw, true)
	}
	f.Fuzz(func(t *testing.T, in []byte, responses bool) {
		c := openai.Config{BaseURL: "http://x", Transport: saying(in), API: openai.Chat}
		if responses {
			c.API = openai.Responses
		}
		a, err := llm.Ask(t.Context(), openai.New(c).Model("m", llm.Tuning{}), llm.Request{})
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
	})
}
