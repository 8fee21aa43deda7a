package agent

import (
	"strings"
	"testing"

	"lore/internal/agent/chat"
	"lore/internal/llm"
)

// TestTokensAreMeasuredByWhatWasSent: what is told in short, or left out, was not
// sent, so it says nothing about how long a token is.
func TestTokensAreMeasuredByWhatWasSent(t *testing.T) {
	w := &worker{Agent: &Agent{}, run: chat.Run{ID: "run-1"}, prompt: "p"}
	for i := 1; i <= 6; i++ {
		w.messages = append(w.messages, chat.Message{Seq: i, Message: llm.Say(llm.User, strings.Repeat("x", 1000))})
	}
	w.messages = append(w.messages,
		chat.Message{Seq: 7, Marker: chat.Compacted, Until: 6, Message: llm.Say(llm.User, strings.Repeat("y", 4000))},
		chat.Message{Seq: 8, Message: llm.Say(llm.User, strings.Repeat("z", 4000))},
		chat.Message{Seq: 9, Run: "run-1", Message: llm.Say(llm.Assistant, "yes"), Usage: &llm.Usage{In: 2000}})
	if n := w.tokens(8000); n < 1900 || n > 2100 {
		t.Errorf("8000 characters are taken for %d tokens, and the last 8000 were 2000", n)
	}
	w.measure(llm.Request{Messages: []llm.Message{llm.Say(llm.User, strings.Repeat("z", 3000))}}, llm.Usage{In: 1000})
	if n := w.tokens(3000); n < 900 || n > 1100 {
		t.Errorf("3000 characters are taken for %d tokens, and the last 3000 were 1000", n)
	}
}
