package knowledge

import (
	"context"
	"fmt"
	"strings"

	"lore/internal/change"
	"lore/internal/graph"
	"lore/internal/graph/confidence"
	"lore/internal/index"
	"lore/internal/note/relation"
	"lore/internal/tool"
)

// RecalculateEdgeConfidence: Calculate the confidence of a relationship from
// both nodes, their other relationships and their texts.
type RecalculateEdgeConfidence struct {
	// Relationship id, from get_node.
	EdgeID string `json:"edge_id"`
	// Count the graph around it; if false, restore the stated value.
	ConsiderGraphStructure bool `json:"consider_graph_structure,omitempty" default:"true"`
}

// Help is the text for people.
func (RecalculateEdgeConfidence) Help() tool.Help {
	return tool.Help{
		Short: "Calculate the confidence of a relationship",
		Flags: map[string]string{
			"consider-graph-structure": "take the graph around the relationship into account; =false restores the value that you set",
		},
		Examples: []string{
			"rel-2k7q",
			"rel-1p5y --dry-run",
		},
	}
}

// EdgeConfidence is the confidence of a relation with its reasons.
type EdgeConfidence struct {
	EdgeID string `json:"edge_id"`
	// Old is 0.5 when nothing was stated.
	Old       float64  `json:"old_confidence"`
	New       float64  `json:"new_confidence"`
	Reasoning string   `json:"reasoning"`
	Factors   []Factor `json:"factors"`
	// Prior is what was stated before anything was counted.
	Prior *float64 `json:"prior"`
	Basis

	words  string
	guides []string
}

// GuidedBy are the notes whose text and relationships were counted.
func (c EdgeConfidence) GuidedBy() []string { return c.guides }

// Plan judges the relation and writes the result into its line.
func (in RecalculateEdgeConfidence) Plan(ctx context.Context, env Env) (EdgeConfidence, change.Set, error) {
	var none EdgeConfidence
	e, from, err := env.edge(ctx, in.EdgeID)
	if err != nil {
		return none, nil, err
	}
	prior := e.Confidence
	for _, r := range relation.Of(from.Note) {
		if r.ID == e.ID && r.Prior != nil {
			prior = r.Prior
		}
	}
	var around confidence.Structure
	words := e.Target
	if in.ConsiderGraphStructure && e.To != "" {
		if around, err = env.structure(ctx, &e, from); err != nil {
			return none, nil, err
		}
	}
	r := confidence.Edge(prior, around)
	out := EdgeConfidence{
		EdgeID: e.Name(), Old: confidence.Prior, New: confidence.Round(r.New), Reasoning: r.Reasoning, Factors: []Factor{}, Prior: prior,
		Basis: Basis{Method: "formula"}, words: from.row.Title + " " + e.Type + " " + words,
	}
	if e.Confidence != nil {
		out.Old = *e.Confidence
	}
	if in.ConsiderGraphStructure {
		out.guides = []string{e.From, e.To}
	}
	for _, f := range r.Factors {
		out.Factors = append(out.Factors, Factor{f.Factor, f.Impact, ""})
	}
	if !in.ConsiderGraphStructure && prior != nil {
		out.New = *prior
	}
	set, err := out.write(env.edit(from), &e, prior)
	return out, set, err
}

// write puts the confidence into the line, and beside it what was stated.
func (c *EdgeConfidence) write(ed *edit, e *graph.Edge, prior *float64) (change.Set, error) {
	if prior == nil && c.New == confidence.Prior {
		if err := ed.do(relation.Reconfide(ed.now, e.ID, nil)); err != nil {
			return nil, err
		}
	} else if e.Confidence != nil || c.New != confidence.Prior {
		if err := ed.do(relation.Reconfide(ed.now, e.ID, &c.New)); err != nil {
			return nil, err
		}
	}
	half := confidence.Prior
	switch {
	case prior == nil && c.New != half:
		prior = &half
	case prior != nil && *prior == c.New || prior == nil:
		prior = nil
	}
	if err := ed.do(relation.Reprior(ed.now, e.ID, prior)); err != nil {
		return nil, err
	}
	return ed.set()
}

// statedOf is what somebody said of a node: a confidence that was calculated from
// relations would count the relation that is judged once more.
func statedOf(r *index.Row) *float64 {
	for _, p := range r.Props {
		if strings.EqualFold(p.Key, priorKey) {
			if c, err := confidenceOf(priorKey, p.Value); err == nil && c != nil {
				return c
			}
		}
	}
	return r.Sure
}

// structure gathers what is known around a relation.
func (env Env) structure(ctx context.Context, e *graph.Edge, from *node) (confidence.Structure, error) {
	s := confidence.Structure{Relation: e.Type, From: statedOf(&from.row)}
	edges, err := graph.Edges(ctx, env.Store, []string{e.From, e.To}, graph.Hop{}, false)
	if err != nil {
		return s, err
	}
	near := map[string]map[string]bool{e.From: {}, e.To: {}}
	for _, x := range edges {
		between := x.From == e.From && x.To == e.To || x.From == e.To && x.To == e.From
		switch {
		case between && (x.Start == e.Start && x.From == e.From):
		case between && x.Type == e.Type:
			s.Parallel = append(s.Parallel, x.Confidence)
		case between && opposite(x.Type, e.Type):
			s.Opposing = append(s.Opposing, x.Confidence)
		case !between:
			for _, end := range []string{e.From, e.To} {
				if x.From == end || x.To == end {
					near[end][x.Other(end)] = true
				}
			}
		}
	}
	for p := range near[e.From] {
		if near[e.To][p] {
			s.Shared++
		}
	}
	_, to, err := env.ends(ctx, e)
	if err != nil || to == nil {
		return s, err
	}
	s.To = statedOf(to)
	return s, env.compare(ctx, &s, e, from, to)
}

// Preview says what the confidence becomes.
func (c EdgeConfidence) Preview() tool.Preview {
	summary := fmt.Sprintf("Confidence of %s: %.2f to %.2f", c.words, c.Old, c.New)
	if c.Old == c.New {
		summary = fmt.Sprintf("Confidence of %s: %.2f, unchanged", c.words, c.New)
	}
	return tool.Preview{
		Summary: summary,
		Details: map[string]any{"edge_id": c.EdgeID, "old_confidence": c.Old, "new_confidence": c.New, "reasoning": c.Reasoning, "factors": c.Factors},
	}
}

// View lists the factors.
func (c EdgeConfidence) View() tool.View {
	v := tool.View{Text: fmt.Sprintf("%s: %.2f, was %.2f\n%s\n", c.EdgeID, c.New, c.Old, c.Reasoning)}
	if len(c.Factors) > 0 {
		v.Head = []string{"impact", "factor"}
	}
	for _, f := range c.Factors {
		v.Rows = append(v.Rows, []string{f.Impact, f.Factor})
	}
	return v
}
