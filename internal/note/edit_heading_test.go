package note

import (
	"strings"
	"testing"

	"lore/internal/change"
	"lore/internal/fault"
)

func TestReplaceFragment(t *testing.T) {
	tests := []struct {
		name, src string
		link      int
		fragment  string
		want      string // "" = refused
	}{
		{"wikilink", "a [[n#Old|t]] b", 0, "New one", "a [[n#New one|t]] b"},
		{"same note", "[[#Old]]", 0, "New", "[[#New]]"},
		{"path of headings", "![[n#A#Old]]", 0, "A#New", "![[n#A#New]]"},
		{"spaces kept", "[[ n # Old | t ]]", 0, "New", "[[ n # New | t ]]"},
		{"table", "|a|\n|-|\n|[[n#Old\\|t]]|\n", 0, "New", "|a|\n|-|\n|[[n#New\\|t]]|\n"},
		{"markdown", "[t](n.md#Old \"T\")", 0, "New one", "[t](n.md#New%20one \"T\")"},
		{"markdown, same note", "[t](#old)", 0, "new-one", "[t](#new-one)"},
		{"angle", "[t](<n m.md#Old x>)", 0, "New one", "[t](<n m.md#New one>)"},
		{"encoded letters", "[t](n.md#%C3%A9)", 0, "ü", "[t](n.md#%C3%BC)"},
		{"definition", "[t][r]\n\n[r]: n.md#old 'x'\n", 1, "new", "[t][r]\n\n[r]: n.md#new 'x'\n"},
		{"use of a definition", "[t][r]\n\n[r]: n.md#old\n", 0, "new", "[t][r]\n\n[r]: n.md#old\n"},
		{"no fragment", "[[n]]", 0, "New", "[[n]]"},
		{"property", "---\nup: \"[[n#Old]]\"\n---\n", 0, "New", "---\nup: \"[[n#New]]\"\n---\n"},
		{"property, quote", "---\nup: \"[[n#Old]]\"\n---\n", 0, "a\"b", ""},
		{"bracket", "[[n#Old]]", 0, "a]b", ""},
		{"bar", "[[n#Old]]", 0, "a|b", ""},
		{"line", "[[n#Old]]", 0, "a\nb", ""},
		{"backtick that opens code", "`a [[n#Old]]", 0, "x`y", ""},
		{"empty", "[[n#Old]]", 0, "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n := Parse("a.md", []byte(tt.src))
			patches, err := ReplaceFragment(n, n.Links[tt.link], tt.fragment)
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

func TestCanvasLinksAreEdited(t *testing.T) {
	src := `{"nodes":[{"type":"file","file":"old.md","subpath":"#Old"},{"type":"text","text":"\u00e9 \ud83c\udf75 \"x\"\n[[old#Old|a]] [m](<o\u006cd.md#Old>) #tag"}]}`
	n := ParseCanvas("a.canvas", []byte(src))
	var rs []Rewrite
	for _, l := range n.Links {
		rs = append(rs, Rewrite{Link: l, Target: `n "é`, Fragment: "N 2"})
	}
	patches, refused := RewriteLinks(n, rs)
	for i, err := range refused {
		if err != nil {
			t.Errorf("link %d: %v", i, err)
		}
	}
	want := `{"nodes":[{"type":"file","file":"n \"é","subpath":"#N 2"},{"type":"text","text":"\u00e9 \ud83c\udf75 \"x\"\n[[n \"é#N 2|a]] [m](<n %22é#N 2>) #tag"}]}`
	if got := splice(t, src, patches); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if tag := n.Tags[0].Span; src[tag.Start:tag.End] != "#tag" {
		t.Errorf("the tag stands on %q", src[tag.Start:tag.End])
	}
}

// TestRewriteLinksTellsTheBadOnes: one link that cannot be written does not keep
// the others back.
func TestRewriteLinksTellsTheBadOnes(t *testing.T) {
	src := "---\na: \"[[old]]\"\nb: '[[old]]'\n---\n[[old]] [x](old.md) `c` [[old]]\n"
	n := Parse("a.md", []byte(src))
	var rs []Rewrite
	for range 3 { // many, so that the halves have halves
		for _, l := range n.Links {
			rs = append(rs, Rewrite{Link: l, Target: "it's"})
		}
	}
	patches, refused := RewriteLinks(n, rs[:len(n.Links)])
	if got := splice(t, src, patches); got != "---\na: \"[[it's]]\"\nb: '[[old]]'\n---\n[[it's]] [x](it's) `c` [[it's]]\n" {
		t.Error(got)
	}
	for i, err := range refused {
		if (err != nil) != (i == 1) {
			t.Errorf("link %d: %v", i, err)
		}
	}
	if _, refused = RewriteLinks(Parse("a.md", []byte("[[a]] \xff")), []Rewrite{{Link: n.Links[0], Target: "b"}}); fault.Of(refused[0]) != fault.ReadOnly {
		t.Error(refused[0])
	}
}

func TestSetHeading(t *testing.T) {
	tests := []struct {
		name, src string
		heading   int
		text      string
		want      string // "" = refused
	}{
		{"atx", "## Old\ntext\n", 0, "New one", "## New one\ntext\n"},
		{"closing marks", "##  Old  ##\n", 0, "New", "##  New  ##\n"},
		{"block id", "# Old ^id\n", 0, "New", "# New ^id\n"},
		{"bold", "# **Old**\n", 0, "New", "# **New**\n"},
		{"bold and code", "# **`Old`** ^x\n", 0, "New", "# **`New`** ^x\n"},
		{"partly bold", "# Old **x**\n", 0, "New", "# New\n"},
		{"two bolds", "# **a** and **b**\n", 0, "New", "# New\n"},
		{"setext", "Old\n===\n\ntext", 0, "New", "New\n===\n\ntext"},
		{"setext of two lines", "Old\none\n---\n\n# B\n", 0, "New", "New\n---\n\n# B\n"},
		{"in a quote", "> # Old\n> x\n", 0, "New", "> # New\n> x\n"},
		{"empty heading", "#\n", 0, "New", "# New\n"},
		{"crlf", "# Old\r\nx\r\n", 0, "New", "# New\r\nx\r\n"},
		{"two lines", "# Old\n", 0, "a\nb", ""},
		{"nothing", "# Old\n", 0, "  ", ""},
		{"opens a comment", "# Old\n\ntext %% [[x]]\n", 0, "a %%", "# a %%\n\ntext %% [[x]]\n"},
		{"becomes a rule", "Old\n===\n", 0, "***", ""},
		{"becomes a list", "Old\n---\n", 0, "- x", ""},
		{"closing marks of its own", "# Old\n", 0, "New #", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			patches, err := SetHeading(Parse("a.md", []byte(tt.src)), tt.heading, tt.text)
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

func TestTrail(t *testing.T) {
	n := Parse("a.md", []byte("# Top\n## Plan B\n### Deep\n## Plan B\n### Deep\n## C# > D!\n## Head ^id\n## Über uns\n"))
	for _, c := range []struct {
		fragment string
		want     string
	}{
		{"Top", "0"}, {"top", "0s"}, {"TOP", "0"}, {"Plan B", "1"}, {"plan-b", "1s"}, {"plan-b-1", "3s"}, {"plan-b-2", ""}, {"Plan B#Deep", "1 2"},
		{"Top#Plan B#Deep", "0 1 2"}, {"Deep", "2"}, {"Deep#Top", ""}, {"C# > D!", "5"}, {"C  D", "5"}, {"c--d", "5s"}, {"Head", "6"},
		{"über-uns", "7s"}, {"^id", ""}, {"", ""}, {"nope", ""},
	} {
		var got []string
		for _, s := range n.Trail(c.fragment) {
			mark := ""
			if s.Slug {
				mark = "s"
			}
			got = append(got, string(rune('0'+s.Heading))+mark)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%q: %v, want %q", c.fragment, got, c.want)
		}
	}
	if i, err := n.FindHeading("plan-b-1"); i != 3 || err != nil {
		t.Error(i, err)
	}
	if _, err := n.FindHeading("Plan B"); fault.Of(err) != fault.Ambiguous {
		t.Error(err)
	}
}

func FuzzRewriteLinks(f *testing.F) {
	for _, s := range seeds(f) {
		f.Add(s, "new/Note name", "A b", false)
		f.Add(s, "a (b)'c.md", "x-y", true)
	}
	f.Fuzz(func(t *testing.T, s, target, fragment string, board bool) {
		parse := Parse
		if board {
			parse = ParseCanvas
		}
		n := parse("a.md", []byte(s))
		var rs []Rewrite
		for _, l := range n.Links {
			if !l.External {
				rs = append(rs, Rewrite{Link: l, Target: target, Fragment: fragment})
			}
		}
		patches, refused := RewriteLinks(n, rs)
		now, err := change.Splice(s, patches...)
		if err != nil {
			t.Fatal(err)
		}
		untouched(t, s, now, patches)
		again := parse("a.md", []byte(now))
		if len(again.Links) != len(n.Links) {
			t.Fatalf("%d links became %d:\n%q\n%q", len(n.Links), len(again.Links), s, now)
		}
		k := 0
		for i, old := range n.Links {
			got := again.Links[i]
			if old.External || old.Dest == (Span{}) {
				if !old.External {
					k++
				}
				continue
			}
			if refused[k] == nil && target != "" && old.Dest.Len() > 0 {
				old.Target = target
			}
			if refused[k] == nil && fragment != "" && old.Frag != (Span{}) {
				old.Fragment = fragment
			}
			if got.Target != old.Target && old.Dest.Len() > 0 || got.Fragment != old.Fragment || got.Kind != old.Kind {
				t.Fatalf("link %d is %+v, not %+v:\n%q\n%q", i, got, old, s, now)
			}
			k++
		}
	})
}

func FuzzSetHeading(f *testing.F) {
	for _, s := range seeds(f) {
		f.Add(s, "New heading", 0)
		f.Add(s, "a #", 1)
	}
	f.Fuzz(func(t *testing.T, s, text string, which int) {
		n := Parse("a.md", []byte(s))
		if len(n.Headings) == 0 {
			return
		}
		i := int(uint(which) % uint(len(n.Headings)))
		patches, err := SetHeading(n, i, text)
		if err != nil {
			return
		}
		now, err := change.Splice(s, patches...)
		if err != nil {
			t.Fatal(err)
		}
		untouched(t, s, now, patches)
		again := Parse("a.md", []byte(now))
		check(t, again)
		if len(again.Headings) != len(n.Headings) || again.Headings[i].Level != n.Headings[i].Level {
			t.Fatalf("%q\n%q", s, now)
		}
	})
}
