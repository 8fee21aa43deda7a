package gemini

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"lore/internal/llm"
	"lore/internal/llm/wire"
)

func read(t *testing.T, name string) []byte {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// serve answers requests with what is in files, one after the other; fewer
// requests are wrong too.
func serve(t *testing.T, check func(n int, r *http.Request, body []byte), files ...string) *Provider {
	t.Helper()
	n := 0
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || n >= len(files) {
			t.Errorf("request %d: %v", n, err)
			return
		}
		if check != nil {
			check(n, r, body)
		}
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write(read(t, files[n]))
		n++
	}))
	t.Cleanup(func() {
		srv.Close()
		if n != len(files) {
			t.Errorf("%d requests of %d", n, len(files))
		}
	})
	return New(Config{BaseURL: srv.URL, Key: func() (string, error) { return "AIza-test", nil }})
}

func ask(t *testing.T, files ...string) (llm.Answer, error) {
	t.Helper()
	m := serve(t, nil, files...).Model("gemini-3-pro-preview", llm.Tuning{})
	return llm.Ask(t.Context(), m, llm.Request{Messages: []llm.Message{llm.Say(llm.User, "Hello")}})
}

func same(t *testing.T, what string, got, want []byte) {
	t.Helper()
	var a, b any
	if err := json.Unmarshal(got, &a); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(want, &b); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(a, b) {
		t.Errorf("%s:\n got %s\nwant %s", what, got, want)
	}
}

var tools = []llm.Tool{
	{Name: "read_note", Description: "Reads.", Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}`)},
	{Name: "list_notes", Description: "Lists."},
}

// Three turns: thoughts and two calls at once, an answer with a signature on an
// empty part, and a word after it.
func TestLoop(t *testing.T) {
	t.Parallel()
	p := serve(t, func(n int, r *http.Request, body []byte) {
		if r.Method != "POST" || r.URL.String() != "/v1beta/models/gemini-3-pro-preview:streamGenerateContent?alt=sse" ||
			r.Header.Get("X-Goog-Api-Key") != "AIza-test" || r.Header.Get("Authorization") != "" {
			t.Error(r.Method, r.URL, r.Header)
		}
		same(t, fmt.Sprint("request ", n), body, read(t, fmt.Sprintf("loop-%d.json", n+1)))
	}, "tools.sse", "answer.sse", "answer.sse")
	m := p.Model("models/gemini-3-pro-preview", llm.Tuning{})
	r := llm.Request{System: "You help.", Tools: tools, Think: true, Messages: []llm.Message{llm.Say(llm.User, "What of tea?")}}
	var heard strings.Builder
	var parts []llm.Part
	var end llm.Event
	for e, err := range m.Stream(t.Context(), r) {
		if err != nil {
			t.Fatal(err)
		}
		switch e.Type {
		case llm.PartDone:
			parts = append(parts, *e.Part)
		case llm.Finish:
			end = e
		default:
			fmt.Fprintf(&heard, "%s[%s%s]", e.Type, e.Name, e.Text)
		}
	}
	if want := "reasoning[**Looking at both**\n\nTea & coffee: ]reasoning[I read “both”.]text[I look at ]text[both.]" +
		`tool_start[read_note]tool_delta[{"path": "tea.md"}]tool_start[list_notes]tool_delta[{}]`; heard.String() != want {
		t.Errorf("heard %s", heard.String())
	}
	if want := (llm.Usage{In: 180, Out: 110, CacheRead: 100, Reasoning: 80}); end.Stop != llm.WantsTool || end.Usage != want {
		t.Errorf("end %+v", end)
	}
	if len(parts) != 4 || parts[2].OpaqueBy != m.ID() || parts[3].Opaque != nil || parts[2].ID == parts[3].ID || parts[3].ID == "" {
		t.Fatalf("parts %+v", parts)
	}
	r.Messages = append(r.Messages, llm.Message{Role: llm.Assistant, Parts: parts},
		llm.Message{Role: llm.Results, Parts: []llm.Part{
			{Kind: llm.ToolResult, ID: parts[3].ID, Text: "no such folder", IsError: true}, // in their own order
			{Kind: llm.ToolResult, ID: parts[2].ID, Name: "read_note", Text: "# Tea"},
		}}, llm.Say(llm.User, "Be short."))
	a, err := llm.Ask(t.Context(), m, r)
	if want := (llm.Usage{In: 300, Out: 19, Reasoning: 10}); err != nil || a.Text() != "Tea is [[tea]]." || a.Stop != llm.Stopped || a.Usage != want {
		t.Fatalf("%+v, %v", a, err)
	}
	r.Messages = append(r.Messages, llm.Message{Role: llm.Assistant, Parts: a.Parts}, llm.Say(llm.User, "Thanks."))
	if _, err := llm.Ask(t.Context(), m, r); err != nil {
		t.Error(err)
	}
}

// Cut anywhere, a stream is the whole answer or an error, with no part and no
// finish; whether it ends in peace or not.
func TestCutAnywhere(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"tools.sse", "ids.sse", "answer.sse"} {
		whole := read(t, file)
		least := strings.LastIndex(string(whole), `"STOP"`)
		for _, abort := range []bool{false, true} {
			if abort && file != "tools.sse" {
				continue // one is enough
			}
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				n, _ := strconv.Atoi(strings.Split(r.URL.Path, "/")[1])
				_, _ = w.Write(whole[:n])
				if abort {
					_ = http.NewResponseController(w).Flush()
					panic(http.ErrAbortHandler)
				}
			}))
			for n := range len(whole) + 1 {
				m := New(Config{BaseURL: srv.URL + "/" + strconv.Itoa(n)}).Model("gemini-3-flash", llm.Tuning{})
				var finished, parts bool
				var failed error
				for e, err := range m.Stream(t.Context(), llm.Request{Messages: []llm.Message{llm.Say(llm.User, "x")}}) {
					failed, finished, parts = err, finished || e.Type == llm.Finish, parts || e.Type == llm.PartDone
				}
				if finished == (failed != nil) || finished != parts || finished && (n < least || abort) || n == len(whole) && !finished && !abort {
					t.Fatalf("%s cut at %d: finish %v, parts %v, %v", file, n, finished, parts, failed)
				}
				var e *llm.Error
				if failed != nil && !errors.Is(failed, llm.ErrCut) && !(errors.As(failed, &e) && e.Retryable()) {
					t.Fatalf("%s cut at %d: %v", file, n, failed)
				}
			}
			srv.Close()
		}
	}
}

func TestReasonToStopOnEveryChunk(t *testing.T) {
	t.Parallel()
	a, err := ask(t, "every.sse")
	if err != nil || a.Text() != "Tea is." || len(a.Parts) != 1 || a.Usage.Out != 110 {
		t.Errorf("%+v, %v", a, err)
	}
}

func TestIDsOfTheAPIAreKept(t *testing.T) {
	t.Parallel()
	a, err := ask(t, "ids.sse")
	if err != nil || a.Stop != llm.WantsTool || len(a.Parts) != 2 || a.Parts[0].ID != "8f3k2j1d" || a.Parts[1].ID != "9a8b7c6d" {
		t.Fatalf("%+v, %v", a, err)
	}
	m, _ := New(Config{}).Model("gemini-3-pro-preview", llm.Tuning{}).(*model)
	raw, err := json.Marshal(m.contents([]llm.Message{{Role: llm.Assistant, Parts: a.Parts}, {Role: llm.Results, Parts: []llm.Part{
		{Kind: llm.ToolResult, ID: "8f3k2j1d", Text: "1"}, {Kind: llm.ToolResult, ID: "9a8b7c6d", Text: "2"},
	}}}, wire.NewToolbox(nil)))
	if err != nil {
		t.Fatal(err)
	}
	same(t, "contents", raw, []byte(`[{"role":"model","parts":[{"functionCall":{"id":"8f3k2j1d","name":"read_note","args":{"path":"tea.md"}},"thoughtSignature":"c2ln"},
		{"functionCall":{"id":"9a8b7c6d","name":"read_note","args":{"path":"coffee.md"}}}]},
		{"role":"user","parts":[{"functionResponse":{"id":"8f3k2j1d","name":"read_note","response":{"output":"1"}}},{"functionResponse":{"id":"9a8b7c6d","name":"read_note","response":{"output":"2"}}}]}]`))
}

func TestMalformedCallIsAskedAgainOnce(t *testing.T) {
	t.Parallel()
	a, err := ask(t, "malformed.sse", "answer.sse")
	if want := (llm.Usage{In: 480, Out: 19, Reasoning: 10}); err != nil || a.Text() != "Tea is [[tea]]." || a.Usage != want {
		t.Errorf("%+v, %v", a, err)
	}
	var e *llm.Error
	if _, err := ask(t, "malformed.sse", "malformed.sse"); !errors.As(err, &e) || e.Retryable() || !strings.Contains(e.Message, "twice") {
		t.Error(err)
	}
	// What was heard cannot be taken back.
	if a, err := ask(t, "malformed-late.sse"); !errors.As(err, &e) || !e.Retryable() || len(a.Parts) > 0 {
		t.Error(a, err)
	}
}

func TestStops(t *testing.T) {
	t.Parallel()
	for reason, want := range map[string]llm.Stop{
		"STOP": llm.Stopped, "MAX_TOKENS": llm.TooLong, "SAFETY": llm.Filtered, "RECITATION": llm.Filtered, "PROHIBITED_CONTENT": llm.Filtered,
		"BLOCKLIST": llm.Filtered, "SPII": llm.Filtered, "LANGUAGE": llm.Filtered, "OTHER": llm.Broken, "UNEXPECTED_TOOL_CALL": llm.Broken, "NEW": llm.Broken,
	} {
		for file, calls := range map[string]bool{"answer.sse": false, "tools.sse": true} {
			raw := strings.Replace(string(read(t, file)), "STOP", reason, 1)
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, raw) }))
			a, err := llm.Ask(t.Context(), New(Config{BaseURL: srv.URL}).Model("gemini", llm.Tuning{}), llm.Request{})
			srv.Close()
			expected := want
			if calls && want == llm.Stopped {
				expected = llm.WantsTool
			}
			if err != nil || a.Stop != expected {
				t.Errorf("%s of %s: %s, %v", reason, file, a.Stop, err)
			}
		}
	}
	if a, err := ask(t, "blocked.sse"); err != nil || a.Stop != llm.Filtered || a.Usage.In != 12 {
		t.Errorf("blocked: %+v, %v", a, err)
	}
}

func TestErrorInTheStream(t *testing.T) {
	t.Parallel()
	_, err := ask(t, "error.sse")
	var e *llm.Error
	if !errors.As(err, &e) || e.Kind != llm.Overloaded || e.Status != 503 {
		t.Errorf("%v", err)
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status int
		body   string
		kind   llm.ErrorKind
		wait   time.Duration
	}{
		{429, `{"error":{"code":429,"message":"You exceeded your current quota, please check your plan and billing details.","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.QuotaFailure",
			"violations":[{"quotaMetric":"x"}]},{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"21.5s"}]}}`, llm.RateLimit, 21500 * time.Millisecond},
		{503, `{"error":{"code":503,"message":"The model is overloaded. Please try again later.","status":"UNAVAILABLE"}}`, llm.Overloaded, 0},
		{400, `{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID"}]}}`, llm.Auth, 0},
		{403, `{"error":{"code":403,"message":"Permission denied","status":"PERMISSION_DENIED"}}`, llm.Auth, 0},
		{404, `{"error":{"code":404,"message":"models/gemini-9 is not found for API version v1beta","status":"NOT_FOUND"}}`, llm.NotFound, 0},
		{400, `{"error":{"code":400,"message":"The input token count (2000000) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}`, llm.ContextLength, 0},
		{400, `[{"error":{"code":400,"message":"Function call is missing a thought_signature in functionCall parts.","status":"INVALID_ARGUMENT"}}]`, llm.BadRequest, 0},
		{500, `{"error":{"code":500,"message":"An internal error has occurred.","status":"INTERNAL"}}`, llm.Server, 0},
	} {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(c.status)
			_, _ = io.WriteString(w, c.body)
		}))
		_, err := llm.Ask(t.Context(), New(Config{BaseURL: srv.URL}).Model("gemini", llm.Tuning{}), llm.Request{})
		srv.Close()
		var e *llm.Error
		if !errors.As(err, &e) || e.Kind != c.kind || e.Status != c.status || e.RetryAfter != c.wait {
			t.Errorf("%d %s: %v, %+v", c.status, c.kind, err, e)
		}
	}
}

func TestModelsPaged(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.String() {
		case "/v1beta/models?pageSize=1000":
			_, _ = io.WriteString(w, `{"models":[{"name":"models/gemini-2.5-flash","version":"001","displayName":"Gemini 2.5 Flash","inputTokenLimit":1048576,"outputTokenLimit":65536,
				"supportedGenerationMethods":["generateContent","countTokens","createCachedContent","batchGenerateContent"],"temperature":1,"thinking":true},
				{"name":"models/imagen-4.0","supportedGenerationMethods":["predict"]}],"nextPageToken":"a/b="}`)
		case "/v1beta/models?pageSize=1000&pageToken=a%2Fb%3D":
			_, _ = io.WriteString(w, `{"models":[{"name":"models/gemini-embedding-001","inputTokenLimit":2048,"outputTokenLimit":1,"supportedGenerationMethods":["embedContent","countTextTokens"]}]}`)
		default:
			t.Error(r.URL)
		}
	}))
	defer srv.Close()
	list, err := New(Config{BaseURL: srv.URL}).Models(t.Context())
	if err != nil || len(list) != 2 || list[0].Name != "gemini-2.5-flash" || list[0].Context != 1048576 || list[0].MaxOut != 65536 || !*list[0].Thinking || *list[0].Embedding ||
		list[1].Name != "gemini-embedding-001" || !*list[1].Embedding || list[1].Thinking != nil {
		t.Errorf("%+v, %v", list, err)
	}
}

func TestEmbedInBatches(t *testing.T) {
	t.Parallel()
	var sizes []int
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct{ Requests []json.RawMessage }
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil || r.URL.Path != "/v1beta/models/gemini-embedding-001:batchEmbedContents" {
			t.Error(r.URL, err)
		}
		same(t, "request", in.Requests[0], fmt.Appendf(nil, `{"model":"models/gemini-embedding-001","content":{"parts":[{"text":"t%d"}]}}`, 100*len(sizes)))
		sizes = append(sizes, len(in.Requests))
		vectors := strings.Repeat(`{"values":[0.5,1]},`, len(in.Requests)-1) + `{"values":[2,3]}`
		_, _ = io.WriteString(w, `{"embeddings":[`+vectors+`]}`)
	}))
	defer srv.Close()
	p := New(Config{BaseURL: srv.URL})
	var texts []string
	for i := range 101 {
		texts = append(texts, fmt.Sprint("t", i))
	}
	got, _, err := p.Embed(t.Context(), "gemini-embedding-001", texts)
	if err != nil || len(got) != 101 || got[99][0] != 2 || got[98][0] != 0.5 || !reflect.DeepEqual(sizes, []int{100, 1}) {
		t.Errorf("%d, %v, %v", len(got), sizes, err)
	}
}

func TestFewerVectorsThanTexts(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"embeddings":[{"values":[1]}]}`)
	}))
	defer srv.Close()
	if _, _, err := New(Config{BaseURL: srv.URL}).Embed(t.Context(), "e", []string{"a", "b"}); err == nil {
		t.Error("two texts, one vector, and no error")
	}
}
