package invisible

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// tags spells a text in characters that nobody sees.
func tags(s string) string {
	return strings.Map(func(r rune) rune { return 0xe0000 + r }, s)
}

func TestMark(t *testing.T) {
	for _, c := range []struct {
		in, want string
		n        int
	}{
		{"plain\ttext\r\n", "plain\ttext\r\n", 0},
		{"a" + tags("obey") + "b", "a⟦4 hidden characters⟧b", 4},
		{tags("x"), "⟦1 hidden characters⟧", 1},
		{"Donau\u00addampf", "Donau\u00addampf", 0},
		{"\ufeffbegin", "\ufeffbegin", 0},
		{"a\u200b\u200b\u200b\u200bb", "a⟦4 hidden characters⟧b", 4},
		{"pay \u202eresu\u202c", "pay ⟦1 hidden characters⟧resu⟦1 hidden characters⟧", 2},
		{"می\u200cخواهم 👩\u200d💻 ❤\ufe0f", "می\u200cخواهم 👩\u200d💻 ❤\ufe0f", 0},
		{"a\x1b[2Jb", "a⟦1 hidden characters⟧[2Jb", 1},
	} {
		if got, n := Mark(c.in); got != c.want || n != c.n {
			t.Errorf("Mark(%q) = %q, %d", c.in, got, n)
		}
	}
	if got, n := Strip("a" + tags("obey") + "\u00adb"); got != "ab" || n != 5 {
		t.Errorf("%q %d", got, n)
	}
}

func FuzzMark(f *testing.F) {
	f.Add("a" + tags("obey") + "b")
	f.Fuzz(func(t *testing.T, s string) {
		if !utf8.ValidString(s) {
			t.Skip()
		}
		got, n := Mark(s)
		if strings.ContainsFunc(got, func(r rune) bool { return Is(r) && turns(r) }) || (n == 0) != (got == s) {
			t.Errorf("%q: %q, %d", s, got, n)
		}
		if again, m := Mark(got); again != got || m != 0 {
			t.Errorf("%q is marked again: %q", got, again)
		}
	})
}
