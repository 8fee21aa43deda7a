package knowledge

import (
	"context"

	"lore/internal/graph"
	"lore/internal/graph/confidence"
	"lore/internal/graph/judge"
	"lore/internal/graph/stance"
	"lore/internal/index"
	"lore/internal/llm"
)

// Basis says how an answer was made.
type Basis struct {
	// Method is "model", or without one "extractive" for summaries and "cues" for types; "formula" for a calculation, "stated" for what the caller said.
	Method string `json:"method"`
	// Model that was asked.
	Model string `json:"model,omitempty"`
	// Usage is what the model used.
	Usage *llm.Usage `json:"usage,omitempty"`
	// Fallback says why the model's answer was not used.
	Fallback string `json:"fallback,omitempty"`
}

// Spent is what the model used.
func (b Basis) Spent() (tokens int, cost float64) {
	if b.Usage == nil {
		return 0, -1
	}
	cost = -1
	if b.Usage.CostUSD != nil {
		cost = *b.Usage.CostUSD
	}
	return b.Usage.In + b.Usage.Out, cost
}

func basisOf(b judge.Basis) Basis { return Basis(b) }

// docOf is a node as it is judged.
func docOf(n *node) judge.Doc {
	return judge.Doc{Path: n.Path, Title: n.row.Title, Text: says(n.Note), Type: typeOf(&n.row)}
}

// doc reads a node for judging.
func (env Env) doc(ctx context.Context, row *index.Row) (judge.Doc, error) {
	n, err := env.read(ctx, *row)
	if err != nil {
		return judge.Doc{}, err
	}
	return docOf(n), nil
}

// ordinary is the cosine of two texts about one thing that say nothing of each
// other: below it, likeness speaks against a relation.
const ordinary = 0.35

// compare adds what the texts of both ends of a relation say to what is known
// around it.
func (env Env) compare(ctx context.Context, s *confidence.Structure, e *graph.Edge, from *node, to *index.Row) error {
	other, err := env.doc(ctx, to)
	if err != nil {
		return err
	}
	own := docOf(from)
	near, err := env.similarity(ctx, own, other)
	if err != nil {
		return err
	}
	alike := 0.0
	if near != nil {
		alike = *near
		scaled := 0.5 * alike / ordinary
		if alike > ordinary {
			scaled = 0.5 + 0.5*(alike-ordinary)/(1-ordinary)
		}
		s.Similarity = &scaled
	}
	lean := stance.Between(own.Title+". "+own.Text, other.Title+". "+other.Text, alike).Lean
	switch e.Type {
	case "SUPPORTS":
		s.Cue = &lean
	case "CONTRADICTS":
		lean = -lean
		s.Cue = &lean
	}
	return nil
}

// suggest chooses a type from what the two nodes say.
func (r *RelationshipReclassified) suggest(ctx context.Context, env Env, from *node, to *index.Row) error {
	other, err := env.doc(ctx, to)
	if err != nil {
		return err
	}
	near, err := env.similarity(ctx, docOf(from), other)
	if err != nil {
		return err
	}
	var s float64
	if near != nil {
		s = *near
	}
	v := env.Judge.Relation(ctx, docOf(from), other, s)
	sure := confidence.Round(v.Confidence)
	r.guides = []string{from.Path, to.File.Path}
	r.NewType, r.Confidence, r.Reasoning, r.Basis = v.Type, &sure, v.Reasoning, basisOf(v.Basis)
	return nil
}
