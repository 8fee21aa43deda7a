package toolkit

import (
	"strings"
	"testing"

	"lore/internal/change"
	"lore/internal/fault"
	"lore/internal/note"
)

// FuzzReplace: whatever is searched for, a found place is one place, and every
// byte outside of it stays.
func FuzzReplace(f *testing.F) {
	for _, s := range [][3]string{
		{"one\ntwo\n", "two", "three"}, {"a  b\r\nc\r\n", "a b\nc", "x\ny"}, {"x\nx\n", "x", "y"}, {"", "a", ""},
		{"# T\n=====\nbody", "T\n=====\nbody", "new"}, {"茶 茶\n", "茶\u00a0茶", "tea"}, {"a\n\n b\n", "\na\n\nb\n\n", "c"},
	} {
		f.Add(s[0], s[1], s[2])
	}
	f.Fuzz(func(t *testing.T, text, search, replace string) {
		n := note.Parse("a.md", []byte(text))
		if n.ReadOnly || search == "" {
			return
		}
		p, err := ReplaceOne(n.Path, n.Text(), search, replace)
		if err != nil {
			if k := fault.Of(err); k != fault.NotFound && k != fault.Ambiguous && k != fault.Invalid {
				t.Fatalf("%q in %q: %v", search, text, err)
			}
			return
		}
		after, err := change.Splice(n.Text(), p)
		if err != nil {
			t.Fatalf("%q in %q: %v", search, text, err)
		}
		if !strings.HasPrefix(after, n.Text()[:p.Start]) || !strings.HasSuffix(after, n.Text()[p.End:]) {
			t.Fatalf("%q in %q became %q", search, text, after)
		}
		// The place holds the words that were searched for.
		if a, b := strings.Fields(n.Text()[p.Start:p.End]), strings.Fields(LineEnds(search, "\n")); strings.Join(a, " ") != strings.Join(b, " ") {
			t.Fatalf("found %q for %q", n.Text()[p.Start:p.End], search)
		}
	})
}

// FuzzBlocks: a text is either refused, or blocks whose searches are not empty.
func FuzzBlocks(f *testing.F) {
	f.Add("<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n")
	f.Add("------- SEARCH\r\na\r\n=======\r\n+++++++ REPLACE")
	f.Add("<<<<<<< SEARCH\nT\n=====\n=======\nx\n>>>>>>> REPLACE")
	f.Fuzz(func(t *testing.T, diff string) {
		blocks, err := parseBlocks(diff)
		if err != nil {
			if fault.Of(err) != fault.Invalid {
				t.Fatalf("%q: %v", diff, err)
			}
			return
		}
		for _, b := range blocks {
			if strings.TrimSpace(b.search) == "" {
				t.Fatalf("%q has an empty search", diff)
			}
		}
	})
}
