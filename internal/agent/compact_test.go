package agent_test

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"testing"

	"lore/internal/agent/chat"
	"lore/internal/llm"
)

// TestHardAfterSoft: a provider that refuses right after a summary gets less, not
// more, and the summary itself is not lost.
func TestHardAfterSoft(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.info.Context = 8000
	long := strings.Repeat("word ", 500)
	if err := w.Store.Put(t.Context(), chat.Chat{ID: "chat-1", Titled: chat.ByPerson, NoTools: true}); err != nil {
		t.Fatal(err)
	}
	// What it is asked decides what it says: a summary, a refusal, an answer.
	sums, refused := 0, false
	sizes := map[bool]int{}
	w.Agent.Model = func(context.Context, string) (llm.Model, llm.Info, error) {
		return answering{func(r llm.Request) (string, error) {
			text, size := "", 0
			for _, m := range r.Messages {
				for _, p := range m.Parts {
					text += p.Text
					size += len(p.Text)
				}
			}
			switch {
			case strings.Contains(text, "## What is open"):
				sums++
				if sums == 2 && !strings.Contains(text, "summary 1") {
					t.Error("the second summary does not know the first")
				}
				return fmt.Sprintf("summary %d", sums), nil
			case sums == 1 && !refused:
				refused, sizes[false] = true, size
				return "", &llm.Error{Kind: llm.ContextLength, Message: "too long"}
			case sums == 2 && sizes[true] == 0:
				sizes[true] = size
			}
			return "An answer. " + long, nil
		}}, w.info, nil
	}
	for i := range 8 {
		if r := w.ask(t, fmt.Sprintf("Question %d", i)); r.Status != chat.Done {
			t.Fatalf("%d: %+v", i, r)
		}
	}
	if sums < 2 || !refused || sizes[true] >= sizes[false] {
		t.Errorf("%d summaries, refused %v, %d characters after %d", sums, refused, sizes[true], sizes[false])
	}
}

// answering is a model that makes up its answers.
type answering struct {
	answer func(llm.Request) (string, error)
}

func (answering) ID() string { return "test/answering" }

func (m answering) Stream(_ context.Context, r llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		text, err := m.answer(r)
		if err != nil {
			yield(llm.Event{}, err)
			return
		}
		_ = yield(llm.Event{Type: llm.PartDone, Part: &llm.Part{Kind: llm.Text, Text: text}}, nil) && yield(llm.Event{Type: llm.Finish, Stop: llm.Stopped}, nil)
	}
}
