package screen

import (
	"strings"

	tea "charm.land/bubbletea/v2"
)

// key gives a key to whoever has them.
func (m *model) key(k tea.KeyPressMsg) tea.Cmd {
	stroke := k.Keystroke()
	if stroke == "ctrl+c" {
		return m.interrupt()
	}
	m.leaving, m.hint = false, ""
	switch stroke {
	case "pgup":
		if m.mode != deciding {
			m.t.scroll(m.transcriptHeight()-1, m.transcriptHeight())
			return nil
		}
	case "pgdown":
		if m.mode != deciding {
			m.t.scroll(1-m.transcriptHeight(), m.transcriptHeight())
			return nil
		}
	case "ctrl+o":
		m.look()
		return nil
	case "ctrl+d":
		if len(m.input.text) == 0 && (m.mode == writing || m.mode == deciding) {
			return tea.Quit
		}
	}
	switch m.mode {
	case deciding:
		return m.decide(k)
	case wording, ruling, editing:
		return m.fill(k)
	case parting:
		return m.part(k)
	case choosing:
		return m.choose(k)
	case looking:
		m.browse(stroke)
		return nil
	}
	return m.write(k)
}

// interrupt stops what works; the second one in a row leaves. What waits for an
// answer goes on waiting.
func (m *model) interrupt() tea.Cmd {
	if m.leaving {
		return tea.Quit
	}
	m.leaving = true
	if m.working {
		return m.halt()
	}
	m.hint = "Ctrl-C again leaves"
	if m.current() != nil {
		m.hint += ", and this waits; Esc stops the run"
	}
	return nil
}

// write takes a key while the input has them.
func (m *model) write(k tea.KeyPressMsg) tea.Cmd {
	stroke := k.Keystroke()
	if m.offer.key(stroke, &m.input) {
		return nil
	}
	switch stroke {
	case "enter":
		return m.enter()
	case "esc":
		return m.halt()
	case "tab":
		if c := m.current(); c != nil {
			m.mode = deciding
			c.since = m.now()
			return m.after(settleFor, armed{})
		}
		return nil
	}
	if !m.input.key(k) {
		switch stroke {
		case "up":
			m.past.back(&m.input)
		case "down":
			m.past.on(&m.input)
		}
		return nil
	}
	return m.suggest()
}

// enter sends what was written, or does what it says.
func (m *model) enter() tea.Cmd {
	text := strings.TrimSpace(m.input.value())
	if text == "" {
		return nil
	}
	if strings.HasPrefix(text, "/") && !strings.Contains(text, "\n") {
		if cmd, ok := m.command(text); ok {
			return cmd
		}
	}
	return m.send(text)
}

// The past is what was sent before, to be sent again.
type past struct {
	list  []string
	at    int
	draft string
}

func (p *past) add(text string) {
	if n := len(p.list); n == 0 || p.list[n-1] != text {
		p.list = append(p.list, text)
	}
	p.at, p.draft = len(p.list), ""
}

func (p *past) back(e *editor) {
	if p.at == 0 {
		return
	}
	if p.at == len(p.list) {
		p.draft = e.value()
	}
	p.at--
	e.set(p.list[p.at])
}

func (p *past) on(e *editor) {
	if p.at >= len(p.list) {
		return
	}
	if p.at++; p.at == len(p.list) {
		e.set(p.draft)
		return
	}
	e.set(p.list[p.at])
}

// look lets the person open calls and thoughts, beginning with the last.
func (m *model) look() {
	if m.mode == looking {
		m.unlook()
		return
	}
	for i := len(m.t.entries) - 1; i >= 0; i-- {
		if opens(m.t.entries[i]) {
			m.mode = looking
			m.pick(i)
			return
		}
	}
	m.hint = "there is no call and no thought to look at yet"
}

func opens(e *entry) bool { return e.kind == called || e.kind == thought }

func (m *model) unlook() {
	for _, e := range m.t.entries {
		if e.picked {
			e.picked = false
			m.t.touch(e)
		}
	}
	m.mode = writing
	if m.current() != nil && len(m.input.text) == 0 {
		m.mode = deciding
	}
}

// pick marks an entry and brings it into sight.
func (m *model) pick(at int) {
	for i, e := range m.t.entries {
		if e.picked != (i == at) {
			e.picked = i == at
			m.t.touch(e)
		}
	}
	m.t.settle()
	height := m.transcriptHeight()
	first := -1 // the place of its first line, from below
	for _, e := range m.t.entries[at:] {
		first += e.count()
	}
	m.t.up = max(0, min(max(m.t.up, first-height+1), first))
}

// browse takes a key while calls are looked at.
func (m *model) browse(stroke string) {
	at := -1
	for i, e := range m.t.entries {
		if e.picked {
			at = i
		}
	}
	step := 0
	switch stroke {
	case "up", "k":
		step = -1
	case "down", "j":
		step = 1
	case "enter", "space", "right", "left":
		if at >= 0 {
			e := m.t.entries[at]
			e.open = !e.open
			m.t.touch(e)
			m.pick(at)
		}
		return
	default:
		m.unlook()
		return
	}
	for i := at + step; i >= 0 && i < len(m.t.entries); i += step {
		if opens(m.t.entries[i]) {
			m.pick(i)
			return
		}
	}
}
