package ollama_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"lore/internal/llm"
	"lore/internal/llm/ollama"
	"lore/internal/llm/wiretest"
)

func file(t *testing.T, name string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func call(id, name, args string) llm.Part {
	return llm.Part{Kind: llm.ToolCall, ID: id, Name: name, Args: json.RawMessage(args)}
}

func say(text string) llm.Part { return llm.Part{Kind: llm.Text, Text: text} }

func free() *float64 { return new(float64) }

// showing is the first exchange with a model.
func showing(answer string) wiretest.Exchange {
	return wiretest.Exchange{Path: "POST /api/show", Body: `{"model":"m"}`, Answer: answer}
}

const plain = `{"capabilities":["completion","tools"],"model_info":{"llama.context_length":8192},"details":{"family":"llama"}}`

// TestRecorded reads what real servers send, whole and cut after every byte.
func TestRecorded(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		ids  bool
		want llm.Answer
	}{
		"both.ndjson": {true, llm.Answer{
			Parts: []llm.Part{
				call("GfEllXBwIOpwlE300A80NjOf0kgnzvPZ", "read_note", `{"path":"research/quantum-computing.md"}`),
				call("WJL1MMdqmiK3qLxz8Cea5am0U48KASgF", "read_note", `{"path":"papers/shor-algorithm.md"}`),
			},
			Usage: llm.Usage{In: 44, Out: 7, CostUSD: free()}, Stop: llm.WantsTool,
		}},
		"thinking.ndjson": {false, llm.Answer{
			Parts: []llm.Part{{Kind: llm.Reasoning, Text: "I should look."}, say("Looking<br>"), call("", "read_note", `{"path":"a.md"}`), call("", "read_note", `{"path":"b.md"}`)},
			Usage: llm.Usage{In: 166, Out: 42, CostUSD: free()}, Stop: llm.WantsTool,
		}},
		"text.ndjson": {true, llm.Answer{
			Parts: []llm.Part{say("Short answer.")},
			Usage: llm.Usage{In: 45, Out: 9, CacheRead: 26, CostUSD: free()}, Stop: llm.Stopped,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			raw := file(t, name)
			got, err := ask(t, raw)
			seen := map[string]bool{}
			for i, p := range got.Parts {
				if p.Kind == llm.ToolCall && (p.ID == "" || seen[p.ID]) {
					t.Errorf("id %q", p.ID)
				}
				seen[p.ID] = true
				if !c.ids {
					got.Parts[i].ID = ""
				}
			}
			if err != nil || !reflect.DeepEqual(got, c.want) {
				t.Errorf("%+v, %v", got, err)
			}
			wiretest.Cut(t, []byte(raw), func(base string) (llm.Answer, error) {
				return llm.Ask(t.Context(), ollama.New(ollama.Config{BaseURL: base, Transport: shower{}}).Model("m", llm.Tuning{}), llm.Request{})
			})
		})
	}
}

// shower answers what is asked of a model itself, and passes on the rest.
type shower struct{}

func (shower) RoundTrip(r *http.Request) (*http.Response, error) {
	if strings.HasSuffix(r.URL.Path, "/api/show") {
		return &http.Response{StatusCode: 200, Body: io.NopCloser(strings.NewReader(plain))}, nil
	}
	return http.DefaultTransport.RoundTrip(r)
}

func ask(t *testing.T, answer string) (llm.Answer, error) {
	t.Helper()
	base := wiretest.Serve(t, showing(plain), wiretest.Exchange{Path: "POST /api/chat", Answer: answer})
	return llm.Ask(t.Context(), ollama.New(ollama.Config{BaseURL: base}).Model("m", llm.Tuning{}), llm.Request{})
}

const readSchema = `{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}`

const sentTools = `[{"type":"function","function":{"name":"read_note","description":"Reads","parameters":` + readSchema + `}},
	{"type":"function","function":{"name":"write_note","description":"Writes","parameters":{"type":"object","properties":{}}}}]`

func tools() []llm.Tool {
	return []llm.Tool{
		{Name: "write.note", Description: "Writes"},
		{Name: "read_note", Description: "Reads", Schema: json.RawMessage(readSchema), Roles: []string{"secret"}},
	}
}

func TestTwoTurns(t *testing.T) {
	t.Parallel()
	head := `{"model":"m","stream":true,"truncate":false,"shift":false,"think":true,"options":{"num_ctx":16384,"num_predict":99,"temperature":0.5},"tools":` + sentTools + `,"messages":[
		{"role":"system","content":"Be short."},{"role":"user","content":"What?"}`
	base := wiretest.Serve(t,
		showing(`{"capabilities":["completion","tools","thinking"],"model_info":{"qwen3.context_length":40960,"qwen3.rope":1},"details":{"family":"qwen3"}}`),
		wiretest.Exchange{Path: "POST /api/chat", Answer: file(t, "both.ndjson"), Body: head + `]}`, Has: map[string]string{"Authorization": "Bearer k", "X-A": "b"}},
		wiretest.Exchange{Path: "POST /api/chat", Answer: file(t, "text.ndjson"), Body: head + `,
			{"role":"assistant","content":"So","thinking":"hm","tool_calls":[
				{"id":"GfEllXBwIOpwlE300A80NjOf0kgnzvPZ","function":{"name":"read_note","arguments":{"path":"research/quantum-computing.md"}}},
				{"id":"WJL1MMdqmiK3qLxz8Cea5am0U48KASgF","function":{"name":"read_note","arguments":{"path":"papers/shor-algorithm.md"}}}]},
			{"role":"tool","tool_name":"read_note","tool_call_id":"GfEllXBwIOpwlE300A80NjOf0kgnzvPZ","content":"text"},
			{"role":"tool","tool_name":"read_note","tool_call_id":"WJL1MMdqmiK3qLxz8Cea5am0U48KASgF","content":"text"}]}`})
	p := ollama.New(ollama.Config{BaseURL: base, Key: func() (string, error) { return "k", nil }, Headers: map[string]string{"X-A": "b"}})
	m := p.Model("m", llm.Tuning{Effort: "high"})
	warm := 0.5
	r := llm.Request{System: "Be short.", Messages: []llm.Message{llm.Say(llm.User, "What?")}, Tools: tools(), Think: true, MaxTokens: 99, Temperature: &warm}
	a, err := llm.Ask(t.Context(), m, r)
	if err != nil {
		t.Fatal(err)
	}
	results := llm.Message{Role: llm.Results}
	for _, c := range a.Parts {
		results.Parts = append(results.Parts, llm.Part{Kind: llm.ToolResult, ID: c.ID, Name: c.Name, Text: "text"})
	}
	parts := append([]llm.Part{{Kind: llm.Reasoning, Text: "hm", Opaque: json.RawMessage(`"no"`), OpaqueBy: "other"}, say("So")}, a.Parts...)
	r.Messages = append(r.Messages, llm.Message{Role: llm.Assistant, Parts: parts}, results)
	if a, err = llm.Ask(t.Context(), m, r); err != nil || a.Text() != "Short answer." || a.Stop != llm.Stopped {
		t.Error(a, err)
	}
	if m.ID() != "ollama/m" || p.Name() != "ollama" {
		t.Error(m.ID(), p.Name())
	}
}

// TestRequests: how much may be read is always said, and what does not fit refused.
func TestRequests(t *testing.T) {
	t.Parallel()
	with := func(num int, rest string) string {
		return `{"model":"m","stream":true,"truncate":false,"shift":false,"options":{"num_ctx":` + strconv.Itoa(num) + `}` + rest + `}`
	}
	const none = `,"messages":[]`
	for name, c := range map[string]struct {
		show   string
		tuning llm.Tuning
		r      llm.Request
		want   string
	}{
		"the model's own":          {plain, llm.Tuning{}, llm.Request{}, with(8192, none)},
		"not all that it can":      {`{"model_info":{"a.context_length":131072}}`, llm.Tuning{}, llm.Request{}, with(16384, none)},
		"not known":                {`{}`, llm.Tuning{}, llm.Request{}, with(16384, none)},
		"of its Modelfile":         {`{"parameters":"stop \"<x>\"\nnum_ctx                        32768\n","model_info":{"a.context_length":131072}}`, llm.Tuning{}, llm.Request{}, with(32768, none)},
		"too much in its own":      {`{"parameters":"num_ctx 32768","model_info":{"a.context_length":2048}}`, llm.Tuning{}, llm.Request{}, with(2048, none)},
		"tuned":                    {plain, llm.Tuning{Context: 5000}, llm.Request{}, with(5000, none)},
		"no thinking without can":  {plain, llm.Tuning{Effort: "high"}, llm.Request{Think: true}, with(8192, none)},
		"none when not known":      {`{}`, llm.Tuning{}, llm.Request{Think: true}, with(16384, none)},
		"thinking is switched off": {`{"capabilities":["thinking"]}`, llm.Tuning{}, llm.Request{}, with(16384, none+`,"think":false`)},
		"degrees":                  {`{"capabilities":["thinking"],"details":{"family":"gptoss"}}`, llm.Tuning{Effort: "low"}, llm.Request{}, with(16384, none+`,"think":"low"`)},
		"a format":                 {plain, llm.Tuning{}, llm.Request{Format: json.RawMessage(`{"type":"object"}`)}, with(8192, none+`,"format":{"type":"object"}`)},
		"no tool":                  {plain, llm.Tuning{}, llm.Request{Tools: tools(), ToolChoice: "none"}, with(8192, none)},
		"any tool":                 {plain, llm.Tuning{}, llm.Request{Tools: tools(), ToolChoice: "required"}, with(8192, none+`,"tools":`+sentTools)},
		"one tool":                 {plain, llm.Tuning{}, llm.Request{Tools: tools(), ToolChoice: "write.note"}, with(8192, none+`,"tools":[{"type":"function","function":{"name":"write_note","description":"Writes","parameters":{"type":"object","properties":{}}}}]`)},
		"extra":                    {plain, llm.Tuning{Extra: json.RawMessage(`{"keep_alive":"1h","options":{"top_k":3}}`)}, llm.Request{}, `{"model":"m","stream":true,"truncate":false,"shift":false,"options":{"num_ctx":8192,"top_k":3},"keep_alive":"1h"` + none + `}`},
		"a picture":                {plain, llm.Tuning{}, llm.Request{Messages: []llm.Message{{Role: llm.User, Parts: []llm.Part{{Kind: llm.Text, Text: "See"}, {Kind: llm.Image, Name: "a.png", Media: "image/png", Data: []byte("pic")}}}}}, with(8192, `,"messages":[{"role":"user","content":"See","images":["cGlj"]}]`)},
		"arguments are an object": {plain, llm.Tuning{}, llm.Request{Messages: []llm.Message{llm.Say(llm.Assistant, ""), {Role: llm.Assistant, Parts: []llm.Part{call("1", "f", `"{\"p\":1}"`), call("2", "f", `"{\"p"`)}}}},
			with(8192, `,"messages":[{"role":"assistant","content":"","tool_calls":[{"id":"1","function":{"name":"f","arguments":{"p":1}}},{"id":"2","function":{"name":"f","arguments":{}}}]}]`)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			base := wiretest.Serve(t, showing(c.show), wiretest.Exchange{Path: "POST /api/chat", Body: c.want})
			if _, err := llm.Ask(t.Context(), ollama.New(ollama.Config{BaseURL: base}).Model("m", c.tuning), c.r); !errors.Is(err, llm.ErrCut) {
				t.Error(err)
			}
		})
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	var e *llm.Error
	for name, c := range map[string]struct {
		status int
		answer string
		kind   llm.ErrorKind
	}{
		"too long":   {400, `{"error":"{\"error\":{\"code\":400,\"message\":\"request (60020 tokens) exceeds the available context size (8192 tokens), try increasing it\",\"type\":\"exceed_context_size_error\",\"n_prompt_tokens\":60020,\"n_ctx\":8192}}"}`, llm.ContextLength},
		"no tools":   {400, `{"error":"registry.ollama.ai/library/gemma2:2b does not support tools"}`, llm.NoTools},
		"busy":       {503, `{"error":"server busy, please try again.  maximum pending requests exceeded"}`, llm.Overloaded},
		"midway":     {200, `{"message":{"content":"Hel"}}` + "\n" + `{"error":"an error was encountered while running the model: unexpected EOF"}`, llm.Server},
		"unreadable": {200, "<html>\n", llm.Server},
	} {
		base := wiretest.Serve(t, showing(plain), wiretest.Exchange{Path: "POST /api/chat", Status: c.status, Answer: c.answer})
		got, err := llm.Ask(t.Context(), ollama.New(ollama.Config{BaseURL: base}).Model("m", llm.Tuning{}), llm.Request{})
		if !errors.As(err, &e) || e.Kind != c.kind || got.Parts != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	base := wiretest.Serve(t, wiretest.Exchange{Path: "POST /api/show", Status: 404, Answer: `{"error":"model 'm' not found"}`})
	if _, err := llm.Ask(t.Context(), ollama.New(ollama.Config{BaseURL: base}).Model("m", llm.Tuning{}), llm.Request{}); !errors.As(err, &e) || e.Kind != llm.NotFound {
		t.Error(err)
	}
	_, err := llm.Ask(t.Context(), ollama.New(ollama.Config{Transport: shower{}}).Model("m", llm.Tuning{Extra: json.RawMessage(`{"options":3}`)}), llm.Request{})
	if !errors.As(err, &e) || e.Kind != llm.BadRequest {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := llm.Ask(ctx, ollama.New(ollama.Config{}).Model("m", llm.Tuning{}), llm.Request{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestCallsOfACutAnswerSayThatItWasCut: the loop runs none of them.
func TestCallsOfACutAnswerSayThatItWasCut(t *testing.T) {
	t.Parallel()
	got, err := ask(t, `{"message":{"content":"","tool_calls":[{"id":"a","function":{"name":"f","arguments":{}}},{"id":"a","function":{"name":"g","arguments":"{\"p\":1}"}}]},"done":true,"done_reason":"length"}`)
	if err != nil || got.Stop != llm.TooLong || len(got.Parts) != 2 || got.Parts[0].ID == got.Parts[1].ID || string(got.Parts[1].Args) != `{"p":1}` {
		t.Error(got, err)
	}
	if got, err = ask(t, `{"message":{"content":"Hel"},"done":false}`+"\n"); !errors.Is(err, llm.ErrCut) || got.Parts != nil {
		t.Error(got, err)
	}
}

func TestModels(t *testing.T) {
	t.Parallel()
	yes, no := true, false
	show := func(model, answer string) wiretest.Exchange {
		return wiretest.Exchange{Path: "POST /api/show", Body: `{"model":"` + model + `"}`, Answer: answer}
	}
	base := wiretest.Serve(t,
		wiretest.Exchange{Path: "GET /api/tags", Answer: `{"models":[{"name":"a:latest","model":"a:latest","size":1,"digest":"x"},{"name":"e"},{"name":"g:120b-cloud"},{"name":"far","remote_host":"https://ollama.com"},{"name":"old"},{"name":"gone"}]}`},
		show("a:latest", `{"capabilities":["completion","tools","thinking"],"model_info":{"general.architecture":"qwen3","qwen3.context_length":40960}}`),
		show("e", `{"capabilities":["embedding","vision"],"model_info":{"bert.context_length":512}}`),
		show("g:120b-cloud", `{"remote_host":"https://ollama.com:443"}`),
		show("far", `{}`), show("old", `{"model_info":{}}`),
		wiretest.Exchange{Path: "POST /api/show", Status: 500},
		wiretest.Exchange{Path: "POST /api/chat", Answer: file(t, "text.ndjson")},
		wiretest.Exchange{Path: "POST /api/chat", Answer: file(t, "text.ndjson")})
	p := ollama.New(ollama.Config{BaseURL: base})
	got, err := p.Models(t.Context())
	want := []llm.Info{
		{Name: "a:latest", Context: 16384, Tools: &yes, Thinking: &yes, Vision: &no, Embedding: &no, Local: true},
		{Name: "e", Context: 512, Tools: &no, Thinking: &no, Vision: &yes, Embedding: &yes, Local: true},
		{Name: "g:120b-cloud", Context: 16384}, {Name: "far", Context: 16384}, {Name: "old", Context: 16384, Local: true}, {Name: "gone", Local: true},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
	// What was shown is not asked again, and what runs elsewhere is not free.
	for _, name := range []string{"g:120b-cloud", "far"} {
		if a, err := llm.Ask(t.Context(), p.Model(name, llm.Tuning{}), llm.Request{}); err != nil || a.Usage.CostUSD != nil {
			t.Error(name, a, err)
		}
	}
}

func TestEmbed(t *testing.T) {
	t.Parallel()
	const body = `{"model":"e","input":["a","b"],"truncate":true}`
	for answer, want := range map[string][][]float32{
		`{"model":"e","embeddings":[[1],[2]],"total_duration":1,"prompt_eval_count":4}`: {{1}, {2}},
		`{"model":"e","embeddings":[[1]],"prompt_eval_count":4}`:                        nil,
	} {
		p := ollama.New(ollama.Config{BaseURL: wiretest.Serve(t, wiretest.Exchange{Path: "POST /api/embed", Body: body, Answer: answer})})
		got, used, err := p.Embed(t.Context(), "e", []string{"a", "b"})
		if (err == nil) != (want != nil) || !reflect.DeepEqual(got, want) || err == nil && (used.In != 4 || used.CostUSD == nil) {
			t.Errorf("%s: %v %v %v", answer, got, used, err)
		}
	}
	if got, _, err := ollama.New(ollama.Config{}).Embed(t.Context(), "e", nil); got != nil || err != nil {
		t.Error(got, err)
	}
}
