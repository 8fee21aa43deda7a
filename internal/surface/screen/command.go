package screen

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"lore/internal/llm/quote"
	"lore/internal/surface/draw"
)

const help = `Enter sends, Alt+Enter or Ctrl+J begins a new line, ↑ and ↓ bring back what you sent, [[ offers notes.
Esc or Ctrl-C stops what works; Ctrl-C twice, or Ctrl-D on an empty line, leaves. What waits for you goes on waiting.
PgUp, PgDn or the wheel scroll; hold Shift to select with the mouse. Ctrl+O looks at calls and thoughts: ↑ ↓ move, Enter opens.
At a question: a allows it once, d denies it, D denies it with a word, e edits the arguments, p takes parts, w allows it always, v shows more, n the next, Tab goes to the input and back.
/model NAME  who answers      /models   choose who answers
/new         begin anew       /history  conversations of before
/note PATH   the note that you are looking at; /note alone forgets it
/tools       what it may use  /stop     stop what works      /quit  leave
lore chat --plain speaks line by line, for screen readers.`

// command does what a line that begins with a slash says. It reports false for a
// line that the mind understands.
func (m *model) command(text string) (tea.Cmd, bool) {
	word, rest, _ := strings.Cut(text, " ")
	rest = strings.TrimSpace(rest)
	done := func(cmd tea.Cmd) (tea.Cmd, bool) {
		m.past.add(text)
		m.input.set("")
		return cmd, true
	}
	switch word {
	case "/quit", "/exit":
		return tea.Quit, true
	case "/stop":
		return done(m.halt())
	case "/help":
		m.t.tell(notice, help)
		m.t.up = 0
		return done(nil)
	case "/tools":
		m.t.tell(notice, m.toolsText())
		m.t.up = 0
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

// toolsText lists what the mind may use.
func (m *model) toolsText() string {
	if !m.tools {
		return "It has no tools in this conversation."
	}
	var b strings.Builder
	b.WriteString("It may use the toolsets " + strings.Join(m.sets, ", ") + ":\n")
	for _, t := range m.h.s.Door.On() {
		if !slices.Contains(m.sets, t.Set) && !slices.Contains(m.sets, "all") {
			continue
		}
		first, _, _ := strings.Cut(t.Doc, ". ")
		fmt.Fprintf(&b, "  %s: %s\n", t.Name, strings.TrimSuffix(draw.OneLine(first), "."))
	}
	return b.String()
}

// An offer is which notes may be meant by what is typed after [[.
type offer struct {
	asked bool
	notes []string
	list  []string
	at    int
	from  int // where the name begins
}

// mostOffers is how many notes are offered.
const mostOffers = 5

func (o *offer) close() { o.list, o.at = nil, 0 }

// suggest looks whether a note is being named. The notes are asked for once.
func (m *model) suggest() tea.Cmd {
	o, e := &m.offer, &m.input
	before := string(e.text[:e.at])
	i := strings.LastIndex(before, "[[")
	if i < 0 || strings.ContainsAny(before[i+2:], "]\n|#") {
		o.close()
		return nil
	}
	if !o.asked {
		o.asked = true
		return m.h.notes()
	}
	typed := strings.ToLower(before[i+2:])
	o.from = len([]rune(before[:i+2]))
	o.list, o.at = nil, 0
	var holds []string
	for _, n := range o.notes {
		low := strings.ToLower(n)
		name := low[strings.LastIndexByte(low, '/')+1:]
		switch {
		case strings.HasPrefix(low, typed), strings.HasPrefix(name, typed):
			o.list = append(o.list, n)
		case strings.Contains(low, typed):
			holds = append(holds, n)
		}
	}
	o.list = append(o.list, holds...)
	o.list = o.list[:min(len(o.list), mostOffers)]
	return nil
}

// key takes a key while notes are offered, and reports whether it was one for
// that.
func (o *offer) key(stroke string, e *editor) bool {
	if len(o.list) == 0 {
		return false
	}
	switch stroke {
	case "up":
		o.at = max(0, o.at-1)
	case "down":
		o.at = min(len(o.list)-1, o.at+1)
	case "tab", "enter":
		e.cut(o.from, e.at)
		e.insert(strings.TrimSuffix(o.list[o.at], ".md") + "]]")
		o.close()
	case "esc":
		o.close()
	default:
		return false
	}
	return true
}
