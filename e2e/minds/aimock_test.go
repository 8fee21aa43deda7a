//go:build clients

package minds

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"lore/internal/llm"
	"lore/internal/llm/catalog"
	"lore/internal/llm/ollama"
	"lore/internal/llm/retry"
)

// These tests let a program that others wrote, aimock, speak like the providers
// that cannot be run here. It is no truth: where it is known to be unlike the real
// servers, a comment says so, and nothing is built on it.

// A provider is one as the catalogue has it, and how aimock is asked to be it.
type provider struct {
	id   string // of a model
	kind string
	api  string
	path string // below the server
	key  string // the header in which it wants its key; "": none is wanted
}

var providers = []provider{
	{id: "openai/gpt-4.1", kind: "openai", api: "chat", path: "/v1", key: "Authorization"},
	{id: "replies/gpt-5", kind: "openai", api: "responses", path: "/v1", key: "Authorization"},
	{id: "openrouter/anthropic/claude-sonnet-4.5", kind: "openai", path: "/api/v1", key: "Authorization"},
	{id: "lmstudio/qwen3", kind: "openai", path: "/v1"},
	{id: "anthropic/claude-sonnet-4-5", kind: "anthropic", key: "X-Api-Key"},
	{id: "gemini/gemini-2.5-flash", kind: "gemini", key: "X-Goog-Api-Key"},
	{id: "ollama/qwen3:8b", kind: "ollama"},
}

// A front stands before aimock, one for each provider: it counts requests apart
// from those of others, lets a request fail that a test wants to fail, and answers
// what aimock does not know.
type front struct {
	p       *provider
	base    string
	model   llm.Model
	serves  llm.Provider
	waits   []retry.Wait
	mu      sync.Mutex
	trouble string // for the next request alone: drop, malformed, disconnect, ratelimit
}

func newFront(t *testing.T, aimock *url.URL, p provider) *front {
	t.Helper()
	f := &front{p: &p}
	name, _, _ := strings.Cut(p.id, "/")
	pass := &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(aimock) },
		ErrorHandler:  func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) }, // a connection that broke breaks here too
		FlushInterval: -1,
		ErrorLog:      log.New(io.Discard, "", 0), // answers that break off are meant to
	}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if got := strings.TrimPrefix(r.Header.Get(p.key), "Bearer "); p.key != "" && got != "key of "+name {
			t.Errorf("%s %s: the key is %q", r.Method, r.URL, got)
		}
		// aimock has no /api/show. This is what an Ollama 0.34 says of a model that
		// calls tools and thinks.
		if r.URL.Path == "/api/show" {
			_, _ = w.Write([]byte(`{"capabilities":["completion","tools","thinking"],"model_info":{"qwen3.context_length":40960},"details":{"family":"qwen3"}}`))
			return
		}
		r.Header.Set("X-Test-Id", strings.ReplaceAll(t.Name(), "/", "-"))
		f.mu.Lock()
		if f.trouble != "" && r.Method == http.MethodPost {
			r.Header.Set("X-Aimock-Chaos-"+f.trouble, "1")
			f.trouble = ""
		}
		f.mu.Unlock()
		pass.ServeHTTP(w, r)
	}))
	t.Cleanup(srv.Close)
	f.base = srv.URL
	c := &catalog.Catalog{
		Places: map[string]catalog.Place{name: {Kind: p.kind, BaseURL: srv.URL + p.path, API: p.api, KeyEnv: "A_KEY"}},
		Env:    func(string) string { return "key of " + name },
		Told: func(w retry.Wait) {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.waits = append(f.waits, w)
		},
	}
	var err error
	if f.model, _, err = c.Model(t.Context(), p.id); err != nil {
		t.Fatal(err)
	}
	if f.serves, err = c.Provider(name); err != nil {
		t.Fatal(err)
	}
	return f
}

// ask asks, and gives how often it had to wait.
func (f *front) ask(t *testing.T, r llm.Request, what string) (llm.Answer, []retry.Wait, error) {
	t.Helper()
	f.mu.Lock()
	f.waits = nil
	f.mu.Unlock()
	if what != "" {
		r.Messages = []llm.Message{llm.Say(llm.User, what)}
	}
	a, err := llm.Ask(t.Context(), f.model, r)
	f.mu.Lock()
	defer f.mu.Unlock()
	return a, slices.Clone(f.waits), err
}

var tools = []llm.Tool{{Name: "read_note", Description: "Reads a note", Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}`)}}

func TestProviders(t *testing.T) {
	aimock := startAimock(t)
	for _, p := range providers {
		t.Run(p.id, func(t *testing.T) {
			t.Parallel()
			for name, play := range map[string]func(*testing.T, *front){
				"text": hello, "a call": oneCall, "two calls": twoCalls, "thoughts": thinking, "endings": endings, "broken arguments": brokenArguments,
				"vectors": vectors, "refusals": refusals, "broken off": brokenOff, "trouble": trouble, "models": models,
			} {
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					play(t, newFront(t, aimock, p))
				})
			}
		})
	}
}

func hello(t *testing.T, f *front) {
	pieces := 0
	var got llm.Answer
	for e, err := range f.model.Stream(t.Context(), llm.Request{System: "Be short.", Messages: []llm.Message{llm.Say(llm.User, "say hello")}}) {
		if err != nil {
			t.Fatal(err)
		}
		switch e.Type {
		case llm.TextDelta:
			pieces++
		case llm.PartDone:
			got.Parts = append(got.Parts, *e.Part)
		case llm.Finish:
			got.Stop, got.Usage = e.Stop, e.Usage
		}
	}
	if got.Text() != "Hello from the other side of the wire, in more than one piece." || got.Stop != llm.Stopped || pieces < 3 {
		t.Errorf("%d pieces, %+v", pieces, got)
	}
	// aimock's Ollama always counts 0 tokens; the real one counts them.
	if f.p.kind != "ollama" && (got.Usage.In != 11 || got.Usage.Out != 7) {
		t.Errorf("%+v", got.Usage)
	}
}

// turn makes the two requests of a turn with tools: calls are what the first must
// want, end what the second must say.
func turn(t *testing.T, f *front, what string, calls []string, end string) {
	t.Helper()
	r := llm.Request{Tools: tools, Messages: []llm.Message{llm.Say(llm.User, what)}}
	a, _, err := f.ask(t, r, "")
	if err != nil {
		t.Fatal(err)
	}
	results := llm.Message{Role: llm.Results}
	var made []string
	ids := map[string]bool{}
	for _, p := range a.Parts {
		if p.Kind != llm.ToolCall {
			continue
		}
		var args struct{ Path string }
		if err := json.Unmarshal(p.Args, &args); err != nil || p.Name != "read_note" {
			t.Errorf("%+v: %v", p, err)
		}
		made, ids[p.ID] = append(made, args.Path), true
		results.Parts = append(results.Parts, llm.Part{Kind: llm.ToolResult, ID: p.ID, Name: p.Name, Text: "the text of " + args.Path})
	}
	// aimock's Ollama sends no ids, its Gemini none that it knows again; ours are made up.
	if !slices.Equal(made, calls) || a.Stop != llm.WantsTool || len(ids) != len(calls) || ids[""] {
		t.Fatalf("%+v", a)
	}
	r.Messages = append(r.Messages, llm.Message{Role: llm.Assistant, Parts: a.Parts}, results)
	if a, _, err = f.ask(t, r, ""); err != nil || a.Text() != end || a.Stop != llm.Stopped {
		t.Errorf("%+v, %v", a, err)
	}
}

func oneCall(t *testing.T, f *front) { turn(t, f, "look it up", []string{"a.md"}, "It says so.") }

func twoCalls(t *testing.T, f *front) {
	turn(t, f, "look both up", []string{"a.md", "b.md"}, "Both say so.")
	// aimock calls the end of a turn with calls of Gemini FUNCTION_CALL, which the real
	// one does not: there the fixtures say STOP. Unknown reasons run nothing.
}

func thinking(t *testing.T, f *front) {
	a, _, err := f.ask(t, llm.Request{Think: true}, "think first")
	thought := ""
	for _, p := range a.Parts {
		if p.Kind == llm.Reasoning {
			thought += p.Text
		}
	}
	want := "Now let me think about that for a while."
	if f.p.kind == "ollama" {
		want = "" // aimock sends reasoning_content, the real one thinking
	}
	if err != nil || a.Text() != "Then that." || thought != want {
		t.Errorf("%q %+v, %v", thought, a, err)
	}
}

func endings(t *testing.T, f *front) {
	a, _, err := f.ask(t, llm.Request{}, "be cut")
	// aimock's Responses call this completed too, with the status incomplete; the real
	// one sends response.incomplete.
	want := llm.TooLong
	if f.p.kind == "ollama" {
		want = llm.Stopped // aimock always says stop there
	}
	if err != nil || a.Stop != want || a.Text() != "This is only the begin" {
		t.Errorf("%+v, %v", a, err)
	}
	a, _, err = f.ask(t, llm.Request{}, "be held back")
	switch {
	case f.p.kind == "ollama": // the same
	case f.p.api == "responses":
		// aimock says completed with the status failed; the real one response.incomplete
		// with the reason content_filter.
		if err != nil || a.Stop != llm.Broken {
			t.Errorf("%+v, %v", a, err)
		}
	case f.p.kind == "anthropic":
		// aimock passes content_filter on; the real one says refusal.
		if err != nil || a.Stop != llm.Broken {
			t.Errorf("%+v, %v", a, err)
		}
	case err != nil || a.Stop != llm.Filtered:
		t.Errorf("%+v, %v", a, err)
	}
}

// brokenArguments: what is no JSON is never taken for arguments.
func brokenArguments(t *testing.T, f *front) {
	a, _, err := f.ask(t, llm.Request{Tools: tools}, "write badly")
	i := slices.IndexFunc(a.Parts, func(p llm.Part) bool { return p.Kind == llm.ToolCall })
	if err != nil || i < 0 {
		t.Fatalf("%+v, %v", a, err)
	}
	var args map[string]any
	err = json.Unmarshal(a.Parts[i].Args, &args)
	if f.p.kind == "openai" && err == nil {
		t.Errorf("%s", a.Parts[i].Args)
	}
	// aimock itself makes {} of them for the others.
	if f.p.kind != "openai" && (err != nil || len(args) != 0) {
		t.Errorf("%s: %v", a.Parts[i].Args, err)
	}
}

func vectors(t *testing.T, f *front) {
	if f.p.kind == "ollama" {
		// aimock answers /api/embed as the old /api/embeddings, with one vector; the
		// adapter must not make three of it. Without patience: that would not help.
		var e *llm.Error
		if got, _, err := ollama.New(ollama.Config{BaseURL: f.base}).Embed(t.Context(), "embedder", []string{"one", "two", "one"}); !errors.As(err, &e) || e.Kind != llm.Server || got != nil {
			t.Error(got, err)
		}
		return
	}
	got, _, err := f.serves.Embed(t.Context(), "embedder", []string{"one", "two", "one"})
	var e *llm.Error
	switch f.p.kind {
	case "anthropic": // has none
		if !errors.As(err, &e) || e.Kind != llm.BadRequest {
			t.Error(err)
		}
	case "gemini": // aimock has no batchEmbedContents; the adapter must say so and not make vectors up
		if !errors.As(err, &e) || e.Kind != llm.NotFound || got != nil {
			t.Error(got, err)
		}
	default:
		if err != nil || len(got) != 3 || len(got[0]) == 0 || !slices.Equal(got[0], got[2]) || slices.Equal(got[0], got[1]) {
			t.Error(len(got), err)
		}
	}
}

// refusals: what passes is waited for as long as the server asks, once; what does
// not is told at once.
func refusals(t *testing.T, f *front) {
	a, waits, err := f.ask(t, llm.Request{}, "too many")
	if err != nil || a.Text() != "Now it is quiet." || len(waits) != 1 || waits[0].For != time.Second || !isKind(waits[0].Err, llm.RateLimit) {
		t.Errorf("%+v, %+v, %v", a, waits, err)
	}
	a, waits, err = f.ask(t, llm.Request{}, "too busy")
	if err != nil || a.Text() != "Now it is quiet." || len(waits) != 1 || !isKind(waits[0].Err, llm.Overloaded) {
		t.Errorf("%+v, %+v, %v", a, waits, err)
	}
	_, waits, err = f.ask(t, llm.Request{}, "no key")
	if !isKind(err, llm.Auth) || len(waits) != 0 {
		t.Errorf("%+v, %v", waits, err)
	}
}

func isKind(err error, k llm.ErrorKind) bool {
	var e *llm.Error
	return errors.As(err, &e) && e.Kind == k
}

// brokenOff: after the first words nothing is asked again, and nothing half is
// taken for whole.
func brokenOff(t *testing.T, f *front) {
	a, waits, err := f.ask(t, llm.Request{}, "break off")
	if !errors.Is(err, llm.ErrCut) || len(a.Parts) != 0 {
		t.Errorf("%+v, %v", a, err)
	}
	if len(waits) != 0 {
		t.Errorf("%+v", waits)
	}
}

// trouble: each way in which aimock can fail, once, and then it works.
func trouble(t *testing.T, f *front) {
	for how, kind := range map[string]llm.ErrorKind{"Drop": llm.Server, "Malformed": llm.Server, "Disconnect": llm.Connection, "Ratelimit": llm.RateLimit} {
		f.mu.Lock()
		f.trouble = how
		f.mu.Unlock()
		a, waits, err := f.ask(t, llm.Request{}, "say hello")
		once := len(waits) == 1 && isKind(waits[0].Err, kind)
		if how == "Malformed" && len(waits) == 1 && errors.Is(waits[0].Err, llm.ErrCut) {
			once = true // what is no event at all is an answer without an end
		}
		if how == "Disconnect" && len(waits) == 0 {
			once = true // an old connection that breaks is replaced below, before anybody hears of it
		}
		if err != nil || !strings.HasPrefix(a.Text(), "Hello from") || !once {
			t.Errorf("%s: %+v, %+v, %v", how, a, waits, err)
		}
	}
}

func models(t *testing.T, f *front) {
	all, err := f.serves.Models(t.Context())
	if f.p.kind == "gemini" { // aimock has no list of them
		if !isKind(err, llm.NotFound) {
			t.Error(err)
		}
		return
	}
	if err != nil || len(all) == 0 || all[0].Name == "" {
		t.Error(all, err)
	}
}

var address = regexp.MustCompile(`listening on (http://127\.0\.0\.1:\d+)`)

// startAimock starts the program and gives its address.
func startAimock(t *testing.T) *url.URL {
	t.Helper()
	node, err := exec.LookPath("node")
	if found, _ := filepath.Glob("../clients/node_modules/node-linux-*/bin/node"); len(found) > 0 {
		node, err = found[0], nil
	}
	if err != nil {
		t.Fatal("no node; use make conformance: ", err)
	}
	cmd := exec.Command(node, "node_modules/@copilotkit/aimock/dist/cli.js", "-p", "0", "-f", "aimock.json", "--log-level", "info")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended
		_ = cmd.Wait()
	})
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if m := address.FindStringSubmatch(lines.Text()); m != nil {
			go func() {
				for lines.Scan() { // it must not wait for a reader
				}
			}()
			u, err := url.Parse(m[1])
			if err != nil {
				t.Fatal(err)
			}
			return u
		}
	}
	t.Fatalf("aimock ended:\n%s", said.String())
	return nil
}
