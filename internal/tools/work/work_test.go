package work_test

import (
	"strings"
	"testing"

	"lore/internal/chat"
	"lore/internal/llm"
	"lore/internal/state"
	"lore/internal/tool"
	"lore/internal/tool/tooltest"
	"lore/internal/tools/work"
)

func open(p tooltest.Place) []*tool.Tool {
	return work.Tools(work.Env{History: p.History, Questions: p.Questions, Vault: p.Vault, Now: tooltest.Now})
}

func TestTools(t *testing.T) {
	f := state.In(t.TempDir())
	t.Cleanup(func() { _ = f.Close() })
	s := chats(t, f)
	tooltest.Run(t, func(p tooltest.Place) []*tool.Tool {
		return work.Tools(work.Env{History: p.History, Questions: p.Questions, Vault: p.Vault, Now: tooltest.Now, Chats: s, Folder: "Chats"})
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
