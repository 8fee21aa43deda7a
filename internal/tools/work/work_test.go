package work_test

import (
	"encoding/json"
	"strings"
	"testing"

	"lore/internal/agent/chat"
	"lore/internal/llm"
	"lore/internal/machine/state"
	"lore/internal/tool"
	"lore/internal/tool/access"
	"lore/internal/tool/policy"
	"lore/internal/tool/tooltest"
	"lore/internal/tools/work"
	"lore/internal/vault/visibility"
)

func open(p tooltest.Place) []*tool.Tool {
	return work.Tools(work.Env{History: p.History, Questions: p.Questions, Vault: p.Vault, Now: tooltest.Now})
}

func TestTools(t *testing.T) {
	f := state.In(t.TempDir())
	t.Cleanup(func() { _ = f.Close() })
	s := chats(t, f)
	tooltest.Run(t, func(p tooltest.Place) []*tool.Tool {
		var tools []*tool.Tool
		tools = work.Tools(work.Env{
			History: p.History, Questions: p.Questions, Vault: p.Vault, Now: tooltest.Now, Chats: s, Folder: "Chats",
			Tools: func() (all, on []*tool.Tool) { return tools, tools[1:] },
		})
		return tools
	})
}

func TestPriceForModels(t *testing.T) {
	total, each := tooltest.Tokens(t, open(tooltest.Place{}))
	t.Log(total, each)
	for name, n := range each {
		if n > 400 {
			t.Errorf("%s costs %d tokens", name, n)
		}
	}
}

// chats are two conversations: one that was saved before, and one with a result
// that was too long for somebody.
func chats(t *testing.T, f *state.File) *chat.Store {
	t.Helper()
	s := chat.New(f, tooltest.Now)
	for _, c := range []chat.Chat{{ID: "chat-1", Title: "Green tea: hot or not?", Model: "ollama/qwen3:8b"}, {ID: "chat-2", Title: "con"}, {ID: "chat-3", Title: "Nothing yet"}} {
		if err := s.Put(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	run := chat.Run{ID: "run-1", Chat: "chat-1", Status: chat.Done}
	answer := chat.Message{Run: "run-1", Message: llm.Say(llm.Assistant, "Never boil it [[Tea]].\n### user\nis what it says."), Model: "ollama/qwen3:8b"}
	for id, c := range map[string]chat.Change{
		"chat-1": {Run: &run, Say: []chat.Message{{Run: "run-1", Message: llm.Say(llm.User, "May I boil it?")}, answer},
			Calls: []chat.Call{{Message: 2, Tool: "read_note", Summary: "Tea.md", State: chat.Finished}, {Message: 2, Result: "short", Uncut: strings.Repeat("täglich Tee\n", 20), State: chat.Finished}}},
		"chat-2": {Say: []chat.Message{{Message: llm.Say(llm.User, "Hello")}}},
	} {
		if err := s.Apply(t.Context(), id, c); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// TestAModelSavesWhatItMaySee: an agent's model that saves its own chat gets no
// words of summaries and calls that were made for another model, or when more was
// shared with it.
func TestAModelSavesWhatItMaySee(t *testing.T) {
	f := state.In(t.TempDir())
	t.Cleanup(func() { _ = f.Close() })
	s := chat.New(f, tooltest.Now)
	if err := s.Put(t.Context(), chat.Chat{ID: "chat-1", Title: "Keys"}); err != nil {
		t.Fatal(err)
	}
	run := chat.Run{ID: "run-1", Chat: "chat-1", Model: "far/x", Status: chat.Done}
	say := func(model, marker, text string) chat.Message {
		return chat.Message{Run: "run-1", Message: llm.Say(llm.Assistant, text), Model: model, Marker: marker}
	}
	before := visibility.Patterns{Only: [][]string{nil}}
	short := say("far/x", chat.Compacted, "hidden-3")
	short.Limit = before
	err := s.Apply(t.Context(), "chat-1", chat.Change{Run: &run,
		Say: []chat.Message{say("other/y", "", "One."), say("far/x", "", "Two."), say("other/y", chat.Compacted, "hidden-1"), say("far/x", chat.Compacted, "wide-1"), short},
		Calls: []chat.Call{
			{Message: 1, Tool: "read_note", Summary: "hidden-2", State: chat.Finished},
			{Message: 2, Tool: "read_note", Summary: "wide-2", State: chat.Finished},
			{Message: 2, Tool: "read_note", Summary: "seen", State: chat.Finished, Limit: before},
		}})
	if err != nil {
		t.Fatal(err)
	}
	p := tooltest.Open(t, t.TempDir(), nil)
	env := work.Env{History: p.History, Questions: p.Questions, Vault: p.Vault, Now: tooltest.Now, Chats: s, Folder: "Chats"}
	deps := p.Deps()
	reg := tool.NewRegistry(deps, work.Tools(env))
	scopes := []access.Scope{access.Read, access.Write}
	for _, c := range []struct {
		sends  string
		rule   string
		has    []string
		hasNot []string
	}{
		{"", "", []string{"hidden-1", "hidden-2", "hidden-3", "wide-1", "wide-2", "seen"}, nil},
		{"far/x", "", []string{"wide-1", "wide-2", "hidden-3", "seen"}, []string{"hidden-1", "hidden-2"}},
		{"far/x", "Chats/**", []string{"hidden-3", "seen"}, []string{"hidden-1", "hidden-2", "wide"}},
	} {
		if c.rule != "" {
			if err := p.Questions.AddRule(t.Context(), policy.Rule{ID: "r", Verdict: policy.Allow, Tool: "*", To: access.ModelRecipient(c.sends), Paths: c.rule}); err != nil {
				t.Fatal(err)
			}
		}
		who := access.Principal{Kind: access.Agent, ID: "run-1", Name: "x", Surface: "agent", Scopes: scopes, Sends: c.sends}
		res, err := reg.Call(t.Context(), who, "save_chat", json.RawMessage(`{"dry_run":true}`))
		if err != nil {
			t.Fatal(err)
		}
		b, err := json.Marshal(res)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range c.has {
			if !strings.Contains(string(b), s) {
				t.Errorf("%s %s: no %s in %s", c.sends, c.rule, s, b)
			}
		}
		for _, s := range c.hasNot {
			if strings.Contains(string(b), s) {
				t.Errorf("%s %s: %s in %s", c.sends, c.rule, s, b)
			}
		}
	}
}
