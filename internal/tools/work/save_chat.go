package work

import (
	"context"
	"fmt"
	"path"
	"slices"

	"lore/internal/agent/chat"
	"lore/internal/agent/chat/page"
	"lore/internal/change"
	"lore/internal/fault"
	"lore/internal/note"
	"lore/internal/tool"
	"lore/internal/tool/access"
	"lore/internal/vault"
	"lore/internal/vault/visibility"
)

// SaveChat: Save a conversation as a note, or update the note it was saved
// to. Text that a person added to that note is never overwritten.
type SaveChat struct {
	// Conversation id; default the last one.
	Chat string `json:"chat,omitempty" word:"true"`
	// Path of the note; default where it was saved before, or one named by its title.
	Path string `json:"path,omitempty"`
}

// Help is the text for people.
func (SaveChat) Help() tool.Help {
	return tool.Help{
		Short: "Save a chat as a note",
		Long:  "Updates the note if the chat was saved before. Text that you added to that note is never overwritten.",
		Flags: map[string]string{
			"chat": "ID of the chat (default: the last chat)",
			"path": "path of the note (default: where the chat was saved before, or a path made from its title)",
		},
	}
}

// ChatSaved is a conversation that was saved as a note.
type ChatSaved struct {
	Chat  string `json:"chat"`
	Path  string `json:"path"`
	Title string `json:"title"`
	// Same says that the note was unchanged.
	Same bool `json:"unchanged,omitempty"`
}

// Plan renders the conversation.
func (in SaveChat) Plan(ctx context.Context, env Env) (ChatSaved, change.Set, error) {
	c, err := env.chat(ctx, in.Chat)
	if err != nil {
		return ChatSaved{}, nil, err
	}
	messages, err := env.Chats.Messages(ctx, c.ID)
	if err != nil {
		return ChatSaved{}, nil, err
	}
	if len(messages) == 0 {
		return ChatSaved{}, nil, fault.Field("chat", "send a message first", "%s is empty", c.ID)
	}
	calls := map[string][]chat.Call{}
	for _, m := range messages {
		if _, have := calls[m.Run]; !have && m.Run != "" {
			if calls[m.Run], err = env.Chats.Calls(ctx, m.Run); err != nil {
				return ChatSaved{}, nil, err
			}
		}
	}
	outside := readOutside(messages, calls)
	messages = withoutHidden(ctx, messages, calls)
	out := ChatSaved{Chat: c.ID, Title: c.Title}
	text := page.Render(c, messages, calls)
	old, p, err := env.pageOf(ctx, &c, in.Path)
	if err != nil {
		return out, nil, err
	}
	out.Path = p
	mark := func(text string) (string, error) {
		if !outside {
			return text, nil
		}
		return note.MarkUntrusted(p, text)
	}
	if old == nil {
		text, err = mark(text)
		return out, change.Set{change.Create(p, text)}, err
	}
	if said, ok := page.Read(string(old.Data)); ok {
		if _, rest := page.Fork(said, messages); len(rest) > 0 || said.Aside {
			return out, nil, fault.Fix(fault.Conflict, "continue from the note (lore chat --from), or save to another path", "%s contains text that is not in the chat", p)
		}
	}
	if text, err = mark(page.Update(string(old.Data), text)); err != nil {
		return out, nil, err
	}
	if out.Same = string(old.Data) == text; out.Same {
		return out, nil, nil
	}
	return out, change.Set{change.Replace(p, string(old.Data), text)}, nil
}

// withoutHidden are the messages that the model of an agent may see again, and
// takes the other calls out of calls: summaries and calls tell of notes that were
// read for another model, or when more was shared.
func withoutHidden(ctx context.Context, messages []chat.Message, calls map[string][]chat.Call) []chat.Message {
	who, limit := tool.Caller(ctx), visibility.From(ctx)
	if who.Kind != access.Agent || who.Sends == "" {
		return messages
	}
	own := map[int]bool{} // messages of this model
	var out []chat.Message
	for _, m := range messages {
		own[m.Seq] = m.Model == who.Sends
		if m.Marker == chat.Compacted {
			hidden, all := limit.Patterns().Lost(m.Limit)
			if !own[m.Seq] || all || len(hidden) > 0 {
				continue
			}
		}
		out = append(out, m)
	}
	for run := range calls {
		calls[run] = slices.DeleteFunc(calls[run], func(c chat.Call) bool {
			return !own[c.Message] || !limit.Everything() && !c.IsShared(limit)
		})
	}
	return out
}

// readOutside reports whether a conversation has words from outside: those that its
// tools read, and those of a note that it was opened from.
func readOutside(messages []chat.Message, calls map[string][]chat.Call) bool {
	if slices.ContainsFunc(messages, func(m chat.Message) bool { return m.Outside }) {
		return true
	}
	for _, list := range calls {
		if slices.ContainsFunc(list, func(c chat.Call) bool { return c.Untrusted }) {
			return true
		}
	}
	return false
}

// chat is the conversation of that id, or the last one. An agent saves its own
// alone, because the plan shows what was said.
func (env Env) chat(ctx context.Context, id string) (chat.Chat, error) {
	who := tool.Caller(ctx)
	if who.Kind == access.Agent {
		run, err := env.Chats.Run(ctx, who.ID)
		if err != nil {
			return chat.Chat{}, err
		}
		if id != "" && id != run.Chat {
			return chat.Chat{}, fault.Field("chat", "leave it out to save this chat", "%q is not this chat", id)
		}
		id = run.Chat
	} else if isLimited(ctx) {
		return chat.Chat{}, fault.New(fault.Denied, "this caller cannot save chats: they can contain notes that are not shared with it")
	}
	if id != "" {
		c, err := env.Chats.Get(ctx, id)
		return c, fault.Rename(err, "", "chat")
	}
	list, err := env.Chats.List(ctx, 1, 0)
	if err == nil && len(list) == 0 {
		err = fault.New(fault.NotFound, "there are no chats yet")
	}
	if err != nil {
		return chat.Chat{}, err
	}
	return list[0], nil
}

// pageOf finds the note of a conversation: as it is now, or nil and where it will
// be. A note that shows something else is not taken.
func (env Env) pageOf(ctx context.Context, c *chat.Chat, given string) (*vault.File, string, error) {
	if given != "" {
		if path.Ext(given) == "" {
			given += ".md"
		}
		p, err := vault.CleanNew(given)
		if err != nil {
			return nil, "", fault.Rename(err, "", "path")
		}
		f, mine, err := env.shows(ctx, c, p)
		if err == nil && f != nil && !mine {
			err = fault.Fix(fault.Conflict, "choose another path", "%s already exists and is not this chat's note", p)
		}
		return f, p, err
	}
	name := note.FileName(c.Title)
	if _, err := vault.CleanNew(path.Join(env.Folder, name) + ".md"); err != nil || name == "" {
		name = c.ID
	}
	for i := 1; i < 1000; i++ {
		try := name
		if i > 1 {
			try = fmt.Sprintf("%s %d", name, i)
		}
		p, err := vault.CleanNew(path.Join(env.Folder, try) + ".md")
		if err != nil {
			return nil, "", fault.Rename(err, "", "path")
		}
		if f, mine, err := env.shows(ctx, c, p); err != nil || f == nil || mine {
			return f, p, err
		}
	}
	return nil, "", fault.New(fault.Conflict, "there are too many notes called %q", name)
}

// shows reads a note and reports whether it shows a conversation; nil when there
// is none.
func (env Env) shows(ctx context.Context, c *chat.Chat, p string) (*vault.File, bool, error) {
	f, err := env.Vault.Read(ctx, p)
	if fault.Of(err) == fault.NotFound {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	said, ok := page.Read(string(f.Data))
	return &f, ok && (said.Chat == c.ID || p == c.Page), nil
}

// Preview says what is about to be written.
func (s ChatSaved) Preview() tool.Preview {
	return tool.Preview{Summary: fmt.Sprintf("Save the chat %q as %s", s.Title, s.Path)}
}
