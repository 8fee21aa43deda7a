package knowledge

import (
	"context"
	"fmt"

	"lore/internal/fault"
	"lore/internal/graph"
	"lore/internal/graph/judge"
	"lore/internal/index"
	"lore/internal/tool"
	"lore/internal/tools/toolkit"
)

// SummarizeRelationship: Explain how two nodes are connected, and how well
// their texts support it.
type SummarizeRelationship struct {
	// Relationship id, from get_node.
	EdgeID string `json:"edge_id"`
	// Show the passages behind it.
	IncludeEvidence bool `json:"include_evidence,omitempty" default:"true"`
}

// Help is the text for people.
func (SummarizeRelationship) Help() tool.Help {
	return tool.Help{
		Short: "Explain a relationship",
		Flags: map[string]string{
			"include-evidence": "show the passages it is based on",
		},
		Examples: []string{
			"rel-2k7q",
			"rel-9x2m --include-evidence",
		},
	}
}

// RelationshipSummary is a relation in words.
type RelationshipSummary struct {
	EdgeID   string `json:"edge_id"`
	FromNode string `json:"from_node"`
	ToNode   string `json:"to_node"`
	Type     string `json:"relationship_type"`
	Summary  string `json:"summary"`
	// Evidence is empty when it was not asked for.
	Evidence []string `json:"evidence"`
	// Strength is "strong", "moderate" or "weak".
	Strength   string   `json:"strength_assessment"`
	Confidence *float64 `json:"confidence"`
	Basis
	Index index.Freshness `json:"index"`
}

// Run reads both ends.
func (in SummarizeRelationship) Run(ctx context.Context, env Env) (RelationshipSummary, error) {
	e, err := graph.Find(ctx, env.Store, in.EdgeID)
	if err != nil {
		return RelationshipSummary{}, fault.Rename(err, "", "edge_id")
	}
	from, to, err := env.ends(ctx, &e)
	if err != nil {
		return RelationshipSummary{}, err
	}
	if from == nil {
		return RelationshipSummary{}, fault.New(fault.NotFound, "the index has just changed; try again")
	}
	out := RelationshipSummary{EdgeID: e.Name(), FromNode: idOf(from), ToNode: e.Target, Type: e.Type, Confidence: e.Confidence, Evidence: []string{}, Index: env.Fresh(ctx)}
	a, err := env.doc(ctx, from)
	if err != nil {
		return RelationshipSummary{}, err
	}
	b := judge.Doc{Title: e.Target}
	if to != nil {
		out.ToNode = idOf(to)
		if b, err = env.doc(ctx, to); err != nil {
			return RelationshipSummary{}, err
		}
	}
	x := env.Judge.Explain(ctx, a, b, e.Type, e.Notes)
	out.Summary, out.Strength, out.Basis = x.Summary, x.Strength, basisOf(x.Basis)
	if in.IncludeEvidence {
		out.Evidence = append([]string{}, x.Evidence...)
	}
	out.weigh()
	if to == nil {
		out.Strength = judge.Weak
		out.Summary += " Its target does not exist."
	}
	return out, nil
}

// weigh lets a stated confidence speak before what words suggest.
func (r *RelationshipSummary) weigh() {
	if r.Method == judge.ByModel || r.Confidence == nil {
		return
	}
	switch c := *r.Confidence; {
	case c >= 0.75 && r.Strength != judge.Weak:
		r.Strength = judge.Strong
	case c < 0.4:
		r.Strength = judge.Weak
	case c >= 0.75 || r.Strength == judge.Strong && c < 0.6:
		r.Strength = judge.Moderate
	}
}

// View shows it as text.
func (r RelationshipSummary) View() tool.View {
	text := r.Summary + "\n"
	for _, e := range r.Evidence {
		text += "> " + e + "\n"
	}
	return tool.View{Text: text, Foot: toolkit.Foot(r.Index, fmt.Sprintf("%s, confidence %s", r.Strength, sure(r.Confidence)), r.Method, said(r.Basis))}
}
