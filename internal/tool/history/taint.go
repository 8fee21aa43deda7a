package history

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"time"

	"lore/internal/tool"
)

var _ tool.Taints = (*Store)(nil)

// Taint remembers that a caller read text from outside, and forgets those that
// did before expired.
func (s *Store) Taint(ctx context.Context, who string, at, expired time.Time) error {
	if s.refused != nil {
		return s.refused
	}
	d, err := s.db(ctx)
	if err != nil {
		return err
	}
	sum := sha256.Sum256([]byte(who))
	err = s.explain(d.Tx(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `DELETE FROM taint WHERE at < ?`, nanos(expired))
		if err == nil {
			_, err = tx.ExecContext(ctx, `INSERT INTO taint (who, at) VALUES (?, ?) ON CONFLICT (who) DO UPDATE SET at = max(at, excluded.at)`, sum[:], nanos(at))
		}
		return err
	}))
	return errors.Join(err, s.countTaint())
}

// TaintedAt is when a caller last read text from outside; zero when it never did.
// Every call asks, so the answer comes from memory until a process writes another.
func (s *Store) TaintedAt(ctx context.Context, who string) (at time.Time, err error) {
	now, count := time.Now(), s.taintCount()
	s.taints.mu.Lock()
	defer s.taints.mu.Unlock()
	if s.taints.at == nil || count != s.taints.count || now.Sub(s.taints.read) > taintsLast {
		list, err := s.readTaints(ctx)
		if err != nil {
			return time.Time{}, err
		}
		s.taints.at, s.taints.count, s.taints.read = list, count, now
	}
	return s.taints.at[sha256.Sum256([]byte(who))], nil
}

// knownTaints are the callers that read text from outside, as the database said.
type knownTaints struct {
	mu    sync.Mutex
	at    map[[sha256.Size]byte]time.Time // nil: not read yet
	count int64                           // the count of taints before they were read
	read  time.Time
}

// taintsLast is how long they are believed without another look: a count cannot
// be trusted where the file of it cannot be written.
const taintsLast = 5 * time.Second

func (s *Store) readTaints(ctx context.Context) (map[[sha256.Size]byte]time.Time, error) {
	out := map[[sha256.Size]byte]time.Time{}
	err := s.view(ctx, func(tx *sql.Tx) error {
		rows, err := tx.QueryContext(ctx, `SELECT who, at FROM taint`)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var who []byte
			var n int64
			if err := rows.Scan(&who, &n); err != nil {
				return err
			}
			if len(who) == sha256.Size {
				out[[sha256.Size]byte(who)] = time.Unix(0, n)
			}
		}
		return rows.Err()
	})
	return out, err
}

// taintFile grows by a byte with every taint that a process wrote: its length
// tells the others, for a fraction of what a look into the database costs.
const taintFile = "taint.count"

// countTaint comes after the write and before the caller gets what taints it.
func (s *Store) countTaint() error {
	f, err := os.OpenFile(filepath.Join(s.file.Dir(), taintFile), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write([]byte{'.'})
	return errors.Join(err, f.Close())
}

func (s *Store) taintCount() int64 {
	info, err := os.Lstat(filepath.Join(s.file.Dir(), taintFile))
	if err != nil {
		return 0
	}
	return info.Size()
}
