package explore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"lore/internal/fault"
	"lore/internal/graph"
	"lore/internal/index"
	"lore/internal/note/relation"
	"lore/internal/search"
	"lore/internal/tool"
	"lore/internal/tools/toolkit"
)

// FindPath: Find a shortest path between two notes along links and typed
// relationships, in either direction.
type FindPath struct {
	// First note: path, name, title or alias.
	From string `json:"from"`
	// Last note: path, name, title or alias.
	To string `json:"to"`
	// Follow only these relationship types; LINKS_TO means untyped links.
	Types []string `json:"relationship_types,omitempty" alias:"types"`
}

// Help is the text for people.
func (FindPath) Help() tool.Help {
	return tool.Help{
		Short: "Find the shortest chain of links between two notes",
		Flags: map[string]string{
			"from":               "path, name, title or alias of the first note",
			"to":                 "path, name, title or alias of the last note",
			"relationship-types": "follow only these types of relationships; LINKS_TO means plain links",
		},
		Examples: []string{
			"Matcha Puer",
			`"Hicks 1996" Caffeine`,
		},
	}
}

// LinkPath is a path from one note to another.
type LinkPath struct {
	Found bool `json:"found"`
	// Length counts the links on the path.
	Length int        `json:"length"`
	Steps  []PathStep `json:"steps"`
	// Unknown are types of relationships that no note states.
	Unknown []search.Unknown `json:"unknown,omitempty"`
	// Note says why there is no path.
	Note  string          `json:"note,omitempty"`
	Index index.Freshness `json:"index"`
}

// PathStep is one note on the path.
type PathStep struct {
	Path  string `json:"path"`
	Title string `json:"title"`
	// How the note before it is connected: "links to", "is linked from", a type of relationship, or nothing for the first.
	How string `json:"how,omitempty"`
	// Relationship is the type of the relationship, if it is one.
	Relationship string `json:"relationship_type,omitempty"`
	EdgeID       string `json:"edge_id,omitempty"`
}

// Run searches from both ends.
func (in FindPath) Run(ctx context.Context, env Env) (LinkPath, error) {
	from, err := toolkit.Locate(ctx, env.Store, "from", in.From)
	if err != nil {
		return LinkPath{}, err
	}
	to, err := toolkit.Locate(ctx, env.Store, "to", in.To)
	if err != nil {
		return LinkPath{}, err
	}
	hop, err := hopOf(in.Types)
	if err != nil {
		return LinkPath{}, err
	}
	way, err := graph.Way(ctx, env.Store, from.File.Path, to.File.Path, mostSteps, hop)
	far := errors.Is(err, graph.ErrFar)
	if err != nil && !far {
		return LinkPath{}, err
	}
	out := LinkPath{Steps: []PathStep{{Path: from.File.Path, Title: from.Title}}, Index: env.Fresh(ctx)}
	types := slices.DeleteFunc(slices.Clone(hop.Types), func(t string) bool { return t == graph.LinksTo })
	if out.Unknown, err = search.UnknownRelations(ctx, env.Store, types); err != nil {
		return LinkPath{}, err
	}
	if way == nil {
		out.Steps = []PathStep{}
		out.Note = fmt.Sprintf("no links connect %s and %s", from.File.Path, to.File.Path)
		if far {
			out.Note = graph.ErrFar.Error()
		}
		return out, nil
	}
	out.Found, out.Length = true, len(way)
	at := from.File.Path
	for _, e := range way {
		step := PathStep{How: "is linked from", Relationship: e.Type}
		forward := e.From == at
		at = e.Other(at)
		step.Path = at
		if e.Type == graph.LinksTo {
			step.Relationship = ""
			if forward {
				step.How = "links to"
			}
		} else {
			step.EdgeID = e.Name()
			step.How = strings.ReplaceAll(strings.ToLower(e.Type), "_", " ")
			if !forward {
				step.How += " the one before"
			}
		}
		out.Steps = append(out.Steps, step)
	}
	return out, env.entitle(ctx, out.Steps)
}

// mostSteps is the longest way that is looked for.
const mostSteps = 30

// hopOf reads which relationships a way may follow: all, and links too, unless
// some are named.
func hopOf(types []string) (graph.Hop, error) {
	hop := graph.Hop{Links: len(types) == 0}
	for _, name := range types {
		typ, ok := relation.Normal(name)
		if !ok {
			return hop, fault.Field("relationship_types", "use names such as SUPPORTS, or LINKS_TO", "%q is not a relationship type", name)
		}
		hop.Types = append(hop.Types, typ)
		hop.Links = hop.Links || typ == graph.LinksTo
	}
	return hop, nil
}

// entitle gives the steps the titles of their notes.
func (env Env) entitle(ctx context.Context, steps []PathStep) error {
	var paths []string
	for _, s := range steps {
		paths = append(paths, s.Path)
	}
	rows, err := env.Store.Notes(ctx, index.Select{Paths: paths})
	for _, r := range rows {
		for i := range steps {
			if steps[i].Path == r.File.Path {
				steps[i].Title = r.Title
			}
		}
	}
	return errors.Join(err, ctx.Err())
}

// View lists the steps.
func (l LinkPath) View() tool.View {
	var v tool.View
	for _, s := range l.Steps {
		v.Items = append(v.Items, tool.Item{Title: s.Title, Path: s.Path, Detail: s.How})
	}
	text := l.Note
	if l.Found {
		text = toolkit.Count(l.Length, "link")
	}
	v.Foot = toolkit.Foot(l.Index, append([]string{text}, search.Hints(l.Unknown)...)...)
	return v
}
