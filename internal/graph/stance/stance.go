// Package stance says how two texts are related by the words that stand in them,
// without a model: words that take a side, praise or blame, denials, opposites,
// and phrases that name a relation ("leads to", "according to"). Its lexicons
// are small and English; of texts in other languages it only knows the likeness
// that the caller hands over, and answers with the weakest relation.
//
// It is a guess and says so: every answer names the words it rests on and a
// confidence that was measured where it could be (bench/README.md, Knowledge).
// Everything is deterministic, and linear in the first 16 KB of each text.
package stance

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// The types of relations that can be suggested.
const (
	RelatesTo   = "RELATES_TO"
	Supports    = "SUPPORTS"
	Contradicts = "CONTRADICTS"
	Cites       = "CITES"
	DerivedFrom = "DERIVED_FROM"
	PartOf      = "PART_OF"
	Causes      = "CAUSES"
	SimilarTo   = "SIMILAR_TO"
)

// A Suggestion is how one text relates to another.
type Suggestion struct {
	Type       string
	Confidence float64 // 0 to 1: how sure to be of the type
	Lean       float64 // -1 contradicts, 1 supports; also where the type is another
	Reasoning  string
}

// A Stance is what a text says about a claim.
type Stance struct {
	Kind      string  // "supporting", "contradicting" or "neutral"
	Score     float64 // 0 to 1: how sure to be of the kind
	Reasoning string
}

// The kinds of stances.
const (
	Supporting    = "supporting"
	Contradicting = "contradicting"
	Neutral       = "neutral"
)

// Thresholds of likeness and of leaning.
const (
	alike   = 0.88 // likeness from which nine of ten pairs say mostly the same
	nearby  = 0.30 // likeness that one of twenty pairs of strangers reaches; a leaning below it needs shared words
	leaning = 0.20 // the least leaning that makes a type
	overlap = 0.60 // shared part of the shorter text from which single words decide

	statement = 4 // words from which the first sentence of a text is more than its title
)

// Between suggests how a relates to b. The texts are plain, with the title
// first; similarity is their likeness by meaning (cosine), 0 when not known.
func Between(a, b string, similarity float64) Suggestion {
	similarity = fraction(similarity)
	p := compare(a, b)
	lean, why, told := p.lean()
	s := Suggestion{Type: RelatesTo, Lean: lean, Confidence: 0.3 + 0.4*similarity}
	s.Reasoning = p.common(similarity)
	near := similarity >= nearby || len(p.shared) > 0
	if c, ok := p.clash(); ok {
		return Suggestion{Contradicts, 0.7, min(lean, -0.6), c}
	}
	if n, ok := p.named(); ok {
		n.Lean = lean
		if n.Type == Supports || n.Type == Contradicts {
			n.Lean = map[string]float64{Supports: max(lean, 0.6), Contradicts: min(lean, -0.6)}[n.Type]
		}
		return n
	}
	if p.same(similarity) {
		return Suggestion{SimilarTo, max(similarity, 0.8), lean, "both say nearly the same" + p.numbers()}
	}
	if told && near && math.Abs(lean) >= leaning {
		s.Type, s.Reasoning = Supports, why
		if lean < 0 {
			s.Type = Contradicts
		}
		s.Confidence = sureness(lean)
	}
	return s
}

// StanceOf says what a text says about a claim, as evidence found elsewhere.
func StanceOf(claim, text string, similarity float64) Stance {
	similarity = fraction(similarity)
	p := compare(text, claim)
	lean, why, told := p.lean()
	sure := sureness(lean)
	if !told {
		lean = 0
	}
	if c, ok := p.clash(); ok {
		lean, why, sure = -1, c, 0.7
	} else if n, ok := p.named(); ok && n.Type == Contradicts {
		lean, why, sure = -1, n.Reasoning, n.Confidence
	} else if ok && n.Type == Supports || p.same(similarity) {
		lean, why, sure = 1, "says nearly the same", 0.7
		if ok {
			why, sure = n.Reasoning, n.Confidence
		}
	}
	switch {
	case len(p.shared) == 0 && similarity < nearby:
		return Stance{Neutral, 0.7, "the text is about something else"}
	case math.Abs(lean) < leaning:
		return Stance{Neutral, 0.5, "no word is for or against it; " + p.common(similarity)}
	case lean < 0:
		return Stance{Contradicting, sure, why}
	}
	return Stance{Supporting, sure, why}
}

func fraction(x float64) float64 {
	if math.IsNaN(x) {
		return 0
	}
	return min(max(x, 0), 1)
}

// sureness is how often a leaning of this strength was right.
func sureness(lean float64) float64 { return 0.5 + 0.25*math.Abs(lean) }

// A pair is two texts side by side.
type pair struct {
	a, b   []sentence
	head   sentence          // what b says first: one sentence, since a title often says it again
	roots  map[string]bool   // of it and of the title
	about  []sentence        // of a, what is most about b
	shared map[string]string // roots that about shares with head, with the word of a
	text   [2]string         // as given
}

func compare(a, b string) *pair {
	p := &pair{a: read(a), b: read(b), text: [2]string{clip(a), clip(b)}, roots: map[string]bool{}, shared: map[string]string{}}
	for _, s := range p.b[:min(len(p.b), 3)] {
		for _, t := range s {
			if t.root != "" {
				p.roots[t.root] = true
			}
		}
		if len(s) > len(p.head) {
			p.head = s
		}
		if len(s) >= statement {
			break
		}
	}
	p.about = p.closest(3)
	for _, s := range p.about {
		for _, t := range s {
			if p.roots[t.root] && p.shared[t.root] == "" {
				p.shared[t.root] = t.text
			}
		}
	}
	return p
}

// closest are the sentences of a that share most words with what b says, in
// their order; the first of a where none shares any.
func (p *pair) closest(count int) []sentence {
	if len(p.a) <= count {
		return p.a
	}
	hits := make([]int, len(p.a))
	order := make([]int, len(p.a))
	for i, s := range p.a {
		order[i] = i
		for _, t := range s {
			if p.roots[t.root] {
				hits[i]++
			}
		}
	}
	slices.SortStableFunc(order, func(x, y int) int { return hits[y] - hits[x] })
	order = order[:count]
	for len(order) > 1 && hits[order[len(order)-1]] == 0 {
		order = order[:len(order)-1]
	}
	slices.Sort(order)
	var out []sentence
	for _, i := range order {
		out = append(out, p.a[i])
	}
	return out
}

// lean is how much a speaks for b: what a feels about the subject, times the
// side that b takes. It is told when both do say something, and b is an opinion.
func (p *pair) lean() (lean float64, why string, told bool) {
	side, sided, told := position(p.head)
	skip := make(map[string]bool, len(p.shared))
	for r := range p.shared {
		skip[r] = true
	}
	sum := 0.0
	var felt []string
	for _, s := range p.about {
		v, words := feelings(s, skip)
		sum += v
		felt = append(felt, words...)
	}
	if sum == 0 {
		return 0, "", false
	}
	lean = side * squash(sum)
	tone, verdict := "well", "agrees with"
	if sum < 0 {
		tone = "ill"
	}
	if lean < 0 {
		verdict = "goes against"
	}
	why = fmt.Sprintf("speaks %s of it (%s), which %s it", tone, quoted(felt), verdict)
	if len(sided) > 0 {
		why += fmt.Sprintf("; it takes its side with %s", quoted(sided))
	}
	return lean, why, told && isOpinion(p.head)
}

// common says what the texts have in common.
func (p *pair) common(similarity float64) string {
	var words []string
	for _, t := range p.head {
		if w := p.shared[t.root]; t.root != "" && w != "" && !slices.Contains(words, w) {
			words = append(words, w)
		}
	}
	switch {
	case len(words) > 0:
		return "both mention " + quoted(words)
	case similarity >= nearby:
		return fmt.Sprintf("their meaning is alike (%.2f)", similarity)
	}
	return "nothing stands out"
}

// nearest is the sentence of a with most of the words of b's statement, how many
// they share, and which part that is of the smaller and of the larger of both.
func (p *pair) nearest() (s sentence, shared int, small, large float64) {
	theirs := roots([]sentence{p.head})
	for _, one := range p.about {
		own := roots([]sentence{one})
		both := 0
		for r := range own {
			if theirs[r] {
				both++
			}
		}
		if both == 0 {
			continue
		}
		if l := float64(both) / float64(max(len(own), len(theirs))); l > large {
			s, shared, small, large = one, both, float64(both)/float64(min(len(own), len(theirs))), l
		}
	}
	return s, shared, small, large
}

// same reports whether the texts say the same: by meaning, and with no number
// that differs.
func (p *pair) same(similarity float64) bool { return similarity >= alike && p.numbers() == "" }

// numbers tells which numbers stand in one of the texts alone.
func (p *pair) numbers() string {
	a, b := digits(p.about), digits([]sentence{p.head})
	for _, n := range a {
		if !slices.Contains(b, n) && len(b) > 0 {
			return fmt.Sprintf(", but with other numbers (%s)", strings.Join(a, ", "))
		}
	}
	return ""
}

func digits(list []sentence) []string {
	var out []string
	for _, s := range list {
		for _, t := range s {
			if t.text[0] >= '0' && t.text[0] <= '9' {
				out = append(out, t.text)
			}
		}
	}
	return out
}
