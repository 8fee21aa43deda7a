package screen

import (
	"strings"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"lore/internal/surface/draw"
)

// A choice says what a list is of.
type choice int

const (
	models choice = iota
	chats
)

// An item is one line of a list.
type item struct{ label, value string }

// A list lets the person choose, filtered by what is typed.
type list struct {
	what    choice
	items   []item
	waiting bool
	wrong   string
	filter  string
	at      int
}

// open shows a list; its items come later.
func (m *model) open(what choice, load tea.Cmd) tea.Cmd {
	m.list = &list{what: what, waiting: true}
	m.mode = choosing
	return load
}

// listed takes the items of a list.
func (m *model) listed(msg listedMsg) {
	if m.list == nil || m.list.what != msg.what {
		return
	}
	m.list.waiting, m.list.items = false, msg.items
	if msg.err != nil {
		m.list.wrong = msg.err.Error()
	} else {
		m.list.wrong = strings.Join(msg.problems, "; ")
	}
}

// fit are the items that hold every word of the filter.
func (l *list) fit() []item {
	var out []item
	words := strings.Fields(strings.ToLower(l.filter))
next:
	for _, it := range l.items {
		low := strings.ToLower(it.label)
		for _, w := range words {
			if !strings.Contains(low, w) {
				continue next
			}
		}
		out = append(out, it)
	}
	return out
}

// choose takes a key while a list is open.
func (m *model) choose(k tea.KeyPressMsg) tea.Cmd {
	l := m.list
	fit := l.fit()
	switch k.Keystroke() {
	case "esc":
		m.shut()
	case "up":
		l.at = max(0, l.at-1)
	case "down":
		l.at = max(0, min(len(fit)-1, l.at+1))
	case "backspace":
		if l.filter != "" {
			_, size := utf8.DecodeLastRuneInString(l.filter)
			l.filter, l.at = l.filter[:len(l.filter)-size], 0
		}
	case "enter":
		if l.at >= len(fit) {
			return nil
		}
		value := fit[l.at].value
		m.shut()
		if l.what == models {
			return m.h.who(value, true)
		}
		m.asked = ""
		return m.h.load(value)
	default:
		l.filter += k.Text
		l.at = 0
	}
	return nil
}

// shut closes the list.
func (m *model) shut() {
	m.list, m.mode = nil, writing
	if m.current() != nil && len(m.input.text) == 0 {
		m.mode = deciding
	}
}

// draw draws the list in so many lines.
func (l *list) draw(p draw.Screen, width, height int) []string {
	title := "models"
	if l.what == chats {
		title = "conversations"
	}
	out := []string{p.Bold(clip(title+": "+draw.OneLine(l.filter)+"▏", width))}
	fit := l.fit()
	room := max(1, height-2)
	from := max(0, min(l.at-room/2, len(fit)-room))
	for i := from; i < len(fit) && i < from+room; i++ {
		text := clip("  "+draw.OneLine(fit[i].label), width)
		if i == l.at {
			text = p.Bold(clip("▸ "+draw.OneLine(fit[i].label), width))
		}
		out = append(out, text)
	}
	switch {
	case l.waiting:
		out = append(out, p.Dim("  one moment …"))
	case len(fit) == 0:
		out = append(out, p.Dim("  nothing fits"))
	}
	if l.wrong != "" {
		out = append(out, p.Dim(clip("  "+draw.OneLine(l.wrong), width)))
	}
	return out
}
