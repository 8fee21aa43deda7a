package judge

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"lore/internal/graph/stance"
	"lore/internal/note/summarize"
)

// An Explanation says what a relation is about.
type Explanation struct {
	Summary  string   `json:"summary"`
	Evidence []string `json:"evidence"` // from the notes of the relation and the first text
	Strength string   `json:"strength"` // strong, moderate or weak
	Basis    Basis    `json:"basis"`
}

// The strengths of a relation.
const (
	Strong   = "strong"
	Moderate = "moderate"
	Weak     = "weak"
)

var strengths = []string{Strong, Moderate, Weak}

// Explain says why from relates to to as somebody stated it, with what notes,
// and how well the texts bear it out.
func (j Judge) Explain(ctx context.Context, from, to Doc, relationType, notes string) Explanation {
	basis := Basis{Method: ByCues}
	if j.Model != nil && !from.empty() && !to.empty() {
		e, used, err := ask(ctx, j, aboutExplanation(from, to, relationType, notes), readExplanation)
		if err == nil {
			e.Basis = used
			return e
		}
		basis = used
		j.fellBack(&basis, ByCues, "explanation", err)
	}
	e := explained(from, to, relationType, notes)
	e.Basis = basis
	return e
}

func aboutExplanation(from, to Doc, relationType, notes string) question {
	q := question{
		task: fmt.Sprintf("Somebody stated that note A %s note B. Explain the connection in one or two sentences, quote what in the notes bears it out, and say how strong it is.", safeName(relationType)),
		schema: map[string]any{
			"summary":  text("At most 300 characters."),
			"evidence": listOf(3, "Short passages of the notes, word for word; none if there are none."),
			"strength": oneOf(strengths, "How well the notes bear the stated connection out."),
		},
		blocks: []block{{"note A", from, MaxText}, {"note B", to, MaxText}},
	}
	if strings.TrimSpace(notes) != "" {
		q.blocks = append(q.blocks, block{"remark on the connection", Doc{Text: notes}, 1000})
	}
	return q
}

func readExplanation(f fields) (e Explanation, err error) {
	if e.Strength, err = f.choice("strength", strengths); err != nil {
		return e, err
	}
	if e.Evidence, err = f.list("evidence", 3, maxPoint); err != nil {
		return e, err
	}
	e.Summary, err = f.str("summary", 300)
	return e, err
}

// explained says what can be said without a model: what was stated, what the
// words of the texts bear out, and the sentences that are nearest to the other.
func explained(from, to Doc, relationType, notes string) Explanation {
	typ := spelled(relationType)
	s := stance.Between(from.words(), to.words(), 0)
	said := fmt.Sprintf("%q %s %q", name(from), strings.ToLower(strings.ReplaceAll(typ, "_", " ")), name(to))
	var e Explanation
	switch {
	case opposed(typ, s):
		e.Strength = Weak
		e.Summary = said + ", but its words say otherwise: " + s.Reasoning
	case s.Type == typ && typ != stance.RelatesTo:
		e.Strength = Moderate
		if s.Confidence >= 0.65 {
			e.Strength = Strong
		}
		e.Summary = said + ": " + s.Reasoning
	default:
		e.Strength = Weak
		if stance.Overlap(from.words(), to.words()) >= 0.1 {
			e.Strength = Moderate
		}
		e.Summary = said + ": " + s.Reasoning
	}
	e.Summary = fit(e.Summary, 300)
	if n := fit(notes, maxPoint); n != "" {
		e.Evidence = append(e.Evidence, n)
	}
	near := summarize.Of(from.Text, summarize.Options{Max: maxPoint, Title: to.words(), Points: -1})
	if near.Summary != "" && !slices.Contains(e.Evidence, near.Summary) {
		e.Evidence = append(e.Evidence, near.Summary)
	}
	return e
}

// opposed reports whether the words say the contrary of what was stated.
func opposed(typ string, s stance.Suggestion) bool {
	return typ == stance.Supports && s.Type == stance.Contradicts || typ == stance.Contradicts && s.Type == stance.Supports
}

func name(d Doc) string {
	if d.Title != "" {
		return summarize.Shorten(oneLine(d.Title), 80)
	}
	return summarize.Of(d.Text, summarize.Options{Max: 60, Points: -1}).Summary
}
