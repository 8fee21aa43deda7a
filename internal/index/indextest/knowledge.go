package indextest

import (
	"fmt"
	"strings"
	"testing"

	"lore/internal/index"
)

func relations(t *testing.T, s index.Store, q index.RelationQuery) []string {
	t.Helper()
	found, err := s.Relations(t.Context(), q)
	must(t, err)
	out := []string{}
	for _, r := range found {
		out = append(out, r.From+" "+r.Type+" "+r.Target)
	}
	return out
}

func testRelations(t *testing.T, s index.Store) {
	a, b := Note("a.md", "A", "x"), Note("b.md", "B", "y")
	a.Relations = []index.Relation{
		{From: "a.md", Type: "SUPPORTS", Kind: "wikilink", Target: "Folder/Tea.md", ID: "rel-1", Form: "line", Line: 1, Start: 0, End: 5},
		{From: "a.md", Type: "CONTRADICTS", Kind: "wikilink", Target: "b", ID: "rel-2", Form: "line", Line: 2, Start: 6, End: 9},
	}
	b.Relations = []index.Relation{
		{From: "b.md", Type: "SUPPORTS", Kind: "wikilink", Target: "tea", ID: "rel-1", Form: "line", Line: 1, Start: 0, End: 5},
		{From: "b.md", Type: "CITES", Kind: "wikilink", Target: "a", Form: "field", Line: 1, Start: 0, End: 5},
	}
	a.Links = []index.Link{
		{From: "a.md", Kind: "wikilink", Target: "Folder/Tea.md", Line: 1, Start: 1, End: 5},
		{From: "a.md", Kind: "wikilink", Target: "tea", Line: 2, Start: 5, End: 8},
	}
	put(t, s, b, a)
	for _, q := range []index.LinkQuery{{From: []string{"a.md"}}, {To: []string{"tea"}}, {}} {
		q.Untyped = true
		links, err := s.Links(t.Context(), q)
		must(t, err)
		equal(t, "links that no relation states", links, a.Links[1:])
	}
	ask := func(name string, q index.RelationQuery, want ...string) {
		t.Helper()
		equal(t, name, strings.Join(relations(t, s, q), ", "), strings.Join(want, ", "))
	}
	const aTea, aB, bTea, bA = "a.md SUPPORTS Folder/Tea.md", "a.md CONTRADICTS b", "b.md SUPPORTS tea", "b.md CITES a"
	for _, settled := range []string{"", ", settled"} {
		ask("all"+settled, index.RelationQuery{}, aTea, aB, bTea, bA)
		ask("of a type"+settled, index.RelationQuery{Types: []string{"CITES", "CONTRADICTS"}}, aB, bA)
		ask("from"+settled, index.RelationQuery{From: []string{"b.md", "none.md"}}, bTea, bA)
		ask("from nothing"+settled, index.RelationQuery{From: []string{}})
		ask("to a key"+settled, index.RelationQuery{To: []string{"tea"}}, aTea, bTea)
		ask("to a key, of a type"+settled, index.RelationQuery{To: []string{"tea", "a"}, Types: []string{"CITES"}}, bA)
		ask("by id, which may stand twice"+settled, index.RelationQuery{IDs: []string{"rel-1"}}, aTea, bTea)
		ask("an empty id is none"+settled, index.RelationQuery{IDs: []string{""}})
		ask("some"+settled, index.RelationQuery{Limit: 2}, aTea, aB)
		must(t, s.Optimize(t.Context()))
	}
	must(t, s.Apply(t.Context(), index.Batch{Drop: []string{"a.md"}}))
	ask("after a drop", index.RelationQuery{}, bTea, bA)
}

func testNodes(t *testing.T, s index.Store) {
	var docs []index.Document
	for i, typ := range []string{"Claim", "claim", "Source", "", "Claim"} {
		d := Note(fmt.Sprintf("%d.md", i), "", "x")
		d.Type = typ
		if i < 3 {
			d.Sure = ptr(float64(i) / 4)
		}
		docs = append(docs, d)
	}
	put(t, s, docs...)
	for _, x := range []struct {
		name string
		sel  index.Select
		want string
	}{
		{"typed", index.Select{Filter: index.Filter{Typed: true}}, "0.md 1.md 2.md 4.md"},
		{"untyped", index.Select{Filter: index.Filter{Untyped: true}}, "3.md"},
		{"at least", index.Select{Filter: index.Filter{MinSure: ptr(0.25)}}, "1.md 2.md"},
		{"at most", index.Select{Filter: index.Filter{MaxSure: ptr(0.25)}}, "0.md 1.md"},
		{"most confident first", index.Select{Filter: index.Filter{Typed: true}, Order: index.BySure}, "2.md 1.md 0.md 4.md"},
		{"of a type, most confident first", index.Select{Filter: index.Filter{Types: []string{"CLAIM"}}, Order: index.BySure, Limit: 2}, "1.md 0.md"},
	} {
		equal(t, x.name, strings.Join(paths(t, s, x.sel), " "), x.want)
	}
	two := Note("two.md", "clm-9", "x")
	one := Note("one.md", "", "x")
	one.Node, two.Node = "clm-1", "clm-2"
	put(t, s, one, two)
	names, err := s.Names(t.Context(), index.NameQuery{Prefix: "clm-", Kind: index.NameNode})
	must(t, err)
	equal(t, "ids that begin so", names, []index.Name{{Key: "clm-1", Kind: index.NameNode, Path: "one.md"}, {Key: "clm-2", Kind: index.NameNode, Path: "two.md"}})
	names, err = s.Names(t.Context(), index.NameQuery{Prefix: "clm-", Kind: index.NameNode, Limit: 1})
	must(t, err)
	equal(t, "one of them", len(names), 1)
}
