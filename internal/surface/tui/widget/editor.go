// Package widget holds the parts of a screen that take keys: a text editor, a list
// to choose from, the history of what was typed, and completion. It knows neither
// models nor tools.
package widget

import (
	"strings"
	"unicode"

	tea "charm.land/bubbletea/v2"

	"lore/internal/surface/cli/draw"
	"lore/internal/surface/tui/markdown"
)

// An Editor is a text of several lines with a cursor in it.
type Editor struct {
	text []rune
	at   int
}

// Value is the text.
func (e *Editor) Value() string { return string(e.text) }

// Set replaces the text, and puts the cursor behind it.
func (e *Editor) Set(s string) {
	e.text = nil
	e.at = 0
	e.Insert(s)
}

// Insert puts text at the cursor. Line ends become one sort, and what controls a
// terminal is left out: nobody means to send it.
func (e *Editor) Insert(s string) {
	s = strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
	var in []rune
	for _, r := range s {
		if r == '\n' || r == '\t' || !unicode.IsControl(r) {
			in = append(in, r)
		}
	}
	e.text = append(e.text[:e.at], append(in, e.text[e.at:]...)...)
	e.at += len(in)
}

// line is where the line of the cursor begins and ends.
func (e *Editor) line() (from, to int) {
	from, to = e.at, e.at
	for from > 0 && e.text[from-1] != '\n' {
		from--
	}
	for to < len(e.text) && e.text[to] != '\n' {
		to++
	}
	return from, to
}

// back and on are the places beside the cursor: marks stay with their letter.
func (e *Editor) back() int {
	i := e.at
	for i > 0 {
		i--
		if !joins(e.text[i]) && (i == 0 || e.text[i-1] != 0x200d) {
			break
		}
	}
	return i
}

func (e *Editor) on() int {
	i := e.at
	for i < len(e.text) {
		i++
		if i == len(e.text) || !joins(e.text[i]) && e.text[i-1] != 0x200d {
			break
		}
	}
	return i
}

// joins reports whether a character belongs to the one before it.
func joins(r rune) bool { return r >= 0x300 && unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) }

// word is the place where the word before or after the cursor ends.
func (e *Editor) word(step int) int {
	i := e.at
	space := func() bool {
		if step < 0 {
			return unicode.IsSpace(e.text[i-1])
		}
		return unicode.IsSpace(e.text[i])
	}
	more := func() bool { return step < 0 && i > 0 || step > 0 && i < len(e.text) }
	for more() && space() {
		i += step
	}
	for more() && !space() {
		i += step
	}
	return i
}

// cut takes the text between two places out.
func (e *Editor) cut(from, to int) {
	e.text = append(e.text[:from], e.text[to:]...)
	e.at = from
}

// up and down move by a line, and report whether there was one.
func (e *Editor) up() bool {
	from, _ := e.line()
	if from == 0 {
		return false
	}
	column := e.at - from
	e.at = from - 1
	from, to := e.line()
	e.at = min(from+column, to)
	return true
}

func (e *Editor) down() bool {
	from, to := e.line()
	if to == len(e.text) {
		return false
	}
	column := e.at - from
	e.at = to + 1
	from, to = e.line()
	e.at = min(from+column, to)
	return true
}

// Empty reports whether nothing is written.
func (e *Editor) Empty() bool { return len(e.text) == 0 }

// Key takes a key that edits, and reports whether it was one.
func (e *Editor) Key(k tea.KeyPressMsg) bool {
	from, to := e.line()
	switch k.Keystroke() {
	case "alt+enter", "ctrl+j", "shift+enter":
		e.Insert("\n")
	case "backspace", "ctrl+h":
		e.cut(e.back(), e.at)
	case "delete":
		e.cut(e.at, e.on())
	case "left", "ctrl+b":
		e.at = e.back()
	case "right", "ctrl+f":
		e.at = e.on()
	case "home", "ctrl+a":
		e.at = from
	case "end", "ctrl+e":
		e.at = to
	case "ctrl+k":
		e.cut(e.at, to)
	case "ctrl+u":
		e.cut(from, e.at)
	case "ctrl+w", "alt+backspace":
		e.cut(e.word(-1), e.at)
	case "alt+left", "ctrl+left", "alt+b":
		e.at = e.word(-1)
	case "alt+right", "ctrl+right", "alt+f":
		e.at = e.word(1)
	case "up":
		return e.up()
	case "down":
		return e.down()
	default:
		if k.Text == "" {
			return false
		}
		e.Insert(k.Text)
	}
	return true
}

// Draw breaks the text into lines of at most so many columns, and says where the
// cursor is among them.
func (e *Editor) Draw(width int) (lines []string, x, y int) {
	var b strings.Builder
	used := 0
	turn := func() {
		lines = append(lines, b.String())
		b.Reset()
		used = 0
	}
	for i, r := range e.text {
		if i == e.at {
			x, y = used, len(lines)
		}
		if r == '\n' {
			turn()
			continue
		}
		s := strings.ReplaceAll(draw.Harmless(string(r)), "\t", "    ")
		w := markdown.Cells(s)
		if used+w > width {
			turn()
			if i == e.at {
				x, y = 0, len(lines)
			}
		}
		b.WriteString(s)
		used += w
	}
	if e.at == len(e.text) {
		if used >= width {
			turn()
		}
		x, y = used, len(lines)
	}
	turn()
	return lines, x, y
}
