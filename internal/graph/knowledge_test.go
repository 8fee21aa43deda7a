package graph_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"lore/internal/graph"
	"lore/internal/index"
)

var coffee = []string{
	"Nodes/Cold brew.md", "---\ntype: Claim\nid: clm-1\n---\n## Relations\n- supports:: [[Less acid]] [confidence:: 0.8] measured ^rel-1\n- contradicts:: [[Roast]] ^rel-2\n",
	"Nodes/Less acid.md", "---\ntype: Claim\naliases: [Mild]\n---\nsee [[Roast]] and [[Cold brew]]\n",
	"Nodes/Roast.md", "---\ntype: Claim\nderived_from: \"[[Paper]]\"\n---\ntext\n",
	"Paper.md", "cites:: [[Mild]], [[Ghost]]\n\n## Relations\n- supports:: [[Roast]] ^rel-1\n",
	"Note.md", "[[Paper]]\n",
}

func names(edges []graph.Edge) string {
	var out []string
	for _, e := range edges {
		out = append(out, e.Name()+">"+e.To)
	}
	return strings.Join(out, " | ")
}

func TestEdges(t *testing.T) {
	t.Parallel()
	s := store(t, coffee...)
	for _, c := range []struct {
		path   string
		hop    graph.Hop
		broken bool
		want   string
	}{
		{"Nodes/Less acid.md", graph.Hop{}, false, "rel-1>Nodes/Less acid.md | Paper.md#cites>Mild>Nodes/Less acid.md"},
		{"Nodes/Less acid.md", graph.Hop{Types: []string{"CITES"}}, false, "Paper.md#cites>Mild>Nodes/Less acid.md"},
		{"Nodes/Less acid.md", graph.Hop{Types: []string{graph.LinksTo}, Links: true}, false, "Nodes/Less acid.md#links_to>Roast>Nodes/Roast.md | Nodes/Less acid.md#links_to>Cold brew>Nodes/Cold brew.md"},
		{"Paper.md", graph.Hop{}, false, "Nodes/Roast.md#derived_from>Paper>Paper.md | Paper.md#cites>Mild>Nodes/Less acid.md | rel-1>Nodes/Roast.md"},
		{"Paper.md", graph.Hop{Links: true}, true, "Nodes/Roast.md#derived_from>Paper>Paper.md | Note.md#links_to>Paper>Paper.md | Paper.md#cites>Ghost> | Paper.md#cites>Mild>Nodes/Less acid.md | rel-1>Nodes/Roast.md"},
		{"no such.md", graph.Hop{Links: true}, true, ""},
	} {
		got, err := graph.Edges(t.Context(), s, []string{c.path}, c.hop, c.broken)
		if err != nil {
			t.Fatal(err)
		}
		if g := names(got); g != c.want {
			t.Errorf("edges of %s %+v:\n got %s\nwant %s", c.path, c.hop, g, c.want)
		}
	}
}

func TestFindEdge(t *testing.T) {
	t.Parallel()
	s := store(t, coffee...)
	for name, want := range map[string]string{
		"rel-2":                             "Nodes/Cold brew.md CONTRADICTS Nodes/Roast.md",
		"^rel-2":                            "Nodes/Cold brew.md CONTRADICTS Nodes/Roast.md",
		"Paper.md#^rel-1":                   "Paper.md SUPPORTS Nodes/Roast.md",
		"Paper.md#cites>Ghost":              "Paper.md CITES ",
		"Nodes/Roast.md#derived_from>Paper": "Nodes/Roast.md DERIVED_FROM Paper.md",
		"rel-1":                             "\"rel-1\" matches several relationships: Nodes/Cold brew.md#^rel-1, Paper.md#^rel-1; give one of these IDs",
		"rel-9":                             "no relationship has the ID \"rel-9\"; look up the node to see its relationships and their IDs",
		"Paper.md#^rel-2":                   "no relationship has the ID \"Paper.md#^rel-2\"; look up the node to see its relationships and their IDs",
		"Paper.md#":                         "no relationship has the ID \"Paper.md#\"; look up the node to see its relationships and their IDs",
	} {
		e, err := graph.Find(t.Context(), s, name)
		got := e.From + " " + e.Type + " " + e.To
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, want)
		}
	}
}

// random makes a vault whose edges are known.
func random(t *testing.T, r *rand.Rand, notes, edges int) (index.Store, [][2]int) {
	t.Helper()
	text := make([]string, notes)
	var all [][2]int
	for i := range edges {
		a, b := r.IntN(notes), r.IntN(notes)
		if a == b {
			continue
		}
		all = append(all, [2]int{a, b})
		text[a] += fmt.Sprintf("- supports:: [[n%03d]] ^rel-%d\n", b, i)
	}
	var files []string
	for i, s := range text {
		files = append(files, fmt.Sprintf("n%03d.md", i), "---\ntype: Claim\n---\n## Relations\n"+s)
	}
	return store(t, files...), all
}

// steps measures the distance of all notes from one, the slow way.
func steps(n int, edges [][2]int, from int) []int {
	dist := make([]int, n)
	for i := range dist {
		dist[i] = 1 << 20
	}
	dist[from] = 0
	for range n {
		for _, e := range edges {
			dist[e[0]] = min(dist[e[0]], dist[e[1]]+1)
			dist[e[1]] = min(dist[e[1]], dist[e[0]]+1)
		}
	}
	return dist
}

func TestAroundAndWayAreWhatASlowSearchFinds(t *testing.T) {
	t.Parallel()
	seeds := uint64(12)
	if testing.Short() {
		seeds = 2
	}
	for seed := range seeds {
		r := rand.New(rand.NewPCG(seed, 1))
		const n = 30
		s, edges := random(t, r, n, 10+int(seed)*4)
		from := r.IntN(n)
		dist := steps(n, edges, from)
		path := fmt.Sprintf("n%03d.md", from)
		for depth := range 4 {
			region, err := graph.Around(t.Context(), s, path, depth, 1000, graph.Hop{})
			if err != nil {
				t.Fatal(err)
			}
			inner := 0
			for _, e := range edges {
				if dist[e[0]] <= depth && dist[e[1]] <= depth {
					inner++
				}
			}
			for i, d := range dist {
				got, ok := region.Depth[fmt.Sprintf("n%03d.md", i)]
				if ok != (d <= depth) || ok && got != d {
					t.Errorf("seed %d: note %d is %d steps away, found %v %d", seed, i, d, ok, got)
				}
			}
			if len(region.Edges) != inner && depth > 0 {
				t.Errorf("seed %d depth %d: %d edges, want %d", seed, depth, len(region.Edges), inner)
			}
		}
		for to := range n {
			way, err := graph.Way(t.Context(), s, path, fmt.Sprintf("n%03d.md", to), 20, graph.Hop{})
			if err != nil {
				t.Fatal(err)
			}
			checkWay(t, way, path, fmt.Sprintf("n%03d.md", to), dist[to])
		}
	}
}

func checkWay(t *testing.T, way []graph.Edge, from, to string, dist int) {
	t.Helper()
	if dist > 20 {
		if way != nil {
			t.Errorf("a way to %s, which cannot be reached", to)
		}
		return
	}
	if way == nil || len(way) != dist {
		t.Errorf("a way of %d steps to %s, want %d", len(way), to, dist)
		return
	}
	at := from
	for _, e := range way {
		if e.From != at && e.To != at {
			t.Errorf("the way to %s breaks at %s", to, at)
		}
		at = e.Other(at)
	}
	if at != to {
		t.Errorf("the way ends at %s, want %s", at, to)
	}
}

func TestAroundKeepsTheNearest(t *testing.T) {
	t.Parallel()
	s := store(t, coffee...)
	region, err := graph.Around(t.Context(), s, "Nodes/Cold brew.md", 3, 3, graph.Hop{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for p := range region.Depth {
		got = append(got, p)
	}
	slices.Sort(got)
	if g := strings.Join(got, " "); g != "Nodes/Cold brew.md Nodes/Less acid.md Nodes/Roast.md" || !region.Cut {
		t.Errorf("got %s, cut %v", g, region.Cut)
	}
}

// Two notes with thousands of neighbours each, and nothing between them: the
// search does not read on until the vault is over.
func TestWayGivesUp(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it makes ten thousand notes")
	}
	s := store(t)
	each := graph.MostSeen/2 + 1
	var docs []index.Document
	for _, from := range []string{"a", "b"} {
		d := index.Document{File: index.File{Path: from + ".md"}, Kind: index.KindNote, Title: from}
		for i := range each {
			to := fmt.Sprintf("%s%d.png", from, i)
			docs = append(docs, index.NewAttachment(index.File{Path: to}, index.KindAttachment))
			d.Relations = append(d.Relations, index.Relation{Type: "CITES", Kind: "wiki", Target: to, Start: i, End: i + 1})
		}
		docs = append(docs, d)
	}
	if err := s.Apply(t.Context(), index.Batch{Put: docs}); err != nil {
		t.Fatal(err)
	}
	for to, want := range map[string]error{"b.md": graph.ErrFar, "a5.png": nil, "no such.md": nil} {
		if _, err := graph.Way(t.Context(), s, "a.md", to, 9, graph.Hop{}); !errors.Is(err, want) {
			t.Errorf("to %s: %v, want %v", to, err, want)
		}
	}
}
