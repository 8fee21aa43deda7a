package conformance

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/respjson"
	"github.com/openai/openai-go/v3/responses"

	"lore/internal/llm"
	adapter "lore/internal/llm/openai"
)

func key() (string, error) { return "a key", nil }

func openaiClient(base string) openai.Client {
	return openai.NewClient(option.WithBaseURL(base+"/v1"), option.WithAPIKey("a key"), option.WithMaxRetries(0))
}

// chat is the wire of chat completions.
func chat(flavour adapter.Flavour, name string, t llm.Tuning, own ...string) *wire {
	return &wire{
		model: func(base string) llm.Model {
			return adapter.New(adapter.Config{Name: "x", BaseURL: base + "/v1", Flavour: flavour, API: adapter.Chat, Key: key}).Model(name, t)
		},
		official: chatOfficial, headers: []string{"Authorization", "Content-Type"},
		// Fields of a server's own, of which the SDK knows nothing.
		// And no content beside calls, which the SDK leaves out and the API takes as null.
		same: func(_ map[string]any, key string, v any) (any, bool) {
			return v, !slices.Contains(own, key) && !(key == "content" && v == nil)
		},
	}
}

func chatOfficial(t *testing.T, a asked, base string) reading {
	t.Helper()
	client := openaiClient(base)
	stream := client.Chat.Completions.NewStreaming(t.Context(), decoded(t, a, func(p *openai.ChatCompletionNewParams) {
		var body struct {
			Choice json.RawMessage `json:"tool_choice"`
		}
		var one openai.ChatCompletionNamedToolChoiceParam
		if json.Unmarshal(a.body, &body) == nil && bytes.HasPrefix(body.Choice, []byte("{")) && json.Unmarshal(body.Choice, &one) == nil {
			p.ToolChoice = openai.ChatCompletionToolChoiceOptionUnionParam{OfFunctionToolChoice: &one}
		}
	}))
	finish := ""
	var acc openai.ChatCompletionAccumulator
	var r reading
	for stream.Next() {
		chunk := stream.Current()
		if !acc.AddChunk(chunk) {
			t.Errorf("the SDK refuses a chunk: %s", chunk.RawJSON())
		}
		for _, c := range chunk.Choices {
			// The SDK has no types for thoughts; it keeps what it does not know.
			thought := text(c.Delta.JSON.ExtraFields["reasoning_content"])
			if thought == "" {
				thought = text(c.Delta.JSON.ExtraFields["reasoning"])
			}
			r.Thought += thought
			if c.FinishReason != "" { // the accumulator forgets it when another chunk comes
				finish = c.FinishReason
			}
		}
	}
	if err := stream.Err(); err != nil {
		t.Fatal(err)
	}
	m := acc.Choices[0].Message
	r.Text = m.Content
	for _, c := range m.ToolCalls {
		r.Calls = append(r.Calls, call{c.ID, c.Function.Name, canonical([]byte(c.Function.Arguments))})
	}
	r.Stop = map[string]llm.Stop{"stop": llm.Stopped, "tool_calls": llm.WantsTool, "length": llm.TooLong, "content_filter": llm.Filtered}[finish]
	u := acc.Usage
	r.In, r.Out, r.Cached, r.Unsaid = int(u.PromptTokens), int(u.CompletionTokens), int(u.PromptTokensDetails.CachedTokens), int(u.CompletionTokensDetails.ReasoningTokens)
	return r
}

func text(f respjson.Field) string {
	var s string
	_ = json.Unmarshal([]byte(f.Raw()), &s) // "" for what is no string
	return s
}

// said is an answer in chunks as the API sends it.
func said(words string) string {
	const head = `data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[`
	return head + `{"index":0,"delta":{"role":"assistant","content":"` + words + `"},"finish_reason":null}]}` + "\n\n" +
		head + `{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\n" +
		head + `],"usage":{"prompt_tokens":9,"completion_tokens":3,"total_tokens":12}}` + "\n\ndata: [DONE]\n\n"
}

func TestChat(t *testing.T) {
	answer := said("Done.")
	t.Run("OpenAI", func(t *testing.T) {
		chat(adapter.OpenAI, "gpt-4.1", llm.Tuning{}).turn(t, llm.Request{}, recorded(t, "openai", "openai.sse"), answer)
	})
	// What these servers want and OpenAI does not know. Nothing else may differ.
	t.Run("OpenRouter", func(t *testing.T) {
		chat(adapter.OpenRouter, "a/b", llm.Tuning{Effort: "high"}, "usage", "reasoning", "reasoning_details").turn(t, llm.Request{}, recorded(t, "openai", "openrouter.sse"), answer)
	})
	t.Run("llama-server", func(t *testing.T) {
		chat(adapter.Llama, "m", llm.Tuning{}).turn(t, llm.Request{}, recorded(t, "openai", "llama.sse"), answer)
	})
	warm := 0.5
	for name, r := range map[string]llm.Request{
		"limits": {MaxTokens: 900, Temperature: &warm}, "required": {Tools: tools(), ToolChoice: "required"}, "none": {Tools: tools(), ToolChoice: "none"}, "one": {Tools: tools(), ToolChoice: "read_note"},
		"format": {Format: json.RawMessage(formatSchema)}, "open format": {Format: json.RawMessage(readSchema)},
	} {
		t.Run(name, func(t *testing.T) {
			r.Messages = []llm.Message{llm.Say(llm.User, "Hi")}
			chat(adapter.OpenAI, "gpt-4.1", llm.Tuning{}).ask(t, r, answer)
			chat(adapter.OpenAI, "gpt-5", llm.Tuning{Effort: "low"}).ask(t, r, answer)
			chat(adapter.LMStudio, "m", llm.Tuning{Effort: "low"}).ask(t, r, answer)
		})
	}
}

// TestDeepSeek: what its cache held stands in a field of its own, which the SDK does
// not know.
func TestDeepSeek(t *testing.T) {
	w := chat(adapter.DeepSeek, "deepseek-reasoner", llm.Tuning{}, "reasoning_content")
	answer := recorded(t, "openai", "deepseek.sse")
	mine, theirs := serve(t, answer), serve(t, answer)
	a, err := llm.Ask(t.Context(), w.model(mine.url), llm.Request{Tools: tools(), Messages: []llm.Message{llm.Say(llm.User, "Hi")}})
	if err != nil {
		t.Fatal(err)
	}
	got := chatOfficial(t, mine.got(), theirs.url)
	w.sameRequest(t, mine.got(), theirs.got())
	mineRead := ours(a)
	got.Cached = mineRead.Cached // prompt_cache_hit_tokens, which only DeepSeek has
	sameReading(t, mineRead, got)
}

// TestResponses compares the second wire of OpenAI.
func TestResponses(t *testing.T) {
	wireOf := func(flavour adapter.Flavour, name string, tuning llm.Tuning) *wire {
		return &wire{
			model: func(base string) llm.Model {
				return adapter.New(adapter.Config{Name: "x", BaseURL: base + "/v1", Flavour: flavour, API: adapter.Responses, Key: key}).Model(name, tuning)
			},
			official: responsesOfficial, headers: []string{"Authorization", "Content-Type"},
		}
	}
	answer := `data: {"type":"response.output_item.added","sequence_number":1,"output_index":0,"item":{"id":"msg_9","type":"message","status":"in_progress","role":"assistant","content":[]}}

data: {"type":"response.output_text.delta","sequence_number":2,"item_id":"msg_9","output_index":0,"content_index":0,"delta":"Done."}

data: {"type":"response.output_item.done","sequence_number":3,"output_index":0,"item":{"id":"msg_9","type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","text":"Done.","annotations":[]}]}}

data: {"type":"response.completed","sequence_number":4,"response":{"id":"r","status":"completed","usage":{"input_tokens":9,"output_tokens":3,"total_tokens":12}}}

`
	t.Run("OpenAI", func(t *testing.T) {
		wireOf(adapter.OpenAI, "gpt-5", llm.Tuning{Effort: "low"}).turn(t, llm.Request{Think: true}, recorded(t, "openai", "responses.sse"), answer)
	})
	t.Run("llama-server", func(t *testing.T) {
		wireOf(adapter.Llama, "m", llm.Tuning{}).turn(t, llm.Request{}, recorded(t, "openai", "llama-responses.sse"), answer)
	})
	warm := 0.5
	for name, r := range map[string]llm.Request{
		"limits": {MaxTokens: 900, Temperature: &warm}, "required": {Tools: tools(), ToolChoice: "required"}, "none": {Tools: tools(), ToolChoice: "none"}, "one": {Tools: tools(), ToolChoice: "read_note"},
		"format": {Format: json.RawMessage(formatSchema)},
	} {
		t.Run(name, func(t *testing.T) {
			r.Messages = []llm.Message{llm.Say(llm.User, "Hi")}
			wireOf(adapter.OpenAI, "gpt-5", llm.Tuning{Effort: "high"}).ask(t, r, answer)
			wireOf(adapter.Compatible, "m", llm.Tuning{}).ask(t, r, answer)
		})
	}
}

func responsesOfficial(t *testing.T, a asked, base string) reading {
	t.Helper()
	client := openaiClient(base)
	stream := client.Responses.NewStreaming(t.Context(), decoded(t, a, func(p *responses.ResponseNewParams) {
		var body struct {
			Choice json.RawMessage   `json:"tool_choice"`
			Input  []json.RawMessage `json:"input"`
		}
		if err := json.Unmarshal(a.body, &body); err != nil {
			t.Fatal(err)
		}
		var one responses.ToolChoiceFunctionParam
		if bytes.HasPrefix(body.Choice, []byte("{")) && json.Unmarshal(body.Choice, &one) == nil {
			p.ToolChoice = responses.ResponseNewParamsToolChoiceUnion{OfFunctionTool: &one}
		}
		for i, raw := range body.Input { // an id is of messages that the server made
			var m responses.ResponseOutputMessageParam
			var head struct{ ID, Role string }
			if json.Unmarshal(raw, &head) == nil && head.Role == "assistant" && head.ID != "" && json.Unmarshal(raw, &m) == nil {
				p.Input.OfInputItemList[i] = responses.ResponseInputItemUnionParam{OfOutputMessage: &m}
			}
		}
	}))
	var r reading
	var thoughts []string
	for stream.Next() {
		switch e := stream.Current().AsAny().(type) {
		case responses.ResponseOutputItemDoneEvent:
			switch it := e.Item.AsAny().(type) {
			case responses.ResponseOutputMessage:
				for _, c := range it.Content {
					r.Text += c.Text
				}
			case responses.ResponseFunctionToolCall:
				r.Calls = append(r.Calls, call{it.CallID, it.Name, canonical([]byte(it.Arguments))})
			case responses.ResponseReasoningItem:
				for _, s := range it.Summary {
					thoughts = append(thoughts, s.Text)
				}
				for _, c := range it.Content {
					thoughts = append(thoughts, c.Text)
				}
			}
		case responses.ResponseCompletedEvent:
			u := e.Response.Usage
			r.In, r.Out, r.Cached, r.Unsaid = int(u.InputTokens), int(u.OutputTokens), int(u.InputTokensDetails.CachedTokens), int(u.OutputTokensDetails.ReasoningTokens)
			r.Stop = llm.Stopped
		}
	}
	if err := stream.Err(); err != nil {
		t.Fatal(err)
	}
	if len(r.Calls) > 0 {
		r.Stop = llm.WantsTool
	}
	r.Thought = strings.Join(thoughts, "\n\n")
	return r
}

// TestVectorsOfOpenAI: the request, and both readings of the answer.
func TestVectorsOfOpenAI(t *testing.T) {
	answer := `{"object":"list","data":[{"object":"embedding","index":1,"embedding":[0.5,2]},{"object":"embedding","index":0,"embedding":[1,-0.25]}],"model":"e","usage":{"prompt_tokens":5,"total_tokens":5}}`
	mine, theirs := serve(t, answer), serve(t, answer)
	got, used, err := adapter.New(adapter.Config{BaseURL: mine.url + "/v1", Key: key}).Embed(t.Context(), "e", []string{"a", "b"})
	if err != nil {
		t.Fatal(err)
	}
	client := openaiClient(theirs.url)
	want, err := client.Embeddings.New(t.Context(), decoded[openai.EmbeddingNewParams](t, mine.got(), nil))
	if err != nil {
		t.Fatal(err)
	}
	(&wire{headers: []string{"Authorization"}}).sameRequest(t, mine.got(), theirs.got())
	for _, d := range want.Data {
		for i, n := range d.Embedding {
			if float32(n) != got[d.Index][i] {
				t.Errorf("%v and %v", d.Embedding, got[d.Index])
			}
		}
	}
	if int(want.Usage.PromptTokens) != used.In || len(want.Data) != len(got) {
		t.Error(want.Usage, used)
	}
}
