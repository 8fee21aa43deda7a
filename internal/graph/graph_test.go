package graph_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"lore/internal/graph"
	"lore/internal/index"
	"lore/internal/index/sqlite"
	"lore/internal/note"
)

// store indexes notes that are given as path and text.
func store(t *testing.T, files ...string) index.Store {
	t.Helper()
	s, _, err := sqlite.Open(t.Context(), t.TempDir(), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	var b index.Batch
	for i := 0; i < len(files); i += 2 {
		path, text := files[i], []byte(files[i+1])
		f := index.File{Path: path, Size: int64(len(text)), Hash: index.HashOf(text)}
		switch {
		case strings.HasSuffix(path, ".md"):
			b.Put = append(b.Put, index.NewDocument(f, index.KindNote, note.Parse(path, text)))
		case strings.HasSuffix(path, ".canvas"):
			b.Put = append(b.Put, index.NewDocument(f, index.KindCanvas, note.ParseCanvas(path, text)))
		default:
			b.Put = append(b.Put, index.NewAttachment(f, index.KindAttachment))
		}
	}
	if err := s.Apply(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	return s
}

var vault = []string{
	"Home.md", "[[Tea]] [[Oolong]] [[ryokucha]] [[trips]] [[#Top]] [[Ghost]]\n",
	"a/Tea.md", "---\naliases: [ryokucha]\n---\n# A tea\n[[Tea]]\n",
	"a/x.md", "[[Tea]] and [relative](../b/Tea.md) and [[b/Tea]]\n",
	"b/Tea.md", "text\n",
	"b/y.md", "[[Tea|the near one]] ![[photo.png]]\n",
	"trips/index.md", "rel:: [[Home]]\n",
	"Oolong.md", "[[A tea]]\n",
	"photo.png", "",
	"map.canvas", `{"nodes":[{"id":"1","type":"file","file":"b/y.md"}]}`,
	"island.md", "nothing\n",
}

func TestBacklinks(t *testing.T) {
	s := store(t, vault...)
	for path, want := range map[string]string{
		// Of two notes called Tea the one in the nearest folder is meant; from the root, the one with the first path.
		"a/Tea.md":       "Home.md:Tea Home.md:ryokucha a/x.md:Tea",
		"b/Tea.md":       "a/x.md:../b/Tea.md a/x.md:b/Tea b/y.md:Tea",
		"trips/index.md": "Home.md:trips",
		"Home.md":        "trips/index.md:Home",
		"photo.png":      "b/y.md:photo.png",
		"b/y.md":         "map.canvas:b/y.md",
		"island.md":      "",
		"no such.md":     "",
	} {
		links, err := graph.Backlinks(t.Context(), s, path)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, l := range links {
			if l.To != path {
				t.Errorf("a backlink of %s leads to %s", path, l.To)
			}
			got = append(got, l.From+":"+l.Target)
		}
		if g := strings.Join(got, " "); g != want {
			t.Errorf("%s: got %q, want %q", path, g, want)
		}
	}
}

func TestForward(t *testing.T) {
	s := store(t, vault...)
	links, err := graph.Forward(t.Context(), s, "Home.md")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, l := range links {
		got = append(got, l.Target+">"+l.To)
	}
	want := "Tea>a/Tea.md Oolong>Oolong.md ryokucha>a/Tea.md trips>trips/index.md >Home.md Ghost>"
	if g := strings.Join(got, " "); g != want {
		t.Errorf("got %q", g)
	}
	// A title is for people: links do not use it.
	links, err = graph.Forward(t.Context(), s, "Oolong.md")
	if err != nil || len(links) != 1 || links[0].To != "" {
		t.Errorf("got %v, %v", links, err)
	}
}

func TestTypes(t *testing.T) {
	s := store(t, "a.md", "---\nup: \"[[b]]\"\n---\n[[b]] ![[b]] [b](b.md)\nsupports:: [[b]]\n", "b.md", "")
	links, err := graph.Backlinks(t.Context(), s, "b.md")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, l := range links {
		got = append(got, l.Type())
	}
	if g := strings.Join(got, " "); g != "property wikilink embed markdown relation" {
		t.Errorf("got %q", g)
	}
}

func load(t *testing.T, s index.Store) *graph.Graph {
	t.Helper()
	g, err := graph.Load(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestGraph(t *testing.T) {
	g := load(t, store(t, vault...))
	if got := fmt.Sprint(g.Orphans(false)); got != "[a/x.md island.md]" {
		t.Errorf("orphans: %s", got)
	}
	if got := fmt.Sprint(g.Orphans(true)); got != "[island.md]" {
		t.Errorf("alone: %s", got)
	}
	var broken []string
	for _, l := range g.Broken {
		broken = append(broken, l.From+":"+l.Target)
	}
	if got := strings.Join(broken, " "); got != "Home.md:Ghost Oolong.md:A tea" {
		t.Errorf("broken: %s", got)
	}
	if g.Title("a/Tea.md") != "A tea" || g.Title("no such.md") != "no such.md" {
		t.Error("titles")
	}
}

func TestWay(t *testing.T) {
	s := store(t, vault...)
	for ends, want := range map[[2]string]string{
		{"trips/index.md", "Oolong.md"}: "Home.md Oolong.md",
		{"b/y.md", "Home.md"}:           "b/Tea.md a/x.md a/Tea.md Home.md",
		{"Home.md", "Home.md"}:          "",
		{"Home.md", "island.md"}:        "none",
		{"Home.md", "no such.md"}:       "none",
	} {
		if got := way(t, s, ends[0], ends[1]); got != want {
			t.Errorf("%v: %s, want %s", ends, got, want)
		}
	}
}

func way(t *testing.T, s index.Store, from, to string) string {
	t.Helper()
	edges, err := graph.Way(t.Context(), s, from, to, 30, graph.Hop{Links: true})
	if err != nil {
		t.Fatal(err)
	}
	if edges == nil {
		return "none"
	}
	var out []string
	for _, e := range edges {
		from = e.Other(from)
		out = append(out, from)
	}
	return strings.Join(out, " ")
}

func TestWayTakesTheFirstOfEquals(t *testing.T) {
	s := store(t, "s.md", "[[y]] [[x]]", "x.md", "[[t]]", "y.md", "[[t]]", "t.md", "")
	if got := way(t, s, "s.md", "t.md"); got != "x.md t.md" {
		t.Errorf("got %s", got)
	}
}

func TestALinkIsAliveWhenItsNoteComes(t *testing.T) {
	s := store(t, "a.md", "[[later]]")
	if g := load(t, s); len(g.Broken) != 1 {
		t.Fatalf("broken: %v", g.Broken)
	}
	d := index.NewDocument(index.File{Path: "deep/later.md"}, index.KindNote, note.Parse("deep/later.md", nil))
	if err := s.Apply(context.Background(), index.Batch{Put: []index.Document{d}}); err != nil {
		t.Fatal(err)
	}
	if g := load(t, s); len(g.Broken) != 0 || len(g.In["deep/later.md"]) != 1 {
		t.Errorf("broken: %v, in: %v", g.Broken, g.In)
	}
}
