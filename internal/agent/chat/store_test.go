package chat_test

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"lore/internal/agent/chat"
	"lore/internal/fault"
	"lore/internal/llm"
	"lore/internal/machine/state"
)

// clock is a time that a test sets.
type clock struct{ at atomic.Int64 }

func (c *clock) now() time.Time { return time.Unix(c.at.Load(), 0).UTC() }

func open(t *testing.T) (*chat.Store, *clock) {
	t.Helper()
	s, c, _ := openFile(t)
	return s, c
}

func openFile(t *testing.T) (*chat.Store, *clock, *state.File) {
	t.Helper()
	c := &clock{}
	c.at.Store(1_000_000)
	f := state.In(t.TempDir())
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return chat.New(f, c.now), c, f
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestWhatIsKeptComesBack(t *testing.T) {
	t.Parallel()
	s, clock := open(t)
	ctx := t.Context()
	must(t, s.Put(ctx, chat.Chat{ID: "chat-1", Title: "one", Sets: []string{"notes"}}))
	clock.at.Add(10)
	must(t, s.Put(ctx, chat.Chat{ID: "chat-2", Title: "two"}))
	r := chat.Run{ID: "run-1", Chat: "chat-1", Status: chat.Running, Limits: chat.Limits{Steps: 3, Time: time.Minute}}
	part := llm.Part{Kind: llm.Reasoning, Text: "t", Opaque: []byte(`{"s":1}`), OpaqueBy: "m"}
	clock.at.Add(10)
	change := chat.Change{
		Run: &r, Say: []chat.Message{{Message: llm.Say(llm.User, "hi"), Note: "n.md"}, {Run: "run-1", Message: llm.Message{Role: llm.Assistant, Parts: []llm.Part{part}}}},
		Calls: []chat.Call{{ID: "a", Tool: "x", Args: []byte(`{"a":1}`), State: chat.Proposed}, {ID: "b", Tool: "y", State: chat.Proposed}},
	}
	must(t, s.Apply(ctx, "chat-1", change))
	if change.Say[1].Seq != 2 || change.Calls[1].Seq != 2 {
		t.Errorf("numbers: %+v", change)
	}
	change.Calls[0].State, change.Calls[0].Result = chat.Finished, "done"
	change.Say[0].Note = "other.md"
	must(t, s.Apply(ctx, "chat-1", chat.Change{Run: &r, Calls: change.Calls[:1], Amend: change.Say[:1]}))
	messages, err := s.Messages(ctx, "chat-1")
	must(t, err)
	if len(messages) != 2 || messages[0].Note != "other.md" || fmt.Sprint(messages[1].Parts) != fmt.Sprint([]llm.Part{part}) {
		t.Errorf("%+v", messages)
	}
	calls, err := s.Calls(ctx, "run-1")
	must(t, err)
	if len(calls) != 2 || calls[0].Result != "done" || string(calls[0].Args) != `{"a":1}` || calls[1].State != chat.Proposed {
		t.Errorf("%+v", calls)
	}
	list, err := s.List(ctx, 0, 0)
	must(t, err)
	if len(list) != 2 || list[0].ID != "chat-1" { // it changed last
		t.Errorf("%+v", list)
	}
	open, err := s.Runs(ctx, "")
	must(t, err)
	if len(open) != 1 || open[0].Limits.Time != time.Minute {
		t.Errorf("%+v", open)
	}
	must(t, s.Delete(ctx, "chat-1"))
	if _, err := s.Get(ctx, "chat-1"); fault.Of(err) != fault.NotFound {
		t.Error(err)
	}
	if calls, err := s.Calls(ctx, "run-1"); err != nil || len(calls) != 0 {
		t.Error(err, calls)
	}
}

func TestOneHolder(t *testing.T) {
	t.Parallel()
	s, clock := open(t)
	ctx := t.Context()
	must(t, s.Put(ctx, chat.Chat{ID: "c"}))
	r := chat.Run{ID: "run-1", Chat: "c", Status: chat.Running}
	must(t, s.Apply(ctx, "c", chat.Change{Run: &r}))
	var won atomic.Int32
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			ok, err := s.Hold(ctx, "run-1", fmt.Sprint("p", i), time.Minute)
			if err != nil {
				t.Error(err)
			}
			if ok {
				won.Add(1)
			}
		})
	}
	wg.Wait()
	if won.Load() != 1 {
		t.Fatalf("%d processes hold one run", won.Load())
	}
	if err := s.Apply(ctx, "c", chat.Change{Run: &r, Holder: "nobody"}); !errors.Is(err, chat.ErrTaken) {
		t.Errorf("got %v", err)
	}
	clock.at.Add(61)
	if ok, err := s.Hold(ctx, "run-1", "late", time.Minute); err != nil || !ok {
		t.Errorf("a process that died keeps its run: %v", err)
	}
	must(t, s.Apply(ctx, "c", chat.Change{Run: &r, Holder: "late"}))
	must(t, s.Leave(ctx, "run-1", "late"))
	if ok, err := s.Hold(ctx, "run-1", "next", time.Minute); err != nil || !ok {
		t.Errorf("what was left cannot be taken: %v", err)
	}
}

// TestOneRunAtATime: two processes may begin one in the same moment.
func TestOneRunAtATime(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	ctx := t.Context()
	must(t, errors.Join(s.Put(ctx, chat.Chat{ID: "c"}), s.Put(ctx, chat.Chat{ID: "d"})))
	first := chat.Run{ID: "run-1", Chat: "c", Status: chat.Running}
	must(t, s.Apply(ctx, "c", chat.Change{Run: &first}))
	say := []chat.Message{{Message: llm.Say(llm.User, "x")}}
	if err := s.Apply(ctx, "c", chat.Change{Run: &chat.Run{ID: "run-2", Chat: "c", Status: chat.Running}, Say: say}); fault.Of(err) != fault.Busy {
		t.Errorf("two runs in one chat: %v", err)
	}
	if list, err := s.Messages(ctx, "c"); err != nil || len(list) != 0 {
		t.Errorf("%v, %d messages of a run that is not", err, len(list))
	}
	must(t, s.Apply(ctx, "d", chat.Change{Run: &chat.Run{ID: "run-3", Chat: "d", Status: chat.Running}}))
	first.Status = chat.Done
	must(t, s.Apply(ctx, "c", chat.Change{Run: &first}))
	must(t, s.Apply(ctx, "c", chat.Change{Run: &chat.Run{ID: "run-2", Chat: "c", Status: chat.Running}, Say: say}))
	// What was deleted does not come back with the next step.
	must(t, s.Delete(ctx, "c"))
	if err := s.Apply(ctx, "c", chat.Change{Run: &first, Holder: "p"}); fault.Of(err) != fault.NotFound {
		t.Errorf("got %v", err)
	}
}

// TestAForkKeepsItsCalls: what a fork shows, and whether it read what is not
// trusted, does not go with the conversation that it came from.
func TestAForkKeepsItsCalls(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	ctx := t.Context()
	must(t, s.Put(ctx, chat.Chat{ID: "chat-1"}))
	r := chat.Run{ID: "run-1", Chat: "chat-1", Status: chat.Done}
	must(t, s.Apply(ctx, "chat-1", chat.Change{
		Run: &r, Say: []chat.Message{{Run: "run-1", Message: llm.Say(llm.User, "hi")}},
		Calls: []chat.Call{{ID: "a", Tool: "x", State: chat.Finished, Untrusted: true}},
	}))
	_, err := s.Fork(ctx, "chat-1", "chat-2", 1)
	must(t, err)
	must(t, s.Delete(ctx, "chat-1"))
	if calls, err := s.Calls(ctx, "run-1"); err != nil || len(calls) != 1 {
		t.Errorf("of the fork: %+v, %v", calls, err)
	}
	if outside, err := s.Outside(ctx, []string{"run-1"}); err != nil || !outside {
		t.Errorf("it is trusted now: %v", err)
	}
	must(t, s.Delete(ctx, "chat-2"))
	if calls, err := s.Calls(ctx, "run-1"); err != nil || len(calls) != 0 {
		t.Errorf("of nobody: %+v, %v", calls, err)
	}
}

// TestChangesAtOnce: a person names a conversation while its model is changed
// elsewhere, and neither is lost.
func TestChangesAtOnce(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	ctx := t.Context()
	must(t, s.Put(ctx, chat.Chat{ID: "chat-1"}))
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			c, err := s.Change(ctx, "chat-1", func(c *chat.Chat) { c.Sets = append(c.Sets, fmt.Sprint(i)) })
			if err != nil || !slices.Contains(c.Sets, fmt.Sprint(i)) {
				t.Errorf("%+v, %v", c, err)
			}
		})
	}
	wg.Wait()
	if c, err := s.Get(ctx, "chat-1"); err != nil || len(c.Sets) != 16 {
		t.Errorf("%d of 16 changes are left: %v", len(c.Sets), err)
	}
	// What was deleted does not come back.
	must(t, s.Delete(ctx, "chat-1"))
	if _, err := s.Change(ctx, "chat-1", func(c *chat.Chat) { c.Title = "x" }); fault.Of(err) != fault.NotFound {
		t.Errorf("got %v", err)
	}
	if _, err := s.Get(ctx, "chat-1"); fault.Of(err) != fault.NotFound {
		t.Errorf("got %v", err)
	}
}

// TestAForkIsWholeOrNot: one that could not be written leaves nothing behind.
func TestAForkIsWholeOrNot(t *testing.T) {
	t.Parallel()
	s, _, file := openFile(t)
	ctx := t.Context()
	must(t, s.Put(ctx, chat.Chat{ID: "chat-1"}))
	must(t, s.Apply(ctx, "chat-1", chat.Change{Say: []chat.Message{{Message: llm.Say(llm.User, "hi")}}}))
	d, err := file.DB(ctx)
	must(t, err)
	_, err = d.Write.ExecContext(ctx, `CREATE TRIGGER full BEFORE INSERT ON message BEGIN SELECT RAISE(ABORT, 'no room'); END`)
	must(t, err)
	if _, err := s.Fork(ctx, "chat-1", "chat-2", 1); err == nil {
		t.Error("it was made")
	}
	if list, err := s.List(ctx, 0, 0); err != nil || len(list) != 1 {
		t.Errorf("%+v, %v", list, err)
	}
}
