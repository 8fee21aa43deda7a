package search

import (
	"strings"
	"testing"

	"lore/internal/note"
)

func TestPunctuated(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"## If it tastes bitter\n\nCool the water.", "If it tastes bitter: Cool the water."},
		{"## Why? ##\nBecause.", "Why? Because."},
		{"# Tea #\nGreen.", "Tea: Green."},
		{"- part_of:: [[Water]]\n- leaf:: 4 g\n", "part_of:: Water; leaf:: 4 g"},
		{"- One.\n- **two**\n- three\n\nEnd", "One. two; three End"},
		{"- one ^id\n- two ^id2", "one; two"},
		{"- one\n  and more\n- two\n\nText\n- three", "one and more; two Text three"},
		{"> [!warning] If it tastes bitter\n> Cool the water.", "If it tastes bitter: Cool the water."},
		{"> [!tip]-\n> Cold.", "Cold."},
		{"```sh\n# no heading\n- a\n- b\n```\n# Yes\nText", "# no heading a b Yes: Text"},
		{"#tag and\n####### seven", "#tag and ####### seven"},
		{"## 水\r\n茶", "水: 茶"},
		{"", ""},
	} {
		if got := note.Plain(punctuated(c.text)); got != c.want {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
	}
}

// FuzzPunctuated: only marks are added and the signs at the end of a heading
// taken away; the words stay, in their order.
func FuzzPunctuated(f *testing.F) {
	f.Add("# Tea\n- a\n- b\n```\n# c\n```")
	f.Add("## 水 ##\r\n* x\n* y ^id")
	f.Fuzz(func(t *testing.T, text string) {
		words := func(s string) string { return strings.Join(strings.FieldsFunc(s, notInWord), " ") }
		if got := punctuated(text); words(got) != words(text) || strings.Count(got, "\n") != strings.Count(text, "\n") {
			t.Fatalf("%q became %q", text, got)
		}
	})
}
