package note

import (
	"strings"
	"testing"

	"lore/internal/change"
	"lore/internal/fault"
)

func TestAddTag(t *testing.T) {
	tests := []struct{ name, src, tag, want string }{
		{"no front matter", "text\n", "tea", "---\ntags:\n  - tea\n---\ntext\n"},
		{"no property", "---\na: 1 # c\n---\n", "tea", "---\na: 1 # c\ntags:\n  - tea\n---\n"},
		{"empty property", "---\ntags:\nb: 1\n---\n", "tea", "---\ntags:\n  - tea\nb: 1\n---\n"},
		{"empty list", "---\ntags: []\n---\n", "tea", "---\ntags: [tea]\n---\n"},
		{"flow list", "---\ntags: [ a, b ] # c\n---\n", "tea", "---\ntags: [ a, b, tea ] # c\n---\n"},
		{"quoted flow list", "---\ntags: [\"a\"]\n---\n", "tea", "---\ntags: [\"a\", \"tea\"]\n---\n"},
		{"block list with comments", "---\ntags:\n- a # one\n- b # two\nx: 1\n---\n", "tea", "---\ntags:\n- a # one\n- b # two\n- tea\nx: 1\n---\n"},
		{"deep block list", "---\ntags:\n    - a\n---\n", "a/b", "---\ntags:\n    - a\n    - a/b\n---\n"},
		{"text with commas", "---\ntags: a, b\n---\n", "tea", "---\ntags: a, b, tea\n---\n"},
		{"text with blanks", "---\ntags: a b\n---\n", "tea", "---\ntags: a b tea\n---\n"},
		{"one word", "---\ntags: a\n---\n", "tea", "---\ntags: a, tea\n---\n"},
		{"quoted text", "---\ntags: 'a, b'\n---\n", "tea", "---\ntags: 'a, b, tea'\n---\n"},
		{"the key tag", "---\ntag: [a]\n---\n", "tea", "---\ntag: [a, tea]\n---\n"},
		{"another case of the key", "---\nTags: [a]\n---\n", "tea", "---\nTags: [a, tea]\n---\n"},
		{"has it", "---\ntags: [Tea]\n---\n", "tea", "---\ntags: [Tea]\n---\n"},
		{"has it in the text", "a #tea", "tea", "a #tea"},
		{"has a nested one", "---\ntags: [tea/green]\n---\n", "tea", "---\ntags: [tea/green, tea]\n---\n"},
		{"crlf", "---\r\ntags:\r\n- a\r\n---\r\nx\r\n", "tea", "---\r\ntags:\r\n- a\r\n- tea\r\n---\r\nx\r\n"},
		{"other scripts", "---\ntags: [a]\n---\n", "茶", "---\ntags: [a, 茶]\n---\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			patches, err := AddTag(Parse("a.md", []byte(tt.src)), tt.tag)
			if err != nil {
				t.Fatal(err)
			}
			if got := splice(t, tt.src, patches); got != tt.want {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
		})
	}
	for _, tag := range []string{"", "1", "a b", "#a", "a//b"} {
		if _, err := AddTag(Parse("a.md", []byte("x")), tag); fault.Of(err) != fault.Invalid {
			t.Errorf("%q: %v", tag, err)
		}
	}
	if _, err := AddTag(Parse("a.md", []byte("---\na: {{b}}\n---\n")), "tea"); fault.Of(err) != fault.Invalid {
		t.Error(err)
	}
}

func TestRemoveTag(t *testing.T) {
	tests := []struct {
		name, src, tag string
		inline         bool
		want           string
	}{
		{"flow list", "---\ntags: [a, tea, b] # c\n---\n", "Tea", false, "---\ntags: [a, b] # c\n---\n"},
		{"the only one", "---\ntags: [tea]\n---\n", "tea", false, "---\ntags: []\n---\n"},
		{"block list", "---\ntags:\n  - a # one\n  - tea # two\n---\n", "tea", false, "---\ntags:\n  - a # one\n---\n"},
		{"twice", "---\ntags: [tea, TEA, a]\n---\n", "tea", false, "---\ntags: [a]\n---\n"},
		{"text", "---\ntags: a, tea, b\n---\n", "tea", false, "---\ntags: a, b\n---\n"},
		{"quoted text", "---\ntags: \"a, tea\"\n---\n", "tea", false, "---\ntags: \"a\"\n---\n"},
		{"nested ones stay", "---\ntags: [tea, tea/green]\n---\n#tea/green", "tea", true, "---\ntags: [tea/green]\n---\n#tea/green"},
		{"the body stays", "---\ntags: [tea]\n---\nx #tea\n", "tea", false, "---\ntags: []\n---\nx #tea\n"},
		{"inline", "a #tea b #tea, (#tea) `#tea`\n", "tea", true, "a b, () `#tea`\n"},
		{"inline at the ends", "#tea a #tea\n", "tea", true, "a\n"},
		{"a line of its own", "a\n#tea\nb\n", "tea", true, "a\nb\n"},
		{"an item", "- #tea x\n- [ ] y #tea\n", "tea", true, "- x\n- [ ] y\n"},
		{"logseq", "tags:: tea, b\n", "tea", true, "tags:: b\n"},
		{"none", "#coffee", "tea", true, "#coffee"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := tt.src
			for range 10 {
				patches, err := RemoveTag(Parse("a.md", []byte(got)), tt.tag, tt.inline)
				if err != nil {
					t.Fatal(err)
				}
				if len(patches) == 0 {
					break
				}
				got = splice(t, got, patches)
			}
			if got != tt.want {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
		})
	}
}

func FuzzTagSet(f *testing.F) {
	for _, s := range seeds(f) {
		f.Add(s, "tag")
		f.Add(s, "a/b")
	}
	f.Fuzz(func(t *testing.T, s, tag string) {
		n := Parse("a.md", []byte(s))
		has := func(n *Note) (count int) {
			for _, g := range n.Tags {
				if strings.EqualFold(g.Name, tag) {
					count++
				}
			}
			return count
		}
		if patches, err := AddTag(n, tag); err == nil {
			text, err := change.Splice(s, patches...)
			if err != nil {
				t.Fatal(err)
			}
			again := Parse("a.md", []byte(text))
			if has(again) == 0 {
				t.Fatalf("%q is not in %q", tag, text)
			}
			check(t, again)
		}
		patches, err := RemoveTag(n, tag, true)
		if err != nil || len(patches) == 0 {
			return
		}
		text, err := change.Splice(s, patches...)
		if err != nil {
			t.Fatal(err)
		}
		if again := Parse("a.md", []byte(text)); has(again) >= has(n) {
			t.Fatalf("%q is still in %q", tag, text)
		}
	})
}
