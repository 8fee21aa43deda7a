package openai_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"lore/internal/llm"
	"lore/internal/llm/openai"
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

func dollars(x float64) *float64 { return &x }

// with makes each part state of a model.
func with(p llm.Part, by, state string) llm.Part {
	p.OpaqueBy, p.Opaque = by, json.RawMessage(state)
	return p
}

// TestRecorded reads what real servers send, whole and cut after every byte.
func TestRecorded(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		config openai.Config
		want   llm.Answer
	}{
		"openai.sse": {openai.Config{Flavour: openai.OpenAI, API: openai.Chat}, llm.Answer{
			Parts: []llm.Part{say("I will “look” both up."), call("call_Ab1", "read_note", `{"path":"a.md"}`), call("call_Cd2", "read_note", `{"path":"b.md"}`)},
			Usage: llm.Usage{In: 100, Out: 40, CacheRead: 64, Reasoning: 8, CostUSD: dollars(0)}, Stop: llm.WantsTool,
		}},
		"openrouter.sse": {openai.Config{Flavour: openai.OpenRouter}, llm.Answer{
			Parts: []llm.Part{
				with(llm.Part{Kind: llm.Reasoning, Text: "Two notes."}, "test/m", `[{"format":"anthropic-claude-v1","index":0,"signature":"EqoB/+==","text":"Two notes.","type":"reasoning.text"},{"type":"reasoning.encrypted","data":"gAAAA<&>","format":"anthropic-claude-v1","index":1,"id":null}]`),
				call("toolu_01", "read_note", `{"path":"a.md"}`),
			},
			Usage: llm.Usage{In: 812, Out: 95, CacheRead: 100, CacheWrite: 12, Reasoning: 31, CostUSD: dollars(0.00386)}, Stop: llm.WantsTool,
		}},
		"deepseek.sse": {openai.Config{Flavour: openai.DeepSeek}, llm.Answer{
			Parts: []llm.Part{{Kind: llm.Reasoning, Text: "Hm …"}, say("Hello!")},
			Usage: llm.Usage{In: 10, Out: 6, CacheRead: 4, Reasoning: 3, CostUSD: dollars(0)}, Stop: llm.Stopped,
		}},
		"llama.sse": {openai.Config{}, llm.Answer{
			Parts: []llm.Part{
				call("9JYMCIXr0Hzfs3wnaotDc0ZfWKn1MGAP", "read_note", `{"path": "research/quantum-computing.md"}`),
				call("W7xV9ns6unMRY7e6a0oqlEPx1qBH6ACl", "read_note", `{"path": "papers/shor-algorithm.md"}`),
			},
			Usage: llm.Usage{In: 44, Out: 7, CostUSD: dollars(0)}, Stop: llm.WantsTool,
		}},
		"responses.sse": {openai.Config{Flavour: openai.OpenAI}, llm.Answer{
			Parts: []llm.Part{
				with(llm.Part{Kind: llm.Reasoning, Text: "**Looking** up\n\nTwo notes"}, "test/m", `{"id":"rs_1","type":"reasoning","encrypted_content":"gAAAAB-secret==","summary":[{"type":"summary_text","text":"**Looking** up"},{"type":"summary_text","text":"Two notes"}]}`),
				with(say("I look."), "test/m", `{"id":"msg_1","phase":"commentary"}`),
				with(call("call_Ab1", "read_note", `{"path":"a.md"}`), "test/m", `{"id":"fc_1"}`),
				with(call("call_Cd2", "read_note", `{"path":"b.md"}`), "test/m", `{"id":"fc_2"}`),
			},
			Usage: llm.Usage{In: 200, Out: 60, CacheRead: 128, Reasoning: 32, CostUSD: dollars(0)}, Stop: llm.WantsTool,
		}},
		"llama-responses.sse": {openai.Config{API: openai.Responses}, llm.Answer{
			Parts: []llm.Part{
				with(call("call_2CUQJ45ACwXX0FuHE5B3qGmbUb7bNWER", "read_note", `{"path": "research/quantum-computing.md"}`), "test/m", `{"id":"fc_2CUQJ45ACwXX0FuHE5B3qGmbUb7bNWER"}`),
				with(call("call_o4I0zJYkR7YgpA62XOw1g7B7aOQmTUI1", "read_note", `{"path": "papers/shor-algorithm.md"}`), "test/m", `{"id":"fc_o4I0zJYkR7YgpA62XOw1g7B7aOQmTUI1"}`),
			},
			Usage: llm.Usage{In: 44, Out: 7, CacheRead: 43, CostUSD: dollars(0)}, Stop: llm.WantsTool,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			raw := file(t, name)
			ask := func(base string) (llm.Answer, error) {
				config := c.config
				config.Name, config.BaseURL, config.Local = "test", base, true
				return llm.Ask(t.Context(), openai.New(config).Model("m", llm.Tuning{}), llm.Request{})
			}
			got, err := ask(wiretest.Serve(t, wiretest.Exchange{Path: "POST " + path(c.config), Answer: raw}))
			if err != nil || !reflect.DeepEqual(got, c.want) {
				t.Errorf("%+v, %v\nwant %+v", got, err, c.want)
			}
			wiretest.Cut(t, []byte(raw), ask)
		})
	}
}

func path(c openai.Config) string {
	if c.API == openai.Responses || c.Flavour == openai.OpenAI && c.API == openai.Auto {
		return "/responses"
	}
	return "/chat/completions"
}

// stream is a chat completion of these deltas, with its end.
func stream(finish string, deltas ...string) string {
	var b strings.Builder
	for _, d := range deltas {
		b.WriteString(`data: {"choices":[{"index":0,"delta":` + d + `,"finish_reason":null}]}` + "\n\n")
	}
	b.WriteString(`data: {"choices":[{"index":0,"delta":{},"finish_reason":"` + finish + `"}]}` + "\n\ndata: [DONE]\n\n")
	return b.String()
}

func ask(t *testing.T, answer string, r llm.Request) (llm.Answer, error) {
	t.Helper()
	base := wiretest.Serve(t, wiretest.Exchange{Path: "POST /chat/completions", Answer: answer})
	return llm.Ask(t.Context(), openai.New(openai.Config{Name: "test", BaseURL: base}).Model("m", llm.Tuning{}), r)
}

// TestCallsAreToldApart: what an index means differs from server to server.
func TestCallsAreToldApart(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		deltas []string
		want   []llm.Part
	}{
		"the same index with a new id is a new call": {[]string{
			`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{\"p\":1}"}}]}`,
			`{"tool_calls":[{"index":0,"id":"b","function":{"name":"f","arguments":"{\"p\":2}"}}]}`,
		}, []llm.Part{call("a", "f", `{"p":1}`), call("b", "f", `{"p":2}`)}},
		"a name after whole arguments is a new call": {[]string{
			`{"tool_calls":[{"index":0,"function":{"name":"f","arguments":"{\"p\":1}"}}]}`,
			`{"tool_calls":[{"index":0,"function":{"name":"f","arguments":"{\"p\":"}}]}`,
			`{"tool_calls":[{"index":0,"function":{"arguments":"2}"}}]}`,
		}, []llm.Part{call("", "f", `{"p":1}`), call("", "f", `{"p":2}`)}},
		"another name is a new call": {[]string{
			`{"tool_calls":[{"index":0,"function":{"name":"f","arguments":""}}]}`,
			`{"tool_calls":[{"index":0,"function":{"name":"g","arguments":""}}]}`,
		}, []llm.Part{call("", "f", `{}`), call("", "g", `{}`)}},
		"without an index the position counts": {[]string{
			`{"tool_calls":[{"id":"a","function":{"name":"f","arguments":"{"}},{"id":"b","function":{"name":"g","arguments":"{"}}]}`,
			`{"tool_calls":[{"function":{"arguments":"}"}},{"function":{"arguments":"}"}}]}`,
		}, []llm.Part{call("a", "f", `{}`), call("b", "g", `{}`)}},
		"empty entries are skipped": {[]string{
			`{"tool_calls":[{"index":0},{"index":1,"id":"","function":{"name":"","arguments":""}}]}`,
			`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}]}`, `{"tool_calls":[]}`, `{"tool_calls":null}`,
		}, []llm.Part{call("a", "f", `{}`)}},
		"an id on every delta is one call": {[]string{
			`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}]}`,
			`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":""}}]}`,
			`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":" "}}]}`,
		}, []llm.Part{call("a", "f", `{}`)}},
		"arguments as an object": {[]string{
			`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":{"p":[1]}}}]}`,
		}, []llm.Part{call("a", "f", `{"p":[1]}`)}},
		"arguments as a string in a string": {[]string{
			`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"\"{\\\"p\\\":1}\""}}]}`,
		}, []llm.Part{call("a", "f", `{"p":1}`)}},
		"null arguments": {[]string{
			`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":null}}]}`,
		}, []llm.Part{call("a", "f", `{}`)}},
		"all said once more at the end": {[]string{
			`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{\"p\":1}"}}]}`,
			`{"tool_calls":[{"index":0,"id":"a","function":{"arguments":"{\"p\":1}"}}]}`,
		}, []llm.Part{call("a", "f", `{"p":1}`)}},
		"one id for two calls": {[]string{
			`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}},{"index":1,"id":"a","function":{"name":"g","arguments":"{}"}}]}`,
		}, []llm.Part{call("a", "f", `{}`), call("", "g", `{}`)}},
		"broken JSON stays what no tool takes": {[]string{
			`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{\"p\":\"x"}}]}`,
		}, []llm.Part{call("a", "f", `"{\"p\":\"x"`)}},
		"a name comes late": {[]string{
			`{"tool_calls":[{"index":0,"id":"a"}]}`, `{"tool_calls":[{"index":0,"function":{"name":"f"}}]}`,
		}, []llm.Part{call("a", "f", `{}`)}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, finish := range []string{"tool_calls", "stop", "function_call"} {
				got, err := ask(t, stream(finish, c.deltas...), llm.Request{})
				if err != nil || got.Stop != llm.WantsTool {
					t.Fatal(got, err)
				}
				seen := map[string]bool{}
				for i := range got.Parts {
					if got.Parts[i].ID == "" || seen[got.Parts[i].ID] {
						t.Errorf("id %q", got.Parts[i].ID)
					}
					seen[got.Parts[i].ID] = true
					if i < len(c.want) && c.want[i].ID == "" {
						got.Parts[i].ID = ""
					}
				}
				if !reflect.DeepEqual(got.Parts, c.want) {
					t.Errorf("%+v", got.Parts)
				}
			}
		})
	}
}

// TestNoEndNoAnswer: a stream that only stops is an error to try again on.
func TestNoEndNoAnswer(t *testing.T) {
	t.Parallel()
	for name, in := range map[string]string{
		"nothing":           "",
		"text":              `data: {"choices":[{"delta":{"content":"Hel"}}]}` + "\n\n",
		"the mark alone":    "data: [DONE]\n\n",
		"mark without end":  `data: {"choices":[{"delta":{"content":"Hel"}}]}` + "\n\ndata: [DONE]\n\n",
		"a call and a mark": `data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}]}}]}` + "\n\ndata: [DONE]\n\n",
	} {
		if got, err := ask(t, in, llm.Request{}); !errors.Is(err, llm.ErrCut) || got.Parts != nil {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

// TestErrorsInAGoodStream: some servers answer 200 and then say no.
func TestErrorsInAGoodStream(t *testing.T) {
	t.Parallel()
	text := `data: {"choices":[{"delta":{"content":"Hel"}}]}` + "\n\n"
	for in, kind := range map[string]llm.ErrorKind{
		text + `data: {"id":"gen-1","error":{"code":502,"message":"Provider disconnected"},"choices":[{"index":0,"delta":{"content":""},"finish_reason":"error"}]}` + "\n\n": llm.Server,
		text + `data: {"choices":[{"index":0,"delta":{},"finish_reason":"error","error":{"code":429,"message":"slow"}}]}` + "\n\n":                                           llm.RateLimit,
		`data: {"error":{"message":"The number of tokens to keep is greater than the context length exceeded","type":"internal_error"}}` + "\n\n":                            llm.ContextLength,
		`data: {"error":"model crashed"}` + "\n\n": llm.Server,
		"data: {nonsense}\n\n":                     llm.Server,
	} {
		got, err := ask(t, in, llm.Request{})
		var e *llm.Error
		if !errors.As(err, &e) || e.Kind != kind || got.Parts != nil {
			t.Errorf("%s: %+v, %v", in, got, err)
		}
	}
}

// TestCallsOfACutAnswerSayThatItWasCut: the loop runs none of them.
func TestCallsOfACutAnswerSayThatItWasCut(t *testing.T) {
	t.Parallel()
	half := `{"tool_calls":[{"index":0,"id":"a","function":{"name":"write","arguments":"{\"text\":\"half a no"}}]}`
	for finish, stop := range map[string]llm.Stop{
		"length": llm.TooLong, "content_filter": llm.Filtered, "error": llm.Broken, "insufficient_system_resource": llm.Broken, "max_tokens": llm.TooLong,
	} {
		got, err := ask(t, stream(finish, half), llm.Request{})
		if err != nil || got.Stop != stop || len(got.Parts) != 1 || !json.Valid(got.Parts[0].Args) || got.Parts[0].Args[0] == '{' {
			t.Errorf("%s: %+v, %v", finish, got, err)
		}
	}
}

// TestAnswersThatAreNoStream: some servers do not know what was asked for.
func TestAnswersThatAreNoStream(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]string{
		`{"id":"1","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"Hello","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":3,"completion_tokens":4}}`: "Hello",
		`{"error":"Unexpected endpoint or method. (POST /chat/completions)"}`: "not_found: Unexpected endpoint or method. (POST /chat/completions)",
		`{"object":"other"}`: llm.ErrCut.Error(),
	} {
		base := wiretest.Serve(t, wiretest.Exchange{Path: "POST /chat/completions", Answer: answer, Header: map[string]string{"Content-Type": "application/json; charset=utf-8"}})
		a, err := llm.Ask(t.Context(), openai.New(openai.Config{BaseURL: base}).Model("m", llm.Tuning{}), llm.Request{})
		switch {
		case err != nil && err.Error() != want:
			t.Error(err)
		case err == nil && (a.Text() != want || len(a.Parts) != 2 || a.Usage.Out != 4 || a.Stop != llm.WantsTool):
			t.Errorf("%+v", a)
		}
	}
}

func TestTextInOtherForms(t *testing.T) {
	t.Parallel()
	got, err := ask(t, stream("stop", `{"content":[{"type":"text","text":"Hel"},{"type":"image"}]}`, `{"refusal":"lo"}`, `{"reasoning":{"x":1}}`), llm.Request{})
	if err != nil || got.Text() != "Hello" || len(got.Parts) != 1 {
		t.Error(got, err)
	}
}

func TestNamesGoOutPlainAndComeBack(t *testing.T) {
	t.Parallel()
	r := llm.Request{Tools: []llm.Tool{{Name: "git/log.all"}}}
	got, err := ask(t, stream("tool_calls", `{"tool_calls":[{"index":0,"id":"a","function":{"name":"git_log_all","arguments":"{}"}}]}`), r)
	if err != nil || got.Parts[0].Name != "git/log.all" {
		t.Error(got, err)
	}
}

// TestLeaving: the reader goes, the server is told, nothing more is passed on.
func TestLeaving(t *testing.T) {
	t.Parallel()
	for _, api := range []openai.API{openai.Chat, openai.Responses} {
		answer := file(t, "openai.sse")
		if api == openai.Responses {
			answer = file(t, "responses.sse")
		}
		c := openai.Config{Name: "test", BaseURL: wiretest.Serve(t, wiretest.Exchange{Path: "POST " + path(openai.Config{API: api}), Answer: answer}), API: api}
		n := 0
		for range openai.New(c).Model("m", llm.Tuning{}).Stream(t.Context(), llm.Request{}) {
			n++
			break
		}
		if n != 1 {
			t.Error(n)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := llm.Ask(ctx, openai.New(openai.Config{BaseURL: "http://127.0.0.1:9"}).Model("m", llm.Tuning{}), llm.Request{})
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestResponsesThatFail(t *testing.T) {
	t.Parallel()
	text := `data: {"type":"response.output_text.delta","output_index":0,"delta":"Hel"}` + "\n\n"
	for in, kind := range map[string]llm.ErrorKind{
		text + `event: error` + "\n" + `data: {"type":"error","code":"rate_limit_exceeded","message":"slow","param":null}` + "\n\n":                      llm.RateLimit,
		text + `data: {"type":"error","error":{"type":"invalid_request_error","code":"context_length_exceeded","message":"long"}}` + "\n\n":              llm.ContextLength,
		text + `data: {"type":"response.failed","response":{"status":"failed","error":{"code":"server_error","message":"The model failed"}}}` + "\n\n":   llm.Server,
		text + `data: {"type":"response.failed","response":{"status":"failed","error":{"code":"insufficient_quota","message":"You exceeded"}}}` + "\n\n": llm.Billing,
	} {
		base := wiretest.Serve(t, wiretest.Exchange{Path: "POST /responses", Answer: in})
		got, err := llm.Ask(t.Context(), openai.New(openai.Config{BaseURL: base, API: openai.Responses}).Model("m", llm.Tuning{}), llm.Request{})
		var e *llm.Error
		if !errors.As(err, &e) || e.Kind != kind || got.Parts != nil {
			t.Errorf("%s: %+v, %v", in, got, err)
		}
	}
	// Some call every end completed; then the status tells. Calls of such an answer must not run.
	for status, stop := range map[string]llm.Stop{"incomplete": llm.TooLong, "failed": llm.Broken, "cancelled": llm.Broken, "completed": llm.Stopped, "": llm.Stopped} {
		base := wiretest.Serve(t, wiretest.Exchange{Path: "POST /responses", Answer: text + `data: {"type":"response.completed","response":{"status":"` + status + `"}}` + "\n\n"})
		got, err := llm.Ask(t.Context(), openai.New(openai.Config{BaseURL: base, API: openai.Responses}).Model("m", llm.Tuning{}), llm.Request{})
		if err != nil || got.Stop != stop || got.Text() != "Hel" {
			t.Errorf("%s: %+v, %v", status, got, err)
		}
	}
	for reason, stop := range map[string]llm.Stop{"max_output_tokens": llm.TooLong, "content_filter": llm.Filtered} {
		in := text + `data: {"type":"response.incomplete","response":{"status":"incomplete","incomplete_details":{"reason":"` + reason + `"},"usage":{"input_tokens":3,"output_tokens":4}}}` + "\n\n"
		base := wiretest.Serve(t, wiretest.Exchange{Path: "POST /responses", Answer: in})
		got, err := llm.Ask(t.Context(), openai.New(openai.Config{BaseURL: base, API: openai.Responses}).Model("m", llm.Tuning{}), llm.Request{})
		if err != nil || got.Stop != stop || got.Text() != "Hel" || got.Usage.In != 3 || got.Usage.Out != 4 {
			t.Errorf("%s: %+v, %v", reason, got, err)
		}
	}
}

// seer is a transport that only looks where a request goes.
type seer struct{ url string }

func (s *seer) RoundTrip(r *http.Request) (*http.Response, error) {
	s.url = r.URL.String()
	return nil, errors.New("no")
}
