// Package confidence says how sure to be of a note or of a relation, given what
// speaks for it and against it. It owns one formula, which docs/confidence.md
// derives and shows with numbers. It knows no vault, no index and no model: the
// caller hands it numbers, and it looks one step far.
package confidence

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// The constants of the formula. docs/confidence.md gives the reason of each.
const (
	Prior = 0.5  // of what states no confidence
	Floor = 0.01 // nothing is impossible
	Ceil  = 0.99 // nothing is certain

	// bound is the most that all evidence together can move the log-odds: from
	// Prior to Ceil, and no further.
	bound = 4.59511985013459 // ln(0.99 / 0.01)

	strong = 4.0 // likelihood ratio of one certain support or contradiction
	weak   = 2.0 // of one certain citation, or of a hint about a relation
	repeat = 0.5 // what each further piece from one source counts of the one before
)

// An Evidence is one relation between the note that is judged and a neighbour.
type Evidence struct {
	Edge           string   // id of the relation; may be empty
	Relation       string   // supports, contradicts, cites, derived_from; others count nothing
	Incoming       bool     // the neighbour states it about the judged note
	EdgeConfidence *float64 // nil: unknown, Prior
	NodeConfidence *float64 // of the neighbour, as it stands; nil: unknown, Prior
	Source         string   // shared by what is not independent: the source both cite, the note both stand in; "": alone
	Title          string   // of the neighbour, for the words of a factor
}

// A Factor is one reason why a confidence changed.
type Factor struct {
	Factor string  // in words
	Impact string  // Delta for people: "+0.12"
	Edge   string  // the relation it comes from, if it comes from one
	Delta  float64 // its part of New - Old
}

// A Result is a confidence and why. The deltas of Factors add up to New - Old.
type Result struct {
	Old, New  float64 // not rounded; see Round
	Known     bool    // Old was stated; otherwise it is Prior
	Factors   []Factor
	Reasoning string
}

// Node judges a note. prior is how sure one was before any of the evidence was
// counted: whoever stores New as the note's confidence keeps prior beside it,
// or the same evidence is counted again the next time. Each relation is given
// once; the order does not matter.
func Node(prior *float64, evidence []Evidence) Result {
	var pieces []piece
	silent := 0
	for _, e := range evidence {
		ratio, sign, words := bearing(e.Relation, e.Incoming)
		if sign == 0 {
			silent++
			continue
		}
		p := piece{words: words, edge: e.Edge, source: e.Source}
		if e.Title != "" {
			p.words += fmt.Sprintf(" %q", e.Title)
		}
		if p.source == "" && e.Edge != "" {
			p.source = "\x00" + e.Edge // a relation that is given twice is not independent of itself
		}
		p.weight = sign * testimony(ratio, value(e.EdgeConfidence)*value(e.NodeConfidence))
		pieces = append(pieces, p)
	}
	return conclude(prior, pieces, silent)
}

// bearing says what a relation means for the truth of the judged note: the
// likelihood ratio when it is certain, the direction, and words. Evidence flows
// one way, so that two notes cannot lift each other: a note is not truer because
// of what it supports, nor because it is cited. Contradiction is mutual.
func bearing(relation string, incoming bool) (ratio, sign float64, words string) {
	switch name := canonical(relation); {
	case name == "supports" && incoming:
		return strong, 1, "supported by"
	case name == "contradicts" && incoming:
		return strong, -1, "contradicted by"
	case name == "contradicts":
		return strong, -1, "contradicts"
	case name == "cites" && !incoming:
		return weak, 1, "cites"
	case name == "derived_from" && !incoming:
		return weak, 1, "derived from"
	}
	return 0, 0, ""
}

// canonical makes one spelling of "Derived From", DERIVED-FROM and derived_from.
func canonical(relation string) string {
	return strings.NewReplacer("-", "_", " ", "_").Replace(strings.ToLower(strings.TrimSpace(relation)))
}

// testimony is the weight of evidence, in log-odds, of a statement that holds
// with probability q and says nothing otherwise.
func testimony(ratio, q float64) float64 { return math.Log1p(q * (ratio - 1)) }

// value reads a confidence: Prior when there is none, and never outside 0 to 1.
func value(c *float64) float64 {
	if c == nil || math.IsNaN(*c) {
		return Prior
	}
	return min(max(*c, 0), 1)
}

// Round gives a confidence as it is shown and stored: with two decimals.
func Round(c float64) float64 { return math.Round(c*100) / 100 }

// A piece is one weight with what is said about it.
type piece struct {
	words, edge, source string
	weight              float64 // log-odds, signed, as if it stood alone
	counted             float64 // what is left of weight beside others of its source
}

// compare is a total order over everything that shows in a result, the heaviest
// first, which makes sums and words independent of the order of the input.
func compare(a, b piece) int {
	return cmp.Or(
		cmp.Compare(math.Abs(b.weight), math.Abs(a.weight)),
		cmp.Compare(b.weight, a.weight),
		cmp.Compare(a.source, b.source),
		cmp.Compare(a.edge, b.edge),
		cmp.Compare(a.words, b.words),
	)
}

// discount fills in counted: of one source and direction the heaviest piece
// counts whole, each further one repeat times the one before. Pieces of equal
// weight share what they get, so that no order between them is invented.
func discount(pieces []piece) {
	type side struct {
		source  string
		against bool
	}
	groups := map[side][]int{}
	for i, p := range pieces {
		pieces[i].counted = p.weight
		if p.source != "" {
			k := side{p.source, p.weight < 0}
			groups[k] = append(groups[k], i)
		}
	}
	for _, g := range groups {
		for from := 0; from < len(g); {
			to, sum := from, 0.0
			for ; to < len(g) && pieces[g[to]].weight == pieces[g[from]].weight; to++ {
				sum += math.Pow(repeat, float64(to))
			}
			for _, i := range g[from:to] {
				pieces[i].counted = pieces[i].weight * sum / float64(to-from)
			}
			from = to
		}
	}
}

// conclude is the formula: the prior's log-odds, moved by
// bound * (pro - con) / (bound + pro + con), and back to a probability.
func conclude(prior *float64, pieces []piece, silent int) Result {
	slices.SortFunc(pieces, compare)
	discount(pieces)
	var pro, con float64
	for _, p := range pieces {
		pro += max(p.counted, 0)
		con += max(-p.counted, 0)
	}
	r := Result{Old: value(prior), Known: prior != nil && !math.IsNaN(*prior)}
	start := min(max(r.Old, Floor), Ceil)
	scale := bound / (bound + pro + con)
	shift := scale * (pro - con)
	moved := sigmoid(logit(start) + shift)
	r.New = min(max(moved, Floor), Ceil)
	if shift == 0 {
		moved, r.New = start, start // not a rounding error away from it
	}
	r.Factors = factors(r, pieces, start, moved, shift, scale)
	r.Reasoning = reasoning(r, pieces, silent)
	return r
}

// factors divides the change among the pieces in proportion to the log-odds
// that each adds: the slope between start and end turns log-odds into
// confidence, the same for all, so the parts add up whatever the order.
func factors(r Result, pieces []piece, start, moved, shift, scale float64) []Factor {
	slope := start * (1 - start)
	if shift != 0 {
		slope = (moved - start) / shift
	}
	var out []Factor
	if !r.Known {
		out = append(out, factor("no confidence is stated: starts from 0.5", "", 0))
	}
	for _, p := range pieces {
		out = append(out, factor(p.words, p.edge, p.counted*scale*slope))
	}
	slices.SortStableFunc(out, func(a, b Factor) int {
		return cmp.Compare(math.Abs(b.Delta), math.Abs(a.Delta))
	})
	if kept := (start - r.Old) + (r.New - moved); kept != 0 {
		out = append(out, factor("kept between 0.01 and 0.99", "", kept))
	}
	return out
}

func factor(words, edge string, delta float64) Factor {
	return Factor{Factor: words, Impact: fmt.Sprintf("%+.2f", delta), Edge: edge, Delta: delta}
}

func logit(p float64) float64   { return math.Log(p / (1 - p)) }
func sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }
