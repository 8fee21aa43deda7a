package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"lore/internal/surface/tui/transcript"
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
			m.t.Scroll(m.transcriptHeight()-1, m.transcriptHeight())
			return nil
		}
	case "pgdown":
		if m.mode != deciding {
			m.t.Scroll(1-m.transcriptHeight(), m.transcriptHeight())
			return nil
		}
	case "ctrl+z":
		return tea.Suspend
	case "ctrl+o":
		return m.look()
	case "ctrl+d":
		if m.input.Empty() && (m.mode == writing || m.mode == deciding) {
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
		return m.browse(stroke)
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
	m.hint = "press Ctrl-C again to quit"
	if m.current() != nil {
		m.hint += "; the approval stays pending; Esc stops the run"
	}
	return nil
}

// write takes a key while the input has them.
func (m *model) write(k tea.KeyPressMsg) tea.Cmd {
	stroke := k.Keystroke()
	if m.offer.Key(stroke, &m.input) {
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
	if !m.input.Key(k) {
		switch stroke {
		case "up":
			m.past.Back(&m.input)
		case "down":
			m.past.On(&m.input)
		}
		return nil
	}
	return m.suggest()
}

// enter sends what was written, or does what it says.
func (m *model) enter() tea.Cmd {
	text := strings.TrimSpace(m.input.Value())
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

// look lets the person open calls and thoughts, beginning with the last.
func (m *model) look() tea.Cmd {
	if m.mode == looking {
		return m.unlook()
	}
	for i := len(m.t.Entries) - 1; i >= 0; i-- {
		if opens(m.t.Entries[i]) {
			m.mode = looking
			m.pick(i)
			return nil
		}
	}
	m.hint = "no tool calls or reasoning yet"
	return nil
}

func opens(e *transcript.Entry) bool {
	return e.Kind == transcript.Called || e.Kind == transcript.Thought
}

func (m *model) unlook() tea.Cmd {
	for _, e := range m.t.Entries {
		if e.Picked {
			e.Picked = false
			m.t.Touch(e)
		}
	}
	return m.regain()
}

// pick marks an entry and brings it into sight.
func (m *model) pick(at int) {
	for i, e := range m.t.Entries {
		if e.Picked != (i == at) {
			e.Picked = i == at
			m.t.Touch(e)
		}
	}
	m.t.Refresh()
	height := m.transcriptHeight()
	first := -1 // the place of its first line, from below
	for _, e := range m.t.Entries[at:] {
		first += e.Count()
	}
	m.t.Up = max(0, min(max(m.t.Up, first-height+1), first))
}

// browse takes a key while calls are looked at.
func (m *model) browse(stroke string) tea.Cmd {
	at := -1
	for i, e := range m.t.Entries {
		if e.Picked {
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
			e := m.t.Entries[at]
			e.Open = !e.Open
			m.t.Touch(e)
			m.pick(at)
		}
		return nil
	default:
		return m.unlook()
	}
	for i := at + step; i >= 0 && i < len(m.t.Entries); i += step {
		if opens(m.t.Entries[i]) {
			m.pick(i)
			break
		}
	}
	return nil
}
