package relation

import (
	"math/rand/v2"
	"strings"
	"testing"

	"lore/internal/note"
)

// pieces are lines that stand in each other's way.
func pieces() []string {
	return []string{
		"", "", "  ", "words", "  words", "# A", "## Relations", "### relations", "Relations", "---", "===", "```", "    code", "%%", "$$", "<div>", "<!--", "-->",
		"- supports:: [[A]] [confidence:: 0.8] x ^a", "* supports:: [[B]] ^b", "\t- cites:: [[C]] ^c", "  - causes:: [[D]], [[E]] ^d", "1. cites [[F]] (w) ^e", "9. x", "+ y",
		"-", "> - moves:: [[G]] ^f", "> ## Relations", "- # Relations", "  moves [[H]]", "(cites:: [[I]]) [supports:: [[J]] z]", "supports:: [[K]]", "^g", "[r]: b.md", "- supports [t][r]",
		"| a |", "|---|", "- [ ] cites:: [[L]] ^h", "[^1]: cites:: [[M]]", "`", "- supports:: `[[N]]` [[O]] [confidence:: 2] ^i",
	}
}

// TestAddThenRemoveIsNothing builds notes of lines that stand in each other's
// way and wants every edit to be exact, and to be possible most of the time.
func TestAddThenRemoveIsNothing(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	lines := pieces()
	rounds := 20_000
	if testing.Short() {
		rounds = 2_000
	}
	done := 0
	for range rounds {
		var b strings.Builder
		if random.IntN(8) == 0 {
			b.WriteString("\ufeff")
		}
		if random.IntN(8) == 0 {
			b.WriteString("---\ncites: \"[[P]]\"\n---\n")
		}
		eol := []string{"\n", "\n", "\r\n", "\r"}[random.IntN(4)]
		for i, n := 0, random.IntN(9); i < n; i++ {
			b.WriteString(lines[random.IntN(len(lines))])
			if i+1 < n || random.IntN(3) > 0 {
				b.WriteString(eol)
			}
			if random.IntN(20) == 0 {
				eol = []string{"\n", "\r\n", "\r"}[random.IntN(3)]
			}
		}
		if exact(t, b.String(), random) {
			done++
		}
	}
	if done < rounds*3/4 {
		t.Errorf("only %d of %d notes took a relation", done, rounds)
	}
}

// exact adds a relation to a note, takes it away again and edits the others.
func exact(t *testing.T, text string, random *rand.Rand) bool {
	t.Helper()
	n := note.Parse("n.md", []byte(text))
	for _, r := range Of(n) {
		if r.ID == "" || r.Form != FormLine {
			continue
		}
		f := random.Float64()
		if patches, err := Reconfide(n, r.ID, &f); err == nil {
			again := Of(note.Parse("n.md", []byte(spliced(t, text, patches))))
			if len(again) != len(Of(n)) {
				t.Fatalf("%q with another confidence of ^%s has %q", text, r.ID, brief(again))
			}
		}
		if patches, err := Remove(n, r.ID); err == nil && len(Of(note.Parse("n.md", []byte(spliced(t, text, patches))))) != len(Of(n))-1 {
			t.Fatalf("%q without ^%s", text, r.ID)
		}
	}
	r := Relation{Type: "DERIVED_FROM", Target: "Q", Notes: "so", ID: "rel-new1"}
	patches, err := Add(n, r)
	if err != nil {
		return false
	}
	now := spliced(t, text, patches)
	again := note.Parse("n.md", []byte(now))
	if was, is := len(Of(n)), len(Of(again)); is != was+1 {
		t.Fatalf("%q\nbecame %q\nwith %d relations, had %d", text, now, is, was)
	}
	back, err := Remove(again, r.ID)
	if err != nil {
		t.Fatalf("%q\nbecame %q: %v", text, now, err)
	}
	if got := spliced(t, now, back); got != text {
		t.Fatalf("%q\nbecame %q\nthen   %q", text, now, got)
	}
	return true
}
