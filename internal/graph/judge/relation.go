package judge

import (
	"context"

	"lore/internal/graph/stance"
)

// A Verdict is how one note relates to another.
type Verdict struct {
	Type       string  `json:"type"`
	Confidence float64 `json:"confidence"` // 0 to 1
	Lean       float64 `json:"lean"`       // -1 contradicts, 1 supports
	Reasoning  string  `json:"reasoning"`
	Basis      Basis   `json:"basis"`
}

// Relation says how a relates to b. Similarity is their likeness by meaning, 0
// when not known.
func (j Judge) Relation(ctx context.Context, a, b Doc, similarity float64) Verdict {
	basis := Basis{Method: ByCues}
	if j.Model != nil && !a.empty() && !b.empty() {
		v, used, err := ask(ctx, j, j.aboutRelation(a, b), j.readRelation)
		if err == nil {
			v.Basis = used
			return v
		}
		basis = used
		j.fellBack(&basis, ByCues, "relation", err)
	}
	s := stance.Between(a.words(), b.words(), similarity)
	return Verdict{s.Type, s.Confidence, s.Lean, s.Reasoning, basis}
}

func (j Judge) aboutRelation(a, b Doc) question {
	return question{
		task: `How does note A relate to note B? Choose the most specific type that holds; the direction is from A to B. SUPPORTS: A gives reasons to believe B. CONTRADICTS: both
cannot hold, or A gives reasons against B. CITES: A refers to B as a source. DERIVED_FROM: A was made from B. PART_OF: A is a part or a kind of B. CAUSES: what A describes brings
about what B describes. SIMILAR_TO: both say nearly the same. RELATES_TO: none of these. Any other type means what its name says.`,
		schema: map[string]any{
			"reasoning":  text("Why, in one or two sentences."),
			"type":       oneOf(j.types(), "How A relates to B."),
			"lean":       number(-1, 1, "-1: A speaks against B, 0: neither, 1: A speaks for B."),
			"confidence": number(0, 1, "How sure you are of the type."),
		},
		blocks: []block{{"note A", a, MaxText}, {"note B", b, MaxText}},
	}
}

func (j Judge) readRelation(f fields) (v Verdict, err error) {
	if v.Type, err = f.choice("type", j.types()); err != nil {
		return v, err
	}
	if v.Confidence, err = f.num("confidence", 0, 1); err != nil {
		return v, err
	}
	if v.Lean, err = f.num("lean", -1, 1); err != nil {
		return v, err
	}
	if v.Type == stance.Supports && v.Lean < 0 || v.Type == stance.Contradicts && v.Lean > 0 {
		return v, problem(`"lean" has the wrong sign for the type`)
	}
	v.Reasoning, err = f.str("reasoning", maxReasoning)
	return v, err
}

// A Stance is what a text says about a claim.
type Stance struct {
	Kind      string  `json:"kind"`  // supporting, contradicting or neutral
	Score     float64 `json:"score"` // 0 to 1: how sure to be of the kind
	Reasoning string  `json:"reasoning"`
	Basis     Basis   `json:"basis"`
}

var kinds = []string{stance.Supporting, stance.Contradicting, stance.Neutral}

// Stance says what a text, found anywhere, says about a claim.
func (j Judge) Stance(ctx context.Context, claim, found Doc, similarity float64) Stance {
	basis := Basis{Method: ByCues}
	if j.Model != nil && !claim.empty() && !found.empty() {
		s, used, err := ask(ctx, j, aboutStance(claim, found), readStance)
		if err == nil {
			s.Basis = used
			return s
		}
		basis = used
		j.fellBack(&basis, ByCues, "stance", err)
	}
	s := stance.StanceOf(claim.words(), found.words(), similarity)
	return Stance{s.Kind, s.Score, s.Reasoning, basis}
}

func aboutStance(claim, found Doc) question {
	return question{
		task: `Does the text give evidence for the claim, against it, or neither? Judge only what the text says, not what you know. A text about something else is neutral.`,
		schema: map[string]any{
			"reasoning": text("Why, in one sentence."),
			"kind":      oneOf(kinds, "What the text says about the claim."),
			"score":     number(0, 1, "How sure you are of the kind."),
		},
		blocks: []block{{"claim", claim, MaxText}, {"text", found, MaxText}},
	}
}

func readStance(f fields) (s Stance, err error) {
	if s.Kind, err = f.choice("kind", kinds); err != nil {
		return s, err
	}
	if s.Score, err = f.num("score", 0, 1); err != nil {
		return s, err
	}
	s.Reasoning, err = f.str("reasoning", maxReasoning)
	return s, err
}
