package tui

import (
	"encoding/json"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"lore/internal/surface/cli/draw"
	"lore/internal/surface/tui/transcript"
	"lore/internal/tool"
)

// decide takes a key while a card has them.
func (m *model) decide(k tea.KeyPressMsg) tea.Cmd {
	c := m.current()
	if c == nil {
		m.mode = writing
		return m.write(k)
	}
	switch k.Keystroke() {
	case "tab":
		m.mode = writing
		return nil
	case "up", "down", "pgup", "pgdown":
		m.turn(c, k.Keystroke())
		return nil
	case "esc":
		if c.plan != nil {
			c.plan, c.args, c.lines, c.wrong = nil, nil, nil, ""
			return nil
		}
		if c.own && c.busy == "" {
			return m.reply(c, tool.Answer{})
		}
		return m.halt()
	}
	if !c.ready(m.now()) {
		if c.busy == "" && k.Text != "" { // typed for the input, before the card could be read
			m.mode = writing
			return m.write(k)
		}
		return nil
	}
	switch k.Text {
	case "n":
		m.card = (m.card + 1) % len(m.cards)
		return m.present()
	case "v":
		c.whole = !c.whole
		return nil
	}
	return m.rule(c, k.Text)
}

// rule takes a key that answers a card, or begins to.
func (m *model) rule(c *card, key string) tea.Cmd {
	c.wrong = ""
	switch key {
	case "a":
		a := tool.Answer{Approve: true, Args: c.args}
		if c.plan != nil {
			a.Plan = c.plan.Plan
		}
		return m.reply(c, a)
	case "d":
		return m.reply(c, tool.Answer{})
	case "D":
		m.mode = wording
		m.line.Set("")
	case "e":
		m.mode = editing
		args := c.q.Args
		if c.args != nil {
			args = c.args
		}
		m.line.Set(escaped(args))
	case "w":
		m.mode = ruling
		m.line.Set(scope(&c.q))
	case "p":
		if c.parts = partsOf(&c.q); len(c.parts) < 2 {
			c.wrong = "This change has only one part: press a or d"
			return nil
		}
		m.mode, c.at = parting, 0
	default:
		m.hint = "press a, d, D, e, p, w or v; Tab switches to the input"
	}
	return nil
}

// turn moves what is shown of a card.
func (m *model) turn(c *card, key string) {
	page := max(1, m.cardHeight()-4)
	step := map[string]int{"up": -1, "down": 1, "pgup": -page, "pgdown": page}[key]
	c.top = max(0, min(c.top+step, len(m.drawCard(c))-page))
}

// fill takes a key while something is written for a card.
func (m *model) fill(k tea.KeyPressMsg) tea.Cmd {
	c := m.current()
	switch {
	case c == nil:
		m.mode = writing
		return nil
	case k.Keystroke() == "esc":
		c.wrong = ""
		m.mode = deciding
		return nil
	case k.Keystroke() != "enter":
		m.line.Key(k)
		return nil
	case c.busy != "":
		return nil
	}
	text := m.line.Value()
	switch m.mode {
	case wording:
		return m.reply(c, tool.Answer{Word: strings.TrimSpace(text)})
	case ruling:
		return m.reply(c, m.always(text))
	}
	if !json.Valid([]byte(text)) {
		c.wrong = "Invalid JSON: " + problemOf(text)
		return nil
	}
	c.busy, c.wrong = "Preparing a preview …", ""
	return m.h.rehearse(c.q.ID, tool.Answer{Approve: true, Args: json.RawMessage(text), Revision: c.q.Revision})
}

// problemOf says what is wrong with a text that is no JSON.
func problemOf(text string) string {
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		return err.Error()
	}
	return ""
}

// part takes a key while parts are chosen.
func (m *model) part(k tea.KeyPressMsg) tea.Cmd {
	c := m.current()
	if c == nil {
		m.mode = writing
		return nil
	}
	switch k.Keystroke() {
	case "esc":
		m.mode = deciding
	case "up", "k":
		c.at = max(0, c.at-1)
	case "down", "j":
		c.at = min(len(c.parts)-1, c.at+1)
	case "space", "x":
		c.parts[c.at].take = !c.parts[c.at].take
	case "enter":
		a, err := c.some()
		if err != nil {
			c.wrong = err.Error()
			return nil
		}
		return m.reply(c, a)
	}
	return nil
}

// escaped is JSON over several lines in which everything can be seen: what a
// terminal would hide or obey is written by its number, which means the same.
func escaped(args []byte) string {
	var b strings.Builder
	for _, r := range transcript.Indented(args) {
		if r != '\n' && draw.Revealed(string(r)) != string(r) {
			if r > 0xffff {
				r -= 0x10000
				fmt.Fprintf(&b, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
				continue
			}
			fmt.Fprintf(&b, `\u%04x`, r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}
