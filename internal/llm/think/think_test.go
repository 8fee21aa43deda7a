package think

import (
	"context"
	"iter"
	"strings"
	"testing"

	"lore/internal/llm"
)

// spoken is a model that says a text in pieces of some size.
type spoken struct {
	text string
	size int
}

func (spoken) ID() string { return "test/spoken" }

func (m spoken) Stream(context.Context, llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		for s := m.text; s != ""; {
			n := min(m.size, len(s))
			if !yield(llm.Event{Type: llm.TextDelta, Text: s[:n]}, nil) {
				return
			}
			s = s[n:]
		}
		_ = yield(llm.Event{Type: llm.PartDone, Part: &llm.Part{Kind: llm.Text, Text: m.text}}, nil) &&
			yield(llm.Event{Type: llm.Finish, Stop: llm.Stopped}, nil)
	}
}

// heard is what comes out: deltas and parts, thoughts and words.
func heard(t *testing.T, text string, size int) (said, thought, part, partThought string) {
	t.Helper()
	done := false
	for e, err := range Wrap(spoken{text, size}).Stream(t.Context(), llm.Request{}) {
		switch {
		case err != nil:
			t.Fatal(err)
		case e.Type == llm.TextDelta:
			said += e.Text
		case e.Type == llm.ReasoningDelta:
			thought += e.Text
		case e.Type == llm.PartDone && e.Part.Kind == llm.Reasoning:
			partThought += e.Part.Text
		case e.Type == llm.PartDone:
			part += e.Part.Text
		case e.Type == llm.Finish:
			done = true
		}
	}
	if !done {
		t.Error("no finish")
	}
	return said, thought, part, partThought
}

func TestThoughts(t *testing.T) {
	for _, c := range []struct{ text, said, thought string }{
		{"Hello", "Hello", ""},
		{"<think>Hm.</think>\n\nHello", "Hello", "Hm."},
		{" \n<think>\nHm.\n</think>Hello", "Hello", "Hm."},
		{"<thinking>Hm < 3.</thinking>\nHello", "Hello", "Hm < 3."},
		{"<think>Hm", "", "Hm"},
		{"<think></think>Hello", "Hello", ""},
		{"<thin air>", "<thin air>", ""},
		{"<thi", "<thi", ""},
		{"Use <think> and </think> so.", "Use <think> and </think> so.", ""},
		{"In `a</think>b` it ends.", "In `a</think>b` it ends.", ""},
		{"<think>a</think>b</think>c", "b</think>c", "a"},
		{"  indented", "  indented", ""},
	} {
		for size := 1; size <= len(c.text); size++ {
			said, thought, part, partThought := heard(t, c.text, size)
			if said != c.said || strings.TrimSpace(thought) != c.thought || part != c.said || partThought != c.thought {
				t.Errorf("%q in pieces of %d: said %q, thought %q; whole %q, %q", c.text, size, said, thought, part, partThought)
				break
			}
		}
	}
	// A template may have written the beginning: that is known at the end.
	if _, _, part, thought := heard(t, "Hm.\n</think>\n\nHello", 3); part != "Hello" || thought != "Hm." {
		t.Errorf("%q %q", part, thought)
	}
}

func FuzzThoughts(f *testing.F) {
	f.Add("<think>a</think>b", 3)
	f.Fuzz(func(t *testing.T, text string, size int) {
		if text == "" || size < 1 {
			t.Skip()
		}
		said, thought, _, _ := heard(t, text, size)
		whole, alone, _, _ := heard(t, text, len(text))
		if said != whole || thought != alone {
			t.Errorf("%q in pieces of %d: %q %q, whole %q %q", text, size, said, thought, whole, alone)
		}
	})
}
