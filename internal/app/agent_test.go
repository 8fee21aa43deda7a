package app

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"lore/internal/agent"
	"lore/internal/agent/chat"
	"lore/internal/llm"
	"lore/internal/llm/llmtest"
	"lore/internal/tool/policy"
	"lore/internal/workspace"
	"lore/internal/workspace/settings"
)

// TestWhatACallLeftBehind: a run that died in a call finds what became of it, the
// change or the question, and makes neither again.
func TestWhatACallLeftBehind(t *testing.T) {
	for name, allowed := range map[string]bool{"a change": true, "a question": false} {
		dir := t.TempDir()
		env := map[string]string{"HOME": dir, "XDG_DATA_HOME": filepath.Join(dir, "data"), "XDG_CONFIG_HOME": filepath.Join(dir, "config"), "LORE_EMBED_MODEL": "none", "LORE_KEYRING": "off"}
		a := &app{now: time.Now, env: func(k string) string { return env[k] }, errOut: t.Output()}
		vault := filepath.Join(dir, "vault")
		if err := os.MkdirAll(vault, 0o700); err != nil {
			t.Fatal(err)
		}
		s, err := a.opener().Open(t.Context(), settings.Flags{Vault: vault}, workspace.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if allowed {
			if err := s.Approvals.AddRule(t.Context(), policy.Rule{ID: "r", Verdict: policy.Allow, Tool: "write_note", Paths: "**", Made: time.Now()}); err != nil {
				t.Fatal(err)
			}
		}
		m := llmtest.New(llmtest.Step{Calls: []llm.Part{{Kind: llm.ToolCall, ID: "a", Name: "write_note", Args: json.RawMessage(`{"path":"New","content":"once\n","mode":"append"}`)}}},
			llmtest.Text("Done."), llmtest.Text("t"), llmtest.Text("Once more."))
		mind := a.newAgent(s.State, s.Door, s.Log, s.Vault.Dir(), a.sharesOf(s, s.Door))
		mind.Model = func(context.Context, string) (llm.Model, llm.Info, error) { return m, llm.Info{Local: true}, nil }
		if err := os.WriteFile(filepath.Join(vault, "New.md"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := mind.Start(t.Context(), "chat-1", agent.Request{Text: "Write"})
		if err != nil {
			t.Fatal(err)
		}
		if r, err = mind.Work(t.Context(), r.ID, nil); err != nil {
			t.Fatal(err)
		}
		list, err := mind.Store.Calls(t.Context(), r.ID)
		if err != nil || len(list) != 1 {
			t.Fatal(err, list)
		}
		// As it was before the process heard what became of the call.
		before := list[0]
		died := before
		died.State, died.Operation, died.Question, died.Result, died.Whole = chat.Calling, "", "", "", nil
		messages, err := mind.Store.Messages(t.Context(), "chat-1")
		if err != nil {
			t.Fatal(err)
		}
		fork, err := mind.Store.Fork(t.Context(), "chat-1", "chat-2", 2)
		if err != nil {
			t.Fatal(err, len(messages))
		}
		r.Chat, r.Status, r.Ended = fork.ID, chat.Running, time.Time{}
		if err := mind.Store.Apply(t.Context(), fork.ID, chat.Change{Run: &r, Calls: []chat.Call{died}}); err != nil {
			t.Fatal(err)
		}
		if r, err = mind.Work(t.Context(), r.ID, nil); err != nil {
			t.Fatal(err)
		}
		if list, err = mind.Store.Calls(t.Context(), r.ID); err != nil {
			t.Fatal(err)
		}
		want := chat.Asked
		if allowed {
			want = chat.Finished
		}
		if c := list[0]; len(list) != 1 || c.State != want || c.Operation != before.Operation || c.Question != before.Question || c.Operation+c.Question == "" {
			t.Errorf("%s: %+v, was %+v", name, c, before)
		}
		// A second call of the tool that died at once has no trace of its own: that of
		// the first is not taken for it.
		second := died
		second.Seq, second.ID = 0, "b"
		list[0].State = chat.Finished
		messages[1].Parts = append(messages[1].Parts, llm.Part{Kind: llm.ToolCall, ID: "b", Name: "write_note", Args: died.Args})
		r.Status = chat.Running
		if fork, err = mind.Store.Fork(t.Context(), "chat-1", "chat-3", 1); err != nil {
			t.Fatal(err)
		}
		r.Chat = fork.ID
		if err := mind.Store.Apply(t.Context(), fork.ID, chat.Change{Run: &r, Say: []chat.Message{messages[1]}, Calls: []chat.Call{list[0], second}}); err != nil {
			t.Fatal(err)
		}
		m.Add(llmtest.Text("Again."), llmtest.Text("t"))
		if r, err = mind.Work(t.Context(), r.ID, nil); err != nil {
			t.Fatal(err)
		}
		if list, err = mind.Store.Calls(t.Context(), r.ID); err != nil || list[1].State != chat.Interrupted {
			t.Errorf("%s: %v %+v", name, err, list[1])
		}
		text, err := os.ReadFile(filepath.Join(vault, "New.md"))
		if once := "once\n"; err != nil || allowed && string(text) != once || !allowed && len(text) > 0 {
			t.Errorf("%s: %q %v", name, text, err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestAMindWhoseHolderLeaves: the process that holds the vault may go between
// being found and being asked for its tools.
func TestAMindWhoseHolderLeaves(t *testing.T) {
	dir, err := os.MkdirTemp("", "lore") // the path of a socket is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	env := map[string]string{"HOME": dir, "XDG_DATA_HOME": filepath.Join(dir, "data"), "XDG_CONFIG_HOME": filepath.Join(dir, "config"), "LORE_EMBED_MODEL": "none", "LORE_KEYRING": "off"}
	a := &app{now: time.Now, env: func(k string) string { return env[k] }, errOut: t.Output()}
	vault := filepath.Join(dir, "vault")
	if err := os.MkdirAll(vault, 0o700); err != nil {
		t.Fatal(err)
	}
	f, o := settings.Flags{Vault: vault}, workspace.Options{Mode: workspace.Share, UpToDate: true}
	holder, err := a.opener().Open(t.Context(), f, workspace.Options{Mode: workspace.Stay, UpToDate: true})
	if err != nil {
		t.Fatal(err)
	}
	s, err := a.opener().Open(t.Context(), f, o)
	if err != nil || !s.UsesOtherProcess() {
		t.Fatal(err)
	}
	c := a.forCommand(s)
	c.Door, c.Close = a.opener().Reconnect(s, f, o)
	if err := holder.Close(); err != nil {
		t.Fatal(err)
	}
	mind, err := c.Mind(t.Context())
	if err != nil {
		_ = c.Close()
		t.Fatal(err)
	}
	defer mind.Close()
	if _, err := mind.Door.Find("read_note"); err != nil || len(mind.Door.On()) == 0 {
		t.Errorf("%v, %d tools", err, len(mind.Door.On()))
	}
}
