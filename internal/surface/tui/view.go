package tui

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"lore/internal/agent"
	"lore/internal/agent/chat"
	"lore/internal/surface/cli/draw"
	"lore/internal/surface/tui/markdown"
)

// View draws the screen.
func (m *model) View() tea.View {
	text, x, y := m.drawn()
	v := tea.NewView(text)
	v.AltScreen, v.MouseMode = true, tea.MouseModeCellMotion
	if x >= 0 {
		v.Cursor = tea.NewCursor(x, y)
	}
	return v
}

// drawn is the screen as text, and where the cursor is; x is -1 for none.
func (m *model) drawn() (text string, x, y int) {
	top := m.t.View(m.transcriptHeight())
	for len(top) < m.transcriptHeight() {
		top = append(top, "")
	}
	below, x, y := m.below()
	if x >= 0 {
		y += len(top)
	}
	return strings.Join(append(top, below...), "\n"), x, y
}

func (m *model) transcriptHeight() int {
	below, _, _ := m.below()
	return max(0, m.height-len(below))
}

// below is everything under the transcript: a card or a list, the input, and two
// lines about the state of things.
func (m *model) below() (lines []string, x, y int) {
	input, x, y := m.writer()
	status := []string{m.paint.Dim(strings.Repeat("─", m.width-1)), m.status(), m.paint.Dim(markdown.Clip(m.keys(), m.width-1))}
	room := m.height - len(input) - len(status)
	var card []string
	switch {
	case m.list != nil:
		card = m.list.Draw(m.paint, m.width-1, max(3, min(room-1, 14)))
	case m.current() != nil:
		card = m.cardLines(room)
	}
	card = card[:max(0, min(len(card), room))]
	lines = append(append(card, input...), status...)
	if x >= 0 {
		y += len(card)
	}
	if len(lines) > m.height {
		lines = lines[len(lines)-m.height:]
	}
	return lines, x, y
}

// writer draws what is being written, and where the cursor is.
func (m *model) writer() (lines []string, x, y int) {
	e, mark := &m.input, "> "
	switch m.mode {
	case wording:
		e, mark = &m.line, "why: "
	case ruling:
		e, mark = &m.line, "on: "
	case editing:
		e, mark = &m.line, "  "
	}
	width := max(4, m.width-1-len(mark))
	lines, x, y = e.Draw(width)
	most := max(2, m.height/3)
	from := max(0, min(y-most/2, len(lines)-most))
	lines = lines[from:min(len(lines), from+most)]
	y -= from
	for i := range lines {
		lead := strings.Repeat(" ", len(mark))
		if i == 0 && from == 0 {
			lead = m.paint.Bold(mark)
		}
		lines[i] = lead + lines[i]
	}
	x += len(mark)
	lines = append(lines, m.offer.Draw(m.paint, m.width-1)...)
	switch m.mode {
	case deciding, parting, choosing, looking:
		x = -1
	}
	return lines, x, y
}

// cardHeight is how many lines a card may have.
func (m *model) cardHeight() int {
	if c := m.current(); c != nil && c.whole {
		return max(4, m.height-6)
	}
	return max(4, m.height*2/3)
}

// cardLines draws the card: a rule with its number, a part of its face, what is
// wrong, and its keys.
func (m *model) cardLines(room int) []string {
	c, p, width := m.current(), m.paint, m.width-1
	face := m.drawCard(c)
	title := "── Approval needed "
	if n := len(m.cards); n > 1 {
		title = fmt.Sprintf("── Approval %d of %d ", m.card+1, n)
	}
	rule := p.Mark(markdown.Clip(title+strings.Repeat("─", max(0, width-markdown.Cells(title))), width))
	var foot []string
	if c.wrong != "" {
		for _, l := range markdown.Plain(c.wrong, "", "", width) {
			foot = append(foot, p.Red(l))
		}
	}
	if m.mode == parting {
		face = m.partLines(c)
	}
	foot = append(foot, m.cardKeys(c)...)
	height := max(1, min(m.cardHeight(), room)-1-len(foot))
	from := 0
	if m.mode != parting {
		c.top = max(0, min(c.top, len(face)-height))
		from = c.top
	} else {
		from = max(0, min(c.at-height/2, len(face)-height))
	}
	shown := face[from:min(len(face), from+height)]
	out := append([]string{rule}, shown...)
	if hidden := len(face) - len(shown); hidden > 0 && len(out) > 1 {
		out[len(out)-1] = p.Mark(markdown.Clip(fmt.Sprintf("  … lines %d to %d of %d: ↑ ↓ scroll, v shows more", from+1, from+len(shown)-1, len(face)), width))
	}
	return append(out, foot...)
}

// partLines are the parts of a change, with what each of them does.
func (m *model) partLines(c *card) []string {
	var out []string
	for i, p := range c.parts {
		box, mark := "[ ] ", "  "
		if p.take {
			box = "[x] "
		}
		if i == c.at {
			mark = "▸ "
		}
		added, removed := 0, 0
		first := ""
		for line := range strings.SplitSeq(p.diff, "\n") {
			switch {
			case strings.HasPrefix(line, "+++"), strings.HasPrefix(line, "---"):
				continue
			case strings.HasPrefix(line, "+"):
				added++
			case strings.HasPrefix(line, "-"):
				removed++
			default:
				continue
			}
			if first == "" || first[0] == '-' && line[0] == '+' {
				first = line
			}
		}
		text := fmt.Sprintf("%s%s%s  +%d -%d  %s", mark, box, draw.OneLine(p.name), added, removed, draw.Revealed(draw.OneLine(first)))
		out = append(out, markdown.Clip(text, m.width-1))
	}
	return out
}

// cardKeys says which keys a card takes now.
func (m *model) cardKeys(c *card) []string {
	text := ""
	switch {
	case c.busy != "":
		text = c.busy
	case m.mode == parting:
		text = "↑ ↓ move, Space selects, Enter allows the selected parts, Esc back"
	case m.mode == wording:
		text = "Message to the model: Enter denies, Esc back"
	case m.mode == ruling:
		text = "Allow " + draw.OneLine(c.q.Tool) + " on these paths for 30 days: Enter allows, Esc back"
	case m.mode == editing:
		text = "Arguments: Enter previews the change, Ctrl+J new line, Esc back"
	case m.mode != deciding:
		text = "Tab switches to this approval"
	case !c.ready(m.now()):
		text = "…"
	default:
		text = "[a] allow once  [d] deny  [D] deny with message  [e] edit  [p] parts  [w] always  [v] more"
		if len(m.cards) > 1 {
			text += "  [n] next"
		}
	}
	var out []string
	for _, l := range markdown.Fold(text, m.width-1) {
		out = append(out, m.paint.Bold(l))
	}
	return out
}

// status tells who answers, what it cost, and how far it may go.
func (m *model) status() string {
	state := "ready"
	switch {
	case m.stopping:
		state = "stopping"
	case m.current() != nil:
		state = "needs approval"
	case m.working:
		state = "working"
	}
	parts := []string{state}
	if m.mind != "" {
		parts = append(parts, m.mind)
	}
	if r := m.run; r != nil {
		parts = append(parts, money(r), of(r.Usage.In+r.Usage.Out, r.Limits.Tokens)+" tokens", of(r.Steps, r.Limits.Steps)+" steps")
	}
	if m.note != "" {
		parts = append(parts, "note: "+m.note)
	}
	parts = append(parts, m.setsText())
	if m.t.Up > 0 {
		parts = append([]string{fmt.Sprintf("↓ %d more lines", m.t.Up)}, parts...)
	}
	return markdown.Clip(draw.OneLine(strings.Join(parts, " · ")), m.width-1)
}

// setsText names the toolsets: those of the last run, which knows what the usual
// ones are.
func (m *model) setsText() string {
	sets := m.sets
	if m.run != nil && m.run.Sets != nil {
		sets = slices.DeleteFunc(slices.Clone(m.run.Sets), func(s string) bool { return s == agent.Usual })
	}
	if !m.tools || len(sets) == 0 {
		return "no tools"
	}
	return strings.Join(sets, ", ") + " tools"
}

// money is what a run has cost of what it may cost.
func money(r *chat.Run) string {
	if !r.Priced || r.Usage.CostUSD == nil {
		return "cost unknown"
	}
	if r.Limits.Cost > 0 {
		return fmt.Sprintf("$%.4f/$%.2f", *r.Usage.CostUSD, r.Limits.Cost)
	}
	return fmt.Sprintf("$%.4f", *r.Usage.CostUSD)
}

// of is a number with the most that it may be.
func of(n, most int) string {
	if most <= 0 {
		return short(n)
	}
	return short(n) + "/" + short(most)
}

// short is a number in few characters.
func short(n int) string {
	switch {
	case n < 1000:
		return fmt.Sprint(n)
	case n < 10_000:
		return fmt.Sprintf("%.1fk", float64(n)/1000)
	}
	return fmt.Sprintf("%dk", n/1000)
}

// keys says what can be done now.
func (m *model) keys() string {
	switch {
	case m.hint != "":
		return m.hint
	case m.mode == looking:
		return "↑ ↓ move  Enter open or close  Esc back"
	case m.mode == choosing:
		return "type to filter  ↑ ↓ move  Enter choose  Esc back"
	case m.current() != nil && m.mode == writing:
		return "Tab approval  Esc stop  Ctrl-D quit, keep pending"
	case m.current() != nil:
		return "Tab input  Esc stop the run  Ctrl-D quit, keep pending"
	case m.working:
		return "Esc stop"
	}
	return "Enter send  Alt+Enter new line  Ctrl+O calls  /help  Ctrl-D quit"
}
