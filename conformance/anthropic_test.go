package conformance

import (
	"encoding/json"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"lore/internal/llm"
	adapter "lore/internal/llm/anthropic"
)

func messages(name string, t llm.Tuning) *wire {
	return &wire{
		model: func(base string) llm.Model {
			return adapter.New(adapter.Config{BaseURL: base, Key: key}).Model(name, t)
		},
		official: messagesOfficial, headers: []string{"X-Api-Key", "Anthropic-Version", "Content-Type"},
		same: func(object map[string]any, key string, v any) (any, bool) {
			// A result may be a text or a list of blocks; the SDK makes a list of it.
			if words, ok := v.(string); ok && key == "content" && object["type"] == "tool_result" {
				return []any{map[string]any{"type": "text", "text": words}}, true
			}
			return v, true
		},
	}
}

func messagesOfficial(t *testing.T, a asked, base string) reading {
	t.Helper()
	client := anthropic.NewClient(option.WithBaseURL(base), option.WithAPIKey("a key"), option.WithMaxRetries(0))
	stream := client.Messages.NewStreaming(t.Context(), decoded[anthropic.MessageNewParams](t, a, nil))
	var m anthropic.Message
	for stream.Next() {
		if err := m.Accumulate(stream.Current()); err != nil {
			t.Fatal(err)
		}
	}
	if err := stream.Err(); err != nil {
		t.Fatal(err)
	}
	u := m.Usage
	r := reading{
		In: int(u.InputTokens + u.CacheReadInputTokens + u.CacheCreationInputTokens), Out: int(u.OutputTokens), Cached: int(u.CacheReadInputTokens),
		Unsaid: int(u.OutputTokensDetails.ThinkingTokens),
		Stop: map[anthropic.StopReason]llm.Stop{
			anthropic.StopReasonEndTurn: llm.Stopped, anthropic.StopReasonToolUse: llm.WantsTool, anthropic.StopReasonMaxTokens: llm.TooLong, anthropic.StopReasonRefusal: llm.Filtered,
		}[m.StopReason],
	}
	for _, b := range m.Content {
		switch b := b.AsAny().(type) {
		case anthropic.TextBlock:
			r.Text += b.Text
		case anthropic.ThinkingBlock:
			r.Thought += b.Thinking
		case anthropic.ToolUseBlock:
			r.Calls = append(r.Calls, call{b.ID, b.Name, canonical(b.Input)})
		}
	}
	return r
}

func TestMessages(t *testing.T) {
	answer := recorded(t, "anthropic", "answer.sse")
	for name, tuning := range map[string]llm.Tuning{"claude-opus-4-7": {Effort: "high"}, "claude-sonnet-4-5": {}, "claude-3-5-haiku": {}} {
		for _, first := range []string{"tools.sse", "redacted.sse"} {
			t.Run(name+" "+first, func(t *testing.T) {
				w := messages(name, tuning)
				r := llm.Request{Think: true, MaxTokens: 4000}
				if first == "redacted.sse" {
					r.Messages = []llm.Message{llm.Say(llm.User, "Before")}
					a := w.ask(t, r, recorded(t, "anthropic", first))
					r.Messages = append(r.Messages, llm.Message{Role: llm.Assistant, Parts: a.Parts})
				}
				w.turn(t, r, recorded(t, "anthropic", "tools.sse"), answer)
			})
		}
	}
	warm := 0.5
	for name, r := range map[string]llm.Request{
		"limits": {MaxTokens: 900, Temperature: &warm}, "required": {Tools: tools(), ToolChoice: "required"}, "none": {Tools: tools(), ToolChoice: "none"}, "one": {Tools: tools(), ToolChoice: "read_note"},
		"format": {Format: json.RawMessage(formatSchema)},
	} {
		t.Run(name, func(t *testing.T) {
			r.Messages = []llm.Message{llm.Say(llm.User, "Hi")}
			messages("claude-opus-4-7", llm.Tuning{Effort: "low"}).ask(t, r, answer)
			messages("claude-sonnet-4-5", llm.Tuning{}).ask(t, r, answer)
		})
	}
}

// TestMessagesOfOthers: answers that others give in this language.
func TestMessagesOfOthers(t *testing.T) {
	for _, name := range []string{"llama.sse", "overlap.sse"} {
		t.Run(name, func(t *testing.T) {
			messages("m", llm.Tuning{}).ask(t, llm.Request{Tools: tools(), Messages: []llm.Message{llm.Say(llm.User, "Hi")}}, recorded(t, "anthropic", name))
		})
	}
}
