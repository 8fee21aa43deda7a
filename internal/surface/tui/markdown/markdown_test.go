package markdown

import (
	"fmt"
	"strings"
	"testing"

	"lore/internal/surface/cli/draw"
)

func TestDraw(t *testing.T) {
	doubt := func(link string) string { return map[string]string{"Coffee": "not read"}[link] }
	for _, c := range []struct{ name, text, want string }{
		{"a paragraph is wrapped", "one two three four five six seven", "one two three four\nfive six seven"},
		{"lines of a paragraph are one", "one\ntwo\n\n\n\nthree", "one two\n\nthree"},
		{"a hard break", "one  \ntwo\\\nthree", "one\ntwo\nthree"},
		{"headings", "# One\n## Two ##\nThree\n===\nFour\n---\n#no", "# One\n## Two\n# Three\n## Four\n#no"},
		{"a list", "- one\n  two\n- [ ] three\n- [x] four\n  - five five five five\n10. six", "• one two\n☐ three\n☑ four\n  • five five five\n    five\n10. six"},
		{"a paragraph of an item", "- one\n\n  two\n\nthree", "• one\n\n  two\n\nthree"},
		{"code", "```go\na := `x`\n\n  *b*  \n```\nend", "  go\n  a := `x`\n\n    *b*\nend"},
		{"code that is too long", "~~~\n0123456789abcdefghij\n```\n~~~", "  0123456789abcdefgh\n  ij\n  ```"},
		{"code by indent", "    a *b*\n\nc", "  a *b*\n\nc"},
		{"a quote", "> one two three four\n> five\n>\n> - six\n> > seven\n\neight", "│ one two three four\n│ five\n│\n│ • six\n│ │ seven\n\neight"},
		{"a callout", "> [!note] A **title**\n> and words", "│ note: A **title**\n│ and words"},
		{"a rule", "***\n- - -", strings.Repeat("─", 20) + "\n" + strings.Repeat("─", 20)},
		{"emphasis keeps its marks without colour", "**a** *b* ~~c~~ `d`", "**a** *b* ~~c~~ `d`"},
		{"notes are citations", "[[Tea]], ![[Tea]], [[Tea|x]]", "[[Tea]], [[Tea]],\n[[x → Tea]]"},
		{"a note that was not read", "see [[Coffee]].", "see [[Coffee]] (not\nread)."},
		{"brackets that are none", "[[]] [[a\nb]] [c] [d](", "[[]] [[a b]] [c]\n[d]("},
		{"an address is shown", "[a](http://b.c)", "a (http://b.c)"},
		{"escapes", `\*a\* \[\[b]]`, "*a* [[b]]"},
		{"a table", "a|b\n-|-:\n1|2\nlonger|`x|y`\nend", "a           b\n──────  ─────\n1           2\nlonger  `x|y`\nend"},
		{"a table that is too wide", "|a|b|c|d|\n|-|-|-|-|\n|1|2|3|4|", "• a: 1\n  b: 2\n  c: 3\n  d: 4"},
		{"a table with long cells", "|name|what it is|\n|-|-|\n|tea|a drink of leaves|", "name  what it is\n────  ──────────────\ntea   a drink of\n      leaves"},
		{"no table", "a|b\nc|d", "a|b c|d"},
		{"wide characters", "玉露玉露玉露玉露玉露玉露", "玉露玉露玉露玉露玉露\n玉露"},
		{"codes are shown", "a\x1b[2Jb\x9bc\u202ed\r\n`\x07`\n", "a␛[2Jb�c�d `␇`"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := strings.Join(Draw(Style{Width: 20, Doubt: doubt}, c.text), "\n")
			got = strings.ReplaceAll(got, "│ \n", "│\n")
			if got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

func TestPainted(t *testing.T) {
	st := Style{Width: 40, Screen: draw.Screen{Colour: true}}
	for text, want := range map[string]string{
		"**a b** *c* a*b":   "\x1b[1ma\x1b[0m \x1b[1mb\x1b[0m \x1b[3mc\x1b[0m a*b",
		"***a*** __b__":     "\x1b[1;3ma\x1b[0m \x1b[1mb\x1b[0m",
		"**a *b** c*":       "\x1b[1ma\x1b[0m \x1b[1m*\x1b[0m\x1b[1mb\x1b[0m c*",
		"a_b_c 2 * 3 * 4":   "a_b_c 2 * 3 * 4",
		"[[Tea]] `x`":       "\x1b[36m[[Tea]]\x1b[0m \x1b[33mx\x1b[0m",
		"# A":               "\x1b[1;4mA\x1b[0m",
		"~~a~~ ==b== `` ` ": "\x1b[9ma\x1b[0m \x1b[4mb\x1b[0m `` `",
	} {
		if got := strings.Join(Draw(st, text), "\n"); got != want {
			t.Errorf("%q:\n%q, want\n%q", text, got, want)
		}
	}
}

// sound checks what must hold of every drawing.
func sound(t *testing.T, st Style, lines []string) {
	t.Helper()
	for _, l := range lines {
		if n := draw.Cells(l); n > st.Width {
			t.Fatalf("%d columns of %d: %q", n, st.Width, l)
		}
		for rest := l; ; {
			i := strings.IndexByte(rest, 0x1b)
			if i < 0 {
				if rest != draw.Harmless(rest) || strings.ContainsAny(rest, "\n\t") {
					t.Fatalf("not harmless: %q", l)
				}
				break
			}
			end := strings.IndexByte(rest[i:], 'm')
			if !st.Screen.Colour || end < 0 || strings.Trim(rest[i+2:i+end], "0123456789;") != "" {
				t.Fatalf("a code came through: %q", l)
			}
			if rest[:i] != draw.Harmless(rest[:i]) {
				t.Fatalf("not harmless: %q", l)
			}
			rest = rest[i+end+1:]
		}
	}
}

// samples have everything that is drawn in its own way.
var samples = []string{
	"# A\n\n- b\n  - c\n\n> d\n> > e\n\n```\nf\n```\n\n| g | h |\n|---|--:|\n| 1 | 2 |\n| **x** | `a|b` |\n\n1. **i** *j* [[K|l]] [m](http://n)\n",
	strings.Repeat("word ", 3000), strings.Repeat("x", 9000), strings.Repeat("`", 300) + strings.Repeat("`a", 300), strings.Repeat("> ", 50) + "x", strings.Repeat("*a **b ", 400),
	"a|b\n-|-\n" + strings.Repeat("1|2\n", 250), strings.Repeat("|", 3000) + "\n" + strings.Repeat("|-", 3000) + "\n" + strings.Repeat("|x", 3000),
	"\x1b]0;t\x07\x1b[2J\u009b31m\u202e", "👩‍👩‍👧 ❤️ é 玉", "1234567890. x\n          - y\n", "- \n-\n#\n>\n|\n```\n", "a\r\nb\rc\x00", "\xff\xfe[[\xff]]",
}

func FuzzDraw(f *testing.F) {
	for _, s := range samples {
		f.Add(s, uint8(40), uint16(7), true)
	}
	f.Fuzz(func(t *testing.T, text string, width uint8, step uint16, colour bool) {
		st := Style{Width: 12 + int(width)%120, Screen: draw.Screen{Colour: colour}, Doubt: func(string) string { return "not read" }}
		whole := Draw(st, text)
		sound(t, st, whole)
		p := New(st)
		tails := 0
		for rest, n := text, int(step)%97+1; rest != ""; {
			n = min(n, len(rest))
			p.Write(rest[:n])
			rest = rest[n:]
			if tails++; tails < 40 {
				sound(t, st, p.Tail())
			}
		}
		if got := append(p.Lines(), p.Tail()...); strings.Join(got, "\n") != strings.Join(whole, "\n") {
			t.Fatalf("in pieces it is drawn otherwise:\n%q\n%q", got, whole)
		}
	})
}

func TestSoundAtEveryWidth(t *testing.T) {
	for _, s := range samples {
		for width := 12; width < 90; width += 7 {
			for _, colour := range []bool{true, false} {
				st := Style{Width: width, Screen: draw.Screen{Colour: colour}}
				sound(t, st, Draw(st, s))
			}
		}
	}
}

// BenchmarkDelta is one more word of an answer that is already so long: the cost
// must not grow with it.
func BenchmarkDelta(b *testing.B) {
	for _, kb := range []int{1, 10, 100} {
		b.Run(fmt.Sprintf("%dKB", kb), func(b *testing.B) {
			p := New(Style{Width: 80, Screen: draw.Screen{Colour: true}})
			for i := 0; i < kb; i++ {
				p.Write(strings.Repeat("some **words** of [[Tea]] ", 38) + "\n\n")
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				p.Write("word ")
				if i%40 == 39 {
					p.Write("\n\n")
				}
				_, _ = p.Lines(), p.Tail()
			}
		})
	}
}

// BenchmarkAnswer is a whole answer in pieces of four bytes, drawn at each.
func BenchmarkAnswer(b *testing.B) {
	for _, kb := range []int{10, 100, 1000} {
		text := strings.Repeat("- some **words** of [[Tea]] and `code` that make a line\n\n", kb*1000/57)
		b.Run(fmt.Sprintf("%dKB", kb), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				p := New(Style{Width: 80, Screen: draw.Screen{Colour: true}})
				for i := 0; i < len(text); i += 4 {
					p.Write(text[i:min(len(text), i+4)])
					_ = p.Tail()
				}
			}
		})
	}
}
