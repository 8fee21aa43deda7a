package tui

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"lore/internal/llm/quote"
	"lore/internal/surface/cli/draw"
	"lore/internal/surface/tui/transcript"
)

const help = `Enter sends, Alt+Enter or Ctrl+J starts a new line, ↑ and ↓ recall sent messages, [[ suggests notes.
Esc or Ctrl-C stops the run; Ctrl-C twice, or Ctrl-D on an empty line, quits. Pending approvals stay pending.
PgUp, PgDn or the mouse wheel scroll; hold Shift to select text. Ctrl+O browses tool calls and reasoning: ↑ ↓ move, Enter expands.
Approvals: a allows once, d denies, D denies with a message, e edits the arguments, p selects parts, w always allows, v shows more, n goes to the next one, Tab switches to the input and back.
/model NAME  set the model      /models   choose a model
/new         start a new chat   /history  open an earlier chat
/note PATH   set the note to use as context; /note alone clears it
/tools       list the tools     /stop     stop the run     /quit  quit
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

// toolsText lists the tools that there are, and which sets the mind gets.
func (m *model) toolsText() string {
	if !m.tools {
		return "The model has no tools in this chat."
	}
	var b strings.Builder
	fmt.Fprintf(&b, "The model gets the %s. All tools:\n", m.setsText())
	for _, t := range m.h.s.Door.On() {
		first, _, _ := strings.Cut(t.Doc, ". ")
		fmt.Fprintf(&b, "  %s (%s): %s\n", t.Name, t.Set, strings.TrimSuffix(draw.OneLine(first), "."))
	}
	return b.String()
}
