package find

import (
	"context"
	"fmt"

	"lore/internal/graph"
	"lore/internal/index"
	"lore/internal/paging"
	"lore/internal/tool"
)

// FindOrphans lists the notes that no other note links to.
type FindOrphans struct {
	// Only notes that link to nothing themselves either.
	Alone bool `json:"alone,omitempty"`
	// Only notes in this folder.
	Folder string `json:"folder,omitempty"`
	// Most notes.
	Limit int `json:"limit,omitempty" default:"50" min:"1" max:"500"`
	// Notes to skip.
	Offset int `json:"offset,omitempty" min:"0"`
}

// Orphans are notes without backlinks, by path.
type Orphans struct {
	Notes []Orphan `json:"notes"`
	// Total number of orphans, shown or not.
	Total int `json:"total"`
	// More tells how to read on when there are further notes.
	More  string          `json:"more,omitempty"`
	Index index.Freshness `json:"index"`
}

// Orphan is one note without backlinks.
type Orphan struct {
	Path  string `json:"path"`
	Title string `json:"title"`
	// LinksOut counts the notes that it links to.
	LinksOut int `json:"links_out"`
}

// Run loads the graph.
func (in FindOrphans) Run(ctx context.Context, env Env) (Orphans, error) {
	folder, err := env.folder(ctx, in.Folder)
	if err != nil {
		return Orphans{}, err
	}
	g, err := graph.Load(ctx, env.Store)
	if err != nil {
		return Orphans{}, err
	}
	var found []string
	for _, p := range g.Orphans(in.Alone) {
		if lies(p, folder) {
			found = append(found, p)
		}
	}
	page, more := paging.Cut(found, in.Offset, in.Limit)
	out := Orphans{Notes: []Orphan{}, Total: len(found), More: more, Index: env.Fresh(ctx)}
	for _, p := range page {
		out.Notes = append(out.Notes, Orphan{Path: p, Title: g.Title(p), LinksOut: len(g.Out[p])})
	}
	return out, nil
}

// View lists the notes.
func (o Orphans) View() tool.View {
	var v tool.View
	for _, n := range o.Notes {
		detail := "links to nothing"
		if n.LinksOut > 0 {
			detail = fmt.Sprintf("links to %d", n.LinksOut)
		}
		v.Items = append(v.Items, tool.Item{Title: n.Title, Path: n.Path, Detail: detail})
	}
	v.Foot = foot(o.Index, many(o.Total, "note")+" without backlinks", o.More)
	return v
}
