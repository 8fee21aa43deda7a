package find

import (
	"context"
	"fmt"
	"slices"

	"lore/internal/graph"
	"lore/internal/index"
	"lore/internal/tool"
)

// FindPath finds a shortest way between two notes along links, in either
// direction.
type FindPath struct {
	// Path, file name, title or alias of the note to begin with.
	From string `json:"from"`
	// Path, file name, title or alias of the note to reach.
	To string `json:"to"`
}

// LinkPath is a way from one note to another.
type LinkPath struct {
	Found bool `json:"found"`
	// Length counts the links on the way.
	Length int        `json:"length"`
	Steps  []PathStep `json:"steps"`
	// Note says why there is no way.
	Note  string          `json:"note,omitempty"`
	Index index.Freshness `json:"index"`
}

// PathStep is one note on the way.
type PathStep struct {
	Path  string `json:"path"`
	Title string `json:"title"`
	// How the note before it is connected: "links to", "is linked from", or nothing for the first.
	How string `json:"how,omitempty"`
}

// Run loads the graph and walks it.
func (in FindPath) Run(ctx context.Context, env Env) (LinkPath, error) {
	from, err := env.locate(ctx, "from", in.From)
	if err != nil {
		return LinkPath{}, err
	}
	to, err := env.locate(ctx, "to", in.To)
	if err != nil {
		return LinkPath{}, err
	}
	g, err := graph.Load(ctx, env.Store)
	if err != nil {
		return LinkPath{}, err
	}
	out := LinkPath{Steps: []PathStep{}, Index: env.Fresh()}
	way := g.Path(from.File.Path, to.File.Path)
	if way == nil {
		out.Note = fmt.Sprintf("no links connect %s with %s", from.File.Path, to.File.Path)
		return out, nil
	}
	out.Found, out.Length = true, len(way)-1
	for i, p := range way {
		step := PathStep{Path: p, Title: g.Title(p)}
		if i > 0 {
			step.How = "is linked from"
			if slices.Contains(g.Out[way[i-1]], p) {
				step.How = "links to"
			}
		}
		out.Steps = append(out.Steps, step)
	}
	return out, nil
}

// View lists the steps.
func (l LinkPath) View() tool.View {
	var v tool.View
	for _, s := range l.Steps {
		v.Items = append(v.Items, tool.Item{Title: s.Title, Path: s.Path, Detail: s.How})
	}
	text := l.Note
	if l.Found {
		text = many(l.Length, "link")
	}
	v.Foot = foot(l.Index, text)
	return v
}
