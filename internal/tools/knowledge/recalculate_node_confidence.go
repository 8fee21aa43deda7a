package knowledge

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"lore/internal/change"
	"lore/internal/graph"
	"lore/internal/graph/confidence"
	"lore/internal/index"
	"lore/internal/tool"
)

// RecalculateNodeConfidence: Calculate the confidence of a node from its
// support, contradictions and sources, and write it with the reasons.
type RecalculateNodeConfidence struct {
	// Id, path, title or alias.
	NodeID string `json:"node_id"`
	// Count the connected nodes; if false, restore the stated value.
	FactorInRelationships bool `json:"factor_in_relationships,omitempty" default:"true"`
}

// Help is the text for people.
func (RecalculateNodeConfidence) Help() tool.Help {
	return tool.Help{
		Short: "Calculate the confidence of a node from its evidence",
		Long:  "Writes the new confidence with the reasons.",
		Flags: map[string]string{
			"factor-in-relationships": "include the connected nodes; =false restores the value that you set",
		},
		Examples: []string{
			"hyp-3b8d",
			"clm-5r0e --dry-run",
		},
	}
}

// NodeConfidence is a confidence with its reasons.
type NodeConfidence struct {
	NodeID string `json:"node_id"`
	// Old is 0.5 when nothing was stated.
	Old       float64  `json:"old_confidence"`
	New       float64  `json:"new_confidence"`
	Reasoning string   `json:"reasoning"`
	Factors   []Factor `json:"factors"`
	// Prior is what was stated before any evidence was counted.
	Prior *float64 `json:"prior"`
	// Method is "formula": docs/confidence.md derives it.
	Method string `json:"method"`

	title  string
	guides []string
}

// GuidedBy are the notes whose confidence and relationships were counted.
func (c NodeConfidence) GuidedBy() []string { return c.guides }

// Factor is one reason for a confidence.
type Factor struct {
	Factor string `json:"factor"`
	Impact string `json:"impact"`
	EdgeID string `json:"edge_id,omitempty"`
}

// priorKey is the property that keeps what was stated apart from what was
// calculated, so that evidence is not counted twice.
const priorKey = "confidence_prior"

// Plan judges the node and writes the result into its front matter.
func (in RecalculateNodeConfidence) Plan(ctx context.Context, env Env) (NodeConfidence, change.Set, error) {
	n, err := env.open(ctx, "node_id", in.NodeID)
	if err != nil {
		return NodeConfidence{}, nil, err
	}
	out, prior, err := env.judged(ctx, n, in.FactorInRelationships)
	if err != nil {
		return NodeConfidence{}, nil, err
	}
	e := env.edit(n)
	if n.row.Sure != nil || out.New != confidence.Prior {
		if err := e.property("confidence", out.New); err != nil {
			return NodeConfidence{}, nil, err
		}
	}
	switch {
	case prior != nil && *prior != out.New:
		err = e.property(priorKey, *prior)
	case prior == nil && out.New != confidence.Prior:
		err = e.property(priorKey, confidence.Prior)
	default:
		err = e.property(priorKey, nil)
	}
	if err != nil {
		return NodeConfidence{}, nil, err
	}
	set, err := e.set()
	return out, set, err
}

// judged is the confidence of a node by what stands around it, and the prior it
// was calculated from.
func (env Env) judged(ctx context.Context, n *node, all bool) (NodeConfidence, *float64, error) {
	prior, err := priorOf(n)
	if err != nil {
		return NodeConfidence{}, nil, err
	}
	var evidence []confidence.Evidence
	var others []string
	if all {
		if evidence, others, err = env.evidence(ctx, n.Path); err != nil {
			return NodeConfidence{}, nil, err
		}
	}
	r := confidence.Node(prior, evidence)
	out := NodeConfidence{
		NodeID: n.id(), Old: confidence.Prior, New: confidence.Round(r.New), Reasoning: r.Reasoning, Factors: []Factor{}, Prior: prior, Method: "formula", title: n.row.Title, guides: others,
	}
	if len(evidence) == 0 && prior != nil {
		out.New = *prior // nothing to weigh: what was stated stays as it was
	}
	if n.row.Sure != nil {
		out.Old = *n.row.Sure
	}
	for _, f := range r.Factors {
		out.Factors = append(out.Factors, Factor{f.Factor, f.Impact, f.Edge})
	}
	return out, prior, nil
}

// priorOf is what somebody stated about the node.
func priorOf(n *node) (*float64, error) {
	if v, has := n.Front.Get(priorKey); has {
		switch v := v.(type) {
		case int64:
			return confidenceOf(priorKey, float64(v))
		default:
			return confidenceOf(priorKey, v)
		}
	}
	return n.row.Sure, nil
}

// evidence gathers what bears on a node, and the notes that it comes from.
// Neighbours that rest on the same source are not independent: they share it.
func (env Env) evidence(ctx context.Context, path string) (out []confidence.Evidence, others []string, err error) {
	edges, err := graph.Edges(ctx, env.Store, []string{path}, graph.Hop{}, false)
	if err != nil {
		return nil, nil, err
	}
	for _, e := range edges {
		others = append(others, e.Other(path))
	}
	rows, err := env.rows(ctx, others)
	if err != nil {
		return nil, nil, err
	}
	sources, err := env.sources(ctx, others)
	if err != nil {
		return nil, nil, err
	}
	for _, e := range edges {
		other := e.Other(path)
		ev := confidence.Evidence{Edge: e.Name(), Relation: e.Type, Incoming: e.To == path, EdgeConfidence: e.Confidence, Source: other}
		if s := sources[other]; s != "" && s != path {
			ev.Source = s
		}
		if r := rows[other]; r != nil {
			ev.NodeConfidence, ev.Title = r.Sure, r.Title
		}
		out = append(out, ev)
	}
	return out, others, nil
}

// sources finds for each note the source that it rests on: the first by path of
// what it cites or is derived from.
func (env Env) sources(ctx context.Context, paths []string) (map[string]string, error) {
	stated, err := env.Store.Relations(ctx, index.RelationQuery{From: append([]string{}, paths...), Types: []string{"CITES", "DERIVED_FROM"}})
	if err != nil {
		return nil, err
	}
	edges, err := graph.Resolve(ctx, env.Store, stated)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(edges, func(a, b graph.Edge) int { return strings.Compare(a.To, b.To) })
	out := map[string]string{}
	for _, e := range edges {
		if e.To != "" && out[e.From] == "" {
			out[e.From] = e.To
		}
	}
	return out, nil
}

// Preview says what the confidence becomes.
func (c NodeConfidence) Preview() tool.Preview {
	summary := fmt.Sprintf("Confidence of %s: %.2f to %.2f", c.title, c.Old, c.New)
	if c.Old == c.New {
		summary = fmt.Sprintf("Confidence of %s: %.2f, unchanged", c.title, c.New)
	}
	return tool.Preview{
		Summary: summary,
		Details: map[string]any{"node_id": c.NodeID, "old_confidence": c.Old, "new_confidence": c.New, "reasoning": c.Reasoning, "factors": c.Factors},
	}
}

// View lists the factors.
func (c NodeConfidence) View() tool.View {
	v := tool.View{Text: fmt.Sprintf("%s: %.2f, was %.2f\n%s\n", c.NodeID, c.New, c.Old, c.Reasoning)}
	if len(c.Factors) > 0 {
		v.Head = []string{"impact", "factor", "edge"}
	}
	for _, f := range c.Factors {
		v.Rows = append(v.Rows, []string{f.Impact, f.Factor, f.EdgeID})
	}
	return v
}
