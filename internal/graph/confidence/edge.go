package confidence

import (
	"fmt"
	"math"
)

// A Structure is what is known around one relation. What is nil or zero is
// unknown and counts nothing, except in Parallel and Opposing, where nil is a
// relation without a stated confidence.
type Structure struct {
	Relation   string     // decides what agreement of the ends means
	From, To   *float64   // confidences of both ends
	Parallel   []*float64 // other relations between the same notes that say the same
	Opposing   []*float64 // and those that say the opposite
	Shared     int        // notes that both ends are connected with
	Similarity *float64   // of the two texts, 0 to 1; 0.5 is an ordinary pair of notes
	Cue        *float64   // how clearly the words say this relation, 1, or its opposite, -1
}

// halfShared is how many shared neighbours give half of what any number can.
const halfShared = 2

// Edge judges a relation by what is around it. As for Node, old is how sure one
// was before any of this was counted.
func Edge(old *float64, s Structure) Result {
	var pieces []piece
	add := func(words, source string, weight float64) {
		if weight != 0 {
			pieces = append(pieces, piece{words: words, source: source, weight: weight})
		}
	}
	if a := Agreement(s.Relation, s.From, s.To); a > 0 {
		add("the confidences of both ends agree with it", "", testimony(weak, a))
	} else {
		add("the confidences of both ends disagree with it", "", -testimony(weak, -a))
	}
	for _, c := range s.Parallel { // one hand often writes them all: one source
		add("another relation between them says the same", "parallel", testimony(weak, value(c)))
	}
	for _, c := range s.Opposing { // both cannot be right, whoever wrote them
		add("another relation between them says the opposite", "opposing", -testimony(strong, value(c)))
	}
	if n := float64(s.Shared); n > 0 {
		words := fmt.Sprintf("they share %d neighbors", s.Shared)
		if s.Shared == 1 {
			words = "they share 1 neighbor"
		}
		add(words, "", testimony(weak, n/(n+halfShared)))
	}
	if s.Similarity != nil {
		// Signed like Cue: below an ordinary pair is a hint against.
		add("similarity of their texts", "", signed(weak, 2*value(s.Similarity)-1))
	}
	if s.Cue != nil && !math.IsNaN(*s.Cue) {
		add("the words beside it", "", signed(strong, min(max(*s.Cue, -1), 1)))
	}
	return conclude(old, pieces, 0)
}

// Agreement is how well the confidences of both ends fit a relation, -1 to 1: a
// note and what it supports are believed together, a note and what it
// contradicts are not. Unknown ends, and relations that say nothing about
// truth, give 0.
func Agreement(relation string, from, to *float64) float64 {
	a := (2*value(from) - 1) * (2*value(to) - 1)
	switch canonical(relation) {
	case "supports", "cites", "derived_from":
		return a
	case "contradicts":
		return -a
	}
	return 0
}

// signed is testimony in the direction of the sign of q.
func signed(ratio, q float64) float64 {
	return math.Copysign(testimony(ratio, math.Abs(q)), q)
}
