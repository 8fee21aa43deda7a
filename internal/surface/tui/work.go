package tui

import (
	"context"
	"encoding/json"
	"time"

	tea "charm.land/bubbletea/v2"

	"lore/internal/agent"
	"lore/internal/agent/chat"
	"lore/internal/llm"
	"lore/internal/surface/tui/widget"
	"lore/internal/tool"
	"lore/internal/tool/access"
)

// What commands tell when they are done.
type (
	startedMsg struct {
		chat string
		run  chat.Run
		err  error
	}
	workedMsg struct {
		id  string
		run chat.Run
		err error
	}
	stoppedMsg struct {
		id    string
		run   chat.Run
		calls []chat.Call
		err   error
	}
	cardsMsg struct {
		run  string
		list []tool.Question
		err  error
	}
	answeredMsg struct {
		id   string
		res  tool.Result
		err  error
		over bool // in spite of the error, nothing waits any more
	}
	elsewhereMsg struct {
		id       string
		revision int
		res      tool.Result
		err      error
	}
	rehearsedMsg struct {
		id   string
		args json.RawMessage
		next tool.Question
		err  error
	}
	loadedMsg struct {
		chat     chat.Chat
		messages []chat.Message
		runs     []chat.Run
		calls    map[string][]chat.Call
		err      error
	}
	citedMsg struct{ message *chat.Message }
	whoMsg   struct {
		id     string
		chosen bool
		err    error
	}
	listedMsg struct {
		what     choice
		items    []widget.Item
		problems []string
		err      error
	}
	notesMsg  struct{ paths []string }
	undoneMsg struct {
		res tool.Result
		err error
	}
	compactedMsg struct {
		done bool
		err  error
	}
)

// start makes a run, in a new conversation when there is none.
func (h *effects) start(id string, q agent.Request) tea.Cmd {
	return h.do(func(ctx context.Context) tea.Msg {
		msg := startedMsg{chat: id}
		if id == "" {
			if msg.chat, msg.err = h.s.Begin(ctx, q.Text, q.Model); msg.err != nil {
				return startedMsg{err: msg.err}
			}
		}
		msg.run, msg.err = h.s.Agent.Start(ctx, msg.chat, q)
		return msg
	})
}

// work goes on with a run until ctx ends.
func (h *effects) work(ctx context.Context, id string) tea.Cmd {
	return h.do(func(context.Context) tea.Msg {
		r, err := h.s.Agent.Work(ctx, id, h.box.tell)
		return workedMsg{id, r, err}
	})
}

// cancel ends a run for good.
func (h *effects) cancel(id string) tea.Cmd {
	return h.do(func(ctx context.Context) tea.Msg {
		ctx, done := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		defer done()
		msg := stoppedMsg{id: id, err: h.s.Agent.Cancel(ctx, id)}
		if msg.err == nil {
			msg.run, msg.err = h.s.Agent.Store.Run(ctx, id)
		}
		if msg.err == nil {
			msg.calls, msg.err = h.s.Agent.Store.Calls(ctx, id)
		}
		return msg
	})
}

// undo plans to take back what a conversation changed last.
func (h *effects) undo(ctx context.Context, id string) tea.Cmd {
	return h.do(func(context.Context) tea.Msg {
		res, err := h.s.Undo(ctx, id)
		return undoneMsg{res, err}
	})
}

// compact tells older messages of a conversation in short, until ctx ends.
func (h *effects) compact(ctx context.Context, id, model string) tea.Cmd {
	return h.do(func(context.Context) tea.Msg {
		done, err := h.s.Agent.Compact(ctx, id, model)
		return compactedMsg{done, err}
	})
}

// cards finds what a run asks.
func (h *effects) cards(run string) tea.Cmd {
	return h.do(func(ctx context.Context) tea.Msg {
		msg := cardsMsg{run: run}
		var calls []chat.Call
		if calls, msg.err = h.s.Agent.Store.Calls(ctx, run); msg.err != nil {
			return msg
		}
		for _, c := range calls {
			if c.State != chat.Asked {
				continue
			}
			q, err := h.s.Door.Question(ctx, c.Question)
			if err != nil {
				msg.err = err
				return msg
			}
			if !q.State.Over() {
				msg.list = append(msg.list, q)
			}
		}
		return msg
	})
}

// await waits until somebody else has answered, or ctx ends.
func (h *effects) await(ctx context.Context, q *tool.Question) tea.Cmd {
	id, revision := q.ID, q.Revision
	return h.do(func(context.Context) tea.Msg {
		res, err := h.s.Door.Await(ctx, id, revision)
		if ctx.Err() != nil {
			return nil
		}
		return elsewhereMsg{id, revision, res, err}
	})
}

// reply answers a question as the person at this terminal.
func (h *effects) reply(id string, a tool.Answer) tea.Cmd {
	return h.do(func(ctx context.Context) tea.Msg {
		res, err := h.s.Door.Answer(ctx, access.Terminal(), id, a)
		msg := answeredMsg{id: id, res: res, err: err}
		if err != nil {
			if q, e := h.s.Door.Question(ctx, id); e == nil {
				msg.over = q.State.Over()
			}
		}
		return msg
	})
}

// rehearse shows what edited arguments would do.
func (h *effects) rehearse(id string, a tool.Answer) tea.Cmd {
	return h.do(func(ctx context.Context) tea.Msg {
		next, err := h.s.Door.Rehearse(ctx, access.Terminal(), id, a)
		return rehearsedMsg{id, a.Args, next, err}
	})
}

// load reads a conversation.
func (h *effects) load(id string) tea.Cmd {
	return h.do(func(ctx context.Context) tea.Msg {
		msg := loadedMsg{calls: map[string][]chat.Call{}}
		store := h.s.Agent.Store
		if msg.chat, msg.err = store.Get(ctx, id); msg.err != nil {
			return msg
		}
		if msg.messages, msg.err = store.Messages(ctx, id); msg.err != nil {
			return msg
		}
		if msg.runs, msg.err = store.Runs(ctx, id); msg.err != nil {
			return msg
		}
		for _, m := range msg.messages { // a fork has messages of runs that are not its own
			if _, have := msg.calls[m.Run]; have || m.Run == "" {
				continue
			}
			if msg.calls[m.Run], msg.err = store.Calls(ctx, m.Run); msg.err != nil {
				return msg
			}
		}
		return msg
	})
}

// cite reads the last answer of a run again: its citations are checked at the
// end.
func (h *effects) cite(r chat.Run) tea.Cmd {
	return h.do(func(ctx context.Context) tea.Msg {
		list, err := h.s.Agent.Store.Messages(ctx, r.Chat)
		if err != nil {
			return nil // the answer stands; it is only not marked
		}
		for i := len(list) - 1; i >= 0; i-- {
			if list[i].Run == r.ID && list[i].Role == llm.Assistant {
				return citedMsg{&list[i]}
			}
		}
		return nil
	})
}

// who finds out which model an id means; chosen says that the person wants it.
func (h *effects) who(id string, chosen bool) tea.Cmd {
	return h.do(func(ctx context.Context) tea.Msg {
		found, _, err := h.s.Agent.Model(ctx, id)
		if err != nil {
			return whoMsg{err: err}
		}
		return whoMsg{id: found.ID(), chosen: chosen}
	})
}

// models lists what can be talked with.
func (h *effects) models() tea.Cmd {
	return h.do(func(ctx context.Context) tea.Msg {
		if h.s.Models == nil {
			return listedMsg{what: models}
		}
		ids, problems, err := h.s.Models(ctx)
		msg := listedMsg{what: models, problems: problems, err: err}
		for _, id := range ids {
			msg.items = append(msg.items, widget.Item{Label: id, Value: id})
		}
		return msg
	})
}

// chats lists the conversations.
func (h *effects) chats() tea.Cmd {
	return h.do(func(ctx context.Context) tea.Msg {
		all, err := h.s.Agent.Store.List(ctx, 200, 0)
		msg := listedMsg{what: chats, err: err}
		for _, c := range all {
			msg.items = append(msg.items, widget.Item{Label: c.Changed.Local().Format("2006-01-02 15:04") + "  " + c.Title, Value: c.ID})
		}
		return msg
	})
}

// notes lists the notes that were changed last, once.
func (h *effects) notes() tea.Cmd {
	return h.do(func(ctx context.Context) tea.Msg {
		var list struct {
			Notes []struct{ Path string }
		}
		for _, t := range h.s.Door.On() {
			if !plays(t, tool.ListsNotes) {
				continue
			}
			res, err := h.s.Door.Call(ctx, access.Terminal(), t.Name, json.RawMessage(`{"limit":500,"sort":"modified"}`))
			if err != nil {
				break
			}
			if b, err := json.Marshal(res); err == nil {
				_ = json.Unmarshal(b, &list) // what does not fit offers nothing
			}
			break
		}
		var msg notesMsg
		for _, n := range list.Notes {
			msg.paths = append(msg.paths, n.Path)
		}
		return msg
	})
}
