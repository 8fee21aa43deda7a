package widget

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"lore/internal/surface/cli/draw"
	"lore/internal/surface/tui/markdown"
)

func TestEditorKeys(t *testing.T) {
	for _, c := range []struct {
		name, text string
		at         int
		key        tea.KeyPressMsg
		want       string // with | at the cursor
	}{
		{"backspace", "ab", 1, tea.KeyPressMsg{Code: tea.KeyBackspace}, "|b"},
		{"backspace takes a letter with its marks", "xe\u0301", 3, tea.KeyPressMsg{Code: tea.KeyBackspace}, "x|"},
		{"backspace takes a family", "x👩\u200d👧", 4, tea.KeyPressMsg{Code: tea.KeyBackspace}, "x|"},
		{"backspace at the beginning", "a", 0, tea.KeyPressMsg{Code: tea.KeyBackspace}, "|a"},
		{"delete", "ab", 1, tea.KeyPressMsg{Code: tea.KeyDelete}, "a|"},
		{"delete at the end", "a", 1, tea.KeyPressMsg{Code: tea.KeyDelete}, "a|"},
		{"left over a family", "👩\u200d👧x", 3, tea.KeyPressMsg{Code: tea.KeyLeft}, "|👩\u200d👧x"},
		{"right over a family", "👩\u200d👧x", 0, tea.KeyPressMsg{Code: tea.KeyRight}, "👩\u200d👧|x"},
		{"home", "a\nbc", 4, tea.KeyPressMsg{Code: tea.KeyHome}, "a\n|bc"},
		{"end", "a\nbc\nd", 2, tea.KeyPressMsg{Code: tea.KeyEnd}, "a\nbc|\nd"},
		{"ctrl+w", "one two ", 8, tea.KeyPressMsg{Code: 'w', Mod: tea.ModCtrl}, "one |"},
		{"ctrl+u", "a\nbcd", 4, tea.KeyPressMsg{Code: 'u', Mod: tea.ModCtrl}, "a\n|d"},
		{"ctrl+k", "abc\nd", 1, tea.KeyPressMsg{Code: 'k', Mod: tea.ModCtrl}, "a|\nd"},
		{"alt+f", "one two", 0, tea.KeyPressMsg{Code: 'f', Mod: tea.ModAlt}, "one| two"},
		{"up keeps the column", "abc\nde", 6, tea.KeyPressMsg{Code: tea.KeyUp}, "ab|c\nde"},
		{"down into a shorter line", "abc\nd", 3, tea.KeyPressMsg{Code: tea.KeyDown}, "abc\nd|"},
		{"a letter", "ac", 1, tea.KeyPressMsg{Code: 'b', Text: "b"}, "ab|c"},
	} {
		e := Editor{text: []rune(c.text), at: c.at}
		e.Key(c.key)
		if got := string(e.text[:e.at]) + "|" + string(e.text[e.at:]); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	e := Editor{}
	if e.Key(tea.KeyPressMsg{Code: tea.KeyUp}) || e.Key(tea.KeyPressMsg{Code: tea.KeyF1}) {
		t.Error("keys that edit nothing are taken")
	}
}

func TestEditorDraws(t *testing.T) {
	for _, c := range []struct {
		text string
		at   int
		want string
		x, y int
	}{
		{"", 0, "", 0, 0},
		{"abcdef", 6, "abcd\nef", 2, 1},
		{"abcd", 4, "abcd\n", 0, 1},
		{"ab\ncd", 3, "ab\ncd", 0, 1},
		{"玉露玉", 3, "玉露\n玉", 2, 1},
		{"abc玉", 3, "abc\n玉", 0, 1},
		{"a\x1b", 2, "a␛", 2, 0},
	} {
		e := Editor{text: []rune(c.text), at: c.at}
		lines, x, y := e.Draw(4)
		if got := strings.Join(lines, "\n"); got != c.want || x != c.x || y != c.y {
			t.Errorf("%q: %q at %d %d, want %q at %d %d", c.text, got, x, y, c.want, c.x, c.y)
		}
	}
}

func TestList(t *testing.T) {
	l := List{Title: "models", Items: []Item{{"box/Alpha", "1"}, {"box/beta", "2"}, {"other/alpha", "3"}}}
	l.Key("", "alp")
	l.Key("down", "")
	l.Key("down", "")
	if got := l.Key("enter", ""); got == nil || got.Value != "3" {
		t.Errorf("%v", got)
	}
	l.Key("", " ")
	l.Key("", "box")
	if got := l.Key("enter", ""); got == nil || got.Value != "1" {
		t.Errorf("%v", got)
	}
	l.Key("", "zzz")
	if l.Key("enter", "") != nil {
		t.Error("nothing fits, and something is chosen")
	}
	for range 20 {
		l.Key("backspace", "")
	}
	lines := l.Draw(draw.Screen{}, 12, 20)
	if text := strings.Join(lines, "\n"); !strings.Contains(text, "▸ box/Alpha") || !strings.Contains(text, "  other/alp…") {
		t.Error(text)
	}
	for _, line := range lines {
		if markdown.Cells(line) > 12 {
			t.Errorf("%q", line)
		}
	}
	if got := len(l.Draw(draw.Screen{}, 12, 4)); got > 4 {
		t.Errorf("%d lines", got)
	}
}
