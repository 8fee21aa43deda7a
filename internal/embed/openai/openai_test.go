package openai_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"lore/internal/embed"
	"lore/internal/embed/openai"
	"lore/internal/embed/remote"
	"lore/internal/fault"
)

// The bytes of the service, with shorter vectors and in another order.
const answered = `{
  "object": "list",
  "data": [
    {"object": "embedding", "index": 1, "embedding": [0.0, -2.0]},
    {"object": "embedding", "index": 0, "embedding": [0.0023064255, 0.0]}
  ],
  "model": "text-embedding-3-small",
  "usage": {"prompt_tokens": 8, "total_tokens": 8}
}`

func serve(t *testing.T, handle http.HandlerFunc) *remote.Model {
	s := httptest.NewServer(handle)
	t.Cleanup(s.Close)
	return openai.New(openai.Config{
		URL: s.URL + "/v1", Model: "text-embedding-3-small", Client: s.Client(),
		Key: func() string { return "sk-secret" }, Dimensions: 2,
	})
}

func TestEmbed(t *testing.T) {
	m := serve(t, func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		want := `{"model":"text-embedding-3-small","input":["a","b"],"encoding_format":"float","dimensions":2}`
		if string(raw) != want || r.URL.Path != "/v1/embeddings" || r.Header.Get("Authorization") != "Bearer sk-secret" {
			t.Errorf("sent %s %v %s", r.URL.Path, r.Header, raw)
		}
		io.WriteString(w, answered)
	})
	v, err := m.Embed(context.Background(), embed.Passage, []string{"a", "b"})
	if err != nil {
		t.Fatal(err)
	}
	if v[0][0] != 1 || v[1][1] != -1 || m.Dim() != 2 || m.ID() != "openai/text-embedding-3-small" {
		t.Errorf("%v of %d, %s", v, m.Dim(), m.ID())
	}
}

// Many texts go out in batches, and come back in order.
func TestBatches(t *testing.T) {
	requests := 0
	m := serve(t, func(w http.ResponseWriter, r *http.Request) {
		requests++
		var in struct{ Input []string }
		json.NewDecoder(r.Body).Decode(&in)
		var out []string
		for i, text := range in.Input {
			out = append(out, fmt.Sprintf(`{"index":%d,"embedding":[%d,1]}`, i, len(text)))
		}
		fmt.Fprintf(w, `{"data":[%s]}`, strings.Join(out, ","))
	})
	texts := make([]string, 70)
	for i := range texts {
		texts[i] = strings.Repeat("x", i+1)
	}
	texts[3] = strings.Repeat("y", 2<<20) // a request of its own
	v, err := m.Embed(context.Background(), embed.Query, texts)
	if err != nil {
		t.Fatal(err)
	}
	if requests != 5 || len(v) != 70 {
		t.Errorf("%d requests, %d vectors", requests, len(v))
	}
	for i := range v {
		if ratio := v[i][0] / v[i][1]; i != 3 && int(ratio+0.5) != i+1 {
			t.Errorf("vector %d is that of text %v", i, ratio)
		}
	}
}

func TestFailures(t *testing.T) {
	for _, tt := range []struct {
		status int
		body   string
		kind   fault.Kind
		says   string
	}{
		{401, `{"error":{"message":"Incorrect API key provided.","type":"invalid_request_error","param":null,"code":"invalid_api_key"}}`, fault.Denied, "check the key"},
		{429, `{"error":{"message":"Rate limit reached","type":"requests"}}`, fault.Busy, "Rate limit"},
		{404, `{"error":"no route"}`, fault.Unavailable, "no route; check that the address"},
		{400, `{"error":{"message":"This model's maximum context length is 8192 tokens"}}`, fault.Invalid, "8192"},
		{503, ``, fault.Unavailable, "Service Unavailable"},
		{200, `{"data":[{"index":0,"embedding":[1]},{"index":0,"embedding":[1]}]}`, fault.Unavailable, "twice"},
		{200, `{"data":[{"index":0,"embedding":[1]}]}`, fault.Unavailable, "1 vectors for 2 texts"},
		{200, `{"data":[{"index":-1,"embedding":[1]}]}`, fault.Unavailable, "vector -1"},
		{200, `{}`, fault.Unavailable, "0 vectors"},
	} {
		m := serve(t, func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(tt.status)
			io.WriteString(w, tt.body)
		})
		_, err := m.Embed(context.Background(), embed.Passage, []string{"a", "b"})
		if fault.Of(err) != tt.kind || !strings.Contains(err.Error(), tt.says) || strings.Contains(err.Error(), "sk-secret") {
			t.Errorf("%d %s: %s: %v", tt.status, tt.body, fault.Of(err), err)
		}
	}
}
