package indextest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"lore/internal/index"
)

// testFiltersTogether: both filters must hold, whatever each asks for, and
// letters beyond ASCII have cases too.
func testFiltersTogether(t *testing.T, s index.Store) {
	a, b, c := Note("Übung/a.md", "A", "x"), Note("Übung/ÄÖ/b.md", "B", "x"), Note("work/c[1].md", "C", "x")
	a.Tags, b.Tags, c.Tags = []string{"one", "Äpfel"}, []string{"two"}, []string{"one", "two"}
	a.Type, b.Type, c.Type = "Überlegung", "claim", "Claim"
	put(t, s, a, b, c, index.Document{File: index.File{Path: "Übung/i.png"}, Kind: index.KindAttachment, Title: "i.png"})
	for _, x := range []struct {
		name string
		f    index.Filter
		want string
	}{
		{"a folder as it is spelled", index.Filter{Folders: []string{"Übung"}}, "Übung/a.md Übung/ÄÖ/b.md"},
		{"a folder in another case", index.Filter{Folders: []string{"ÜBUNG/äö"}}, "Übung/ÄÖ/b.md"},
		{"a folder in NFD", index.Filter{Folders: []string{"U\u0308bung/A\u0308O\u0308"}}, "Übung/ÄÖ/b.md"},
		{"a folder is no pattern", index.Filter{Folders: []string{"wor*", "w?rk", "[w]ork"}}, ""},
		{"a pattern in another case", index.Filter{Globs: []string{"übung/*/*"}}, "Übung/ÄÖ/b.md"},
		{"brackets in a path", index.Filter{Globs: []string{"c[1]"}}, "work/c[1].md"},
		{"not a pattern in another case", index.Filter{NoGlobs: []string{"ÜBUNG"}}, "work/c[1].md"},
		{"a type in another case", index.Filter{Types: []string{"ÜBERLEGUNG"}}, "Übung/a.md"},
		{"not a type in another case", index.Filter{NoTypes: []string{"überlegung", "x"}}, "work/c[1].md Übung/ÄÖ/b.md"},
		{"a tag in another case", index.Filter{Tags: []string{"äPFEL"}}, "Übung/a.md"},
		{"two folders", index.Filter{Folders: []string{"work"}, And: &index.Filter{Folders: []string{"Übung"}}}, ""},
		{"a folder and a pattern", index.Filter{Folders: []string{"übung"}, And: &index.Filter{Globs: []string{"*b.md"}}}, "Übung/ÄÖ/b.md"},
		{"two types", index.Filter{Types: []string{"claim"}, And: &index.Filter{Types: []string{"überlegung"}}}, ""},
		{"any tag and a tag", index.Filter{Tags: []string{"one", "two"}, AnyTag: true, And: &index.Filter{Tags: []string{"two"}}}, "work/c[1].md Übung/ÄÖ/b.md"},
		{"a kind and a folder", index.Filter{Kinds: []index.Kind{index.KindAttachment}, And: &index.Filter{Folders: []string{"übung"}}}, "Übung/i.png"},
	} {
		got := paths(t, s, index.Select{Filter: x.f})
		equal(t, x.name, strings.Join(got, " "), x.want)
		if len(x.f.Kinds) > 0 {
			continue
		}
		m := words("x")
		m.Filter = x.f
		found := matched(t, s, m)
		slices.Sort(found)
		equal(t, "words with "+x.name, found, got)
	}
}

// testSamePathTwice: within a batch too, a document replaces its older self.
func testSamePathTwice(t *testing.T, s index.Store) {
	put(t, s, Note("a.md", "Old", "volcano"), Note("b.md", "B", "lake"), Note("a.md", "New", "river"))
	equal(t, "paths", paths(t, s, index.Select{}), []string{"a.md", "b.md"})
	equal(t, "old words", matched(t, s, words("volcano")), []string{})
	equal(t, "new words", matched(t, s, words("river")), []string{"a.md"})
	st, err := s.Stats(t.Context(), "")
	must(t, err)
	equal(t, "count", st.Notes, 2)
}

// testArrival: the order of an answer does not tell in which order notes came,
// and a longer answer begins like a shorter one.
func testArrival(t *testing.T, s index.Store) {
	const n = 50
	for i := range n {
		// Backwards, so that the last to come is the first by path.
		put(t, s, Note(fmt.Sprintf("same%02d.md", n-1-i), "Equal", "tea"))
	}
	var want []string
	for i := range n {
		want = append(want, fmt.Sprintf("same%02d.md", i))
	}
	for _, limit := range []int{1, 7, 49, 50, 100} {
		m := words("tea")
		m.Limit = limit
		equal(t, fmt.Sprint("the first ", limit), matched(t, s, m), want[:min(limit, n)])
	}
	names, err := s.Names(t.Context(), index.NameQuery{Like: "equql", Limit: 5})
	must(t, err)
	var like []string
	for _, x := range names {
		if !slices.Contains(like, x.Path) {
			like = append(like, x.Path)
		}
	}
	equal(t, "similar names", like, want[:5])
}

// testManyValues asks for more paths and ids than a statement takes values.
func testManyValues(t *testing.T, s index.Store) {
	put(t, s, Note("a.md", "A", "x"), Note("b.md", "B", "x"))
	rows, err := s.Notes(t.Context(), index.Select{})
	must(t, err)
	many, ids := []string{"b.md"}, []int64{rows[0].ID}
	for i := range 40000 {
		many = append(many, fmt.Sprint("none", i))
		ids = append(ids, int64(1e9)+int64(i))
	}
	equal(t, "by path", paths(t, s, index.Select{Paths: many}), []string{"b.md"})
	equal(t, "by id", paths(t, s, index.Select{IDs: ids}), []string{"a.md"})
	ps, err := s.Passages(t.Context(), index.PassageQuery{IDs: ids})
	must(t, err)
	equal(t, "passages", len(ps), 1)
}
