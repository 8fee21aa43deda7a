package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"
	"time"

	"lore/internal/agent"
	"lore/internal/agent/chat"
	"lore/internal/fault"
	"lore/internal/llm"
	"lore/internal/llm/llmtest"
	"lore/internal/llm/quote"
	"lore/internal/tool"
	"lore/internal/tool/access"
	"lore/internal/tool/policy"
	"lore/internal/tool/tooltest"
	"lore/internal/tools/knowledge"
	"lore/internal/vault/visibility"
)

// TestWhatWasDoneBeforeAStopIsTold: the next run must know of it, or it does it
// once more.
func TestWhatWasDoneBeforeAStopIsTold(t *testing.T) {
	t.Parallel()
	w := newWorld(t,
		calls(call("a", "edit_note", `{"path":"Tea","search":"leaves","replace":"dried leaves"}`), call("b", "delete_note", `{"path":"Coffee"}`)),
		llmtest.Text("It is done."), llmtest.Text("t"))
	r := w.ask(t, "Do both")
	list := w.callsOf(t, r.ID)
	if _, err := w.reg.Answer(t.Context(), access.Terminal(), list[0].Question, tool.Answer{Approve: true}); err != nil {
		t.Fatal(err)
	}
	if r = w.work(t, r.ID); r.Status != chat.WaitingApproval {
		t.Fatalf("%+v", r)
	}
	if err := w.Cancel(t.Context(), r.ID); err != nil {
		t.Fatal(err)
	}
	w.ask(t, "And now?")
	var told []llm.Part
	for _, m := range w.model.Requests()[1].Messages {
		if m.Role == llm.Results {
			told = append(told, m.Parts...)
		}
	}
	if len(told) != 2 || told[0].IsError || !strings.Contains(told[0].Text, `"success":true`) || !strings.Contains(told[1].Text, "User cancelled") {
		t.Errorf("the model is told %+v", told)
	}
}

// TestAStopWithdrawsWhatNobodyHeardOf: a call may have left a question without
// having been told of it.
func TestAStopWithdrawsWhatNobodyHeardOf(t *testing.T) {
	t.Parallel()
	w := newWorld(t, calls(call("a", "write_note", `{"path":"New","content":"once"}`)))
	r := w.ask(t, "Write")
	list := w.callsOf(t, r.ID)
	q := list[0].Question
	list[0].State, list[0].Question = chat.Calling, ""
	if err := w.Store.Apply(t.Context(), "chat-1", chat.Change{Run: &r, Calls: list[:1]}); err != nil {
		t.Fatal(err)
	}
	w.Made = func(context.Context, string, string, json.RawMessage, time.Time) (agent.Trace, error) {
		return agent.Trace{Question: q}, nil
	}
	if err := w.Cancel(t.Context(), r.ID); err != nil {
		t.Fatal(err)
	}
	if open, err := w.reg.Questions(t.Context(), tool.Pending); err != nil || len(open) != 0 {
		t.Errorf("%v, %d questions of a run that was stopped still wait", err, len(open))
	}
}

// TestHalfAnAnswerIsKept: who stops an answer has read what there was of it, and
// so has who saw it break off. Where a process only ends, the answer is given anew.
func TestHalfAnAnswerIsKept(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		step   llmtest.Step
		cause  error
		status chat.Status
		kept   string
	}{
		{"stopped", llmtest.Step{Reasoning: []string{"Hm."}, Chunks: []string{"Tea is a", " drink"}}, agent.ErrStopped, chat.Cancelled, "Tea is a"},
		{"stopped before a word", llmtest.Step{Chunks: []string{"  ", "Tea"}}, agent.ErrStopped, chat.Running, ""},
		{"left", llmtest.Step{Chunks: []string{"Tea is a", " drink"}}, errors.New("the process ends"), chat.Running, ""},
		{"failed", llmtest.Step{Chunks: []string{"Tea is a", " drink"}, Err: errors.New("no line")}, nil, chat.Failed, "Tea is a drink"},
		{"cut", llmtest.Step{Chunks: []string{"See [[Tea]]"}, Cut: true}, nil, chat.Failed, "See [[Tea]]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, c.step, llmtest.Text("More."), llmtest.Text("t"))
			r, err := w.Start(t.Context(), "chat-1", agent.Request{Text: "What is tea?"})
			if err != nil {
				t.Fatal(err)
			}
			ctx, stop := context.WithCancelCause(t.Context())
			defer stop(nil)
			_, err = w.Work(ctx, r.ID, func(e agent.Event) {
				if e.Type == agent.Text && c.cause != nil {
					stop(c.cause)
				}
				if e.Type == agent.Restarted {
					t.Error("it is said that it does not count")
				}
			})
			if err == nil {
				t.Error("it ended well")
			}
			if r, err = w.Store.Run(t.Context(), r.ID); err != nil || r.Status != c.status {
				t.Fatalf("%+v, %v", r, err)
			}
			last := w.last(t)
			if c.kept == "" {
				if last.Role != llm.User {
					t.Errorf("kept: %+v", last)
				}
				return
			}
			if a := (llm.Answer{Parts: last.Parts}); a.Text() != c.kept || len(last.Parts) != 1 || last.Stop != llm.Broken || last.Run != r.ID {
				t.Errorf("kept: %+v", last)
			}
			if strings.Contains(c.kept, "[[") && len(last.Citations) != 1 {
				t.Errorf("places: %+v", last.Citations)
			}
			w.ask(t, "Go on")
			if asked := w.model.Requests()[1].Messages; len(asked) < 3 || asked[1].Role != llm.Assistant || asked[1].Parts[0].Text != c.kept {
				t.Errorf("the model is told %+v", asked)
			}
		})
	}
}

// TestAStopAtTheLastWord: an answer that was whole when the person stopped it is
// not lost.
func TestAStopAtTheLastWord(t *testing.T) {
	t.Parallel()
	w := newWorld(t, llmtest.Step{Chunks: []string{"Tea is a", " drink"}})
	r, err := w.Start(t.Context(), "chat-1", agent.Request{Text: "What is tea?"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancelCause(t.Context())
	defer stop(nil)
	w.Model = func(context.Context, string) (llm.Model, llm.Info, error) {
		return atTheEnd{w.model, func() { stop(agent.ErrStopped) }}, w.info, nil
	}
	if _, err := w.Work(ctx, r.ID, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if err := w.Cancel(t.Context(), r.ID); err != nil {
		t.Error(err)
	}
	if r, err = w.Store.Run(t.Context(), r.ID); err != nil || r.Status != chat.Cancelled || r.Steps != 1 {
		t.Errorf("%+v, %v", r, err)
	}
	if m := w.last(t); m.Role != llm.Assistant || said(m) != "Tea is a drink" {
		t.Errorf("kept: %+v", m)
	}
}

// TestAStopWhileItIsNamed: what naming a conversation cost was spent, and the name
// is there.
func TestAStopWhileItIsNamed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, llmtest.Text("Tea is a drink"), llmtest.Step{Chunks: []string{"On tea"}, Usage: llm.Usage{In: 7, Out: 2}})
	r, err := w.Start(t.Context(), "chat-1", agent.Request{Text: "What is tea?"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancelCause(t.Context())
	defer stop(nil)
	w.Model = func(context.Context, string) (llm.Model, llm.Info, error) {
		return atTheEnd{w.model, func() {
			if len(w.model.Requests()) == 2 {
				stop(agent.ErrStopped)
			}
		}}, w.info, nil
	}
	if _, err := w.Work(ctx, r.ID, nil); err != nil && !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := w.Cancel(t.Context(), r.ID); err != nil {
		t.Error(err)
	}
	if r, err = w.Store.Run(t.Context(), r.ID); err != nil || r.Status != chat.Done || r.Usage.In != 7 {
		t.Errorf("%+v, %v", r, err)
	}
	if c, err := w.Store.Get(t.Context(), "chat-1"); err != nil || c.Title != "On tea" {
		t.Errorf("%+v, %v", c, err)
	}
}

// atTheEnd does something when a model has said its last word.
type atTheEnd struct {
	llm.Model
	do func()
}

func (m atTheEnd) Stream(ctx context.Context, r llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		for e, err := range m.Model.Stream(ctx, r) {
			if !yield(e, err) {
				return
			}
		}
		m.do()
	}
}

// TestLookingForNodesAsksNobody: which tools a chat needs is no question for a
// person, also where the settings ask about the tool that tells.
func TestLookingForNodesAsksNobody(t *testing.T) {
	t.Parallel()
	w := newWorld(t, llmtest.Text("Hello."), llmtest.Text("t"))
	p := tooltest.Open(t, w.dir, nil)
	deps := p.Deps()
	deps.Policy.Tools = map[string]policy.Verdict{"list_nodes": policy.Ask}
	reg := tool.NewRegistry(deps, knowledge.Tools(knowledge.Env{Vault: p.Vault, Store: p.Store, Search: p.Search, Fresh: p.Fresh}))
	w.Door = reg
	w.ask(t, "Hello")
	if open, err := reg.Questions(t.Context(), tool.Pending); err != nil || len(open) != 0 {
		t.Errorf("%v, a person is asked %+v", err, open)
	}
}

// TestALimitWithoutAModel: who only quotes is told no last words, and quotes what
// was found.
func TestALimitWithoutAModel(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Model = func(context.Context, string) (llm.Model, llm.Info, error) { return quote.Model{}, quote.Info(), nil }
	r, err := w.Start(t.Context(), "chat-1", agent.Request{Text: "may I boil green tea?", Limits: chat.Limits{Steps: 1}})
	if err != nil {
		t.Fatal(err)
	}
	if r = w.work(t, r.ID); r.Status != chat.Limited || !strings.Contains(said(w.last(t)), "Never boil green tea") {
		t.Errorf("%+v\n%s", r, said(w.last(t)))
	}
}

// TestThoughtsStayWithTheirModel: another one does not get them.
func TestThoughtsStayWithTheirModel(t *testing.T) {
	t.Parallel()
	w := newWorld(t, llmtest.Step{Reasoning: []string{"a private thought"}, Chunks: []string{"Hello."}}, llmtest.Text("t"), llmtest.Text("Hello again."))
	w.ask(t, "Hi")
	w.ask(t, "Hi again")
	has := func(r llm.Request) bool {
		for _, m := range r.Messages {
			for _, p := range m.Parts {
				if p.Kind == llm.Reasoning {
					return true
				}
			}
		}
		return false
	}
	if !has(w.model.Requests()[2]) {
		t.Error("a model does not get its own thoughts back")
	}
	w.model = llmtest.Named("other/model", llmtest.Text("Hello from me."))
	w.ask(t, "And you?")
	if has(w.model.Requests()[0]) {
		t.Error("the thoughts of one model are sent to another")
	}
}

// TestResultsStayWithTheirModel: when a chat goes on with another remote model,
// what the first one read is not sent to it; a local model gets it.
func TestResultsStayWithTheirModel(t *testing.T) {
	t.Parallel()
	for _, local := range []bool{false, true} {
		w := newWorld(t, calls(call("a", "read_note", `{"path":"Tea.md"}`)), llmtest.Text("It is a drink."), llmtest.Text("title"))
		w.ask(t, "What is tea?")
		if got := fmt.Sprint(w.model.Requests()[1]); !strings.Contains(got, "Never boil") {
			t.Fatal("the model that read the note does not see it: ", got)
		}
		w.model, w.info.Local = llmtest.Named("other/model", llmtest.Text("As was said.")), local
		w.ask(t, "And you?")
		got := fmt.Sprint(w.model.Requests()[0])
		if strings.Contains(got, "Never boil") != local {
			t.Errorf("local %v: %s", local, got)
		}
		if !strings.Contains(got, "It is a drink.") {
			t.Errorf("the answer of the first model is gone: %s", got)
		}
	}
}

// TestSidesTakeTurns: some servers refuse two requests in a row, or a
// conversation that the model begins.
func TestSidesTakeTurns(t *testing.T) {
	t.Parallel()
	w := newWorld(t, llmtest.Fail(errors.New("no")), llmtest.Text("Hello."))
	begin := []chat.Message{{Message: llm.Say(llm.Assistant, "I begin.")}, {Message: llm.Say(llm.Assistant, "And go on.")}}
	if err := w.Store.Put(t.Context(), chat.Chat{ID: "chat-1", Titled: chat.ByPerson}); err != nil {
		t.Fatal(err)
	}
	if err := w.Store.Apply(t.Context(), "chat-1", chat.Change{Say: begin}); err != nil {
		t.Fatal(err)
	}
	r, err := w.Start(t.Context(), "chat-1", agent.Request{Text: "First words"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Work(t.Context(), r.ID, nil); err == nil {
		t.Fatal("it should have failed")
	}
	w.ask(t, "Second words")
	last, text := llm.Assistant, ""
	for i, m := range w.model.Requests()[1].Messages {
		if m.Role == last {
			t.Errorf("message %d is of the same side as the one before: %+v", i, m)
		}
		last = m.Role
		a := llm.Answer{Parts: m.Parts}
		text += string(m.Role) + ": " + a.Text() + "\n"
	}
	for _, want := range []string{"I begin.\n\nAnd go on.", ")\n\nFirst words\n\n(now", ")\n\nSecond words"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
}

// TestASummaryWithoutWords: a model that only thinks, and finds every request too
// long, ends a run that can be read.
func TestASummaryWithoutWords(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for range 4 {
		w.model.Add(llmtest.Text("An answer. " + strings.Repeat("word ", 2000)))
	}
	if err := w.Store.Put(t.Context(), chat.Chat{ID: "chat-1", Titled: chat.ByPerson}); err != nil {
		t.Fatal(err)
	}
	for range 4 {
		w.ask(t, "A question. "+strings.Repeat("word ", 2000))
	}
	w.info.Context = 20_000
	w.model.Add(llmtest.Step{Reasoning: []string{"hm"}}, llmtest.Fail(&llm.Error{Kind: llm.ContextLength, Message: "too long"}), llmtest.Step{Reasoning: []string{"hm"}})
	for range 20 {
		w.model.Add(llmtest.Fail(&llm.Error{Kind: llm.ContextLength, Message: "too long"}))
	}
	r, err := w.Start(t.Context(), "chat-1", agent.Request{Text: "And?"})
	if err != nil {
		t.Fatal(err)
	}
	r, err = w.Work(t.Context(), r.ID, nil)
	if err != nil || r.Status != chat.Limited || !strings.Contains(r.Reason, "too long") || !strings.Contains(said(w.last(t)), "The model gave no answer") {
		t.Errorf("got %v, %+v: %s", err, r, said(w.last(t)))
	}
}

// TestLongRequestsAreToldInShortToo: word for word as far as there is room, or
// telling in short makes none.
func TestLongRequestsAreToldInShortToo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.info.Context = 6000
	if err := w.Store.Put(t.Context(), chat.Chat{ID: "chat-1", Titled: chat.ByPerson, NoTools: true}); err != nil {
		t.Fatal(err)
	}
	for range 40 {
		w.model.Add(llmtest.Text("Yes."))
	}
	for i := range 12 {
		if r := w.ask(t, fmt.Sprintf("Question %d: %s", i, strings.Repeat("leaf ", 700))); r.Status != chat.Done {
			t.Fatalf("%+v", r)
		}
	}
	reqs := w.model.Requests()
	size, text := 0, ""
	for _, m := range reqs[len(reqs)-1].Messages {
		a := llm.Answer{Parts: m.Parts}
		text += a.Text()
	}
	if size = len(text); size > 6000*4 {
		t.Errorf("%d characters for a window of 6000 tokens", size)
	}
	for _, want := range []string{"Question 0: leaf", "Question 11: leaf"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is lost", want)
		}
	}
}

// TestAConversationThatIsDeletedMeanwhile: what a person says in the moment in
// which it is deleted elsewhere leaves no run that nobody can ever end.
func TestAConversationThatIsDeletedMeanwhile(t *testing.T) {
	t.Parallel()
	w := newWorld(t, llmtest.Text("Hello."), llmtest.Text("t"))
	w.ask(t, "Hi")
	id := w.ID
	w.ID = func(word string) string {
		if word == "run" {
			if err := w.Store.Delete(t.Context(), "chat-1"); err != nil {
				t.Error(err)
			}
		}
		return id(word)
	}
	if _, err := w.Start(t.Context(), "chat-1", agent.Request{Text: "And?"}); fault.Of(err) != fault.NotFound {
		t.Errorf("got %v", err)
	}
	if runs, err := w.Store.Runs(t.Context(), ""); err != nil || len(runs) != 0 {
		t.Errorf("%+v, %v", runs, err)
	}
}

// TestAStopAfterAnAnswer: what a person has just approved is done, and a stop
// that comes before the run has heard of it does not say otherwise.
func TestAStopAfterAnAnswer(t *testing.T) {
	t.Parallel()
	w := newWorld(t, calls(call("a", "edit_note", `{"path":"Tea","search":"leaves","replace":"dried leaves"}`)))
	w.Shares = func(context.Context, access.Principal) (visibility.Limit, error) { return visibility.Limit{}, nil } // asked about a model that a stop does not need
	r := w.ask(t, "Do it")
	if _, err := w.reg.Answer(t.Context(), access.Terminal(), w.callsOf(t, r.ID)[0].Question, tool.Answer{Approve: true}); err != nil {
		t.Fatal(err)
	}
	if err := w.Cancel(t.Context(), r.ID); err != nil {
		t.Fatal(err)
	}
	if c := w.callsOf(t, r.ID)[0]; c.State != chat.Finished || c.Operation == "" {
		t.Errorf("%+v", c)
	}
	if m := w.last(t); m.Role != llm.Results || !strings.Contains(m.Parts[0].Text, `"success":true`) {
		t.Errorf("%+v", m)
	}
}

// TestAStopWhileItIsDone: what is being done when a run is stopped may be done or
// not, and that is what is kept of it.
func TestAStopWhileItIsDone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, calls(call("a", "edit_note", `{"path":"Tea","search":"leaves","replace":"dried leaves"}`)))
	r := w.ask(t, "Do it")
	w.Door = underWay{w.reg}
	if err := w.Cancel(t.Context(), r.ID); err != nil {
		t.Fatal(err)
	}
	if c := w.callsOf(t, r.ID)[0]; c.State != chat.Interrupted {
		t.Errorf("%+v", c)
	}
	if r, err := w.Store.Run(t.Context(), r.ID); err != nil || r.Status != chat.Cancelled {
		t.Errorf("%+v, %v", r, err)
	}
}

// underWay is a door whose questions are all being carried out.
type underWay struct{ tool.Door }

func (d underWay) Question(ctx context.Context, id string) (tool.Question, error) {
	q, err := d.Door.Question(ctx, id)
	q.State = tool.Running
	return q, err
}

func (d underWay) Cancel(_ context.Context, _ access.Principal, id string) error {
	return fault.New(fault.Conflict, "%s is no longer waiting", id)
}

// TestAStopOfWhatNobodyKnows: a question that is no more does not keep a run from
// being stopped.
func TestAStopOfWhatNobodyKnows(t *testing.T) {
	t.Parallel()
	w := newWorld(t, calls(call("a", "write_note", `{"path":"New","content":"once"}`)))
	r := w.ask(t, "Write")
	list := w.callsOf(t, r.ID)
	list[0].Question = "question-none"
	if err := w.Store.Apply(t.Context(), "chat-1", chat.Change{Run: &r, Calls: list[:1]}); err != nil {
		t.Fatal(err)
	}
	if err := w.Cancel(t.Context(), r.ID); err != nil {
		t.Error(err)
	}
	if r, err := w.Store.Run(t.Context(), r.ID); err != nil || r.Status != chat.Cancelled {
		t.Errorf("%+v, %v", r, err)
	}
}
