// Package builtin is the model that comes with the program, so that search by
// meaning works without a server, a key or a download: all-MiniLM-L6-v2 with
// int8 weights, for English. It owns the file and nothing else; package bert
// runs it.
package builtin

import (
	"context"
	_ "embed" // the model file
	"sync"

	"lore/internal/embed"
	"lore/internal/embed/bert"
)

// file is about 23 MB of the binary, of which the system reads only what is
// used. It is a string because it must not change.
//
//go:embed minilm.lore
var file string

// What the file says about itself, so that asking needs no loading. A test
// compares.
const (
	id       = "all-minilm-l6-v2/int8/1"
	dim      = 384
	maxWords = 200
)

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
func (m *Model) ID() string { return id }

// Dim is the length of the vectors.
func (m *Model) Dim() int { return dim }

// MaxWords is how many words of English are read of a text.
func (m *Model) MaxWords() int { return maxWords }

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
