package index

import (
	"context"
	"errors"
	"time"

	"lore/internal/vault"
	"lore/internal/vault/watch"
)

// Serve keeps the index true until ctx ends: it compares everything once, then
// follows the watcher. after is called when something was written; may be nil.
func (ix *Indexer) Serve(ctx context.Context, w *watch.Watcher, after func()) error {
	var again <-chan time.Time // when a vault that misses notes is compared again
	for {
		var sum Summary
		var err error
		select {
		case <-ctx.Done():
			return nil
		case <-w.Ready():
			sum, err = ix.follow(ctx, w, false)
		case <-ix.missing:
			if again == nil {
				again = time.After(vault.Quiet)
			}
			continue
		case <-again:
			again = nil
			sum, err = ix.Sync(ctx)
		}
		switch {
		case errors.Is(err, context.Canceled):
			return nil
		case err != nil:
			// The next event or the periodic comparison tries again.
			ix.log.Warn("the index could not be brought up to date", "error", err)
		case sum.Wrote() > 0 && after != nil:
			after()
		}
	}
}

// Flush indexes everything that was saved before the call, whether or not it
// has settled. Where the watcher cannot be sure of having heard of it all, the
// whole vault is compared.
func (ix *Indexer) Flush(ctx context.Context, w *watch.Watcher) (Summary, error) {
	return ix.follow(ctx, w, true)
}

// follow indexes what the watcher heard of. Taking it and indexing it are one
// step, so that nobody finds the watcher idle while something is under way.
func (ix *Indexer) follow(ctx context.Context, w *watch.Watcher, all bool) (sum Summary, err error) {
	ix.running.Lock()
	defer ix.running.Unlock()
	defer func() { sum.Fresh = ix.Freshness() }()
	b, sure, err := w.Take(ctx)
	switch {
	case err != nil:
		return Summary{}, err
	case b.Rescan, ix.missed, !ix.vault.State().Believed(): // no event tells that time has passed, or that a disk is back
		return ix.sync(ctx, false)
	case all && (!sure || ix.vault.Shared()):
		if same, err := ix.unchanged(ctx, ix.snapshot); same || err != nil {
			return Summary{}, err
		}
		return ix.sync(ctx, false)
	case len(b.Paths) == 0:
		return Summary{}, nil
	}
	return ix.update(ctx, b.Paths, false)
}
