package knowledge

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"lore/internal/fault"
	"lore/internal/index"
	"lore/internal/search"
	"lore/internal/tool"
	"lore/internal/tools/toolkit"
)

// ListNodes: List nodes of the knowledge graph by type, confidence and text.
type ListNodes struct {
	// Types, any of them; "Note" means notes without a type. Default: all notes with a type.
	Types []string `json:"types,omitempty" alias:"type"`
	// Lowest confidence, 0 to 1.
	MinConfidence *float64 `json:"min_confidence,omitempty" min:"0" max:"1"`
	// Highest confidence.
	MaxConfidence *float64 `json:"max_confidence,omitempty" min:"0" max:"1"`
	// Words to search for.
	Text string `json:"text,omitempty"`
	// Ids that start with this.
	Prefix string `json:"prefix,omitempty"`
	// Order.
	Sort string `json:"sort,omitempty" default:"path" enum:"path,confidence,modified,title"`
	// Max nodes.
	Limit int `json:"limit,omitempty" default:"50" min:"1" max:"500"`
	// Nodes to skip.
	Offset int `json:"offset,omitempty" min:"0"`
}

// Help is the text for people.
func (ListNodes) Help() tool.Help {
	return tool.Help{
		Short: "List nodes by type, confidence or text",
		Flags: map[string]string{
			"sort":           "order of the list",
			"types":          "only nodes of these types; Note means notes without a type",
			"min-confidence": "lowest confidence, 0 to 1",
			"max-confidence": "highest confidence, 0 to 1",
			"prefix":         "only IDs that start with this",
		},
		Examples: []string{
			"",
			"--types Hypothesis,Claim",
			"--max-confidence 0.5 --sort confidence",
		},
	}
}

// NodeList is a page of nodes.
type NodeList struct {
	Nodes []NodeRef `json:"nodes"`
	// Types counts the nodes of the vault by type.
	Types map[string]int `json:"types"`
	// Unknown are names in the filter that no note has.
	Unknown []search.Unknown `json:"unknown,omitempty"`
	More    string           `json:"more,omitempty"`
	// Next is the offset of the next page, 0 when there is none.
	Next  int             `json:"next_offset,omitempty"`
	Index index.Freshness `json:"index"`
}

// NodeRef is one node of a list.
type NodeRef struct {
	NodeID     string   `json:"node_id"`
	Path       string   `json:"path"`
	Type       string   `json:"type"`
	Title      string   `json:"title"`
	Tags       []string `json:"tags,omitempty"`
	Confidence *float64 `json:"confidence"`
}

func refOf(r *index.Row) NodeRef {
	return NodeRef{NodeID: idOf(r), Path: r.File.Path, Type: typeOf(r), Title: r.Title, Tags: r.Tags, Confidence: r.Sure}
}

// Run asks the index for one page.
func (in ListNodes) Run(ctx context.Context, env Env) (NodeList, error) {
	out := NodeList{Nodes: []NodeRef{}, Types: map[string]int{}, Index: env.Fresh(ctx)}
	facets, err := env.Store.Facets(ctx, index.FacetType, index.Filter{Kinds: []index.Kind{index.KindNote}})
	if err != nil {
		return out, err
	}
	for _, f := range facets {
		out.Types[f.Value] += f.Notes
	}
	if in.MinConfidence != nil && in.MaxConfidence != nil && *in.MinConfidence > *in.MaxConfidence {
		return out, fault.Field("min_confidence", "make it at most max_confidence", "%v is above max_confidence %v", *in.MinConfidence, *in.MaxConfidence)
	}
	filter, err := in.filter()
	if err != nil {
		return out, err
	}
	rows, err := in.page(ctx, env, filter)
	if err != nil {
		return out, err
	}
	if out.Unknown, err = search.Unknowns(ctx, env.Store, filter); err != nil {
		return out, err
	}
	if len(rows) > in.Limit {
		rows = rows[:in.Limit]
		out.Next = in.Offset + in.Limit
		out.More = fmt.Sprintf("showing %d to %d; call again with offset %d", in.Offset+1, out.Next, out.Next)
	}
	for i := range rows {
		out.Nodes = append(out.Nodes, refOf(&rows[i]))
	}
	return out, nil
}

// filter is what the types and the confidence ask for.
func (in ListNodes) filter() (index.Filter, error) {
	filter := index.Filter{Kinds: []index.Kind{index.KindNote}, MinSure: in.MinConfidence, MaxSure: in.MaxConfidence}
	for _, t := range in.Types {
		switch t = strings.TrimSpace(t); {
		case strings.EqualFold(t, plain):
			filter.Untyped = true
		case t != "":
			filter.Types = append(filter.Types, t)
		}
	}
	switch {
	case filter.Untyped && len(filter.Types) > 0:
		return filter, fault.Field("types", "ask for "+plain+" alone", "notes without a type cannot be combined with other types")
	case len(filter.Types)+len(in.Types) == 0:
		filter.Typed = true
	}
	return filter, nil
}

// page reads one row more than the page has.
func (in ListNodes) page(ctx context.Context, env Env, filter index.Filter) ([]index.Row, error) {
	if in.Prefix != "" {
		return in.named(ctx, env, filter)
	}
	if in.Text != "" {
		return in.found(ctx, env, filter)
	}
	order := map[string]index.Order{"path": index.ByPath, "confidence": index.BySure, "modified": index.ByModified, "title": index.ByTitle}[in.Sort]
	return env.Store.Notes(ctx, index.Select{Filter: filter, Order: order, Limit: in.Limit + 1, Offset: in.Offset})
}

// mostNamed is how many ids that begin alike are looked at.
const mostNamed = 5000

// named reads the nodes whose ids begin so, by id.
func (in ListNodes) named(ctx context.Context, env Env, filter index.Filter) ([]index.Row, error) {
	names, err := env.Store.Names(ctx, index.NameQuery{Prefix: index.Key(in.Prefix), Kind: index.NameNode, Limit: mostNamed})
	if err != nil {
		return nil, err
	}
	paths := []string{}
	for _, n := range names {
		paths = append(paths, n.Path)
	}
	filter.Typed = false // an id is enough to be a node
	rows, err := env.Store.Notes(ctx, index.Select{Paths: paths, Filter: filter})
	slices.SortStableFunc(rows, func(a, b index.Row) int { return strings.Compare(a.Node, b.Node) })
	rows = rows[min(in.Offset, len(rows)):]
	return rows[:min(in.Limit+1, len(rows))], err
}

// found searches among the nodes, best first.
func (in ListNodes) found(ctx context.Context, env Env, filter index.Filter) ([]index.Row, error) {
	a, err := env.Search.Find(ctx, in.Text, search.Options{Filter: filter, Limit: in.Offset + in.Limit + 1})
	if err != nil {
		return nil, err
	}
	var paths []string
	for _, h := range a.Hits {
		paths = append(paths, h.Path)
	}
	paths = paths[min(in.Offset, len(paths)):]
	rows, err := env.rows(ctx, paths)
	if err != nil {
		return nil, err
	}
	var out []index.Row
	for _, p := range paths {
		if r := rows[p]; r != nil {
			out = append(out, *r)
		}
	}
	return out, nil
}

// View is a table.
func (l NodeList) View() tool.View {
	v := tool.View{Head: []string{"node", "type", "confidence", "title", "path"}, Foot: toolkit.Foot(l.Index, append([]string{toolkit.Count(len(l.Nodes), "node"), l.More}, search.Hints(l.Unknown)...)...)}
	for _, n := range l.Nodes {
		v.Rows = append(v.Rows, []string{n.NodeID, n.Type, sure(n.Confidence), n.Title, n.Path})
	}
	return v
}
