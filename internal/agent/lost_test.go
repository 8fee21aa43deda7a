package agent_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"lore/internal/agent"
	"lore/internal/agent/chat"
	"lore/internal/llm"
	"lore/internal/llm/llmtest"
	"lore/internal/tool"
	"lore/internal/tool/tooltest"
	"lore/internal/tools/notes"
	"lore/internal/tools/task"
)

// words are what a request says.
func words(r llm.Request) string {
	var b strings.Builder
	for _, m := range r.Messages {
		for _, p := range m.Parts {
			b.WriteString(p.Text + "\n")
		}
	}
	return b.String()
}

// asking starts a run and works on it, whatever becomes of it.
func (w *world) asking(t *testing.T, q agent.Request) (chat.Run, error) {
	t.Helper()
	r, err := w.Start(t.Context(), "chat-1", q)
	if err != nil {
		t.Fatal(err)
	}
	return w.Work(t.Context(), r.ID, func(e agent.Event) { w.told = append(w.told, e) })
}

// streamed is what somebody who watches has read.
func (w *world) streamed() string {
	var b strings.Builder
	for _, e := range w.told {
		if e.Type == agent.Text {
			b.WriteString(e.Text)
		}
	}
	return b.String()
}

// quotesTea checks that an answer is a passage of the note on tea, cited.
func (w *world) quotesTea(t *testing.T) {
	t.Helper()
	m := w.last(t)
	if text := said(m); !strings.Contains(text, "> Tea is a drink of leaves") || !strings.Contains(text, "[[Tea]]") || !strings.Contains(text, "no answer") {
		t.Errorf("said %q", text)
	}
	if m.Role != llm.Assistant || len(m.Citations) == 0 || m.Citations[0].State != chat.Read || !strings.Contains(w.streamed(), "> Tea is a drink") {
		t.Errorf("%s, citations %+v, streamed %q", m.Role, m.Citations, w.streamed())
	}
}

var readsTea = calls(call("a", "read_note", `{"path":"Tea"}`))

// TestTheNewestResultIsRead: whatever the window, what a model asked for is what it
// reads next, as much of it as there is room for, and not a summary of it.
func TestTheNewestResultIsRead(t *testing.T) {
	t.Parallel()
	var long strings.Builder
	for i := 0; long.Len() < 57_000; i++ {
		fmt.Fprintf(&long, "Line %04d says something about tea.\n", i)
	}
	for _, window := range []int{4096, 8192, 16_384, 24_576, 100_000} {
		t.Run(fmt.Sprint(window), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, calls(call("a", "read_note", `{"path":"Long"}`)), llmtest.Text("About tea, see [[Long]]."), llmtest.Text("t"))
			w.info.Context = window
			w.write(t, "Long.md", long.String())
			if r := w.ask(t, "What does the long note say?"); r.Status != chat.Done {
				t.Fatalf("%+v", r)
			}
			for i, r := range w.model.Requests()[:2] {
				text := words(r)
				if strings.Contains(text, "## What is open") || len(text) > 3*window {
					t.Errorf("request %d: %d characters for %d tokens: %.300s", i, len(text), window, text)
				}
				if i == 1 && (!strings.Contains(text, "Line 0000") || !strings.Contains(text, "Line 0030") || len(text) < min(window/3, 17_000)) {
					t.Errorf("of the note the model read %d characters: %.300s", len(text), text)
				}
			}
		})
	}
}

func TestAnEmptyAnswerIsAskedForAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, readsTea, llmtest.Text("  "), llmtest.Text("Of leaves, see [[Tea]]."), llmtest.Text("t"))
	if r := w.ask(t, "What is tea made of?"); r.Status != chat.Done || said(w.last(t)) != "Of leaves, see [[Tea]]." {
		t.Fatalf("%+v: %s", r, said(w.last(t)))
	}
	if text := words(w.model.Requests()[2]); !strings.Contains(text, "You gave no answer") || strings.Count(text, "Tea is a drink of leaves") < 2 {
		t.Errorf("asked again with %s", text)
	}
}

func TestNoAnswerIsAQuote(t *testing.T) {
	t.Parallel()
	for name, script := range map[string][]llmtest.Step{
		"read":     {readsTea, llmtest.Text(""), llmtest.Text("\n")},
		"unread":   {llmtest.Text(""), llmtest.Text("")},
		"thoughts": {{Reasoning: []string{"Tea?"}}, {Reasoning: []string{"Tea."}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, append(script, llmtest.Text("t"))...)
			r, err := w.asking(t, agent.Request{Text: "What drink is tea, of leaves?"})
			if err != nil || r.Status != chat.Limited || !strings.Contains(r.Reason, "no answer") {
				t.Fatalf("%v, %+v", err, r)
			}
			w.quotesTea(t)
		})
	}
}

func TestNoAnswerAtALimitIsAQuote(t *testing.T) {
	t.Parallel()
	w := newWorld(t, readsTea, llmtest.Text(""), llmtest.Text("t"))
	r, err := w.asking(t, agent.Request{Text: "What is tea made of?", Limits: chat.Limits{Steps: 1}})
	if err != nil || r.Status != chat.Limited || !strings.Contains(r.Reason, "1 steps") {
		t.Fatalf("%v, %+v", err, r)
	}
	w.quotesTea(t)
}

func TestALoopEndsWithWhatWasFound(t *testing.T) {
	t.Parallel()
	w := newWorld(t, readsTea, readsTea, readsTea, readsTea, readsTea, readsTea)
	r, err := w.asking(t, agent.Request{Text: "What is tea made of?"})
	if err != nil || r.Status != chat.WaitingUser {
		t.Fatalf("%v, %+v", err, r)
	}
	w.quotesTea(t)
}

func TestAWindowThatIsTooSmallEndsWithAQuote(t *testing.T) {
	t.Parallel()
	steps := []llmtest.Step{readsTea}
	for range 12 {
		steps = append(steps, llmtest.Fail(&llm.Error{Kind: llm.ContextLength, Message: "too long"}))
	}
	w := newWorld(t, steps...)
	r, err := w.asking(t, agent.Request{Text: "What is tea made of?"})
	if err != nil || r.Status != chat.Limited {
		t.Fatalf("%v, %+v", err, r)
	}
	w.quotesTea(t)
}

// TestALateRefusalOfTheLength: a provider that counts more tokens than we do gets
// less of the newest result, and answers.
func TestALateRefusalOfTheLength(t *testing.T) {
	t.Parallel()
	tooLong := llmtest.Fail(&llm.Error{Kind: llm.ContextLength, Message: "too long"})
	w := newWorld(t, calls(call("a", "read_note", `{"path":"Long"}`)), tooLong, tooLong, tooLong, llmtest.Text("Done."), llmtest.Text("t"))
	w.write(t, "Long.md", strings.Repeat("Tea is a drink of leaves.\n", 2000))
	if r := w.ask(t, "What does the long note say?"); r.Status != chat.Done || said(w.last(t)) != "Done." {
		t.Fatalf("%+v: %s", r, said(w.last(t)))
	}
	var sizes []int
	for _, r := range w.model.Requests() {
		if text := words(r); strings.Contains(text, "leaves") && !strings.Contains(text, "## What is open") {
			sizes = append(sizes, len(text))
		}
	}
	if len(sizes) < 2 || sizes[len(sizes)-1] > sizes[0]/2 {
		t.Errorf("sizes %v", sizes)
	}
}

func TestABrokenStreamKeepsWhatWasFound(t *testing.T) {
	t.Parallel()
	w := newWorld(t, readsTea, llmtest.Step{Chunks: []string{"Well, "}, Err: errors.New("the connection was reset")})
	r, err := w.asking(t, agent.Request{Text: "What is tea made of?"})
	if err == nil || r.Status != chat.Failed {
		t.Fatalf("%v, %+v", err, r)
	}
	w.quotesTea(t)
	list, err := w.Store.Messages(t.Context(), "chat-1")
	if err != nil || said(list[len(list)-2]) != "Well, " {
		t.Errorf("%v: %+v", err, list)
	}
}

// TestASummaryIsTheAnswer: what ends a run is said.
func TestASummaryIsTheAnswer(t *testing.T) {
	t.Parallel()
	w := newWorld(t, calls(call("a", "task_complete", `{"summary":"Filed three notes."}`)), llmtest.Text("t"))
	p := tooltest.Open(t, w.dir, nil)
	w.Door = tool.NewRegistry(p.Deps(), notes.Tools(notes.Env{Vault: p.Vault, Store: p.Store, Search: p.Search, Fresh: p.Fresh, Now: tooltest.Now}), task.Tools(task.Env{}))
	if err := w.Store.Put(t.Context(), chat.Chat{ID: "chat-1", Titled: chat.ByPerson, Sets: []string{"notes", "task"}}); err != nil {
		t.Fatal(err)
	}
	r, err := w.asking(t, agent.Request{Text: "File them"})
	if err != nil || r.Status != chat.Done {
		t.Fatalf("%v, %+v", err, r)
	}
	if m := w.last(t); m.Role != llm.Assistant || said(m) != "Filed three notes." || !strings.Contains(w.streamed(), "Filed three notes.") {
		t.Errorf("said %q, streamed %q", said(m), w.streamed())
	}
}
