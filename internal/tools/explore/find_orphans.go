package explore

import (
	"context"

	"lore/internal/graph"
	"lore/internal/index"
	"lore/internal/tool"
	"lore/internal/tool/paging"
	"lore/internal/tools/toolkit"
)

// FindOrphans: List the notes that no other note links to.
type FindOrphans struct {
	// Only notes without links of their own.
	Alone bool `json:"alone,omitempty"`
	// Only notes in this folder.
	Folder string `json:"folder,omitempty"`
	// Max notes.
	Limit int `json:"limit,omitempty" default:"50" min:"1" max:"500"`
	// Notes to skip.
	Offset int `json:"offset,omitempty" min:"0"`
}

// Help is the text for people.
func (FindOrphans) Help() tool.Help {
	return tool.Help{
		Short: "List notes without backlinks",
		Flags: map[string]string{
			"alone": "only notes that contain no links either",
		},
		Examples: []string{
			"",
			"--folder Notes --alone",
		},
	}
}

// Orphans are notes without backlinks, by path.
type Orphans struct {
	Notes []Orphan `json:"notes"`
	// Total number of orphans, including those not shown.
	Total int `json:"total"`
	// More says how to get the next notes.
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
	folder, err := toolkit.Folder(ctx, env.Vault, env.Store, in.Folder)
	if err != nil {
		return Orphans{}, err
	}
	g, err := graph.Load(ctx, env.Store)
	if err != nil {
		return Orphans{}, err
	}
	var found []string
	for _, p := range g.Orphans(in.Alone) {
		if toolkit.IsInFolder(p, folder) {
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
		detail := "no links"
		if n.LinksOut > 0 {
			detail = toolkit.Count(n.LinksOut, "outgoing link")
		}
		v.Items = append(v.Items, tool.Item{Title: n.Title, Path: n.Path, Detail: detail})
	}
	v.Foot = toolkit.Foot(o.Index, toolkit.Count(o.Total, "note")+" without backlinks", o.More)
	return v
}
