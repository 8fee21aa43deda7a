// Package indextest is the exam of index.Store: an implementation is right when
// it passes. It knows the contract and no implementation.
package indextest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"lore/internal/index"
)

// Run examines the stores that open returns. Each call of open must give an
// empty store; the exam closes it.
func Run(t *testing.T, open func(t *testing.T) index.Store) {
	for _, c := range []struct {
		name string
		test func(*testing.T, index.Store)
	}{
		{"documents come back", testDocuments},
		{"a document replaces its older self", testReplace},
		{"dropping leaves nothing behind", testDrop},
		{"applying twice changes nothing", testTwice},
		{"touch changes the stat alone", testTouch},
		{"a cancelled batch leaves no trace", testCancelled},
		{"files come by path", testFiles},
		{"rows come in the order asked for", testOrders},
		{"filters", testFilters},
		{"filters hold together", testFiltersTogether},
		{"a path twice in one batch", testSamePathTwice},
		{"the order of arrival does not show", testArrival},
		{"more values than a statement takes", testManyValues},
		{"words", testWords},
		{"words are never syntax", testHostileWords},
		{"words without spaces", testUnspaced},
		{"links", testLinks},
		{"relations", testRelations},
		{"nodes", testNodes},
		{"names", testNames},
		{"similar names", testSimilarNames},
		{"facets", testFacets},
		{"passages", testPassages},
		{"vectors", testVectors},
		{"vectors of two models never meet", testModels},
		{"stats count what is there", testStats},
		{"many at once", testMany},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := open(t)
			t.Cleanup(func() {
				if err := s.Close(); err != nil {
					t.Errorf("close: %v", err)
				}
			})
			c.test(t, s)
		})
	}
}

// Note makes a document with a body and nothing else but what follows from it.
func Note(path, title, body string) index.Document {
	d := index.Document{
		File: index.File{Path: path, Size: int64(len(body)), ModTime: 1e18, Inode: 1, Hash: index.HashOf([]byte(body)), Seen: 2e18},
		Kind: index.KindNote, Title: title, Body: body, Words: len(strings.Fields(body)), Lines: strings.Count(body, "\n") + 1,
	}
	for i, part := range strings.Split(body, "\n\n") {
		d.Chunks = append(d.Chunks, index.Chunk{Heading: title, Text: part, Line: i + 1, Hash: index.HashOf([]byte(title + part))})
	}
	return d
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func put(t *testing.T, s index.Store, docs ...index.Document) {
	t.Helper()
	must(t, s.Apply(t.Context(), index.Batch{Put: docs}))
}

func paths(t *testing.T, s index.Store, sel index.Select) []string {
	t.Helper()
	rows, err := s.Notes(t.Context(), sel)
	must(t, err)
	out := []string{}
	for _, r := range rows {
		out = append(out, r.File.Path)
	}
	return out
}

var even = [index.Columns]float64{1, 1, 1, 1, 1}

func words(ws ...string) index.Match {
	m := index.Match{Weights: even, Limit: 100}
	for _, w := range ws {
		m.Any = append(m.Any, index.Term{Words: []string{w}})
	}
	return m
}

func matched(t *testing.T, s index.Store, m index.Match) []string {
	t.Helper()
	hits, err := s.Match(t.Context(), m)
	must(t, err)
	out := []string{}
	for _, h := range hits {
		out = append(out, h.Path)
	}
	return out
}

func equal[T any](t *testing.T, what string, got, want T) {
	t.Helper()
	if g, w := plain(got), plain(want); g != w {
		t.Errorf("%s:\n got %s\nwant %s", what, g, w)
	}
}

// plain writes a value with what its pointers point to.
func plain(v any) string {
	if b, err := json.Marshal(v); err == nil {
		return string(b)
	}
	return fmt.Sprintf("%+v", v)
}

func full() index.Document {
	d := Note("drinks/Green tea.md", "Green tea", "Steep it.\n\nNot too hot.")
	d.Node, d.Sure = "con-1x", ptr(0.7)
	d.Type, d.Date, d.Tasks, d.Done, d.ReadOnly = "Concept", 1700000000, 2, 1, true
	d.Aliases = []string{"Sencha", "緑茶"}
	d.Tags = []string{"Drink/Hot", "tea"}
	d.Props = []index.Prop{{Key: "Origin", Value: "Japan"}, {Key: "rating", Value: "4.5"}, {Key: "origin", Value: "China"}}
	d.Headings = []string{"Green tea", "Brewing"}
	d.Problems = []index.Problem{{Kind: "broken_yaml", Detail: "line 3", Line: 3}}
	d.Links = []index.Link{
		{From: d.Path, Kind: "wikilink", Target: "Water", Fragment: "Heat", Text: "hot water", Field: "needs", Line: 2, Start: 5, End: 20},
		{From: d.Path, Kind: "markdown", Target: "../cups.md", Line: 3, Start: 30, End: 40},
	}
	d.Relations = []index.Relation{
		{From: d.Path, Type: "SUPPORTS", Kind: "wikilink", Target: "Water", Fragment: "Heat", Confidence: ptr(0), Notes: "it says", ID: "rel-1", Form: "line", Line: 2, Start: 4, End: 21},
		{From: d.Path, Type: "CITES", Kind: "markdown", Target: "../cups.md", Form: "field", Line: 3, Start: 25, End: 41},
	}
	return d
}

func ptr(f float64) *float64 { return &f }

func testDocuments(t *testing.T, s index.Store) {
	d := full()
	put(t, s, d)
	rows, err := s.Notes(t.Context(), index.Select{})
	must(t, err)
	if len(rows) != 1 {
		t.Fatalf("got %d rows, want 1", len(rows))
	}
	r := rows[0]
	equal(t, "file", r.File, d.File)
	equal(t, "title", r.Title, d.Title)
	equal(t, "type", r.Type, d.Type)
	equal(t, "node", r.Node, d.Node)
	equal(t, "confidence", r.Sure, d.Sure)
	equal(t, "date", r.Date, d.Date)
	equal(t, "counts", []int{r.Words, r.Lines, r.Tasks, r.Done}, []int{d.Words, d.Lines, 2, 1})
	equal(t, "tags", r.Tags, d.Tags)
	equal(t, "aliases", r.Aliases, d.Aliases)
	equal(t, "properties", r.Props, d.Props)
	equal(t, "problems", r.Problems, d.Problems)
	equal(t, "read-only", r.ReadOnly, true)
	links, err := s.Links(t.Context(), index.LinkQuery{From: []string{d.Path}})
	must(t, err)
	equal(t, "links", links, d.Links)
	relations, err := s.Relations(t.Context(), index.RelationQuery{From: []string{d.Path}})
	must(t, err)
	equal(t, "relations", relations, d.Relations)
}

func testReplace(t *testing.T, s index.Store) {
	put(t, s, full())
	d := Note("drinks/Green tea.md", "Matcha", "Whisk the powder.")
	d.Tags = []string{"powder"}
	put(t, s, d)
	equal(t, "rows", paths(t, s, index.Select{}), []string{d.Path})
	equal(t, "old words", matched(t, s, words("steep")), []string{})
	equal(t, "new words", matched(t, s, words("whisk")), []string{d.Path})
	equal(t, "old tag", paths(t, s, index.Select{Filter: index.Filter{Tags: []string{"tea"}}}), []string{})
	equal(t, "new tag", paths(t, s, index.Select{Filter: index.Filter{Tags: []string{"powder"}}}), []string{d.Path})
	equal(t, "old property", paths(t, s, index.Select{Filter: index.Filter{Props: []index.PropFilter{{Key: "origin"}}}}), []string{})
	names, err := s.Names(t.Context(), index.NameQuery{})
	must(t, err)
	equal(t, "names", names, []index.Name{{Key: "green tea", Kind: index.NameFile, Path: d.Path}, {Key: "matcha", Kind: index.NameTitle, Path: d.Path}})
	links, err := s.Links(t.Context(), index.LinkQuery{})
	must(t, err)
	equal(t, "links", len(links), 0)
}

func testDrop(t *testing.T, s index.Store) {
	put(t, s, full(), Note("b.md", "B", "stays"))
	must(t, s.Apply(t.Context(), index.Batch{Drop: []string{"drinks/Green tea.md", "never was.md"}}))
	equal(t, "rows", paths(t, s, index.Select{}), []string{"b.md"})
	equal(t, "words", matched(t, s, words("steep")), []string{})
	names, err := s.Names(t.Context(), index.NameQuery{Keys: []string{"green tea", "sencha"}})
	must(t, err)
	equal(t, "names", len(names), 0)
	similar, err := s.Names(t.Context(), index.NameQuery{Like: "Green tee"})
	must(t, err)
	equal(t, "similar names", len(similar), 0)
	for _, f := range []index.Facet{index.FacetTag, index.FacetType, index.FacetProp} {
		counts, err := s.Facets(t.Context(), f, index.Filter{})
		must(t, err)
		equal(t, "facet "+string(f), len(counts), 0)
	}
}

func testTwice(t *testing.T, s index.Store) {
	b := index.Batch{Put: []index.Document{full()}, Drop: []string{"x.md"}}
	must(t, s.Apply(t.Context(), b))
	first, err := s.Stats(t.Context(), "")
	must(t, err)
	must(t, s.Apply(t.Context(), b))
	second, err := s.Stats(t.Context(), "")
	must(t, err)
	first.Generation, second.Generation = 0, 0
	equal(t, "stats", second, first)
	equal(t, "words", matched(t, s, words("steep")), []string{"drinks/Green tea.md"})
}

func testTouch(t *testing.T, s index.Store) {
	d := full()
	put(t, s, d)
	f := d.File
	f.ModTime, f.ChangeTime, f.Inode, f.Seen = 5, 8, 6, 7
	must(t, s.Apply(t.Context(), index.Batch{Touch: []index.File{f}}))
	rows, err := s.Notes(t.Context(), index.Select{})
	must(t, err)
	equal(t, "file", rows[0].File, f)
	equal(t, "title", rows[0].Title, d.Title)
}

func testCancelled(t *testing.T, s index.Store) {
	put(t, s, Note("a.md", "A", "first"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Apply(ctx, index.Batch{Drop: []string{"a.md"}, Put: []index.Document{full()}}); !errors.Is(err, context.Canceled) {
		t.Fatalf("apply after cancel: %v", err)
	}
	equal(t, "rows", paths(t, s, index.Select{}), []string{"a.md"})
	put(t, s, Note("b.md", "B", "second"))
	equal(t, "rows after", paths(t, s, index.Select{}), []string{"a.md", "b.md"})
}

func testFiles(t *testing.T, s index.Store) {
	put(t, s, Note("b.md", "B", "x"), Note("Z.md", "Z", "x"), Note("a/é.md", "É", "x"), Note("a.md", "A", "x"))
	var got []string
	must(t, s.Files(t.Context(), func(f index.File) error {
		got = append(got, f.Path)
		return nil
	}))
	equal(t, "files", got, []string{"Z.md", "a.md", "a/é.md", "b.md"})
	stop := errors.New("enough")
	if err := s.Files(t.Context(), func(index.File) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("an error of yield came back as %v", err)
	}
}

func testOrders(t *testing.T, s index.Store) {
	a, b, c := Note("a.md", "zebra", "1"), Note("b.md", "Apple", "22"), Note("c.md", "mango", "333")
	a.ModTime, b.ModTime, c.ModTime = 10, 30, 20
	put(t, s, b, c, a)
	for _, x := range []struct {
		order index.Order
		want  []string
	}{
		{index.ByPath, []string{"a.md", "b.md", "c.md"}},
		{index.ByModified, []string{"b.md", "c.md", "a.md"}},
		{index.ByTitle, []string{"b.md", "c.md", "a.md"}},
		{index.BySize, []string{"c.md", "b.md", "a.md"}},
	} {
		equal(t, "order "+string(x.order), paths(t, s, index.Select{Order: x.order}), x.want)
	}
	equal(t, "a page", paths(t, s, index.Select{Limit: 1, Offset: 1}), []string{"b.md"})
	random := paths(t, s, index.Select{Order: index.ByRandom})
	slices.Sort(random)
	equal(t, "random", random, []string{"a.md", "b.md", "c.md"})
	equal(t, "no paths", paths(t, s, index.Select{Paths: []string{}}), []string{})
	equal(t, "some paths", paths(t, s, index.Select{Paths: []string{"c.md", "a.md", "x.md"}}), []string{"a.md", "c.md"})
}

func testStats(t *testing.T, s index.Store) {
	att := index.Document{File: index.File{Path: "i.png", Size: 9}, Kind: index.KindAttachment, Title: "i.png"}
	con := index.Document{File: index.File{Path: "c.sync-conflict-1.md", Size: 9}, Kind: index.KindConflict, Title: "c"}
	put(t, s, full(), Note("b.md", "B", "one\n\ntwo\n\nthree"), att, con)
	st, err := s.Stats(t.Context(), "")
	must(t, err)
	want := index.Stats{Notes: 2, Attachments: 1, Conflicts: 1, Links: 2, Relations: 2, Nodes: 1, Passages: 5, Problems: 1, Bytes: full().Size + 15, Version: st.Version, Generation: st.Generation}
	equal(t, "stats", st, want)
	must(t, s.Apply(t.Context(), index.Batch{Drop: []string{full().Path, "i.png", con.Path}}))
	after, err := s.Stats(t.Context(), "")
	must(t, err)
	equal(t, "stats after", after, index.Stats{Notes: 1, Passages: 3, Bytes: 15, Version: st.Version, Generation: after.Generation})
	if after.Generation <= st.Generation {
		t.Errorf("the generation went from %d to %d", st.Generation, after.Generation)
	}
	// The count of vectors is kept, and true after every kind of change.
	b, c := Note("b.md", "B", "one\n\ntwo\n\nthree"), Note("c.md", "C", "four")
	embedded := func(step string, want int) {
		t.Helper()
		for range 2 {
			st, err := s.Stats(t.Context(), "m")
			must(t, err)
			equal(t, "embedded "+step, st.Embedded, want)
		}
	}
	embed := func(chunks ...index.Chunk) {
		t.Helper()
		var vs []index.Vector
		for _, c := range chunks {
			vs = append(vs, index.Vector{Hash: c.Hash, Vector: []float32{1, 0}})
		}
		must(t, s.Apply(t.Context(), index.Batch{Model: "m", Vectors: vs}))
	}
	embedded("at first", 0)
	embed(b.Chunks[:2]...)
	embedded("in part", 2)
	put(t, s, c)
	embedded("after another note", 2)
	embed(c.Chunks...)
	embedded("with it", 3)
	must(t, s.Optimize(t.Context()))
	embedded("after tidying up", 3)
	must(t, s.Apply(t.Context(), index.Batch{Drop: []string{"b.md"}}))
	embedded("without a note", 1)
	put(t, s, b)
	embedded("with the note again", 3)
}

func testMany(t *testing.T, s index.Store) {
	var docs []index.Document
	for i := range 1200 {
		d := Note(fmt.Sprintf("n/%04d.md", i), fmt.Sprintf("Note %d", i), fmt.Sprintf("common word%d", i))
		d.Links = []index.Link{{From: d.Path, Kind: "wikilink", Target: fmt.Sprintf("%04d", (i+1)%1200), End: 1}}
		docs = append(docs, d)
	}
	put(t, s, docs...)
	must(t, s.Optimize(t.Context()))
	m := words("common")
	m.Limit = 5000
	if n := len(matched(t, s, m)); n != 1200 {
		t.Errorf("found %d of 1200", n)
	}
	var keys, from []string
	for i := range 1200 {
		keys = append(keys, fmt.Sprintf("%04d", i))
		from = append(from, fmt.Sprintf("n/%04d.md", i))
	}
	names, err := s.Names(t.Context(), index.NameQuery{Keys: keys})
	must(t, err)
	equal(t, "names of many keys", len(names), 1200)
	links, err := s.Links(t.Context(), index.LinkQuery{To: keys})
	must(t, err)
	equal(t, "links to many keys", len(links), 1200)
	if !slices.IsSortedFunc(links, func(a, b index.Link) int { return strings.Compare(a.From, b.From) }) {
		t.Error("links to many keys are not by path")
	}
	links, err = s.Links(t.Context(), index.LinkQuery{From: from})
	must(t, err)
	equal(t, "links of many notes", len(links), 1200)
	if got := paths(t, s, index.Select{Paths: from}); len(got) != 1200 {
		t.Errorf("rows of many paths: %d", len(got))
	}
}
