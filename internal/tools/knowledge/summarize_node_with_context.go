package knowledge

import (
	"context"
	"maps"
	"slices"
	"strings"

	"lore/internal/graph"
	"lore/internal/graph/judge"
	"lore/internal/index"
	"lore/internal/note"
	"lore/internal/note/summarize"
	"lore/internal/search"
	"lore/internal/tool"
	"lore/internal/tools/toolkit"
)

// SummarizeNodeWithContext: Summarize a node, what its neighbors say about
// it, and the conclusion.
type SummarizeNodeWithContext struct {
	// Id, path, title or alias.
	NodeID string `json:"node_id"`
	// How many steps away neighbors may be.
	Depth int `json:"depth,omitempty" default:"1" min:"1" max:"3"`
	// Relationship types to follow. Default: all.
	RelationshipTypes []string `json:"relationship_types,omitempty"`
	// Max characters of the summary.
	MaxLength int `json:"max_length,omitempty" default:"300" min:"20" max:"4000"`
}

// Help is the text for people.
func (SummarizeNodeWithContext) Help() tool.Help {
	return tool.Help{
		Short: "Summarize a node together with its neighbors",
		Flags: map[string]string{
			"relationship-types": "follow only these types of relationships",
			"max-length":         "maximum length of the summary, in characters",
		},
		Examples: []string{
			"hyp-3b8d",
			"clm-5r0e --depth 1",
		},
	}
}

// NodeInContext summarizes a node and its neighbors.
type NodeInContext struct {
	NodeID  string      `json:"node_id"`
	Summary string      `json:"summary"`
	Context ContextText `json:"context"`
	// Synthesis is the overall assessment.
	Synthesis string `json:"synthesis"`
	// Unknown are types of relationships that no note states.
	Unknown []search.Unknown `json:"unknown,omitempty"`
	// More says that neighbors were left out.
	More string `json:"more,omitempty"`
	Basis
	Index index.Freshness `json:"index"`

	title string
}

// ContextText is what neighbors say, grouped by their stance.
type ContextText struct {
	Supports    []string `json:"supports"`
	Contradicts []string `json:"contradicts"`
	Related     []string `json:"related"`
}

// mostContext is how many neighbors are read.
const mostContext = 40

// Run reads the node and what stands around it.
func (in SummarizeNodeWithContext) Run(ctx context.Context, env Env) (NodeInContext, error) {
	n, err := env.open(ctx, "node_id", in.NodeID)
	if err != nil {
		return NodeInContext{}, err
	}
	hop, err := hopOf(in.RelationshipTypes)
	if err != nil {
		return NodeInContext{}, err
	}
	region, err := graph.Around(ctx, env.Store, n.Path, in.Depth, mostContext+1, hop)
	if err != nil {
		return NodeInContext{}, err
	}
	out := NodeInContext{NodeID: n.id(), Index: env.Fresh(ctx), title: n.row.Title, Context: ContextText{[]string{}, []string{}, []string{}}}
	if out.Unknown, err = env.unknownTypes(ctx, hop); err != nil {
		return out, err
	}
	if region.Cut {
		out.More = "showing the nearest " + toolkit.Count(mostContext, "neighbor")
	}
	docs, err := env.neighbors(ctx, n.Path, &region, &out.Context)
	if err != nil {
		return NodeInContext{}, err
	}
	s := env.Judge.Summarise(ctx, docOf(n), in.MaxLength, docs)
	out.Summary, out.Synthesis, out.Basis = s.Summary, s.Synthesis, basisOf(s.Basis)
	if len(docs) == 0 {
		out.Synthesis = "No nodes are related to it yet."
	}
	return out, nil
}

// neighbors reads the notes of a region, nearest first, and puts each with
// what it means for the node.
func (env Env) neighbors(ctx context.Context, path string, region *graph.Region, into *ContextText) ([]judge.Doc, error) {
	paths := slices.SortedFunc(maps.Keys(region.Depth), func(a, b string) int {
		if d := region.Depth[a] - region.Depth[b]; d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	rows, err := env.rows(ctx, paths)
	if err != nil {
		return nil, err
	}
	var out []judge.Doc
	for _, p := range paths {
		row := rows[p]
		if row == nil || p == path {
			continue
		}
		doc, err := env.doc(ctx, row)
		if err != nil {
			return nil, err
		}
		for _, e := range region.Edges {
			if e.From == p && e.To == path || e.From == path && e.To == p {
				doc.Relation, doc.Incoming = e.Type, e.To == path
				break
			}
		}
		out = append(out, doc)
		words := row.Title
		if d := summarize.Of(doc.Text, summarize.Options{Max: 160, Title: row.Title, Points: -1}).Summary; d != "" && !strings.EqualFold(d, note.Plain(row.Title)) {
			words += ": " + d
		}
		switch {
		case doc.Relation == "SUPPORTS" && doc.Incoming:
			into.Supports = append(into.Supports, words)
		case doc.Relation == "CONTRADICTS":
			into.Contradicts = append(into.Contradicts, words)
		default:
			into.Related = append(into.Related, words)
		}
	}
	return out, nil
}

// View shows all of it as text.
func (c NodeInContext) View() tool.View {
	text := c.Summary + "\n"
	for _, part := range []struct {
		name string
		list []string
	}{{"Supports it", c.Context.Supports}, {"Contradicts it", c.Context.Contradicts}, {"Related", c.Context.Related}} {
		if len(part.list) == 0 {
			continue
		}
		text += "\n" + part.name + ":\n"
		for _, s := range part.list {
			text += "- " + s + "\n"
		}
	}
	if c.Synthesis != "" {
		text += "\n" + c.Synthesis + "\n"
	}
	return tool.View{Text: text, Foot: toolkit.Foot(c.Index, append([]string{c.title, c.Method, c.More, said(c.Basis)}, search.Hints(c.Unknown)...)...)}
}
