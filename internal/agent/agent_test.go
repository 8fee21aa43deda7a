package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"lore/internal/agent"
	"lore/internal/agent/chat"
	"lore/internal/llm"
	"lore/internal/llm/llmtest"
	"lore/internal/llm/quote"
	"lore/internal/machine/state"
	"lore/internal/tool"
	"lore/internal/tool/access"
	"lore/internal/tool/policy"
	"lore/internal/tool/tooltest"
	"lore/internal/tools/notes"
	"lore/internal/tools/task"
)

// A world is a small vault, its tools, and an agent whose model follows a script.
type world struct {
	*agent.Agent
	dir   string
	model *llmtest.Model
	reg   *tool.Registry
	info  llm.Info
	told  []agent.Event

	policy policy.Settings // see add
}

func newWorld(t testing.TB, steps ...llmtest.Step) *world {
	t.Helper()
	w := &world{dir: t.TempDir(), model: llmtest.New(steps...), info: llm.Info{Context: 100_000}}
	for name, text := range map[string]string{
		"Tea.md":    "# Tea\n\nTea is a drink of leaves. Never boil green tea.\n",
		"Coffee.md": "# Coffee\n\nCoffee is a drink of beans.\n",
	} {
		if err := os.WriteFile(filepath.Join(w.dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p := tooltest.Open(t, w.dir, nil)
	w.reg = tool.NewRegistry(p.Deps(), notes.Tools(notes.Env{Vault: p.Vault, Store: p.Store, Search: p.Search, Fresh: p.Fresh, Now: tooltest.Now}))
	file := state.In(t.TempDir())
	t.Cleanup(func() { _ = file.Close() })
	var mu sync.Mutex
	n := 0
	w.Agent = &agent.Agent{
		Store: chat.New(file, nil), Door: w.reg, Now: time.Now, Log: slog.New(slog.DiscardHandler), Holder: "test",
		Model: func(context.Context, string) (llm.Model, llm.Info, error) { return w.model, w.info, nil },
		ID: func(word string) string {
			mu.Lock()
			defer mu.Unlock()
			n++
			return fmt.Sprintf("%s-%d", word, n)
		},
		Scopes: []access.Scope{access.Read, access.Write, access.Destroy},
	}
	return w
}

// ask starts a run and works on it.
func (w *world) ask(t *testing.T, text string) chat.Run {
	t.Helper()
	r, err := w.Start(t.Context(), "chat-1", agent.Request{Text: text})
	if err != nil {
		t.Fatal(err)
	}
	return w.work(t, r.ID)
}

func (w *world) work(t *testing.T, id string) chat.Run {
	t.Helper()
	r, err := w.Work(t.Context(), id, func(e agent.Event) { w.told = append(w.told, e) })
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (w *world) last(t *testing.T) chat.Message {
	t.Helper()
	list, err := w.Store.Messages(t.Context(), "chat-1")
	if err != nil || len(list) == 0 {
		t.Fatal(err, list)
	}
	return list[len(list)-1]
}

func (w *world) callsOf(t *testing.T, run string) []chat.Call {
	t.Helper()
	list, err := w.Store.Calls(t.Context(), run)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func (w *world) file(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(w.dir, name))
	if err != nil {
		return err.Error()
	}
	return string(b)
}

func call(id, name, args string) llm.Part {
	return llm.Part{Kind: llm.ToolCall, ID: id, Name: name, Args: json.RawMessage(args)}
}

func calls(parts ...llm.Part) llmtest.Step { return llmtest.Step{Calls: parts} }

func said(m chat.Message) string {
	a := llm.Answer{Parts: m.Parts}
	return a.Text()
}

func TestAnAnswerWithCitations(t *testing.T) {
	t.Parallel()
	w := newWorld(t,
		calls(call("a", "read_note", `{"path":"Tea"}`), call("b", "search_notes", `{"query":"beans"}`)),
		llmtest.Text("Do not boil it [[Tea.md#Tea]]; see [[Coffee]] and [[Nowhere]]."), llmtest.Text("Boiling tea"))
	r := w.ask(t, "May I boil green tea?")
	if r.Status != chat.Done || r.Steps != 2 {
		t.Fatalf("%+v", r)
	}
	m := w.last(t)
	var got []string
	for _, c := range m.Citations {
		got = append(got, c.Link+" "+c.State+" "+c.Path)
	}
	if s := strings.Join(got, "; "); s != "Tea.md#Tea read Tea.md; Coffee read Coffee.md; Nowhere unread " {
		t.Errorf("citations: %s", s)
	}
	second := w.model.Requests()[1].Messages
	results := second[len(second)-1]
	if results.Role != llm.Results || len(results.Parts) != 2 || results.Parts[0].ID != "a" || !strings.Contains(results.Parts[0].Text, "Never boil green tea") || results.Parts[1].ID != "b" {
		t.Errorf("results are not in order: %+v", results)
	}
	c, err := w.Store.Get(t.Context(), "chat-1")
	if err != nil || c.Title != "Boiling tea" || c.Titled != chat.ByModel {
		t.Errorf("%v %+v", err, c)
	}
}

func TestAChangeWaitsForAPerson(t *testing.T) {
	t.Parallel()
	w := newWorld(t,
		calls(call("a", "read_note", `{"path":"Tea"}`), call("b", "edit_note", `{"path":"Tea","search":"leaves","replace":"dried leaves"}`)),
		llmtest.Text("Done."), llmtest.Text("Tea"))
	before := w.file(t, "Tea.md")
	r := w.ask(t, "Say dried leaves")
	if r.Status != chat.WaitingApproval || w.file(t, "Tea.md") != before {
		t.Fatalf("%+v", r)
	}
	list := w.callsOf(t, r.ID)
	if list[0].State != chat.Finished || list[1].State != chat.Asked || list[1].Question == "" {
		t.Fatalf("%+v", list)
	}
	if n := len(w.model.Requests()); n != 1 {
		t.Errorf("the model was asked %d times while a call waits", n)
	}
	// Nothing happens while nobody answers, however often one looks.
	if again := w.work(t, r.ID); again.Status != chat.WaitingApproval {
		t.Errorf("%+v", again)
	}
	if _, err := w.reg.Answer(t.Context(), access.Terminal(), list[1].Question, tool.Answer{Approve: true}); err != nil {
		t.Fatal(err)
	}
	if r = w.work(t, r.ID); r.Status != chat.Done || !strings.Contains(w.file(t, "Tea.md"), "dried leaves") {
		t.Errorf("%+v\n%s", r, w.file(t, "Tea.md"))
	}
	if c := w.callsOf(t, r.ID)[1]; c.Operation == "" || c.State != chat.Finished {
		t.Errorf("%+v", c)
	}
}

func TestANoIsData(t *testing.T) {
	t.Parallel()
	w := newWorld(t, calls(call("a", "delete_note", `{"path":"Tea"}`)), llmtest.Text("I kept it."), llmtest.Text("Kept"))
	r := w.ask(t, "Delete it")
	q := w.callsOf(t, r.ID)[0].Question
	if _, err := w.reg.Answer(t.Context(), access.Terminal(), q, tool.Answer{Word: "I need it"}); err != nil {
		t.Fatal(err)
	}
	if r = w.work(t, r.ID); r.Status != chat.Done || r.Denials != 1 {
		t.Fatalf("%+v", r)
	}
	text := w.model.Requests()[1].Messages
	got := text[len(text)-1].Parts[0]
	if !strings.Contains(got.Text, `"User cancelled tool execution"`) || !strings.Contains(got.Text, "I need it") || got.IsError {
		t.Errorf("%+v", got)
	}
}

func TestMistakesAreData(t *testing.T) {
	t.Parallel()
	w := newWorld(t,
		calls(call("a", "raed_note", `{"path":"Tea"}`), call("b", "read_note", `{"path":"Nope"}`), call("c", "read_note", `{"pth":1}`), call("", "read_note", `{"path":"Tea"}`)),
		llmtest.Text("Sorry."), llmtest.Text("x"))
	if r := w.ask(t, "Read"); r.Status != chat.Done {
		t.Fatalf("%+v", r)
	}
	m := w.model.Requests()[1].Messages
	for i, want := range []string{"read_note", "Nope", "path", "leaves"} {
		p := m[len(m)-1].Parts[i]
		if !strings.Contains(p.Text, want) || p.IsError != (i < 3) || p.ID == "" {
			t.Errorf("%d: %+v", i, p)
		}
	}
}

func TestALimitGivesALastAnswer(t *testing.T) {
	t.Parallel()
	w := newWorld(t, calls(call("a", "read_note", `{"path":"Tea"}`)), calls(call("b", "read_note", `{"path":"Coffee"}`)), llmtest.Text("What I have."))
	r, err := w.Start(t.Context(), "chat-1", agent.Request{Text: "Go on forever", Limits: chat.Limits{Steps: 2}})
	if err != nil {
		t.Fatal(err)
	}
	if r = w.work(t, r.ID); r.Status != chat.Limited || !strings.Contains(r.Reason, "2 steps") || r.Steps != 3 {
		t.Fatalf("%+v", r)
	}
	last := w.model.Requests()[2]
	if last.ToolChoice != "none" || !strings.Contains(last.Messages[len(last.Messages)-1].Parts[0].Text, "cannot use tools any more") {
		t.Errorf("%+v", last.Messages[len(last.Messages)-1])
	}
	if said(w.last(t)) != "What I have." {
		t.Errorf("%+v", w.last(t))
	}
}

func TestALoopIsStopped(t *testing.T) {
	t.Parallel()
	for name, block := range map[string][]llm.Part{
		"the same":    {call("", "read_note", `{"path":"Tea"}`)},
		"two in turn": {call("", "read_note", `{"path":"Tea"}`), call("", "read_note", `{"path":"Coffee"}`)},
		"other words": {call("", "search_notes", `{"query":"tea leaves"}`), call("", "search_notes", `{"query":"Leaves tea?"}`)},
	} {
		var steps []llmtest.Step
		for range 12 {
			for _, p := range block {
				steps = append(steps, calls(p))
			}
		}
		w := newWorld(t, steps...)
		r := w.ask(t, "Look")
		if r.Status != chat.WaitingUser || r.Steps > 9 || !strings.Contains(r.Reason, "repeats itself") {
			t.Errorf("%s: %+v", name, r)
		}
		found := false
		for _, c := range w.callsOf(t, r.ID) {
			found = found || strings.Contains(c.Result, "same call again")
		}
		if !found {
			t.Errorf("%s: the model was not told", name)
		}
	}
}

func TestHalfAnAnswerRunsNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t,
		llmtest.Step{Chunks: []string{"I will"}, Calls: []llm.Part{call("a", "write_note", `{"path":"New","content":"x"}`)}, Stop: llm.TooLong},
		llmtest.Text("In short."), llmtest.Text("t"))
	if r := w.ask(t, "Write"); r.Status != chat.Done || len(w.callsOf(t, r.ID)) != 0 {
		t.Fatalf("%+v", r)
	}
	m := w.model.Requests()[1].Messages
	if !strings.Contains(m[len(m)-1].Parts[0].Text, "smaller pieces") {
		t.Errorf("%+v", m)
	}
}

func TestNoToolsMeansNone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, llmtest.Step{Chunks: []string{"Hello"}, Calls: []llm.Part{call("a", "read_note", `{"path":"Tea"}`)}}, llmtest.Text("t"))
	if err := w.Store.Put(t.Context(), chat.Chat{ID: "chat-1", NoTools: true}); err != nil {
		t.Fatal(err)
	}
	r := w.ask(t, "Hi")
	q := w.model.Requests()[0]
	if len(q.Tools) != 0 || !strings.Contains(q.System, "no tools") || len(w.callsOf(t, r.ID)) != 0 || r.Status != chat.Done {
		t.Errorf("%+v %+v", q, r)
	}
}

// TestAProcessThatDies: a run goes on in another process from wherever it was,
// and no change is made twice.
func TestAProcessThatDies(t *testing.T) {
	t.Parallel()
	w := newWorld(t, calls(call("a", "write_note", `{"path":"New","content":"once"}`)), llmtest.Text("Done."), llmtest.Text("t"))
	r := w.ask(t, "Write")
	list := w.callsOf(t, r.ID)
	// The process died between saying that it begins and hearing the answer.
	list[0].State = chat.Calling
	q := list[0].Question
	list[0].Question = ""
	if err := w.Store.Apply(t.Context(), "chat-1", chat.Change{Run: &r, Calls: list[:1]}); err != nil {
		t.Fatal(err)
	}
	w.Made = func(_ context.Context, run, name string, _ json.RawMessage, _ time.Time) (agent.Trace, error) {
		if run != r.ID || name != "write_note" {
			t.Errorf("asked about %s of %s", name, run)
		}
		return agent.Trace{Question: q}, nil
	}
	if r = w.work(t, r.ID); r.Status != chat.WaitingApproval || w.callsOf(t, r.ID)[0].Question != q {
		t.Fatalf("%+v", r)
	}
	// And once more, with no trace: it is not made again.
	list[0].State, list[0].Question = chat.Calling, ""
	if err := w.Store.Apply(t.Context(), "chat-1", chat.Change{Run: &r, Calls: list[:1]}); err != nil {
		t.Fatal(err)
	}
	w.Made = nil
	if r = w.work(t, r.ID); r.Status != chat.Done || w.callsOf(t, r.ID)[0].State != chat.Interrupted {
		t.Errorf("%+v %+v", r, w.callsOf(t, r.ID))
	}
	if open, _ := w.reg.Questions(t.Context(), tool.Pending); len(open) != 1 {
		t.Errorf("%d questions", len(open))
	}
}

func TestOneProcessAtATime(t *testing.T) {
	t.Parallel()
	gate := make(chan struct{})
	w := newWorld(t, llmtest.Step{Wait: gate, Chunks: []string{"Hi"}}, llmtest.Text("t"))
	r, err := w.Start(t.Context(), "chat-1", agent.Request{Text: "Hello"})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { _, err := w.Work(t.Context(), r.ID, nil); done <- err }()
	for w.model.Open() == 0 {
		time.Sleep(time.Millisecond)
	}
	other := *w.Agent
	other.Holder = "other"
	if _, err := other.Work(t.Context(), r.ID, nil); !errors.Is(err, chat.ErrTaken) {
		t.Errorf("got %v", err)
	}
	if _, err := w.Start(t.Context(), "chat-1", agent.Request{Text: "Again"}); err == nil {
		t.Error("two runs in one chat")
	}
	close(gate)
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestALongTalkIsToldInShort(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.info.Context = 6000
	long := strings.Repeat("word ", 600)
	for i := range 9 {
		w.model.Add(llmtest.Text(fmt.Sprintf("Answer %d. %s", i, long)))
		if i == 0 {
			w.model.Add(llmtest.Text("t"))
		}
	}
	var r chat.Run
	for i := range 5 {
		r = w.ask(t, fmt.Sprintf("Question %d: keep this word, xyzzy%d", i, i))
		if r.Status != chat.Done {
			t.Fatalf("%d: %+v", i, r)
		}
	}
	list, err := w.Store.Messages(t.Context(), "chat-1")
	if err != nil {
		t.Fatal(err)
	}
	var marker *chat.Message
	for i := range list {
		if list[i].Marker == chat.Compacted {
			marker = &list[i]
		}
	}
	if marker == nil || !strings.Contains(said(*marker), "xyzzy0") {
		t.Fatalf("nothing was told in short, or the request was lost: %+v", marker)
	}
	reqs := w.model.Requests()
	lastReq := reqs[len(reqs)-1]
	text := ""
	for _, m := range lastReq.Messages {
		for _, p := range m.Parts {
			text += p.Text
		}
	}
	if strings.Contains(text, "Answer 0. word") || !strings.Contains(text, "xyzzy0") {
		t.Error("the old answer is sent again, or the request is not")
	}
}

func TestWithoutAModel(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Model = func(context.Context, string) (llm.Model, llm.Info, error) { return quote.Model{}, quote.Info(), nil }
	r := w.ask(t, "may I boil green tea?")
	m := w.last(t)
	if text := said(m); r.Status != chat.Done || !strings.Contains(text, "> ") || !strings.Contains(text, "[[Tea#Tea]]") || !strings.Contains(text, "No language model") {
		t.Fatalf("%+v\n%s", r, text)
	}
	if len(m.Citations) == 0 || m.Citations[0].State != "read" {
		t.Errorf("%+v", m.Citations)
	}
	r = w.ask(t, `/rename_note Tea "Green tea"`)
	if r.Status != chat.WaitingApproval {
		t.Fatalf("%+v\n%s", r, said(w.last(t)))
	}
	q := w.callsOf(t, r.ID)[0].Question
	if _, err := w.reg.Answer(t.Context(), access.Terminal(), q, tool.Answer{Approve: true}); err != nil {
		t.Fatal(err)
	}
	if r = w.work(t, r.ID); r.Status != chat.Done || !strings.Contains(w.file(t, "Green tea.md"), "leaves") {
		t.Errorf("%+v", r)
	}
}

func TestAToolCanEndARun(t *testing.T) {
	t.Parallel()
	w := newWorld(t,
		calls(call("a", "read_note", `{"path":"Tea"}`), call("b", "task_complete", `{"summary":""}`)),
		calls(call("c", "task_complete", `{"summary":"All is read."}`)))
	p := tooltest.Open(t, w.dir, nil)
	w.Door = tool.NewRegistry(p.Deps(), notes.Tools(notes.Env{Vault: p.Vault, Store: p.Store, Search: p.Search, Fresh: p.Fresh, Now: tooltest.Now}), task.Tools(task.Env{}))
	if err := w.Store.Put(t.Context(), chat.Chat{ID: "chat-1", Sets: []string{"notes", "task"}, Titled: chat.ByPerson}); err != nil {
		t.Fatal(err)
	}
	r := w.ask(t, "Read all")
	if r.Status != chat.Done || r.Reason != "All is read." || r.Steps != 2 || w.model.Unused() != 0 {
		t.Fatalf("%+v", r)
	}
	if q := w.model.Requests()[0]; !strings.Contains(q.System, "call task_complete") {
		t.Errorf("the model is not told how to end: %s", q.System)
	}
}

// TestACallWrittenAsTextAlwaysAsks: a standing rule does not count for it.
func TestACallWrittenAsTextAlwaysAsks(t *testing.T) {
	t.Parallel()
	for _, text := range []bool{false, true} {
		c := call("a", "write_note", `{"path":"New","content":"x"}`)
		c.FromText = text
		w := newWorld(t, calls(c), llmtest.Text("Done."), llmtest.Text("t"))
		p := tooltest.Open(t, w.dir, nil)
		if err := p.Questions.AddRule(t.Context(), policy.Rule{ID: "r", Verdict: policy.Allow, Tool: "*", Paths: "**", Made: time.Now()}); err != nil {
			t.Fatal(err)
		}
		w.Door = tool.NewRegistry(p.Deps(), notes.Tools(notes.Env{Vault: p.Vault, Store: p.Store, Search: p.Search, Fresh: p.Fresh, Now: tooltest.Now}))
		want := chat.Done
		if text {
			want = chat.WaitingApproval
		}
		if r := w.ask(t, "Write"); r.Status != want {
			t.Errorf("from text %v: %+v", text, r)
		}
	}
}

func (w *world) write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(w.dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
