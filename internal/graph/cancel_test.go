package graph_test

import (
	"context"
	"fmt"
	"testing"

	"lore/internal/graph"
	"lore/internal/index"
	"lore/internal/index/indextest"
)

// TestWorkEndsWithItsCaller: a question about a large graph ends when nobody
// waits for its answer, also while it works on what the index said.
func TestWorkEndsWithItsCaller(t *testing.T) {
	var files []string
	for i := range 400 {
		files = append(files, fmt.Sprintf("n%d.md", i), fmt.Sprintf("[[n%d]] [[n%d]] [[n0]]\n\n- supports:: [[n%d]]\n", i+1, i+2, i+1))
	}
	s := store(t, files...)
	hop := graph.Hop{Links: true}
	for name, work := range map[string]func(context.Context, index.Store) error{
		"load":      func(ctx context.Context, s index.Store) error { _, err := graph.Load(ctx, s); return err },
		"forward":   func(ctx context.Context, s index.Store) error { _, err := graph.Forward(ctx, s, "n1.md"); return err },
		"backlinks": func(ctx context.Context, s index.Store) error { _, err := graph.Backlinks(ctx, s, "n0.md"); return err },
		"around": func(ctx context.Context, s index.Store) error {
			_, err := graph.Around(ctx, s, "n5.md", 3, 1000, hop)
			return err
		},
		"way": func(ctx context.Context, s index.Store) error {
			_, err := graph.Way(ctx, s, "n5.md", "n350.md", 30, hop)
			return err
		},
		"all": func(ctx context.Context, s index.Store) error { _, err := graph.All(ctx, s, hop); return err },
	} {
		t.Run(name, func(t *testing.T) { indextest.Interrupt(t, s, work) })
	}
}
