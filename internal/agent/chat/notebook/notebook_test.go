package notebook_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lore/internal/agent/chat"
	"lore/internal/agent/chat/notebook"
	"lore/internal/fault"
	"lore/internal/llm"
	"lore/internal/machine/state"
	"lore/internal/tool"
	"lore/internal/tool/access"
	"lore/internal/tool/tooltest"
	"lore/internal/tools/notes"
	"lore/internal/tools/work"
)

// A desk is a vault with conversations.
type desk struct {
	*testing.T
	notebook.Book
	dir string
}

func open(t *testing.T) *desk {
	t.Helper()
	d := &desk{T: t, dir: t.TempDir()}
	f := state.In(t.TempDir())
	t.Cleanup(func() { _ = f.Close() })
	d.Store = chat.New(f, nil)
	p := tooltest.Open(t, d.dir, nil)
	d.Door = tool.NewRegistry(p.Deps(), notes.Tools(notes.Env{Vault: p.Vault, Store: p.Store, Search: p.Search, Fresh: p.Fresh, Now: tooltest.Now}),
		work.Tools(work.Env{Vault: p.Vault, Chats: d.Store, Folder: "Chats"}))
	n := 0
	d.ID = func(word string) string { n++; return fmt.Sprintf("%s-%d", word, n) }
	return d
}

func (d *desk) write(name, text string) {
	d.Helper()
	if err := os.WriteFile(filepath.Join(d.dir, name), []byte(text), 0o600); err != nil {
		d.Fatal(err)
	}
}

func (d *desk) read(name string) string {
	d.Helper()
	b, err := os.ReadFile(filepath.Join(d.dir, name))
	if err != nil {
		d.Fatal(err)
	}
	return string(b)
}

func (d *desk) said(id string) string {
	d.Helper()
	list, err := d.Store.Messages(d.Context(), id)
	if err != nil {
		d.Fatal(err)
	}
	var out []string
	for _, m := range list {
		a := llm.Answer{Parts: m.Parts}
		out = append(out, string(m.Role)+": "+a.Text())
	}
	return strings.Join(out, " | ")
}

// TestANoteAndItsConversation: saved, opened again, gone on with, and edited.
func TestANoteAndItsConversation(t *testing.T) {
	d := open(t)
	ctx, me := t.Context(), access.Terminal()
	c := chat.Chat{ID: "chat-0", Title: "Tea"}
	if err := d.Store.Put(ctx, c); err != nil {
		t.Fatal(err)
	}
	if err := d.Store.Apply(ctx, c.ID, chat.Change{Say: []chat.Message{
		{Message: llm.Say(llm.User, "One?")}, {Message: llm.Say(llm.Assistant, "1.")}, {Message: llm.Say(llm.User, "Two?")}, {Message: llm.Say(llm.Assistant, "2.")},
	}}); err != nil {
		t.Fatal(err)
	}
	res, err := d.Save(ctx, me, c)
	if err != nil || res.Operation == "" {
		t.Fatalf("%v %+v", err, res)
	}
	const name = "Chats/Tea.md"
	o, err := d.Open(ctx, me, name)
	if err != nil || o.Chat.ID != c.ID || o.Unanswered != "" || o.Chat.Page != name || o.Proposal != (notebook.Proposal{}) {
		t.Fatalf("%v %+v", err, o)
	}
	// A question that the person wrote into the note is one to be answered.
	text := d.read(name)
	d.write(name, text+"\n### user\n\nThree?\n")
	if o, err = d.Open(ctx, me, name); err != nil || o.Chat.ID != c.ID || o.Unanswered != "Three?" {
		t.Fatalf("%v %+v", err, o)
	}
	// Its properties propose which model answers, and how; a person decides.
	d.write(name, strings.Replace(text, "---\n", "---\nmodel: ollama/qwen3:8b\nsystem: Be brief.\n", 1))
	if o, err = d.Open(ctx, me, name); err != nil || o.Chat.ID != c.ID || o.Chat.Model != "" || o.Chat.System != "" || o.Proposal != (notebook.Proposal{Model: "ollama/qwen3:8b", System: "Be brief."}) {
		t.Errorf("%v %+v", err, o)
	}
	if again, err := d.Accept(ctx, c.ID, o.Proposal); err != nil || again.Model != "ollama/qwen3:8b" || again.System != "Be brief." {
		t.Errorf("%v %+v", err, again)
	}
	if o, err = d.Open(ctx, me, name); err != nil || o.Proposal != (notebook.Proposal{}) {
		t.Errorf("asked again about what was accepted: %v %+v", err, o)
	}
	// What differs from what was said is another conversation from there on.
	d.write(name, strings.Replace(text, "2.", "Two, I think.", 1)+"\n### user\n\nSure?\n")
	o, err = d.Open(ctx, me, name)
	fork, next := o.Chat, o.Unanswered
	if err != nil || fork.ID == c.ID || fork.Parent != c.ID || fork.Fork != 3 || next != "Sure?" {
		t.Fatalf("%v %+v %q", err, fork, next)
	}
	if got := d.said(fork.ID); got != "user: One? | assistant: 1. | user: Two? | assistant: Two, I think." {
		t.Error(got)
	}
	if got := d.said(c.ID); got != "user: One? | assistant: 1. | user: Two? | assistant: 2." {
		t.Error("the old one changed: " + got)
	}
	// A note that was cut goes on from where it ends.
	at := strings.Index(text, "\n### user\n\nTwo?")
	d.write(name, text[:at])
	if o, err := d.Open(ctx, me, name); err != nil || o.Chat.ID == c.ID || d.said(o.Chat.ID) != "user: One? | assistant: 1." {
		t.Errorf("%v %+v", err, o)
	}
}

// TestANoteOfAnotherProgram is read, and a note without a conversation is not one.
func TestANoteOfAnotherProgram(t *testing.T) {
	d := open(t)
	d.write("Old.md", "---\nsystem_commands: ['x']\nmodel: openai@gpt-4o\ntitle: Old talk\n---\nHello\n\n<hr class=\"__chatgpt_plugin\">\n\n### role::assistant<span style=\"font-size: small;\"> (gpt-4o)</span>\n\nHi!\n\n<hr class=\"__chatgpt_plugin\">\n\n### role::user\n\nAnd now?\n")
	o, err := d.Open(t.Context(), access.Terminal(), "Old")
	c := o.Chat
	if err != nil || o.Unanswered != "And now?" || c.Title != "Old talk" || c.Model != "" || o.Proposal.Model != "openai/gpt-4o" || c.Page != "Old.md" {
		t.Fatalf("%v %+v", err, o)
	}
	if got := d.said(c.ID); got != "user: Hello | assistant: Hi!" {
		t.Error(got)
	}
	d.write("Plain.md", "# Tea\n\nNothing.\n")
	if _, err := d.Open(t.Context(), access.Terminal(), "Plain"); fault.Of(err) != fault.Invalid {
		t.Error(err)
	}
	if _, err := d.Open(t.Context(), access.Terminal(), "Nowhere"); fault.Of(err) != fault.NotFound {
		t.Error(err)
	}
}
