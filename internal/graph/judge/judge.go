// Package judge answers questions about nodes and relations that need judgment:
// how two notes are related, what a text says about a claim, what a note says in
// short. It asks a language model where one is connected, checks the answer
// strictly, and falls back on the packages summarize and stance where there is none or its answer is
// of no use; every answer says which it was, what it cost, and why a model was
// not believed.
//
// The text of notes is untrusted: a model gets it in marked blocks, cut to
// MaxText characters each, and is told that it is data. What comes back can only
// be one of the known types, numbers in their range and plain text of bounded
// length. One question is one request, and at the most one more that says what
// was wrong with the first answer.
//
// It knows no vault, no index, no provider and no tool.
package judge

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"time"

	"lore/internal/graph/stance"
	"lore/internal/llm"
	"lore/internal/note"
	"lore/internal/note/summarize"
)

// Limits of one question.
const (
	MaxText       = 6000  // characters of one text that a model gets to read
	MaxNeighbours = 20    // texts beside it
	maxBeside     = 18000 // characters of all of them together
	maxAnswer     = 1500  // tokens of an answer
	maxReasoning  = 400   // characters of a reason
	maxPoints     = 5
	maxPoint      = 200 // characters of a key point

	patience = time.Minute
)

// A Judge answers with the help of a model, or without.
type Judge struct {
	Model llm.Model    // nil: none
	Log   *slog.Logger // nil: none
	// Memory keeps answers of the model; nil: every question is asked again.
	Memory *Memory
	// MaySend refuses to give the text of notes to the model, by their paths; nil
	// allows it.
	MaySend func(ctx context.Context, model string, notes []string) error
	// Types are relation types beside the built-in ones, which only a model can
	// suggest.
	Types []string
	// Patience is how long one question may take before the answer is found
	// without a model; 0: one minute.
	Patience time.Duration
}

// A Doc is a text that is judged.
type Doc struct {
	Path     string // of the note; "" when it is the text of none
	Title    string
	Text     string // Markdown
	Type     string // of the node: Claim, Source; may be empty
	Relation string // of a neighbour, how it is related: "SUPPORTS"; may be empty
	Incoming bool   // the neighbour states the relation about the judged text
}

// The methods of a Basis.
const (
	ByModel   = "model"
	ByDigest  = "extractive"
	ByCues    = "cues"
	ByNothing = "none" // there was no text
)

// A Basis says what an answer rests on.
type Basis struct {
	Method   string     `json:"method"`
	Model    string     `json:"model,omitempty"`    // that was asked
	Usage    *llm.Usage `json:"usage,omitempty"`    // of all tries, also of those that failed
	Fallback string     `json:"fallback,omitempty"` // why the model's answer was not used
}

// words is a text as a person reads it, with its title first.
func (d Doc) words() string {
	body := note.Plain(d.Text)
	switch {
	case d.Title == "" || strings.HasPrefix(body, d.Title):
		return body
	case body == "":
		return d.Title
	}
	return strings.TrimRight(d.Title, ".!? ") + ". " + body
}

func (d Doc) empty() bool { return strings.TrimSpace(d.Title) == "" && strings.TrimSpace(d.Text) == "" }

func (d Doc) digest() summarize.Doc { return summarize.Doc{Title: d.Title, Text: d.Text} }

// builtinTypes are the types that everybody has.
var builtinTypes = []string{stance.RelatesTo, stance.Supports, stance.Contradicts, stance.Cites, stance.DerivedFrom, stance.PartOf, stance.Causes, stance.SimilarTo}

// types are all types that an answer may name, each once, in their one spelling.
func (j Judge) types() []string {
	out := slices.Clone(builtinTypes)
	for _, t := range j.Types {
		if t = spelled(t); t != "" && !slices.Contains(out, t) {
			out = append(out, t)
		}
	}
	return out
}

// spelled is a type in the spelling of the enum: "part of" is PART_OF.
func spelled(t string) string {
	return strings.ToUpper(strings.NewReplacer(" ", "_", "-", "_").Replace(strings.TrimSpace(t)))
}

// fellBack notes why a model was not believed, without a word of any note.
func (j Judge) fellBack(b *Basis, method, question string, err error) {
	b.Method, b.Fallback = method, summarize.Shorten(oneLine(err.Error()), maxReasoning)
	if j.Log == nil {
		return
	}
	kind := "answer"
	var bad *llm.Error
	switch {
	case errors.As(err, &bad):
		kind = string(bad.Kind)
	case errors.Is(err, context.DeadlineExceeded):
		kind = "timeout"
	case errors.Is(err, context.Canceled):
		kind = "cancelled"
	case errors.Is(err, llm.ErrCut):
		kind = "cut"
	}
	j.Log.Warn("a model's judgment was not used", "question", question, "model", b.Model, "reason", kind)
}
