package screen

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"lore/internal/llm/quote"
	"lore/internal/surface/draw"
	"lore/internal/surface/transcript"
)

const help = `Enter sends, Alt+Enter or Ctrl+J begins a new line, ↑ and ↓ bring back what you sent, [[ offers notes.
Esc or Ctrl-C stops what works; Ctrl-C twice, or Ctrl-D on an empty line, leaves. What waits for you goes on waiting.
PgUp, PgDn or the wheel scroll; hold Shift to select with the mouse. Ctrl+O looks at calls and thoughts: ↑ ↓ move, Enter opens.
At a question: a allows it once, d denies it, D denies it with a word, e edits the arguments, p takes parts, w allows it always, v shows more, n the next, Tab goes to the input and back.
/model NAME  who answers      /models   choose who answers
/new         begin anew       /history  conversations of before
/note PATH   the note that you are looking at; /note alone forgets it
/tools       what it may use  /stop     stop what works      /quit  leave
Without a model, a slash and the name of a tool runs it: /tools lists them.
lore chat --plain speaks line by line, for screen readers.`

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
	m.hint = fmt.Sprintf("there is no command %s; /help lists them", draw.OneLine(word))
	return nil, true
}

// depart leaves the conversation for another one.
func (m *model) depart(word string) tea.Cmd {
	if m.working {
		m.hint = "it is not done yet: Esc stops it"
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
		return "It has no tools in this conversation."
	}
	var b strings.Builder
	fmt.Fprintf(&b, "It gets the %s. There are:\n", m.setsText())
	for _, t := range m.h.s.Door.On() {
		first, _, _ := strings.Cut(t.Doc, ". ")
		fmt.Fprintf(&b, "  %s (%s): %s\n", t.Name, t.Set, strings.TrimSuffix(draw.OneLine(first), "."))
	}
	return b.String()
}
