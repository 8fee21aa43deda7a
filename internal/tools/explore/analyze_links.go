package explore

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"lore/internal/graph"
	"lore/internal/index"
	"lore/internal/tool"
	"lore/internal/tool/paging"
	"lore/internal/tools/toolkit"
)

// AnalyzeLinks: See how the notes are connected: hubs (most linked), dead ends
// (no outgoing links), or clusters (notes that link to each other).
type AnalyzeLinks struct {
	// What to list.
	Show string `json:"show,omitempty" default:"hubs" enum:"hubs,dead_ends,clusters"`
	// Only notes in this folder.
	Folder string `json:"folder,omitempty"`
	// Max notes or clusters.
	Limit int `json:"limit,omitempty" default:"20" min:"1" max:"200"`
	// Skip this many.
	Offset int `json:"offset,omitempty" min:"0"`
}

// Help is the text for people.
func (AnalyzeLinks) Help() tool.Help {
	return tool.Help{
		Short: "Show hubs, dead ends and clusters of linked notes",
		Flags: map[string]string{
			"show":   "the most linked notes (hubs), notes without outgoing links (dead_ends), or groups of notes that link to each other (clusters)",
			"limit":  "maximum number of notes or clusters",
			"offset": "skip this many",
		},
		Examples: []string{
			"--limit 3",
			"--show clusters",
			"--show dead_ends --folder Notes",
		},
	}
}

// LinkAnalysis is one look at the links.
type LinkAnalysis struct {
	Show string `json:"show"`
	// Notes are hubs or dead ends, most linked first.
	Notes []LinkedNote `json:"notes,omitempty"`
	// Clusters, largest first.
	Clusters []LinkCluster `json:"clusters,omitempty"`
	// Total number, including those not shown.
	Total int             `json:"total"`
	More  string          `json:"more,omitempty"`
	Index index.Freshness `json:"index"`
}

// LinkedNote is a note with the number of notes that it is linked with.
type LinkedNote struct {
	Path     string `json:"path"`
	Title    string `json:"title"`
	LinksIn  int    `json:"links_in"`
	LinksOut int    `json:"links_out"`
}

// LinkCluster is a group of notes that link to each other.
type LinkCluster struct {
	// Title and path of the note with the most links in the group.
	Title string `json:"title"`
	Path  string `json:"path"`
	// Size in notes.
	Size int `json:"size"`
	// Members are some of them, most linked first.
	Members []string `json:"members"`
}

const (
	minCluster = 3  // notes that make a group
	maxMembers = 10 // of a group that are named
)

// Run loads the graph.
func (in AnalyzeLinks) Run(ctx context.Context, env Env) (LinkAnalysis, error) {
	folder, err := toolkit.Folder(ctx, env.Vault, env.Store, in.Folder)
	if err != nil {
		return LinkAnalysis{}, err
	}
	g, err := graph.Load(ctx, env.Store)
	if err != nil {
		return LinkAnalysis{}, err
	}
	out := LinkAnalysis{Show: in.Show, Index: env.Fresh(ctx)}
	if in.Show == "clusters" {
		err := in.clusters(ctx, g, folder, &out)
		return out, err
	}
	paths := g.Paths
	if in.Show == "dead_ends" {
		paths = g.DeadEnds()
	}
	var found []LinkedNote
	for _, p := range paths {
		n := LinkedNote{Path: p, Title: g.Title(p), LinksIn: len(g.In[p]), LinksOut: len(g.Out[p])}
		if toolkit.IsInFolder(p, folder) && (in.Show != "hubs" || n.LinksIn > 0) {
			found = append(found, n)
		}
	}
	slices.SortStableFunc(found, func(a, b LinkedNote) int {
		return cmp.Or(b.LinksIn-a.LinksIn, b.LinksOut-a.LinksOut, strings.Compare(a.Path, b.Path))
	})
	out.Notes, out.More = paging.Cut(found, in.Offset, in.Limit)
	out.Total = len(found)
	return out, nil
}

// clusters lists the groups with a member in the folder.
func (in AnalyzeLinks) clusters(ctx context.Context, g *graph.Graph, folder []string, out *LinkAnalysis) error {
	all, err := g.Clusters(ctx)
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(c graph.Cluster) bool {
		return len(c.Members) < minCluster || !slices.ContainsFunc(c.Members, func(p string) bool { return toolkit.IsInFolder(p, folder) })
	})
	page, more := paging.Cut(all, in.Offset, in.Limit)
	for _, c := range page {
		out.Clusters = append(out.Clusters, LinkCluster{Title: g.Title(c.Center), Path: c.Center, Size: len(c.Members), Members: c.Members[:min(len(c.Members), maxMembers)]})
	}
	out.Total, out.More = len(all), more
	return nil
}

// View lists the notes or the groups.
func (a LinkAnalysis) View() tool.View {
	var v tool.View
	for _, n := range a.Notes {
		v.Items = append(v.Items, tool.Item{Title: n.Title, Path: n.Path, Detail: toolkit.Count(n.LinksIn, "backlink") + ", " + toolkit.Count(n.LinksOut, "outgoing link")})
	}
	for _, c := range a.Clusters {
		v.Items = append(v.Items, tool.Item{Title: c.Title, Path: c.Path, Detail: toolkit.Count(c.Size, "note"), Text: strings.Join(c.Members, ", ")})
	}
	what := map[string]string{"hubs": "linked note", "dead_ends": "dead end", "clusters": "cluster"}[a.Show]
	v.Foot = toolkit.Foot(a.Index, toolkit.Count(a.Total, what), a.More)
	return v
}
