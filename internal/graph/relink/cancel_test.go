package relink_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"lore/internal/graph/relink"
	"lore/internal/index"
	"lore/internal/index/indextest"
	"lore/internal/index/sqlite"
	"lore/internal/note"
)

// TestPlansEndWithTheirCaller: a plan that concerns many notes is given up when
// nobody waits for it.
func TestPlansEndWithTheirCaller(t *testing.T) {
	s, _, err := sqlite.Open(t.Context(), t.TempDir(), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	files := map[string]string{"Tea.md": "# Tea\n\n## Part\n", "Mate.md": "# Mate\n"}
	for i := range 300 {
		files[fmt.Sprintf("n%d.md", i)] = "[[Tea]] [[Tea#Part]]\n"
	}
	var b index.Batch
	for path, text := range files {
		f := index.File{Path: path, Size: int64(len(text)), Hash: index.HashOf([]byte(text))}
		b.Put = append(b.Put, index.NewDocument(f, index.KindNote, note.Parse(path, []byte(text))))
	}
	if err := s.Apply(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	plans := map[string]func(context.Context, *relink.Planner) error{
		"moves": func(ctx context.Context, p *relink.Planner) error {
			_, err := p.Moves(ctx, []relink.Move{{From: "Tea.md", To: "Green tea.md"}})
			return err
		},
		"heading": func(ctx context.Context, p *relink.Planner) error {
			_, err := p.Heading(ctx, "Tea.md", "Part", "Piece")
			return err
		},
		"merge": func(ctx context.Context, p *relink.Planner) error {
			_, err := p.Merge(ctx, "Mate.md", "Tea.md", nil)
			return err
		},
	}
	read := func(_ context.Context, path string) (string, error) { return files[path], nil }
	for name, plan := range plans {
		t.Run(name, func(t *testing.T) {
			indextest.Interrupt(t, s, func(ctx context.Context, s index.Store) error {
				return plan(ctx, &relink.Planner{Store: s, Read: read})
			})
			// In the middle of the files.
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			reads := 0
			err := plan(ctx, &relink.Planner{Store: s, Read: func(ctx context.Context, path string) (string, error) {
				if reads++; reads == 100 {
					cancel()
				}
				return read(ctx, path)
			}})
			if !errors.Is(err, context.Canceled) || reads > 101 {
				t.Errorf("%v after %d files", err, reads)
			}
		})
	}
}
