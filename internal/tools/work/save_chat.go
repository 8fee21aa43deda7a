package work

import (
	"context"
	"fmt"
	"path"
	"slices"

	"lore/internal/change"
	"lore/internal/chat"
	"lore/internal/chat/page"
	"lore/internal/fault"
	"lore/internal/note"
	"lore/internal/tool"
	"lore/internal/vault"
)

// SaveChat writes a conversation as a note, or brings the note that shows it up to
// date. What a person added to that note is never written over.
type SaveChat struct {
	// Id of the conversation; without it the last one.
	Chat string `json:"chat,omitempty" word:"true"`
	// Path of the note; without it the one that shows it already, or one named by its title.
	Path string `json:"path,omitempty"`
}

// ChatSaved is a conversation that is a note.
type ChatSaved struct {
	Chat  string `json:"chat"`
	Path  string `json:"path"`
	Title string `json:"title"`
	// Same tells that the note already reads so.
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
		return ChatSaved{}, nil, fault.Field("chat", "say something first", "%s is empty", c.ID)
	}
	calls := map[string][]chat.Call{}
	for _, m := range messages {
		if _, have := calls[m.Run]; !have && m.Run != "" {
			if calls[m.Run], err = env.Chats.Calls(ctx, m.Run); err != nil {
				return ChatSaved{}, nil, err
			}
		}
	}
	out := ChatSaved{Chat: c.ID, Title: c.Title}
	text := page.Render(c, messages, calls)
	old, p, err := env.pageOf(ctx, &c, in.Path)
	if err != nil {
		return out, nil, err
	}
	out.Path = p
	mark := func(text string) (string, error) {
		if !readOutside(calls) {
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
			return out, nil, fault.Fix(fault.Conflict, "go on with the note itself (lore chat --from), or save it under another path", "%s says something that the conversation does not", p)
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

// readOutside reports whether a conversation read words from outside.
func readOutside(calls map[string][]chat.Call) bool {
	for _, list := range calls {
		if slices.ContainsFunc(list, func(c chat.Call) bool { return c.Untrusted }) {
			return true
		}
	}
	return false
}

// chat is the conversation of that id, or the last one.
func (env Env) chat(ctx context.Context, id string) (chat.Chat, error) {
	if id != "" {
		c, err := env.Chats.Get(ctx, id)
		return c, fault.Rename(err, "", "chat")
	}
	list, err := env.Chats.List(ctx, 1, 0)
	if err == nil && len(list) == 0 {
		err = fault.New(fault.NotFound, "there is no conversation yet")
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
			err = fault.Fix(fault.Conflict, "choose another path", "%s is another note", p)
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
	return tool.Preview{Summary: fmt.Sprintf("Save the conversation %q as %s", s.Title, s.Path)}
}
