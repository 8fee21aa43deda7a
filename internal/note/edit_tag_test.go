package note

import (
	"slices"
	"strings"
	"testing"

	"lore/internal/change"
	"lore/internal/fault"
)

func TestRenameTag(t *testing.T) {
	tests := []struct{ name, src, old, now, want string }{
		{"inline", "a #tea b #Tea, #teapot (#tea)", "tea", "drink", "a #drink b #drink, #teapot (#drink)"},
		{"nested", "#tea/green #tea/green/x #green/tea", "tea", "drink/tea", "#drink/tea/green #drink/tea/green/x #green/tea"},
		{"a nested one alone", "#tea #tea/green #tea/Green/x", "tea/green", "sencha", "#tea #sencha #sencha/x"},
		{"code", "`#tea` #tea\n\n```\n#tea\n```\n", "tea", "x", "`#tea` #x\n\n```\n#tea\n```\n"},
		{"url and heading", "[[a#tea]] https://x.y/#tea\n# tea\n#tea", "tea", "x", "[[a#tea]] https://x.y/#tea\n# tea\n#x"},
		{"list", "---\ntags: [a, tea, 'tea/green'] # tea\n---\n", "tea", "x", "---\ntags: [a, x, 'x/green'] # tea\n---\n"},
		{"block list", "---\ntags:\n  - Tea # c\n  - b\n---\n", "tea", "x", "---\ntags:\n  - x # c\n  - b\n---\n"},
		{"text", "---\ntags: a, tea b\n---\n", "tea", "x", "---\ntags: a, x b\n---\n"},
		{"merged in a list", "---\ntags: [a, tea, b]\n---\n#tea", "tea", "A", "---\ntags: [a, b]\n---\n#A"},
		{"merged, first of a list", "---\ntags: [tea, \"a\", b]\n---\n", "tea", "a", "---\ntags: [\"a\", b]\n---\n"},
		{"merged, quoted", "---\ntags: ['a', 'tea']\n---\n", "tea", "a", "---\ntags: ['a']\n---\n"},
		{"merged in a block list", "---\ntags:\n  - a\n  - tea # gone\n  - \"#tea/x\"\n---\n", "tea", "a", "---\ntags:\n  - a\n  - \"#a/x\"\n---\n"},
		{"merged in a text", "---\ntags: a tea b\n---\n", "tea", "a", "---\ntags: a b\n---\n"},
		{"merged twice", "---\ntags: [tea, x/a, TEA]\n---\n", "tea", "b", "---\ntags: [b, x/a]\n---\n"},
		{"another case only", "#tea #Tea", "tea", "Tea", "#Tea #Tea"},
		{"logseq", "tags:: tea, [[tea]], b\n\n#[[tea]] x", "tea", "y", "tags:: y, [[y]], b\n\n#[[y]] x"},
		{"crlf", "---\r\ntags:\r\n- a\r\n- tea\r\n---\r\n#tea\r\n", "tea", "a", "---\r\ntags:\r\n- a\r\n---\r\n#a\r\n"},
		{"other scripts", "#茶 #茶/緑", "茶", "tea", "#tea #tea/緑"},
		{"none", "#coffee", "tea", "x", "#coffee"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			patches, lines, err := RenameTag(Parse("a.md", []byte(tt.src)), tt.old, tt.now)
			if err != nil {
				t.Fatal(err)
			}
			if got := splice(t, tt.src, patches); got != tt.want {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
			if (len(lines) > 0) != (tt.src != tt.want) {
				t.Error(lines)
			}
		})
	}
	for _, now := range []string{"", "1", "a b", "a#", "/a", "a//b", "a."} {
		if _, _, err := RenameTag(Parse("a.md", []byte("#tea")), "tea", now); fault.Of(err) != fault.Invalid {
			t.Errorf("%q: %v", now, err)
		}
	}
	if _, _, err := RenameTag(Parse("a.md", []byte("#tea \xff")), "tea", "x"); fault.Of(err) != fault.ReadOnly {
		t.Error(err)
	}
}

func FuzzRenameTag(f *testing.F) {
	for _, s := range seeds(f) {
		f.Add(s, "tag", "new")
		f.Add(s, "a", "b/c")
	}
	f.Fuzz(func(t *testing.T, s, old, now string) {
		n := Parse("a.md", []byte(s))
		patches, _, err := RenameTag(n, old, now)
		if err != nil {
			return
		}
		text, err := change.Splice(s, patches...)
		if err != nil {
			t.Fatal(err)
		}
		slices.SortFunc(patches, func(a, b change.Patch) int { return a.Start - b.Start })
		untouched(t, s, text, patches)
		again := Parse("a.md", []byte(text))
		check(t, again)
		for _, g := range again.Tags {
			if tagUnder(g.Name, old) && !tagUnder(g.Name, now) && !strings.EqualFold(old, now) {
				t.Fatalf("%q is still in %q", g.Name, text)
			}
		}
	})
}
