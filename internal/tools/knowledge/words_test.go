package knowledge

import "testing"

// TestWordsOfTheWeb: nothing in them means anything, not even to programs that
// make a link of an address by themselves.
func TestWordsOfTheWeb(t *testing.T) {
	for _, c := range []struct{ words, title, text string }{
		{"plain words. And more", "plain words. And more", "> plain words. And more"},
		{"[[x]] #tag ^id a|b", "x tag id a b", `> \[\[x\]\] \#tag \^id a\|b`},
		{"supports:: y %%z", "supports: y z", `> supports:\: y \%\%z`},
		{"see https://a.b/c or WWW.a.b", "see https: a.b/c or WWW a.b", `> see https:/\/a.b/c or WWW\.a.b`},
		{"me@example.org", "me example.org", `> me\@example.org`},
		{"two\n\n# lines", "two lines", `> two \# lines`},
	} {
		if got := tame(c.words); got != c.title {
			t.Errorf("%q as a title: %q, not %q", c.words, got, c.title)
		}
		if got := quoted(c.words); got != c.text {
			t.Errorf("%q as a text: %q, not %q", c.words, got, c.text)
		}
	}
}

// TestBare: blank lines go, what a line begins with stays.
func TestBare(t *testing.T) {
	for text, want := range map[string]string{
		"": "", " \n\t\n": "", "a": "a", "\n\n  a \n": "  a", "    code\n\nb\n\n": "    code\n\nb", "\r\n\r\na\r\n": "a", "  a": "  a",
	} {
		if got := bare(text); got != want {
			t.Errorf("%q: %q, not %q", text, got, want)
		}
	}
}
