// Package graph answers questions about how notes are connected: what a note
// links to, what links to it, what is linked to nothing, and how to get from
// one to another. It reads the index and knows no file.
package graph

import (
	"cmp"
	"context"
	"slices"

	"lore/internal/index"
)

// A Link is a link with the note it leads to.
type Link struct {
	index.Link
	To string // the path it leads to; "" when nothing is there
}

// Relation is the type of a link that stands in an inline field, whose name
// says how the two notes are related.
const Relation = "relation"

// Type says what sort of link it is: how it is written, or [Relation].
func (l *Link) Type() string {
	if l.Field != "" && l.Kind != "property" {
		return Relation
	}
	return l.Kind
}

// Forward returns the links of a note, in the order they stand in it, those
// that lead nowhere too.
func Forward(ctx context.Context, s index.Store, path string) ([]Link, error) {
	links, err := s.Links(ctx, index.LinkQuery{From: []string{path}})
	if err != nil {
		return nil, err
	}
	return resolve(ctx, s, links)
}

// Backlinks returns the links of other notes that lead to a note, by the path
// of their note.
func Backlinks(ctx context.Context, s index.Store, path string) ([]Link, error) {
	rows, err := s.Notes(ctx, index.Select{Paths: []string{path}})
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	r := rows[0]
	var keys []string
	for _, n := range index.NamesOf(path, r.Kind, r.Title, "", r.Aliases) {
		if n.Kind != index.NameTitle {
			keys = append(keys, n.Key)
		}
	}
	links, err := s.Links(ctx, index.LinkQuery{To: keys})
	if err != nil {
		return nil, err
	}
	all, err := resolve(ctx, s, links)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(all, func(l Link) bool { return l.To != path || l.From == path }), nil
}

// resolve finds the targets of links with one question to the index.
func resolve(ctx context.Context, s index.Store, links []index.Link) ([]Link, error) {
	names, err := namesOf(ctx, s, len(links), func(i int) string { return links[i].Target })
	if err != nil {
		return nil, err
	}
	out := make([]Link, len(links))
	for i, l := range links {
		if err := index.Interrupted(ctx, i); err != nil {
			return nil, err
		}
		out[i].Link = l
		out[i].To, _ = index.Resolve(l.From, l.Kind, l.Target, names[index.TargetKey(l.Target)])
	}
	return out, nil
}

func byKey(names []index.Name) map[string][]index.Name {
	out := make(map[string][]index.Name, len(names))
	for _, n := range names {
		out[n.Key] = append(out[n.Key], n)
	}
	return out
}

// A Graph is every note and link of a vault at one moment.
type Graph struct {
	Paths  []string // of notes and canvases, sorted
	Out    map[string][]string
	In     map[string][]string
	Broken []Link // links that lead nowhere, by note and position
	titles map[string]string
	maps   map[string]bool // canvases
}

// Load reads the whole graph. It takes a moment on a large vault.
func Load(ctx context.Context, s index.Store) (*Graph, error) {
	rows, err := s.Notes(ctx, index.Select{})
	if err != nil {
		return nil, err
	}
	names, err := s.Names(ctx, index.NameQuery{})
	if err != nil {
		return nil, err
	}
	links, err := s.Links(ctx, index.LinkQuery{})
	if err != nil {
		return nil, err
	}
	g := &Graph{Out: map[string][]string{}, In: map[string][]string{}, titles: map[string]string{}, maps: map[string]bool{}}
	for _, r := range rows {
		g.Paths = append(g.Paths, r.File.Path)
		g.titles[r.File.Path] = r.Title
		g.maps[r.File.Path] = r.Kind == index.KindCanvas
	}
	keyed := byKey(names)
	linked := map[string]string{} // of each target, the last note that links to it: links come note by note
	for i, l := range links {
		if err := index.Interrupted(ctx, i); err != nil {
			return nil, err
		}
		to, ok := index.Resolve(l.From, l.Kind, l.Target, keyed[index.TargetKey(l.Target)])
		if !ok {
			g.Broken = append(g.Broken, Link{Link: l})
			continue
		}
		if to != l.From && linked[to] != l.From {
			linked[to] = l.From
			g.Out[l.From] = append(g.Out[l.From], to)
			g.In[to] = append(g.In[to], l.From)
		}
	}
	return g, nil
}

// Title is the title of a note of the graph.
func (g *Graph) Title(path string) string { return cmp.Or(g.titles[path], path) }

// Orphans returns the notes that no other note links to, and that link to none
// themselves when alone is set. Canvases are maps of notes: nobody expects links
// to them.
func (g *Graph) Orphans(alone bool) []string {
	var out []string
	for _, p := range g.Paths {
		if len(g.In[p]) == 0 && !g.maps[p] && (!alone || len(g.Out[p]) == 0) {
			out = append(out, p)
		}
	}
	return out
}
