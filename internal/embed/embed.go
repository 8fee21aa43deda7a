// Package embed is the contract for turning text into vectors. Its child
// packages implement it: the built-in model, and models behind a server.
// Nothing here knows notes, an index or a tool.
package embed

import "context"

// A Role tells a model whether a text is looked for or looked through. Models
// trained with prefixes need to know; the built-in one treats both alike.
type Role int

// The two roles of a text.
const (
	Passage Role = iota
	Query
)

// A Model turns texts into vectors of one space.
//
// Implementations are safe for concurrent use.
type Model interface {
	// ID names the space: vectors of different ids are never compared. It
	// changes whenever the numbers would, so it carries the model, its
	// precision and the revision of the code that runs it.
	ID() string
	// Dim is the length of every vector. It is 0 as long as nobody can know:
	// a model behind a server says it with its first answer.
	Dim() int
	// MaxWords is how many words of English a text may have before the model
	// stops reading it.
	MaxWords() int
	// Embed returns one vector of length 1 (L2) for each text, in order. An
	// empty text gives a vector too. It either embeds all texts or fails, and
	// stops soon after ctx ends. It starts no goroutines: a caller that wants
	// several cores, or several requests at a time, calls it from several.
	Embed(ctx context.Context, role Role, texts []string) ([][]float32, error)
}
