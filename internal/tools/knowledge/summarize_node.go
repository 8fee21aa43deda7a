package knowledge

import (
	"context"
	"fmt"
	"strings"

	"lore/internal/graph"
	"lore/internal/index"
	"lore/internal/tool"
	"lore/internal/tools/toolkit"
)

// SummarizeNode: Summarize a node, with its key points.
type SummarizeNode struct {
	// Id, path, title or alias.
	NodeID string `json:"node_id"`
	// Also count its relationships.
	IncludeRelationships bool `json:"include_relationships,omitempty"`
	// Max characters.
	MaxLength int `json:"max_length,omitempty" default:"200" min:"20" max:"4000"`
}

// Help is the text for people.
func (SummarizeNode) Help() tool.Help {
	return tool.Help{
		Short: "Summarize a node",
		Examples: []string{
			"hyp-3b8d",
			"src-1h4c --max-length 200",
		},
	}
}

// NodeSummary is what a node says.
type NodeSummary struct {
	NodeID    string   `json:"node_id"`
	Summary   string   `json:"summary"`
	KeyPoints []string `json:"key_points"`
	// RelatedCount is there when relationships were asked for.
	RelatedCount *int `json:"related_count,omitempty"`
	Basis
	Index index.Freshness `json:"index"`

	title string
}

// Run reads the note and condenses it.
func (in SummarizeNode) Run(ctx context.Context, env Env) (NodeSummary, error) {
	n, err := env.open(ctx, "node_id", in.NodeID)
	if err != nil {
		return NodeSummary{}, err
	}
	s := env.Judge.Summarise(ctx, docOf(n), in.MaxLength, nil)
	out := NodeSummary{NodeID: n.id(), Summary: s.Summary, KeyPoints: append([]string{}, s.KeyPoints...), Basis: basisOf(s.Basis), Index: env.Fresh(ctx), title: n.row.Title}
	if in.IncludeRelationships {
		edges, err := graph.Edges(ctx, env.Store, []string{n.Path}, graph.Hop{}, true)
		if err != nil {
			return NodeSummary{}, err
		}
		count := len(edges)
		out.RelatedCount = &count
	}
	return out, nil
}

// View shows the summary and the points.
func (s NodeSummary) View() tool.View {
	text := s.Summary + "\n"
	for _, p := range s.KeyPoints {
		text += "- " + p + "\n"
	}
	parts := []string{s.title, s.Method}
	if s.RelatedCount != nil {
		parts = append(parts, toolkit.Count(*s.RelatedCount, "relationship"))
	}
	return tool.View{Text: text, Foot: toolkit.Foot(s.Index, append(parts, said(s.Basis))...)}
}

// said tells a person what the method does not.
func said(b Basis) string {
	var out []string
	if b.Fallback != "" {
		out = append(out, "the model was not used: "+b.Fallback)
	}
	if b.Usage != nil {
		cost := "cost unknown"
		if b.Usage.CostUSD != nil {
			cost = fmt.Sprintf("$%.4f", *b.Usage.CostUSD)
		}
		out = append(out, fmt.Sprintf("%s: %d tokens in, %d out, %s", b.Model, b.Usage.In, b.Usage.Out, cost))
	}
	return strings.Join(out, "; ")
}
