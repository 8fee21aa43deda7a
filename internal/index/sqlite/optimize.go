package sqlite

import (
	"context"
	"database/sql"
	"fmt"
)

// Optimize merges the full-text index after a bulk load (queries get two to three
// times faster), makes the indexes that a bulk load is better without, and drops
// vectors that no passage has any more.
func (s *Store) Optimize(ctx context.Context) (err error) {
	defer s.notice(&err)
	s.applying.Lock()
	defer s.applying.Unlock()
	defer s.reseal()
	// In one transaction: readers see one change of the schema, not thirteen.
	err = s.db.Tx(ctx, func(tx *sql.Tx) error {
		for _, q := range lateIndexes {
			if _, err := tx.ExecContext(ctx, q); err != nil {
				return fmt.Errorf("make an index: %w", err)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if _, err := s.db.Write.ExecContext(ctx, `INSERT INTO words (words) VALUES ('optimize')`); err != nil {
		return fmt.Errorf("merge the full-text index: %w", err)
	}
	if _, err := s.db.Write.ExecContext(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`); err != nil {
		return fmt.Errorf("empty the log of the index: %w", err)
	}
	if err := s.compactVectors(ctx); err != nil {
		return err
	}
	return s.keepCoverage(ctx)
}

// lateIndexes have keys in no order. Filled row by row they touch a page for
// nearly every row, which at half a million passages is most of the writing;
// made at once they are sorted first. Until the first Settle the questions that
// use them read whole tables.
var lateIndexes = []string{
	`CREATE INDEX IF NOT EXISTS chunks_hash ON chunks (hash)`,
	`CREATE INDEX IF NOT EXISTS links_key ON links (key)`,
	`CREATE INDEX IF NOT EXISTS relations_key ON relations (key)`,
	`CREATE INDEX IF NOT EXISTS relations_type ON relations (type)`,
	`CREATE INDEX IF NOT EXISTS relations_edge ON relations (edge) WHERE edge <> ''`,
	// Lists of nodes come in four orders, of all nodes and of one type, and may
	// ask for a range of confidence. Notes without a type are in none of these.
	`CREATE INDEX IF NOT EXISTS nodes_path ON notes (path, sure) WHERE type <> ''`,
	`CREATE INDEX IF NOT EXISTS nodes_sure ON notes (sure DESC, path) WHERE type <> ''`,
	`CREATE INDEX IF NOT EXISTS nodes_mtime ON notes (mtime DESC, path, sure) WHERE type <> ''`,
	`CREATE INDEX IF NOT EXISTS nodes_title ON notes (lower(title), path, sure) WHERE type <> ''`,
	`CREATE INDEX IF NOT EXISTS nodes_type_path ON notes (lower(type), path, sure) WHERE type <> ''`,
	`CREATE INDEX IF NOT EXISTS nodes_type_sure ON notes (lower(type), sure DESC, path) WHERE type <> ''`,
	`CREATE INDEX IF NOT EXISTS nodes_type_mtime ON notes (lower(type), mtime DESC, path, sure) WHERE type <> ''`,
	`CREATE INDEX IF NOT EXISTS nodes_type_title ON notes (lower(type), lower(title), path, sure) WHERE type <> ''`,
}

// isOptimized reports whether the late indexes are there, the last of them too. The
// process that makes them may be another one.
func (s *Store) isOptimized(ctx context.Context) (bool, error) {
	if s.wasSettled.Load() {
		return true, nil
	}
	n, err := s.countUpTo(ctx, 1, `sqlite_schema WHERE name = 'nodes_type_title'`)
	if n > 0 {
		s.wasSettled.Store(true)
	}
	return n > 0, err
}
