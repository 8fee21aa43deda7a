package graph

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"lore/internal/fault"
	"lore/internal/index"
)

// LinksTo is the type of a link that states none.
const LinksTo = "LINKS_TO"

// An Edge is a relation with the note it leads to, or an untyped link.
type Edge struct {
	index.Relation
	To string // the path it leads to; "" when nothing is there
}

// Name is what the edge is called: its block id, or, where it has none, the note
// it stands in with its type and target.
func (e *Edge) Name() string {
	if e.ID != "" {
		return e.ID
	}
	return e.From + "#" + strings.ToLower(e.Type) + ">" + e.Target
}

// Other is the end of the edge that is not path.
func (e *Edge) Other(path string) string {
	if e.From == path {
		return e.To
	}
	return e.From
}

// A Hop says which edges are followed.
type Hop struct {
	Types []string // of relations; none: all
	Links bool     // untyped links too
}

// Edges returns the edges from and to the notes, each once, by the note they
// stand in and their place in it. Those that lead nowhere are left out unless
// broken is set. The cost is that of the edges, not of the vault.
func Edges(ctx context.Context, s index.Store, paths []string, hop Hop, broken bool) ([]Edge, error) {
	keys, err := linkKeys(ctx, s, paths)
	if err != nil {
		return nil, err
	}
	out, err := relations(ctx, s, paths, keys, hop)
	if err != nil {
		return nil, err
	}
	if hop.Links {
		links, err := untyped(ctx, s, paths, keys)
		if err != nil {
			return nil, err
		}
		out = append(out, links...)
	}
	at := make(map[string]bool, len(paths))
	for _, p := range paths {
		at[p] = true
	}
	out = slices.DeleteFunc(out, func(e Edge) bool {
		return !at[e.From] && !at[e.To] || e.To == "" && !broken || e.To == e.From
	})
	slices.SortStableFunc(out, compareEdges)
	return slices.CompactFunc(out, func(a, b Edge) bool { return compareEdges(a, b) == 0 }), nil
}

func compareEdges(a, b Edge) int {
	return cmp.Or(strings.Compare(a.From, b.From), a.Start-b.Start, strings.Compare(a.Type, b.Type), strings.Compare(a.Target, b.Target))
}

// linkKeys are the keys by which links may reach the notes.
func linkKeys(ctx context.Context, s index.Store, paths []string) ([]string, error) {
	rows, err := s.Notes(ctx, index.Select{Paths: paths})
	if err != nil {
		return nil, err
	}
	var keys []string
	for _, r := range rows {
		for _, n := range index.NamesOf(r.File.Path, r.Kind, "", "", r.Aliases) {
			keys = append(keys, n.Key)
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys), nil
}

// relations are the typed edges from the paths and to the keys.
func relations(ctx context.Context, s index.Store, paths, keys []string, hop Hop) ([]Edge, error) {
	types := hop.Types
	if len(types) > 0 {
		if types = slices.DeleteFunc(slices.Clone(types), func(t string) bool { return t == LinksTo }); len(types) == 0 {
			return nil, nil
		}
	}
	from, err := s.Relations(ctx, index.RelationQuery{From: paths, Types: types})
	if err != nil {
		return nil, err
	}
	to, err := s.Relations(ctx, index.RelationQuery{To: append([]string{}, keys...), Types: types})
	if err != nil {
		return nil, err
	}
	return Resolve(ctx, s, append(from, to...))
}

// Resolve finds the targets of relations with one question to the index.
func Resolve(ctx context.Context, s index.Store, all []index.Relation) ([]Edge, error) {
	names, err := namesOf(ctx, s, len(all), func(i int) string { return all[i].Target })
	if err != nil {
		return nil, err
	}
	out := make([]Edge, len(all))
	for i, r := range all {
		if err := index.Interrupted(ctx, i); err != nil {
			return nil, err
		}
		out[i].Relation = r
		out[i].To, _ = index.Resolve(r.From, r.Kind, r.Target, names[index.TargetKey(r.Target)])
	}
	return out, nil
}

// standing are the edges that are written in the notes.
func standing(ctx context.Context, s index.Store, paths []string, hop Hop) ([]Edge, error) {
	if len(paths) == 0 {
		return nil, nil
	}
	out, err := relations(ctx, s, paths, nil, hop)
	if err != nil || !hop.Links {
		return out, err
	}
	links, err := untyped(ctx, s, paths, nil)
	return append(out, links...), err
}

// untyped are the links from the paths and to the keys that are not the links of
// relations.
func untyped(ctx context.Context, s index.Store, paths, keys []string) ([]Edge, error) {
	from, err := s.Links(ctx, index.LinkQuery{From: paths, Untyped: true})
	if err != nil {
		return nil, err
	}
	to, err := s.Links(ctx, index.LinkQuery{To: append([]string{}, keys...), Untyped: true})
	if err != nil {
		return nil, err
	}
	var out []index.Relation
	for i, l := range append(from, to...) {
		if err := index.Interrupted(ctx, i); err != nil {
			return nil, err
		}
		if l.Target == "" {
			continue
		}
		out = append(out, index.Relation{From: l.From, Type: LinksTo, Kind: l.Kind, Target: l.Target, Fragment: l.Fragment, Form: "link", Line: l.Line, Start: l.Start, End: l.End})
	}
	return Resolve(ctx, s, out)
}

// Find returns the edge of a name: a block id, a block id with its note
// ("note.md#^rel-1"), or what [Edge.Name] says of one without.
func Find(ctx context.Context, s index.Store, name string) (Edge, error) {
	path, rest, deep := strings.Cut(name, "#")
	var found []index.Relation
	var err error
	switch {
	case !deep:
		found, err = s.Relations(ctx, index.RelationQuery{IDs: []string{strings.TrimPrefix(name, "^")}})
	case strings.HasPrefix(rest, "^"):
		found, err = s.Relations(ctx, index.RelationQuery{IDs: []string{rest[1:]}})
		found = slices.DeleteFunc(found, func(r index.Relation) bool { return r.From != path })
	default:
		typ, target, _ := strings.Cut(rest, ">")
		found, err = s.Relations(ctx, index.RelationQuery{From: []string{path}, Types: []string{strings.ToUpper(typ)}})
		found = slices.DeleteFunc(found, func(r index.Relation) bool { return r.Target != target })
		found = found[:min(len(found), 1)] // the same said twice is one
	}
	switch {
	case err != nil:
		return Edge{}, err
	case len(found) == 0:
		return Edge{}, &fault.Report{Kind: fault.NotFound, Message: fmt.Sprintf("no relationship has the ID %q", name), Fix: "look up the node to see its relationships and their IDs"}
	case len(found) > 1:
		var all []string
		for _, r := range found {
			all = append(all, r.From+"#^"+r.ID)
		}
		return Edge{}, &fault.Report{Kind: fault.Ambiguous, Message: fmt.Sprintf("%q matches several relationships: %s", name, strings.Join(all, ", ")), Fix: "give one of these IDs"}
	}
	edges, err := Resolve(ctx, s, found)
	if err != nil {
		return Edge{}, err
	}
	return edges[0], nil
}

// A Region is a part of the graph around a note.
type Region struct {
	Depth map[string]int // of each note, how many steps away it is
	Edges []Edge         // between its notes
	Cut   bool           // there were more notes than asked for
}

// Around returns the notes at most depth steps away from one, in either
// direction, and the edges between them. Of more than limit notes the nearest
// stay; among equals, the first by path.
func Around(ctx context.Context, s index.Store, path string, depth, limit int, hop Hop) (Region, error) {
	r := Region{Depth: map[string]int{path: 0}}
	level := []string{path}
	for d := 1; d <= depth && len(level) > 0 && !r.Cut; d++ {
		edges, err := Edges(ctx, s, level, hop, false)
		if err != nil {
			return Region{}, err
		}
		var next []string
		for i, e := range edges {
			if err := index.Interrupted(ctx, i); err != nil {
				return Region{}, err
			}
			for _, p := range []string{e.From, e.To} {
				if _, seen := r.Depth[p]; !seen {
					r.Depth[p] = d
					next = append(next, p)
				}
			}
		}
		slices.Sort(next)
		for i := len(next) - 1; len(r.Depth) > limit; i-- {
			delete(r.Depth, next[i])
			next, r.Cut = next[:i], true
		}
		r.Edges = append(r.Edges, edges...)
		level = next
	}
	// Edges among the farthest notes stand in these: nothing beyond is read.
	last, err := standing(ctx, s, level, hop)
	if err != nil {
		return Region{}, err
	}
	r.Edges = append(r.Edges, last...)
	r.Edges = slices.DeleteFunc(r.Edges, func(e Edge) bool {
		_, a := r.Depth[e.From]
		_, b := r.Depth[e.To]
		return !a || !b
	})
	slices.SortStableFunc(r.Edges, compareEdges)
	r.Edges = slices.CompactFunc(r.Edges, func(a, b Edge) bool { return compareEdges(a, b) == 0 })
	return r, nil
}

// MostSeen is how many notes a search for a way looks at before it gives up: a
// large vault in which nothing connects two notes would be read as a whole to
// say so.
const MostSeen = 10_000

// ErrFar says that a way was not found among the notes that were looked at.
var ErrFar = fault.New(fault.NotFound, "no path was found: only the %d notes nearest to the two notes were searched", MostSeen)

// Way returns the edges of a shortest way between two notes, in order, or nil
// when there is none within most steps. It searches from both ends, so that it
// touches what lies near them and not the vault; when that is too much, the
// error is [ErrFar].
func Way(ctx context.Context, s index.Store, from, to string, most int, hop Hop) ([]Edge, error) {
	if from == to {
		return []Edge{}, nil
	}
	a, b := newFront(from), newFront(to)
	b.back = true
	for a.depth+b.depth < most && len(a.level) > 0 && len(b.level) > 0 {
		front, other := a, b
		if len(b.level) < len(a.level) {
			front, other = b, a
		}
		meet, err := front.step(ctx, s, hop, other)
		if err != nil {
			return nil, err
		}
		if meet != "" {
			return append(a.trail(meet), reversed(b.trail(meet))...), nil
		}
		if len(a.came)+len(b.came) > MostSeen && len(front.level) > 0 {
			return nil, ErrFar
		}
	}
	return nil, nil
}

// A front is one half of a search that comes from two ends.
type front struct {
	came  map[string]Edge // of each note, the edge it was reached by
	start string
	level []string
	depth int
	back  bool // it comes from the end of the way
}

// prefers reports whether one of two edges between the same notes shows better
// how they are connected: a stated relation before a link, and one that goes the
// way before one that goes against it.
func (f *front) prefers(e, had *Edge, p string) bool {
	if a, b := e.Type != LinksTo, had.Type != LinksTo; a != b {
		return a
	}
	along := func(x *Edge) bool { return (x.From == p) == f.back }
	return along(e) && !along(had)
}

func newFront(start string) *front {
	return &front{came: map[string]Edge{start: {}}, start: start, level: []string{start}}
}

// step goes one step further and returns where the two fronts meet, the first
// by path of several.
func (f *front) step(ctx context.Context, s index.Store, hop Hop, other *front) (string, error) {
	edges, err := Edges(ctx, s, f.level, hop, false)
	if err != nil {
		return "", err
	}
	at := make(map[string]bool, len(f.level))
	for _, p := range f.level {
		at[p] = true
	}
	var next []string
	fresh := map[string]bool{}
	meet := ""
	for i, e := range edges {
		if err := index.Interrupted(ctx, i); err != nil {
			return "", err
		}
		for _, p := range []string{e.From, e.To} {
			if !at[e.Other(p)] {
				continue // reached from elsewhere
			}
			if had, seen := f.came[p]; seen {
				if fresh[p] && had.Other(p) == e.Other(p) && f.prefers(&e, &had, p) {
					f.came[p] = e
				}
				continue
			}
			f.came[p], fresh[p] = e, true
			next = append(next, p)
			if _, met := other.came[p]; met && (meet == "" || p < meet) {
				meet = p
			}
		}
	}
	slices.Sort(next)
	f.level, f.depth = next, f.depth+1
	return meet, nil
}

// trail is the way from the start of the front to a note.
func (f *front) trail(to string) []Edge {
	var out []Edge
	for p := to; p != f.start; {
		e := f.came[p]
		out = append(out, e)
		p = e.Other(p)
	}
	slices.Reverse(out)
	return out
}

func reversed(edges []Edge) []Edge {
	slices.Reverse(edges)
	return edges
}

// namesOf asks for the names that carry the keys of n targets.
func namesOf(ctx context.Context, s index.Store, n int, target func(int) string) (map[string][]index.Name, error) {
	var keys []string
	for i := range n {
		if t := target(i); t != "" {
			keys = append(keys, index.TargetKey(t))
		}
	}
	if len(keys) == 0 {
		return nil, nil
	}
	found, err := s.Names(ctx, index.NameQuery{Keys: keys})
	if err != nil {
		return nil, err
	}
	return byKey(found), nil
}

// All returns every edge of the vault that leads somewhere, by the note it
// stands in. Its cost is that of the vault.
func All(ctx context.Context, s index.Store, hop Hop) ([]Edge, error) {
	types := slices.DeleteFunc(slices.Clone(hop.Types), func(t string) bool { return t == LinksTo })
	var stated []index.Relation
	var err error
	if len(hop.Types) == 0 || len(types) > 0 {
		if stated, err = s.Relations(ctx, index.RelationQuery{Types: types}); err != nil {
			return nil, err
		}
	}
	out, err := Resolve(ctx, s, stated)
	if err != nil {
		return nil, err
	}
	if hop.Links {
		rows, err := s.Notes(ctx, index.Select{})
		if err != nil {
			return nil, err
		}
		paths := []string{}
		for _, r := range rows {
			paths = append(paths, r.File.Path)
		}
		links, err := untyped(ctx, s, paths, nil)
		if err != nil {
			return nil, err
		}
		out = append(out, links...)
	}
	out = slices.DeleteFunc(out, func(e Edge) bool { return e.To == "" || e.To == e.From })
	slices.SortStableFunc(out, compareEdges)
	return slices.CompactFunc(out, func(a, b Edge) bool { return compareEdges(a, b) == 0 }), nil
}
