// Package search finds notes: by their words, by what they mean, by their names
// and by what they are linked to, in one ranking that can explain itself. It
// reads the index and the model it is given; it opens no file and knows no
// tool.
package search

import (
	"context"
	"time"

	"lore/internal/embed"
	"lore/internal/fault"
	"lore/internal/index"
)

// A Mode says what a search looks at.
type Mode string

// The modes of a search.
const (
	Hybrid   Mode = "hybrid"   // words and meaning
	Lexical  Mode = "lexical"  // words only
	Semantic Mode = "semantic" // meaning only
)

// A Searcher answers questions about one index.
type Searcher struct {
	Store   index.Store
	Model   embed.Model // nil when there is none: then every search is lexical
	Weights Weights     // the zero value means DefaultWeights
	Now     func() time.Time
}

// Options narrow a question. The zero value asks for ten notes, by words and
// meaning, in the whole vault.
type Options struct {
	Mode    Mode
	Limit   int
	Offset  int
	Filter  index.Filter // beside what the query itself says
	Explain bool
	// Partial says that the index lacks notes, so that nothing is called unknown.
	Partial bool
}

// An Answer is a ranked list of notes.
type Answer struct {
	Hits []Hit
	// Mode is what was really looked at: a hybrid search of a vault without
	// vectors is a lexical one.
	Mode Mode
	// Note tells people what they should know about the answer: that a name
	// was forgiven a typing mistake, that not all passages have vectors yet.
	Notes []string
	// Unknown are the names in the filter that nothing has; Notes say so too.
	Unknown []Unknown
	// Meaning is how much of the vault can be found by meaning.
	Meaning Coverage
	More    bool // there are further hits
}

// Coverage counts passages.
type Coverage struct {
	Embedded int `json:"embedded"`
	Passages int `json:"passages"`
}

// A Hit is one note of an answer, with the passage that fits best.
type Hit struct {
	Path     string
	Title    string
	Heading  string // of the passage
	Line     int
	Passage  string // as written
	Excerpt  string // the best part of it, as a reader sees it
	Marks    []Mark // what of the excerpt was asked for
	Score    float64
	Cosine   float32 // of the passage nearest in meaning; 0 when it was not compared
	Why      []Reason
	Tags     []string
	Modified time.Time

	id    int64
	seq   int // of the passage nearest in meaning; -1 when there is none
	place int // the best it has in any ranking, from 0
	asked *asked
}

// A Mark is a range of bytes.
type Mark struct{ Start, End int }

// A Reason is one part of a score.
type Reason struct {
	Kind   string  `json:"kind"` // "words", "meaning", "name", "link"
	Points float64 `json:"points"`
	Detail string  `json:"detail"`
}

// Parse reads a question written in the query language (see [Parse]).
func (s *Searcher) Parse(text string) (Query, error) {
	now := time.Now
	if s.Now != nil {
		now = s.Now
	}
	return Parse(text, now())
}

// Find answers a question written in the query language (see [Parse]).
func (s *Searcher) Find(ctx context.Context, text string, o Options) (Answer, error) {
	q, err := s.Parse(text)
	if err != nil {
		return Answer{}, err
	}
	return s.Ask(ctx, q, o)
}

// Ask answers a parsed question.
func (s *Searcher) Ask(ctx context.Context, q Query, o Options) (Answer, error) {
	if o.Limit <= 0 {
		o.Limit = 10
	}
	switch o.Mode {
	case "":
		o.Mode = Hybrid
	case Hybrid, Lexical, Semantic:
	default:
		return Answer{}, fault.Field("mode", "use hybrid, lexical or semantic", "unknown mode %q", o.Mode)
	}
	if s.Model == nil {
		if o.Mode == Semantic {
			return Answer{}, fault.Fix(fault.Unavailable, "search with mode lexical, or set embed.model", "semantic search is off: no embedding model is set")
		}
		o.Mode = Lexical
	}
	r := &run{s: s, q: q.bounded(), o: o, w: s.Weights.orDefault(), filter: both(q.Conditions(), o.Filter), hits: map[int64]*Hit{}}
	if len(r.q.Words) < len(q.Words) {
		r.note("only the first %d words of the query were used", len(r.q.Words))
	}
	if o.Partial {
		return r.answer(ctx)
	}
	unknown, err := Unknowns(ctx, s.Store, r.filter)
	if err != nil {
		return Answer{}, err
	}
	r.out.Unknown, r.out.Notes = unknown, append(r.out.Notes, Hints(unknown)...)
	return r.answer(ctx)
}

// both joins the filter of the query with that of the caller.
func both(query, caller index.Filter) index.Filter {
	query.And = caller.And
	caller.And = &query
	return caller
}
