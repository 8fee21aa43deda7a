// Package builtin is the model that comes with the program, so that search by
// meaning works without a server, a key or a download: lore-embed-22, for
// English and 22 other languages. It owns the file and nothing else; package
// bert runs it. Nothing is known about the file but what it says itself.
package builtin

import (
	"context"
	_ "embed" // the model file
	"sync"

	"lore/internal/embed"
	"lore/internal/embed/bert"
)

// file is about 31 MB of the binary, of which the system reads only what is
// used. It is a string because it must not change.
//
//go:embed model.lore
var file string

// header is read without loading the model.
var header = sync.OnceValue(func() *bert.File {
	f, err := bert.Parse(file)
	if err != nil {
		panic(err) // a test reads it
	}
	return f
})

// A Model is the built-in model. It implements [embed.Model]. Making one costs
// nothing: the file is looked at when Embed is called first, which takes a few
// milliseconds. As with [bert.Model], Embed computes on the goroutine of its
// caller.
type Model struct {
	load func() (*bert.Model, error)
}

// New returns the model.
func New() *Model {
	return &Model{load: sync.OnceValues(func() (*bert.Model, error) {
		return bert.Load(file, bert.Options{})
	})}
}

// ID names the space of the vectors.
func (m *Model) ID() string { return header().Model }

// Dim is the length of the vectors.
func (m *Model) Dim() int { return header().Width }

// MaxWords is how many words of English are read of a text.
func (m *Model) MaxWords() int { return header().MaxWords }

// Embed implements [embed.Model].
func (m *Model) Embed(ctx context.Context, role embed.Role, texts []string) ([][]float32, error) {
	model, err := m.load()
	if err != nil {
		return nil, err
	}
	return model.Embed(ctx, role, texts)
}

// Kernel names the code that does the arithmetic on this CPU, for diagnostics.
// It loads the model.
func (m *Model) Kernel() (string, error) {
	model, err := m.load()
	if err != nil {
		return "", err
	}
	return model.Kernel(), nil
}
