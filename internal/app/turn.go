package app

import (
	"context"
	"os"
	"path/filepath"

	"lore/internal/home"
	"lore/internal/index/sqlite"
)

// opens waits for its turn to open the index. A process that may not write it
// waits also until it is there.
func (s *session) opens(ctx context.Context) (release func() error, err error) {
	return home.Turn(ctx, filepath.Join(s.dir, "open.lock"), func() bool {
		_, err := os.Stat(sqlite.Path(s.dir))
		return s.writes || err == nil
	})
}

// awaitFirst waits until another process has put the first notes into an index
// that it has just made: an empty one would deny what is there.
func (s *session) awaitFirst(ctx context.Context) error {
	for i := range home.Steps {
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
		if err := home.Pause(ctx); err != nil {
			return err
		}
	}
	return nil // the answer says that the index is not fresh
}
