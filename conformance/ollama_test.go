package conformance

import (
	"encoding/json"
	"net/http"
	"net/url"
	"testing"

	"github.com/ollama/ollama/api"

	"lore/internal/llm"
	adapter "lore/internal/llm/ollama"
)

func ollama(t llm.Tuning) *wire {
	return &wire{
		model:    func(base string) llm.Model { return adapter.New(adapter.Config{BaseURL: base}).Model("m", t) },
		official: ollamaOfficial, headers: []string{"Content-Type"},
		// The SDK numbers calls, which the server does not look at.
		same: func(_ map[string]any, key string, v any) (any, bool) { return v, key != "index" },
	}
}

func ollamaClient(t *testing.T, base string) *api.Client {
	t.Helper()
	u, err := url.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	return api.NewClient(u, http.DefaultClient)
}

func ollamaOfficial(t *testing.T, a asked, base string) reading {
	t.Helper()
	var req api.ChatRequest
	strictly(t, a.body, &req)
	if req.Model == "" || len(req.Messages) == 0 || req.Truncate == nil || *req.Truncate || req.Shift == nil || *req.Shift || req.Options["num_ctx"] == nil {
		t.Errorf("%s", a.body)
	}
	var r reading
	err := ollamaClient(t, base).Chat(t.Context(), &req, func(res api.ChatResponse) error {
		r.Text += res.Message.Content
		r.Thought += res.Message.Thinking
		for _, c := range res.Message.ToolCalls {
			args, err := json.Marshal(c.Function.Arguments)
			if err != nil {
				return err
			}
			r.Calls = append(r.Calls, call{c.ID, c.Function.Name, canonical(args)})
		}
		if res.Done {
			r.In, r.Out = res.PromptEvalCount, res.EvalCount
			if res.PromptEvalCachedCount != nil {
				r.Cached = *res.PromptEvalCachedCount
			}
			r.Stop = map[string]llm.Stop{"stop": llm.Stopped, "length": llm.TooLong}[res.DoneReason]
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Calls) > 0 {
		r.Stop = llm.WantsTool
	}
	return r
}

func TestOllama(t *testing.T) {
	answer := recorded(t, "ollama", "text.ndjson")
	for _, first := range []string{"both.ndjson", "thinking.ndjson"} {
		t.Run(first, func(t *testing.T) {
			ollama(llm.Tuning{}).turn(t, llm.Request{Think: true}, recorded(t, "ollama", first), answer)
		})
	}
	warm := 0.5
	for name, r := range map[string]llm.Request{
		"limits": {MaxTokens: 900, Temperature: &warm}, "none": {Tools: tools(), ToolChoice: "none"}, "one": {Tools: tools(), ToolChoice: "read_note"}, "format": {Format: json.RawMessage(formatSchema)},
	} {
		t.Run(name, func(t *testing.T) {
			r.Messages = []llm.Message{llm.Say(llm.User, "Hi")}
			ollama(llm.Tuning{Context: 4096}).ask(t, r, answer)
		})
	}
}

func TestVectorsOfOllama(t *testing.T) {
	answer := `{"model":"e","embeddings":[[1,-0.25],[0.5,2]],"prompt_eval_count":5}`
	mine, theirs := serve(t, answer), serve(t, answer)
	got, used, err := adapter.New(adapter.Config{BaseURL: mine.url}).Embed(t.Context(), "e", []string{"a", "b"})
	if err != nil {
		t.Fatal(err)
	}
	var req api.EmbedRequest
	strictly(t, mine.got().body, &req)
	want, err := ollamaClient(t, theirs.url).Embed(t.Context(), &req)
	if err != nil {
		t.Fatal(err)
	}
	// The SDK sends options: null.
	w := &wire{headers: []string{"Content-Type"}, same: func(_ map[string]any, key string, v any) (any, bool) { return v, key != "options" }}
	w.sameRequest(t, mine.got(), theirs.got())
	for i, e := range want.Embeddings {
		for k, n := range e {
			if got[i][k] != n {
				t.Errorf("%v and %v", e, got[i])
			}
		}
	}
	if want.PromptEvalCount != used.In || len(want.Embeddings) != len(got) {
		t.Error(want.PromptEvalCount, used)
	}
}
