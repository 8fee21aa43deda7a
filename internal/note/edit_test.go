package note

import (
	"strings"
	"testing"

	"lore/internal/fault"
)

func TestReplaceTarget(t *testing.T) {
	tests := []struct {
		name, src string
		link      int
		target    string
		want      string // "" = refused
	}{
		{"wikilink", "a [[old#h|t]] b", 0, "dir/New note", "a [[dir/New note#h|t]] b"},
		{"embed", "![[old.png|100]]", 0, "new.png", "![[new.png|100]]"},
		{"table", "|a|\n|-|\n|[[old\\|t]]|\n", 0, "new", "|a|\n|-|\n|[[new\\|t]]|\n"},
		{"spaces kept", "[[ old | t ]]", 0, "new", "[[ new | t ]]"},
		{"plain", "[t](old.md#h)", 0, "my new.md", "[t](my%20new.md#h)"},
		{"angle", "[t](<old x.md#h>)", 0, "my new.md", "[t](<my new.md#h>)"},
		{"title", "[t](old.md \"T\")", 0, "é (1).md", "[t](é%20(1).md \"T\")"},
		{"parens", "[t](old.md)", 0, "a(.md", "[t](a%28.md)"},
		{"encoded letters", "[t](%C3%A9.md)", 0, "ü.md", "[t](%C3%BC.md)"},
		{"percent", "[t](old.md)", 0, "100%25.md", "[t](100%2525.md)"},
		{"hash", "[t](old.md)", 0, "c#.md", "[t](c%23.md)"},
		{"image in link", "[![a](p.png)](old.md)", 0, "new.md", "[![a](p.png)](new.md)"},
		{"definition", "[t][r]\n\n[r]: old.md 'x'\n", 1, "new.md", "[t][r]\n\n[r]: new.md 'x'\n"},
		{"use of a definition", "[t][r]\n\n[r]: old.md 'x'\n", 0, "new.md", "[t][r]\n\n[r]: old.md 'x'\n"},
		{"property", "---\nup: \"[[old|t]]\"\n---\n", 0, "new", "---\nup: \"[[new|t]]\"\n---\n"},
		{"property, quote", "---\nup: \"[[old]]\"\n---\n", 0, "a\"b", ""},
		{"url", "<https://a.b>", 0, "https://c.d/e", "<https://c.d/e>"},
		{"quote", "> [over\n> two](old.md)", 0, "new.md", "> [over\n> two](new.md)"},
		{"dendron", "[[t|old]]", 0, "a|b", ""},
		{"bracket", "[[old]]", 0, "a]b", ""},
		{"fragment", "[[old]]", 0, "a#b", ""},
		{"line", "[[old]]", 0, "a\nb", ""},
		{"bracket that closes a link", "[[a=](![![[1]]", 0, "N )", ""},
		{"colon", "[t](old.md)", 0, "Step1:boil.md", "[t](Step1%3Aboil.md)"},
		{"backtick that opens code", "`a [[old]]", 0, "x`y", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n := Parse("a.md", []byte(tt.src))
			patches, err := ReplaceTarget(n, n.Links[tt.link], tt.target)
			if tt.want == "" {
				if fault.Of(err) != fault.Invalid {
					t.Errorf("not refused: %v %v", patches, err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := splice(t, tt.src, patches); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestReplaceTargetCanvas(t *testing.T) {
	src := `{"nodes":[{"type":"file","file":"old \"x\".md"}]}`
	n := ParseCanvas("a.canvas", []byte(src))
	patches, err := ReplaceTarget(n, n.Links[0], `n"é.md`)
	if err != nil {
		t.Fatal(err)
	}
	if got := splice(t, src, patches); got != `{"nodes":[{"type":"file","file":"n\"é.md"}]}` {
		t.Error(got)
	}
}

const sections = "# Top\nintro\n\n## Plans 🎯\n- a\n- b\n\n## *Done* <b>now</b>\ntext\n### Plans\ndeep\n\n## C# > D\nlast ^blk"

func TestSection(t *testing.T) {
	n := Parse("a.md", []byte(sections))
	tests := []struct {
		ref, want string
		kind      fault.Kind
	}{
		{"Top", sections, ""},
		{"plans 🎯", "## Plans 🎯\n- a\n- b\n\n", ""},
		{"Plans", "### Plans\ndeep\n\n", ""},
		{"plans", "### Plans\ndeep\n\n", ""},
		{"PLANS!", "", fault.Ambiguous},
		{"Done now#Plans", "### Plans\ndeep\n\n", ""},
		{"top > done now > plans", "### Plans\ndeep\n\n", ""},
		{"## Done now", "## *Done* <b>now</b>\ntext\n### Plans\ndeep\n\n", ""},
		{"donenow", "## *Done* <b>now</b>\ntext\n### Plans\ndeep\n\n", ""},
		{"C# > D", "## C# > D\nlast ^blk", ""},
		{"^blk", "last ^blk", ""},
		{"#^BLK", "last ^blk", ""},
		{"^nope", "", fault.NotFound},
		{"Plan", "", fault.NotFound},
		{"Plans#Top", "", fault.NotFound},
		{"", "", fault.NotFound},
	}
	for _, tt := range tests {
		s, err := n.Section(tt.ref)
		if fault.Of(err) != tt.kind {
			t.Errorf("%q: %v", tt.ref, err)
		} else if err == nil && n.text[s.Start:s.End] != tt.want {
			t.Errorf("%q: %q", tt.ref, n.text[s.Start:s.End])
		}
	}
	_, err := n.Section("plans?")
	for _, part := range []string{`"Top > Plans 🎯" (line 4)`, `"Top > Done now > Plans" (line 10)`} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%v does not name %s", err, part)
		}
	}
	if _, err = n.Section("Plan"); err == nil || !strings.Contains(err.Error(), `"Plans"`) {
		t.Errorf("%v names no near heading", err)
	}
}

func TestInsertUnder(t *testing.T) {
	tests := []struct {
		name, src, section, text string
		where                    Where
		want                     string // "" = refused
	}{
		{"end", "# A\n\nx\n\n# B\n", "A", "new", AtEnd, "# A\n\nx\n\nnew\n\n# B\n"},
		{"end, no blank line", "# A\nx\n# B\n", "A", "new\n", AtEnd, "# A\nx\n\nnew\n\n# B\n"},
		{"end of file", "# A\n\nx\n", "A", "new", AtEnd, "# A\n\nx\n\nnew\n"},
		{"no final newline", "# A\n\nx", "A", "new", AtEnd, "# A\n\nx\n\nnew"},
		{"empty section", "# A\n# B\n", "A", "new", AtEnd, "# A\n\nnew\n\n# B\n"},
		{"joins a list", "# A\n- x\n- y\n\n# B\n", "A", "- z", AtEnd, "# A\n- x\n- y\n- z\n\n# B\n"},
		{"list after text", "# A\nx\n", "A", "- z", AtEnd, "# A\nx\n\n- z\n"},
		{"crlf", "# A\r\n\r\nx\r\n", "A", "new\nline", AtEnd, "# A\r\n\r\nx\r\n\r\nnew\r\nline\r\n"},
		{"start", "# A\n\nx\n\n# B\n", "A", "new", AtStart, "# A\n\nnew\n\nx\n\n# B\n"},
		{"start, no blank line", "# A\nx\n", "A", "new", AtStart, "# A\nnew\n\nx\n"},
		{"start of a list", "# A\n- x\n", "A", "- new", AtStart, "# A\n- new\n- x\n"},
		{"start of an empty section", "# A\n", "A", "new", AtStart, "# A\n\nnew\n"},
		{"setext", "A\n===\n\nx\n", "A", "new", AtStart, "A\n===\n\nnew\n\nx\n"},
		{"with subsections", "# A\nx\n## S\ny\n# B\n", "A", "new", AtEnd, "# A\nx\n## S\ny\n\nnew\n\n# B\n"},
		{"whole body, end", "---\na: 1\n---\nx\n", "", "new", AtEnd, "---\na: 1\n---\nx\n\nnew\n"},
		{"whole body, start", "---\na: 1\n---\nx\n", "", "new", AtStart, "---\na: 1\n---\nnew\n\nx\n"},
		{"empty file", "", "", "new", AtEnd, "new\n"},
		{"open fence", "# A\nx\n# B\n", "A", "```\ncode", AtEnd, ""},
		{"into an open fence", "# A\n```\nx\n", "A", "# C", AtEnd, "# A\n```\nx\n\n# C\n"},
		{"no such heading", "# A\n", "B", "new", AtEnd, ""},
		{"nested heading", "- # A\n  x\n", "A", "new", AtEnd, ""},
		{"nothing", "# A\n", "A", " \n", AtEnd, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			patches, err := InsertUnder(Parse("a.md", []byte(tt.src)), tt.section, tt.text, tt.where)
			if tt.want == "" {
				if err == nil {
					t.Errorf("not refused: %q", splice(t, tt.src, patches))
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := splice(t, tt.src, patches); got != tt.want {
				t.Errorf("got\n%q, want\n%q", got, tt.want)
			}
		})
	}
}

func TestPlain(t *testing.T) {
	tests := []struct{ in, want string }{
		{"# A **bold** _title_ #\n\ntext `code *x*` ~~gone~~ ==seen==", "A bold title text code *x* gone seen"},
		{"---\na: 1\n---\nbody", "body"},
		{"## A *part* ^there\n\ntext ^here", "A part text"},
		{"> [!note]- Title\n> text", "Title text"},
		{"- [ ] a [[b|c]] ^id\n1. d", "a c d"},
		{"| a | b |\n|---|---|\n| c\\|d | [e](f) |", "a b c|d e"},
		{"![alt](x.png) ![[y.png]] ![[Note]] [t](u \"v\") <https://a.b> <b>x</b>", "alt Note t https://a.b x"},
		{"H<sub>2</sub>O a<br>b &amp; &copy; 2 * 3 snake_case a == b", "H2O a b & © 2 * 3 snake_case a == b"},
		{"```go\nx := \"*a*\"\n```\nend", "x := \"*a*\" end"},
		{"a %%hid%% b <!-- c --> d\n\n%%\nhidden\n%%\ne", "a b d e"},
		{"note[^1]\n\n[^1]: foot\n\n[ref]: http://x\n", "note foot"},
		{"Title\n===\n\n***\n\nx", "Title x"},
		{"https://a.b/c_d_e and \\*star\\*", "https://a.b/c_d_e and *star*"},
		{"[unclosed ![x](y", "[unclosed ![x](y"},
	}
	for _, tt := range tests {
		if got := Plain(tt.in); got != tt.want {
			t.Errorf("%q\n got %q\nwant %q", tt.in, got, tt.want)
		}
	}
}
