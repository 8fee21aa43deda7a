package catalog

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"lore/internal/llm"
	"lore/internal/llm/anthropic"
	"lore/internal/llm/gemini"
	"lore/internal/llm/llmtest"
	"lore/internal/llm/ollama"
	"lore/internal/llm/openai"
	"lore/internal/llm/quote"
)

func catalog(places map[string]Place, env map[string]string) *Catalog {
	return &Catalog{Places: places, Env: func(s string) string { return env[s] }}
}

func TestPlaces(t *testing.T) {
	t.Parallel()
	c := catalog(map[string]Place{"box": {BaseURL: "http://10.0.0.2/v1"}, "odd": {Kind: "gemini"}, "ollama": {BaseURL: "http://x:1"}}, nil)
	for name, want := range map[string]string{
		"openai": "openai https://api.openai.com/v1 OPENAI_API_KEY", "box": "openai http://10.0.0.2/v1 ", "ollama": "ollama http://x:1 ",
		"odd": "error: no address is set for odd; set providers.odd.base_url", "none": "error: unknown provider \"none\"",
	} {
		p, err := c.place(name)
		got := p.Kind + " " + p.BaseURL + " " + p.KeyEnv
		if err != nil {
			got = "error: " + err.Error()
		}
		if !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	if got := strings.Join(c.Names(), " "); got != "anthropic box gemini llamacpp lmstudio odd ollama openai openrouter" {
		t.Error(got)
	}
}

func TestKeys(t *testing.T) {
	t.Parallel()
	c := catalog(map[string]Place{"mine": {KeyEnv: "MINE"}}, map[string]string{"OPENAI_API_KEY": " sk-1 "})
	for name, want := range map[string]string{"openai": "sk-1", "anthropic": "needs a key", "ollama": ""} {
		p, err := c.place(name)
		if err != nil {
			t.Fatal(err)
		}
		k, err := c.key(name, p)
		if k != want && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %q %v", name, k, err)
		}
	}
	c.Key = func(string) (string, error) { return "kept", nil }
	if k, err := c.key("anthropic", known["anthropic"]); k != "kept" || err != nil {
		t.Error(k, err)
	}
}

// TestModel asks a server that speaks like many, with a price from the table.
func TestModel(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		if r.Header.Get("Authorization") != "Bearer sk-1" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		for _, d := range []string{
			`{"choices":[{"index":0,"delta":{"role":"assistant","content":"Hi"}}]}`, `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`,
			`{"choices":[],"usage":{"prompt_tokens":1000000,"completion_tokens":0}}`, `[DONE]`,
		} {
			fmt.Fprintf(w, "data: %s\n\n", d)
		}
	}))
	t.Cleanup(srv.Close)
	c := catalog(map[string]Place{"openai": {BaseURL: srv.URL, API: "chat"}}, map[string]string{"OPENAI_API_KEY": "sk-1"})
	m, info, err := c.Model(t.Context(), "openai/gpt-4o-mini")
	if err != nil || m.ID() != "openai/gpt-4o-mini" || info.Context == 0 || info.Local || asked.Load() != 0 {
		t.Fatalf("%v %+v, asked %d times", err, info, asked.Load())
	}
	a, err := llm.Ask(t.Context(), m, llm.Request{Messages: []llm.Message{llm.Say(llm.User, "hello")}})
	if err != nil || a.Text() != "Hi" || a.Usage.CostUSD == nil || *a.Usage.CostUSD <= 0 {
		t.Errorf("%v %+v", err, a)
	}
	if again, _, err := c.Model(t.Context(), "openai/gpt-4o-mini"); err != nil || again != m {
		t.Error("a model is made twice")
	}
	if _, info, err := c.Model(context.Background(), quote.ID); err != nil || !info.Mute {
		t.Error(info, err)
	}
	if _, _, err := c.Model(t.Context(), "gpt"); err == nil {
		t.Error("a name without a provider")
	}
}

// TestAListSaysWhereModelsRun: as it is decided when the model is used, whatever
// the server says of itself.
func TestAListSaysWhereModelsRun(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"object":"list","data":[{"id":"one","object":"model","owned_by":"llamacpp"}]}`)
	}))
	t.Cleanup(srv.Close)
	for said, want := range map[string]bool{"yes": true, "no": false, "": false} {
		c := catalog(map[string]Place{"box": {Kind: "openai", BaseURL: srv.URL + "/v1", Local: said}}, nil)
		p, err := c.Provider("box")
		if err != nil {
			t.Fatal(err)
		}
		list, err := p.Models(t.Context())
		if err != nil || len(list) != 1 || list[0].Local != want {
			t.Errorf("%q: %+v, %v", said, list, err)
		}
		if _, info, err := c.Model(t.Context(), "box/one"); err != nil || info.Local != want {
			t.Errorf("%q: used: %+v, %v", said, info, err)
		}
	}
}

// TestAModelWithoutToolsWritesThem: one that refuses tools is asked again in
// text, once and for all.
func TestAModelWithoutToolsWritesThem(t *testing.T) {
	t.Parallel()
	says := llmtest.Text("I look.\n<tool_call>{\"name\": \"read_note\", \"arguments\": {\"path\": \"Tea\"}}</tool_call>")
	script := llmtest.New(llmtest.Fail(&llm.Error{Kind: llm.NoTools, Message: "does not support tools"}), says, says)
	m := &lingual{Model: script}
	req := llm.Request{
		Messages: []llm.Message{llm.Say(llm.User, "read Tea")},
		Tools:    []llm.Tool{{Name: "read_note", Schema: []byte(`{"type":"object","properties":{"path":{"type":"string"}}}`)}},
	}
	for range 2 {
		a, err := llm.Ask(t.Context(), m, req)
		if err != nil || a.Stop != llm.WantsTool {
			t.Fatalf("%v %+v", err, a)
		}
		last := a.Parts[len(a.Parts)-1]
		if last.Kind != llm.ToolCall || last.Name != "read_note" || !last.FromText {
			t.Errorf("%+v", last)
		}
	}
	if asked := script.Requests(); len(asked) != 3 || len(asked[0].Tools) != 1 || len(asked[1].Tools) != 0 || len(asked[2].Tools) != 0 {
		t.Errorf("asked %d times", len(asked))
	}
}

// TestAServerThatComesLater: what is known of a model is not what was known when
// its server was not there yet.
func TestAServerThatComesLater(t *testing.T) {
	t.Parallel()
	var up atomic.Bool
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case !up.Load():
			w.WriteHeader(http.StatusNotFound)
		default:
			fmt.Fprint(w, `{"data":[{"id":"m","meta":{"n_ctx":4096,"n_ctx_train":4096}}]}`)
		}
	}))
	t.Cleanup(srv.Close)
	c := catalog(map[string]Place{"llamacpp": {BaseURL: srv.URL, Local: "yes"}}, nil)
	if _, info, err := c.Model(t.Context(), "llamacpp/m"); err != nil || info.Context == 4096 {
		t.Fatalf("%+v %v", info, err)
	}
	up.Store(true)
	if _, info, err := c.Model(t.Context(), "llamacpp/m"); err != nil || info.Context != 4096 {
		t.Errorf("%+v %v", info, err)
	}
}

// TestAWindowIsAskedFor: a server whose address a person named tells how large the windows of
// its models are, also when it is not known to be on this machine.
func TestAWindowIsAskedFor(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, `{"data":[{"id":"m","meta":{"n_ctx":4096}}]}`)
	}))
	t.Cleanup(srv.Close)
	c := catalog(map[string]Place{"box": {Kind: "openai", BaseURL: srv.URL}}, nil)
	if _, info, err := c.Model(t.Context(), "box/m"); err != nil || info.Context != 4096 || info.Local {
		t.Errorf("%+v %v", info, err)
	}
}

// TestKeysAreInNoError: also when a server begins to answer well, and then says
// what it was sent.
func TestKeysAreInNoError(t *testing.T) {
	t.Parallel()
	const key = "sk-a-secret-key"
	for _, kind := range []string{"openai", "anthropic", "gemini", "ollama"} {
		for _, form := range []string{"text/event-stream", "application/json"} {
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", form)
				body := fmt.Sprintf(`{"type":"error","error":{"type":"bad","message":"the key %s is no good"}}`, key)
				if form == "text/event-stream" && kind != "ollama" {
					body = "data: " + body + "\n\n"
				}
				fmt.Fprintln(w, body)
			}))
			t.Cleanup(srv.Close)
			secret := func() (string, error) { return key, nil }
			p := map[string]llm.Provider{ // without patience
				"openai": openai.New(openai.Config{Name: "x", BaseURL: srv.URL, Key: secret}), "anthropic": anthropic.New(anthropic.Config{Name: "x", BaseURL: srv.URL, Key: secret}),
				"gemini": gemini.New(gemini.Config{Name: "x", BaseURL: srv.URL, Key: secret}), "ollama": ollama.New(ollama.Config{Name: "x", BaseURL: srv.URL, Key: secret}),
			}[kind]
			_, err := llm.Ask(t.Context(), p.Model("m", llm.Tuning{}), llm.Request{Messages: []llm.Message{llm.Say(llm.User, "hello")}})
			if err == nil || strings.Contains(err.Error(), key) {
				t.Errorf("%s, %s: %v", kind, form, err)
			}
			if _, err = p.Models(t.Context()); err == nil || strings.Contains(err.Error(), key) {
				t.Errorf("%s lists models: %v", kind, err)
			}
		}
	}
}
