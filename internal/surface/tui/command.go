package tui

import (
	"context"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"lore/internal/llm/quote"
	"lore/internal/surface/cli/draw"
	"lore/internal/surface/tui/transcript"
	"lore/internal/tool"
)

const help = `Enter sends, Alt+Enter or Ctrl+J starts a new line, ↑ and ↓ recall sent messages, [[ suggests notes.
Esc or Ctrl-C stops the run; Ctrl-C twice, or Ctrl-D on an empty line, quits. Pending approvals stay pending.
PgUp, PgDn or the mouse wheel scroll; hold Shift to select text. Ctrl+O browses tool calls and reasoning: ↑ ↓ move, Enter expands.
Approvals: a allows once, d denies, D denies with a message, e edits the arguments, p selects parts, w always allows, v shows more, n goes to the next one, Tab switches to the input and back.
/model NAME  set the model      /models   choose a model
/new         start a new chat   /history  open an earlier chat
/note PATH   set the note to use as context; /note alone clears it
/tools       list the tools     /stop     stop the run     /quit  quit
/undo        undo the changes of the last request that changed something
/compact     summarize older messages to free space in the model's context window
Without a model, a slash and the name of a tool runs it: /tools lists them.
lore chat --plain runs line by line, for screen readers.`

// command does what a line that begins with a slash says. It reports false for a
// line that the mind understands.
func (m *model) command(text string) (tea.Cmd, bool) {
	word, rest, _ := strings.Cut(text, " ")
	rest = strings.TrimSpace(rest)
	done := func(cmd tea.Cmd) (tea.Cmd, bool) {
		m.past.Add(text)
		m.input.Set("")
		return cmd, true
	}
	switch word {
	case "/quit", "/exit":
		return tea.Quit, true
	case "/stop":
		return done(m.halt())
	case "/help":
		m.t.Tell(transcript.Notice, help)
		m.t.Up = 0
		return done(nil)
	case "/tools":
		m.t.Tell(transcript.Notice, m.toolsText())
		m.t.Up = 0
		return done(nil)
	case "/note":
		m.note = draw.OneLine(rest)
		return done(nil)
	case "/model", "/models":
		if rest != "" {
			return done(m.h.who(rest, true))
		}
		return done(m.open(models, m.h.models()))
	case "/new", "/history":
		return done(m.depart(word))
	case "/undo", "/compact":
		return done(m.amend(word))
	}
	if m.mind == "" || m.mind == quote.ID {
		return nil, false
	}
	m.hint = fmt.Sprintf("unknown command %s; /help lists them", draw.OneLine(word))
	return nil, true
}

// depart leaves the conversation for another one.
func (m *model) depart(word string) tea.Cmd {
	if m.working {
		m.hint = "the model is still working; Esc stops it"
		return nil
	}
	if word == "/history" {
		return m.open(chats, m.h.chats())
	}
	m.leave()
	m.chat = ""
	m.welcome()
	return nil
}

// amend undoes what the conversation changed last, or tells its beginning in short.
func (m *model) amend(word string) tea.Cmd {
	switch {
	case m.active() || len(m.cards) > 0:
		m.hint = "the model is still working, or a change waits for you; Esc stops the run"
		return nil
	case word == "/compact" && m.chat == "":
		m.compacted(compactedMsg{})
		return nil
	}
	ctx, stop := context.WithCancelCause(m.h.ctx)
	m.working, m.stop = true, stop
	if word == "/undo" {
		return m.h.undo(ctx, m.chat)
	}
	m.hint = "Summarizing …"
	return m.h.compact(ctx, m.chat, m.asked)
}

// compacted tells whether older messages are told in short.
func (m *model) compacted(msg compactedMsg) {
	stopped := m.stopping
	m.working, m.stopping, m.hint = false, false, ""
	switch {
	case stopped:
		m.t.Tell(transcript.Notice, "Stopped. The chat stays as it was.")
	case msg.err != nil:
		m.problem(msg.err)
	case msg.done:
		m.t.Tell(transcript.Notice, "Older messages are summarized from here on.")
	default:
		m.t.Tell(transcript.Notice, "There is nothing to summarize yet.")
	}
	m.t.Up = 0
}

// undone shows what would be undone, for the person to allow.
func (m *model) undone(msg undoneMsg) tea.Cmd {
	m.working, m.stopping, m.hint = false, false, ""
	switch {
	case msg.err != nil:
		m.problem(msg.err)
		return nil
	case msg.res.Question == nil:
		m.tellUndone(msg.res)
		return nil
	}
	c := &card{own: true}
	m.cards, m.card = append(m.cards, c), len(m.cards)
	cmd := m.ask(c, *msg.res.Question)
	return tea.Batch(cmd, m.present())
}

func (m *model) tellUndone(res tool.Result) {
	text := "Nothing was undone."
	if res.Operation != "" {
		text = "Undone."
	}
	m.t.Tell(transcript.Notice, text)
	m.t.Up = 0
}

// toolsText lists the tools that there are, and which sets the mind gets.
func (m *model) toolsText() string {
	var b strings.Builder
	if m.run != nil && m.run.Instructions != nil && m.run.Instructions.Unused == "" {
		fmt.Fprintf(&b, "The model follows %s.\n", draw.OneLine(m.run.Instructions.Path))
	}
	if !m.tools {
		return b.String() + "The model has no tools in this chat."
	}
	fmt.Fprintf(&b, "The model gets the %s. All tools:\n", m.setsText())
	for _, t := range m.h.s.Door.On() {
		first, _, _ := strings.Cut(t.Doc, ". ")
		fmt.Fprintf(&b, "  %s (%s): %s\n", t.Name, t.Set, strings.TrimSuffix(draw.OneLine(first), "."))
	}
	return b.String()
}
