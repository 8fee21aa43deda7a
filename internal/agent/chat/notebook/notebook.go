// Package notebook goes on with conversations that lie in notes: those that Lore
// saved, as they are or as a person changed them, and those of ChatGPT MD. It
// reads and writes notes through the door alone.
package notebook

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"lore/internal/agent/chat"
	"lore/internal/agent/chat/page"
	"lore/internal/fault"
	"lore/internal/llm"
	"lore/internal/llm/quote"
	"lore/internal/note/summarize"
	"lore/internal/tool"
	"lore/internal/tool/access"
)

// A Book is where conversations and their notes are found.
type Book struct {
	Store *chat.Store
	Door  tool.Door
	ID    func(word string) string
}

// A Proposal is what the properties of a note want of its conversation. A note
// cannot choose who reads it, nor speak as the person: nothing of this counts
// until a person has seen it and agreed ([Book.Accept]).
type Proposal struct {
	Model  string `json:"model,omitempty"`
	System string `json:"system,omitempty"` // instructions
}

// Opened is the conversation of a note.
type Opened struct {
	Chat chat.Chat `json:"chat"`
	// Unanswered is what the note says last as the person, and nobody has answered.
	Unanswered string   `json:"unanswered,omitempty"`
	Proposal   Proposal `json:"proposal,omitzero"`
}

// Open goes on with the conversation of a note. What is unanswered is returned
// beside it, to be said. A note that differs from its conversation is one of its
// own from there on, and its words count as words from outside.
func (b Book) Open(ctx context.Context, who access.Principal, path string) (o Opened, err error) {
	path, text, err := b.read(ctx, who, path)
	if err != nil {
		return o, err
	}
	p, ok := page.Read(text)
	if !ok || len(p.Messages) == 0 {
		return o, fault.Field("from", "start your message with a line \"### user\"", "%s contains no chat", path)
	}
	first := summarize.Title(p.Messages[0].Text, 80)
	if n := len(p.Messages); p.Messages[n-1].Role == llm.User {
		o.Unanswered = p.Messages[n-1].Text
		p.Messages = p.Messages[:n-1]
	}
	if o.Chat, err = b.same(ctx, &p); err != nil {
		return o, err
	}
	o.Chat, err = b.Store.Change(ctx, o.Chat.ID, func(c *chat.Chat) {
		if c.Page = path; c.Title == "" {
			c.Title = first
		}
	})
	if m := model(p.Model); m != o.Chat.Model {
		o.Proposal.Model = m
	}
	if p.System != o.Chat.System {
		o.Proposal.System = p.System
	}
	return o, err
}

// Accept gives a conversation what its note proposes and a person agreed to.
func (b Book) Accept(ctx context.Context, id string, p Proposal) (chat.Chat, error) {
	return b.Store.Change(ctx, id, func(c *chat.Chat) {
		if p.Model != "" {
			c.Model = p.Model
		}
		if p.System != "" {
			c.System = p.System
		}
	})
}

// same is the conversation that a page shows, a fork of it, or a new one.
func (b Book) same(ctx context.Context, p *page.Page) (chat.Chat, error) {
	if p.Chat != "" {
		c, err := b.Store.Get(ctx, p.Chat)
		if err == nil {
			return b.forked(ctx, c, p)
		}
		if fault.Of(err) != fault.NotFound {
			return c, err
		}
	}
	c := chat.Chat{ID: b.ID("chat"), Title: p.Title, Titled: chat.ByPerson}
	if c.Title == "" {
		c.Titled = chat.ByWords
	}
	if err := b.Store.Put(ctx, c); err != nil {
		return c, err
	}
	return c, b.say(ctx, c.ID, p.Messages)
}

// forked is a conversation as its page has it.
func (b Book) forked(ctx context.Context, c chat.Chat, p *page.Page) (chat.Chat, error) {
	messages, err := b.Store.Messages(ctx, c.ID)
	if err != nil {
		return c, err
	}
	same, rest := page.Fork(*p, messages)
	if len(rest) == 0 && (len(messages) == 0 || same == messages[len(messages)-1].Seq) {
		return c, nil
	}
	at := slices.IndexFunc(messages, func(m chat.Message) bool { return m.Seq > same })
	if at < 0 {
		at = len(messages)
	}
	fork, err := b.Store.Fork(ctx, c.ID, b.ID("chat"), at)
	if err != nil {
		return c, err
	}
	return fork, b.say(ctx, fork.ID, rest)
}

// say puts what a page says into a conversation.
func (b Book) say(ctx context.Context, id string, list []page.Said) error {
	var out []chat.Message
	for _, s := range list {
		out = append(out, chat.Message{Message: llm.Say(s.Role, s.Text), Model: s.Model, Outside: true})
	}
	return b.Store.Apply(ctx, id, chat.Change{Say: out})
}

// model is the id of a model as Lore writes it; "" for what is none.
func model(s string) string {
	s = strings.Replace(s, "@", "/", 1) // as ChatGPT MD has it
	if s == quote.ID {
		return s
	}
	if provider, name, ok := strings.Cut(s, "/"); !ok || provider == "" || name == "" {
		return ""
	}
	return s
}

// read reads a whole note.
func (b Book) read(ctx context.Context, who access.Principal, path string) (found, text string, err error) {
	res, err := b.call(ctx, who, tool.ReadsNote, map[string]any{"path": path, "limit": 5000})
	if err != nil {
		return "", "", err
	}
	var n struct{ Path, Text, More string }
	raw, err := json.Marshal(res)
	if err == nil {
		err = json.Unmarshal(raw, &n)
	}
	if err == nil && n.More != "" {
		err = fault.New(fault.TooLarge, "%s is too long for a chat", n.Path)
	}
	return n.Path, n.Text, err
}

// Save brings the note of a conversation up to date. The person who asked for it
// meant it.
func (b Book) Save(ctx context.Context, who access.Principal, c chat.Chat) (tool.Result, error) {
	args := map[string]any{"chat": c.ID}
	if c.Page != "" {
		args["path"] = c.Page
	}
	who.Explicit = true
	return b.call(ctx, who, tool.SavesChat, args)
}

// call calls the tool that plays a role.
func (b Book) call(ctx context.Context, who access.Principal, role tool.Role, args map[string]any) (tool.Result, error) {
	all := b.Door.On()
	i := slices.IndexFunc(all, func(t *tool.Tool) bool { return slices.Contains(t.Roles, role) })
	if i < 0 {
		return tool.Result{}, fault.Fix(fault.Unavailable, "turn it on in the settings, under Tools", "the tool that this needs is turned off")
	}
	raw, err := json.Marshal(args)
	if err != nil {
		return tool.Result{}, err
	}
	return b.Door.Call(ctx, who, all[i].Name, raw)
}
