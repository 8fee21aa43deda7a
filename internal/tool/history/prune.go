package history

import (
	"context"
	"database/sql"
	"time"

	"lore/internal/machine/db"
	"lore/internal/tool/audit"
)

// pause is how often it is looked whether something has grown old.
const pause = time.Hour

// Prune lets go of what is no longer kept (see the package comment). It looks
// at most once an hour, and at once when the contents take more than they may,
// so it costs one small query when there is nothing to do.
func (s *Store) Prune(ctx context.Context, now time.Time) error {
	var last, bytes int64
	err := s.view(ctx, func(tx *sql.Tx) (err error) {
		if last, err = fact(ctx, tx, "pruned"); err != nil {
			return err
		}
		bytes, err = fact(ctx, tx, "image_bytes")
		return err
	})
	// A clock that went backwards must not stop it for ever.
	fresh := now.After(moment(last).Add(-pause)) && now.Before(moment(last).Add(pause))
	if err != nil || fresh && bytes <= s.opt.Cap {
		return err
	}
	err = s.soon(ctx, func(tx *sql.Tx) ([]audit.Entry, error) {
		if err := dropLeftovers(ctx, tx); err != nil {
			return nil, err
		}
		if err := s.thin(ctx, tx, now); err != nil {
			return nil, err
		}
		if err := s.shrink(ctx, tx); err != nil {
			return nil, err
		}
		until := now.Add(-s.opt.Calls)
		res, err := tx.ExecContext(ctx, `DELETE FROM call WHERE time < ?`, nanos(until))
		if err != nil {
			return nil, err
		}
		var log []audit.Entry
		if n, err := res.RowsAffected(); err != nil {
			return nil, err
		} else if n > 0 { // so that it can be told from calls that somebody deleted
			log = append(log, audit.Entry{Time: now.UTC(), Event: "pruned", Until: until.UTC(), Count: int(n)})
		}
		return log, setFact(ctx, tx, "pruned", nanos(now))
	})
	if err != nil {
		return err
	}
	return s.reclaim(ctx)
}

// dropLeftovers removes the edits of dropped operations, which earlier versions
// of the program kept.
func dropLeftovers(ctx context.Context, tx *sql.Tx) error {
	_, err := tx.ExecContext(ctx, `DELETE FROM edit WHERE op IN (SELECT seq FROM operation WHERE outcome = 'dropped') AND NOT kept`)
	return err
}

// minFree is how many free pages are worth rewriting the file: two megabytes.
const minFree = 512

// reclaim gives free pages back to the disk when most of the file is free.
// Rewriting the file then costs less than what it gives back.
func (s *Store) reclaim(ctx context.Context) error {
	d, err := s.db(ctx)
	if err != nil {
		return err
	}
	var free, pages int64
	err = d.Read.QueryRowContext(ctx, `SELECT freelist_count, page_count FROM pragma_freelist_count, pragma_page_count`).Scan(&free, &pages)
	if err != nil || free < minFree || free*2 < pages {
		return s.explain(err)
	}
	if _, err := d.Write.ExecContext(ctx, `VACUUM`); err != nil {
		return s.explain(db.Ended(ctx, err))
	}
	_, err = d.Write.ExecContext(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`)
	return s.explain(db.Ended(ctx, err))
}

// old are the contents of finished operations that are older than everything
// that must be kept, and not among the newest of their path.
const old = `WHERE kept AND op IN (SELECT seq FROM operation WHERE time < ? AND outcome <> 'intended')
  AND (SELECT count(*) FROM edit AS newer WHERE newer.path = edit.path AND newer.op > edit.op AND newer.kept) >= ?`

func (s *Store) thin(ctx context.Context, tx *sql.Tx, now time.Time) error {
	list, err := edits(ctx, tx, old, nanos(now.Add(-s.opt.Keep)), s.opt.Versions)
	if err != nil {
		return err
	}
	return freeImages(ctx, tx, list)
}

// shrink lets the oldest contents go until the rest may stay.
func (s *Store) shrink(ctx context.Context, tx *sql.Tx) error {
	const some = 256
	for {
		bytes, err := fact(ctx, tx, "image_bytes")
		if err != nil || bytes <= s.opt.Cap {
			return err
		}
		list, err := edits(ctx, tx, `WHERE kept AND (before IS NOT NULL OR after IS NOT NULL)
		  AND op IN (SELECT seq FROM operation WHERE outcome <> 'intended') ORDER BY op, n LIMIT ?`, some)
		if err != nil || len(list) == 0 {
			return err
		}
		for len(list) > 0 && bytes > s.opt.Cap {
			// Whole operations go: half of one cannot be undone as one.
			n := 1
			for n < len(list) && list[n].op == list[0].op {
				n++
			}
			if err := freeImages(ctx, tx, list[:n]); err != nil {
				return err
			}
			list = list[n:]
			if bytes, err = fact(ctx, tx, "image_bytes"); err != nil {
				return err
			}
		}
	}
}
