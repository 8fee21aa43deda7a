package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"lore/internal/surface/tui/widget"
)

// A choice says what a list is of.
type choice int

const (
	models choice = iota
	chats
)

// open shows a list; its items come later.
func (m *model) open(what choice, load tea.Cmd) tea.Cmd {
	title := "Models"
	if what == chats {
		title = "Chats"
	}
	m.list, m.choice, m.mode = &widget.List{Title: title, Waiting: true}, what, choosing
	return load
}

// listed takes the items of a list.
func (m *model) listed(msg listedMsg) {
	if m.list == nil || m.choice != msg.what {
		return
	}
	m.list.Waiting, m.list.Items = false, msg.items
	m.list.Wrong = strings.Join(msg.problems, "; ")
	if msg.err != nil {
		m.list.Wrong = msg.err.Error()
	}
}

// choose takes a key while a list is open.
func (m *model) choose(k tea.KeyPressMsg) tea.Cmd {
	if k.Keystroke() == "esc" {
		return m.regain()
	}
	chosen := m.list.Key(k.Keystroke(), k.Text)
	if chosen == nil {
		return nil
	}
	back := m.regain()
	if m.choice == models {
		return tea.Batch(back, m.h.who(chosen.Value, true))
	}
	m.asked = ""
	return tea.Batch(back, m.h.load(chosen.Value))
}

// regain gives the keys back after a list or a look at calls. A card that was
// behind it is new to the eyes.
func (m *model) regain() tea.Cmd {
	m.list, m.mode = nil, writing
	return m.present()
}

// suggest offers notes when one is being named. They are asked for once.
func (m *model) suggest() tea.Cmd {
	if m.offer.Look(&m.input) && !m.noted {
		m.noted = true
		return m.h.notes()
	}
	return nil
}
