package indextest

import (
	"context"
	"errors"
	"testing"

	"lore/internal/index"
)

// Interrupt proves that work on a store ends with its caller: it runs the work
// again and again, and cancels it each time after one more answer of the store.
// Every run must return the error of its context, the one that is cancelled
// after the last answer too, when only the memory is left to work on.
func Interrupt(t *testing.T, s index.Store, work func(ctx context.Context, s index.Store) error) {
	t.Helper()
	for n := 1; ; n++ {
		ctx, cancel := context.WithCancel(t.Context())
		it := &interrupting{Store: s, left: n, cancel: cancel}
		err := work(ctx, it)
		cancel()
		if it.left > 0 {
			if n == 1 || err != nil {
				t.Errorf("without a cancellation: %d answers, %v", n-1, err)
			}
			return
		}
		if !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled after answer %d (%s): %v", n, it.last, err)
		}
	}
}

// An interrupting store cancels its caller after some answers.
type interrupting struct {
	index.Store
	left   int
	cancel func()
	last   string // the question that was answered last before
}

func (s *interrupting) answered(what string) {
	if s.left--; s.left == 0 {
		s.last = what
		s.cancel()
	}
}

func (s *interrupting) Notes(ctx context.Context, q index.Select) ([]index.Row, error) {
	defer s.answered("notes")
	return s.Store.Notes(ctx, q)
}

func (s *interrupting) Match(ctx context.Context, q index.Match) ([]index.Scored, error) {
	defer s.answered("match")
	return s.Store.Match(ctx, q)
}

func (s *interrupting) Nearest(ctx context.Context, q index.Near) ([]index.NearPassage, error) {
	defer s.answered("nearest")
	return s.Store.Nearest(ctx, q)
}

func (s *interrupting) Passages(ctx context.Context, q index.PassageQuery) ([]index.Passage, error) {
	defer s.answered("passages")
	return s.Store.Passages(ctx, q)
}

func (s *interrupting) Links(ctx context.Context, q index.LinkQuery) ([]index.Link, error) {
	defer s.answered("links")
	return s.Store.Links(ctx, q)
}

func (s *interrupting) Relations(ctx context.Context, q index.RelationQuery) ([]index.Relation, error) {
	defer s.answered("relations")
	return s.Store.Relations(ctx, q)
}

func (s *interrupting) Names(ctx context.Context, q index.NameQuery) ([]index.Name, error) {
	defer s.answered("names")
	return s.Store.Names(ctx, q)
}
