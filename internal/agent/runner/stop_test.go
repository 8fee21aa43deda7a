package runner

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"lore/internal/agent"
	"lore/internal/agent/chat"
	"lore/internal/llm"
	"lore/internal/llm/llmtest"
	"lore/internal/machine/state"
	"lore/internal/tool"
	"lore/internal/tool/access"
	"lore/internal/tool/tooltest"
	"lore/internal/tools/notes"
)

// A door does something when a question is withdrawn.
type door struct {
	tool.Door
	withdrawn func()
}

func (d *door) Cancel(ctx context.Context, who access.Principal, id string) error {
	err := d.Door.Cancel(ctx, who, id)
	d.withdrawn()
	return err
}

// open attends runs over a vault of one note, with a model that follows a script.
func open(t *testing.T, steps ...llmtest.Step) (*Runner, *door, *llmtest.Model, *state.File) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "Tea.md"), []byte("# Tea\n\nGreen tea.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := tooltest.Open(t, dir, nil)
	d := &door{Door: tool.NewRegistry(p.Deps(), notes.Tools(notes.Env{Vault: p.Vault, Store: p.Store, Search: p.Search, Fresh: p.Fresh, Now: tooltest.Now}))}
	file := state.In(t.TempDir())
	t.Cleanup(func() { _ = file.Close() })
	model := llmtest.New(steps...)
	var mu sync.Mutex
	n := 0
	a := New(&agent.Agent{
		Store: chat.New(file, nil), Door: d, Now: time.Now, Log: slog.New(slog.DiscardHandler), Holder: "test",
		Model: func(context.Context, string) (llm.Model, llm.Info, error) {
			return model, llm.Info{Context: 100_000, Local: true}, nil
		},
		ID: func(word string) string {
			mu.Lock()
			defer mu.Unlock()
			n++
			return fmt.Sprintf("%s-%d", word, n)
		},
		Scopes: []access.Scope{access.Read, access.Write},
	}, nil, slog.New(slog.DiscardHandler))
	a.ctx = t.Context()
	return a, d, model, file
}

// TestAStopIsNotOverheard: that a question is withdrawn is news, and whoever goes
// on with runs when a question is over hears it before the stop is kept.
func TestAStopIsNotOverheard(t *testing.T) {
	write := llm.Part{Kind: llm.ToolCall, ID: "a", Name: "write_note", Args: json.RawMessage(`{"path":"New","content":"x"}`)}
	a, d, model, _ := open(t, llmtest.Step{Calls: []llm.Part{write}}, llmtest.Text("Then not."), llmtest.Text("t"))
	ctx := t.Context()
	r, err := a.Send(ctx, "chat-1", agent.Request{Text: "Write it"})
	if err != nil {
		t.Fatal(err)
	}
	a.wg.Wait()
	d.withdrawn = func() {
		a.resume(ctx)
		a.wg.Wait()
	}
	var wg sync.WaitGroup
	for range 2 { // a person may press it twice
		wg.Go(func() {
			if err := a.Stop(ctx, r.ID); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if r, err = a.agent.Store.Run(ctx, r.ID); err != nil || r.Status != chat.Cancelled {
		t.Errorf("%+v, %v", r, err)
	}
	if n := len(model.Requests()); n != 1 {
		t.Errorf("the model is asked %d times", n)
	}
	if list, err := a.agent.Store.Messages(ctx, "chat-1"); err != nil || len(list) != 3 { // request, call, result
		t.Errorf("%d messages, %v", len(list), err)
	}
	if a.work(r.ID) != nil {
		t.Error("it is still worked on")
	}
}

// TestWhatCannotBeKept: a model is paid for every answer. Where none can be kept,
// it is not asked every two seconds for ever.
func TestWhatCannotBeKept(t *testing.T) {
	a, _, model, file := open(t)
	for range 9 {
		model.Add(llmtest.Text("Tea."))
	}
	ctx, now := t.Context(), time.Now()
	a.agent.Now = func() time.Time { return now }
	r, err := a.agent.Start(ctx, "chat-1", agent.Request{Text: "What is it?"})
	if err != nil {
		t.Fatal(err)
	}
	d, err := file.DB(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Write.ExecContext(ctx, `CREATE TRIGGER full BEFORE UPDATE OF body ON run BEGIN SELECT RAISE(ABORT, 'no room'); END`); err != nil {
		t.Fatal(err)
	}
	for i, want := range []int{1, 2, 2, 3} {
		for range 3 {
			a.resume(ctx)
			a.wg.Wait()
		}
		if n := len(model.Requests()); n != want {
			t.Errorf("after %d minutes the model was asked %d times, not %d", i, n, want)
		}
		now = now.Add(time.Minute)
	}
	if _, err := d.Write.ExecContext(ctx, `DROP TRIGGER full`); err != nil {
		t.Fatal(err)
	}
	now = now.Add(time.Hour)
	a.resume(ctx)
	a.wg.Wait()
	if r, err = a.agent.Store.Run(ctx, r.ID); err != nil || r.Status != chat.Done {
		t.Errorf("%+v, %v", r, err)
	}
	a.resume(ctx)
	if len(a.tired) != 0 {
		t.Errorf("%+v", a.tired)
	}
}
