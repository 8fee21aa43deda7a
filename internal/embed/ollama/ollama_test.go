package ollama_test

import (
	"context"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"lore/internal/embed"
	"lore/internal/embed/ollama"
	"lore/internal/embed/remote"
	"lore/internal/fault"
)

var _ embed.Model = (*remote.Model)(nil)

// The bytes of an Ollama 0.6 server, with shorter vectors.
const (
	answered = `{"model":"all-minilm","embeddings":[[0.0106,-0.0173,0.0500],[3,0,4]],"total_duration":14143917,"load_duration":1019500,"prompt_eval_count":8}`
	notFound = `{"error":"model \"all-minilm\" not found, try pulling it first"}`
)

func serve(t *testing.T, status int, body string, seen *string) *remote.Model {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		if seen != nil {
			*seen += r.Method + " " + r.URL.Path + " " + r.Header.Get("Authorization") + " " + string(raw) + "\n"
		}
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		w.WriteHeader(status)
		io.WriteString(w, body)
	}))
	t.Cleanup(s.Close)
	return ollama.New(ollama.Config{URL: s.URL + "/", Model: "all-minilm", Client: s.Client(), QueryPrefix: "q: "})
}

func TestEmbed(t *testing.T) {
	var seen string
	m := serve(t, 200, answered, &seen)
	if m.ID() != "ollama/all-minilm" || m.Dim() != 0 || m.MaxWords() != 200 {
		t.Errorf("%s, %d numbers, %d words", m.ID(), m.Dim(), m.MaxWords())
	}
	v, err := m.Embed(context.Background(), embed.Query, []string{"a \"b\"", ""})
	if err != nil {
		t.Fatal(err)
	}
	if m.Dim() != 3 || math.Abs(float64(v[1][0])-0.6) > 1e-6 || math.Abs(float64(v[1][2])-0.8) > 1e-6 {
		t.Errorf("dim %d, vectors %v", m.Dim(), v)
	}
	want := `POST /api/embed  {"model":"all-minilm","input":["q: a \"b\"","q: -"],"truncate":true}` + "\n"
	if seen != want {
		t.Errorf("sent %s want %s", seen, want)
	}
}

func TestFailures(t *testing.T) {
	for _, tt := range []struct {
		name   string
		status int
		body   string
		kind   fault.Kind
		says   string
	}{
		{"no model", 404, notFound, fault.Unavailable, "ollama pull all-minilm"},
		{"bad request", 400, `{"error":"invalid input type"}`, fault.Invalid, "invalid input type"},
		{"proxy", 401, `<html>no</html>`, fault.Denied, "answered 401: Unauthorized; check the key"},
		{"too many", 429, ``, fault.Busy, "try again later"},
		{"broken", 500, `{"error":"llama runner process has terminated"}`, fault.Unavailable, "has terminated"},
		{"too large", 413, ``, fault.TooLarge, "413"},
		{"no json", 200, `<html>`, fault.Unavailable, "cannot be read"},
		{"too few", 200, `{"embeddings":[[1,2]]}`, fault.Unavailable, "1 vectors for 2 texts"},
		{"two lengths", 200, `{"embeddings":[[1,2],[1,2,3]]}`, fault.Conflict, "3 numbers, not 2"},
		{"empty", 200, `{"embeddings":[[],[]]}`, fault.Conflict, "0 numbers"},
		{"zero", 200, `{"embeddings":[[0,0],[1,2]]}`, fault.Unavailable, "empty embedding"},
		{"overflow", 200, `{"embeddings":[[1e99,0],[1,2]]}`, fault.Unavailable, "cannot be read"},
	} {
		_, err := serve(t, tt.status, tt.body, nil).Embed(context.Background(), embed.Passage, []string{"a", "b"})
		if fault.Of(err) != tt.kind || err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: %s: %v", tt.name, fault.Of(err), err)
		}
	}
}

func TestNobodyThere(t *testing.T) {
	s := httptest.NewServer(http.NotFoundHandler())
	s.Close()
	m := ollama.New(ollama.Config{URL: s.URL, Model: "x", Client: http.DefaultClient})
	_, err := m.Embed(context.Background(), embed.Passage, []string{"a"})
	if fault.Of(err) != fault.Unavailable || !strings.Contains(err.Error(), s.URL) ||
		!strings.Contains(err.Error(), "ollama serve") || strings.Count(err.Error(), s.URL) != 1 {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := m.Embed(ctx, embed.Passage, []string{"a"}); fault.Of(err) != fault.Cancelled {
		t.Errorf("cancelled: %v", err)
	}
}
