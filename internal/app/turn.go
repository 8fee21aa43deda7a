package app

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"lore/internal/fault"
	"lore/internal/index/sqlite"
)

// A process waits this long, in such steps, for another that makes the index.
const (
	openStep  = 10 * time.Millisecond
	openSteps = 500
)

// pause waits one step.
func pause(ctx context.Context) error {
	t := time.NewTimer(openStep)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// turn takes the lock of a file as soon as it is free and ready says so.
func turn(ctx context.Context, path string, ready func() bool) (release func() error, err error) {
	for range openSteps {
		release, ok, err := lock(path)
		if err != nil {
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
		if ok && ready() {
			return release, nil
		}
		if ok {
			if err := release(); err != nil {
				return nil, err
			}
		}
		if err := pause(ctx); err != nil {
			return nil, err
		}
	}
	return nil, fault.Fix(fault.Busy, "try again in a moment", "another lore process is making the index")
}

// opens waits for its turn to open the index. A process that may not write it
// waits also until it is there.
func (s *session) opens(ctx context.Context) (release func() error, err error) {
	return turn(ctx, filepath.Join(s.dir, "open.lock"), func() bool {
		_, err := os.Stat(sqlite.Path(s.dir))
		return s.writes || err == nil
	})
}

// awaitFirst waits until another process has put the first notes into an index
// that it has just made: an empty one would deny what is there.
func (s *session) awaitFirst(ctx context.Context) error {
	for i := range openSteps {
		st, err := s.store.Stats(ctx, "")
		if err != nil || st.Notes > 0 {
			return err
		}
		if i == 0 {
			list, err := s.vault.Walk(ctx)
			if err != nil {
				return err
			}
			if len(list.Entries) == 0 {
				return nil
			}
		}
		if err := pause(ctx); err != nil {
			return err
		}
	}
	return nil // the answer says that the index is not fresh
}
