package draw

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestHarmless(t *testing.T) {
	for in, want := range map[string]string{
		"plain text\n\tindented": "plain text\n\tindented",
		"\x1b[2J\x1b]0;owned\a":  "␛[2J␛]0;owned␇",
		"a\r\nb":                 "a\nb",
		"safe\rover":             "safe␍over",
		"back\b\b\x7f":           "back␈␈␡",
		"\u009b31m":              "\uFFFD31m",
		"\x9b31m":                "\uFFFD31m",
		"bytes \xff\xfe":         "bytes \uFFFD\uFFFD",
		"user\u202egpj.exe":      "user\uFFFDgpj.exe",
		"a\u2066b\u2069\u200f":   "a\uFFFDb\uFFFD\uFFFD",
		"hidden\U000e0041":       "hidden\uFFFD",
		"line\u2028line":         "line\uFFFDline",
		"玉露 é 👩‍🌾":               "玉露 é 👩‍🌾",
		"\x00":                   "␀",
	} {
		if got := Harmless(in); got != want {
			t.Errorf("Harmless(%q) = %q, want %q", in, got, want)
		}
	}
	if got := OneLine("a\nb\t c\x1b"); got != "a b c␛" {
		t.Errorf("OneLine: %q", got)
	}
}

// FuzzHarmless proves that nothing a terminal would obey gets through.
func FuzzHarmless(f *testing.F) {
	f.Add("\x1b[31mred\u202e\x9b")
	f.Fuzz(func(t *testing.T, s string) {
		for name, got := range map[string]string{"Harmless": Harmless(s), "OneLine": OneLine(s)} {
			inner := got
			if name == "OneLine" && isOneLine(got) {
				inner = strings.TrimSuffix(strings.TrimPrefix(got, "\u2068"), "\u2069")
			}
			if !utf8.ValidString(got) || strings.ContainsFunc(inner, harmful) {
				t.Errorf("%s(%q) = %q", name, s, got)
			}
			if Harmless(got) != got {
				t.Errorf("%s(%q) changes when it is done twice", name, s)
			}
		}
		if strings.ContainsAny(OneLine(s), "\n\t\r") {
			t.Errorf("OneLine(%q) has a line end", s)
		}
	})
}

func TestCells(t *testing.T) {
	for in, want := range map[string]int{
		"":                                       0,
		"tea":                                    3,
		"玉露":                                     4,
		"ｔｅａ":                                    6,
		"é":                                      1,
		"e\u0301":                                1,
		"한글":                                     4,
		"\u1112\u1161\u11ab":                     2,
		"🍵":                                      2,
		"👩‍🌾":                                    2,
		"☕":                                      2,
		"❤\ufe0f":                                2,
		"→":                                      1,
		"…":                                      1,
		"a\u200bb":                               2,
		"\x1b[1;33mtea\x1b[0m":                   3,
		"\x1b]8;;file:///a\x1b\\a\x1b]8;;\x1b\\": 1,
		"שלום":                                   4,
		"ไทย":                                    3,
		"ที่":                                    1,
	} {
		if got := Cells(in); got != want {
			t.Errorf("Cells(%q) = %d, want %d", in, got, want)
		}
	}
}

func TestWrap(t *testing.T) {
	s := Screen{Width: 24}
	for _, c := range []struct {
		name, text, indent string
		want               []string
	}{
		{"nothing", "  \n ", "", nil},
		{"at spaces", "steep the leaves for three minutes", "  ", []string{"  steep the leaves for", "  three minutes"}},
		{"exactly", strings.Repeat("a", 22), "  ", []string{"  " + strings.Repeat("a", 22)}},
		{"a long word", strings.Repeat("a", 50), "  ", []string{"  " + strings.Repeat("a", 22), "  " + strings.Repeat("a", 22), "  aaaaaa"}},
		{"wide characters", strings.Repeat("茶", 13), "  ", []string{"  " + strings.Repeat("茶", 11), "  茶茶"}},
		{"colours take no room", "\x1b[1mone\x1b[0m two three four five", "", []string{"\x1b[1mone\x1b[0m two three four five"}},
	} {
		if got := s.Wrap(c.text, c.indent); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func FuzzWrap(f *testing.F) {
	f.Add("some 玉露 text \x1b[1mbold\x1b[0m", 30)
	f.Fuzz(func(t *testing.T, text string, width int) {
		s := Screen{Width: 20 + width&63}
		got := s.Wrap(Harmless(text), "  ")
		for _, l := range got {
			if Cells(l) > max(22, s.Width) {
				t.Errorf("%q is wider than %d", l, s.Width)
			}
		}
		if a, b := strings.Join(strings.Fields(strings.Join(got, "")), ""), strings.Join(strings.Fields(Harmless(text)), ""); a != b {
			t.Errorf("%q became %q", text, got)
		}
	})
}

func TestStyle(t *testing.T) {
	plain, colour := Screen{}, Screen{Colour: true}
	if plain.Bold("x") != "x" || plain.Link("/v", "a.md", "x") != "x" || colour.Bold("") != "" {
		t.Error("codes where there should be none")
	}
	if got := colour.Link("/v", "a b\x1b.md", "x"); got != "\x1b]8;;file:///v/a%20b%1B.md\x1b\\x\x1b]8;;\x1b\\" {
		t.Errorf("link: %q", got)
	}
}

func TestNamesAmongWords(t *testing.T) {
	for in, want := range map[string]string{
		"Invoice\u202egpj.md": "Invoice<U+202E>gpj.md",
		"Te\u200ba":           "Te<U+200B>a",
		"עברית.md":            "\u2068עברית.md\u2069",
		"a\x1b[2J":            "a␛[2J",
		"می\u200cخواهم":       "\u2068می\u200cخواهم\u2069",
		"👩\u200d💻":            "👩\u200d💻",
	} {
		got := OneLine(in)
		if got != want || OneLine(got) != got || Harmless(got) != got || Revealed(got) != got {
			t.Errorf("OneLine(%+q) = %+q, want %+q", in, got, want)
		}
	}
}
