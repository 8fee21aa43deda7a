package history

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"math"
	"slices"

	"lore/internal/fault"
	"lore/internal/tool/access"
	"lore/internal/tool/audit"
)

// ErrLost marks what [Store.Verify] says about records that are lost and not
// forged: a person can accept that with [Store.AcceptLoss].
var ErrLost = errors.New("records were lost")

// A loss is a record that the log knows and the database lost.
type loss struct {
	seq   int64 // of the entry that told of it
	entry audit.Entry
}

// A lostRecord says what is lost.
type lostRecord struct {
	loss
	err error
}

// lose notes a loss, unless a person accepted just this one: what is left of the
// record is still what was left then.
func (c *comparison) lose(l loss, format string, args ...any) {
	if row, ok := c.accepted[l.entry.Call+l.entry.Operation]; ok && row == l.entry.Row {
		return
	}
	c.lost = append(c.lost, lostRecord{l, differs(format, args...)})
}

// firstLoss is the error of the first record that was lost.
func (c *comparison) firstLoss() error {
	if len(c.lost) == 0 {
		return nil
	}
	first := slices.MinFunc(c.lost, func(a, b lostRecord) int { return cmp.Compare(a.seq, b.seq) })
	return &lostError{first.err}
}

// A lostError is also [ErrLost].
type lostError struct{ error }

func (e *lostError) Unwrap() []error { return []error{e.error, ErrLost} }

// AcceptLoss writes into the audit log that a person knows of the records that
// were lost, one by one, and returns how many. From then on Verify passes, unless
// something else is lost or what was left of these is changed. A log or a record
// that was forged is not accepted: that is the error.
func (s *Store) AcceptLoss(ctx context.Context, who access.Principal) (int, error) {
	if who.Kind != access.Person {
		return 0, fault.Fix(fault.Denied, "run lore audit accept in a terminal", "only a person can accept lost records")
	}
	if err := s.Flush(ctx); err != nil {
		return 0, err
	}
	n := 0
	err := s.safe(ctx, func(tx *sql.Tx) ([]audit.Entry, error) {
		c := newComparison()
		written, err := fact(ctx, tx, "log_seq")
		if err != nil {
			return nil, err
		}
		// The records of an older database end before those that it had: all that
		// the log knows is missing then.
		older := s.audit.KeptBefore() > written
		if older {
			c.written = math.MaxInt64
		} else {
			c.written = written
		}
		found, err := c.compare(ctx, tx, s.audit)
		if err != nil {
			return nil, err
		}
		if n = len(c.lost); n == 0 && found.RolledBack == nil && !older {
			return nil, fault.New(fault.Invalid, "no records are missing; there is nothing to accept")
		}
		slices.SortFunc(c.lost, func(a, b lostRecord) int { return cmp.Compare(a.seq, b.seq) })
		now := s.opt.Now().UTC()
		var list []audit.Entry
		for _, l := range c.lost {
			e := l.entry
			e.Time, e.Event, e.Last = now, audit.AcceptedRow, l.seq
			list = append(list, e)
		}
		return append(list, audit.Entry{Time: now, Event: audit.Accepted, Count: n, Kind: string(who.Kind), Who: who.ID, Surface: who.Surface}), nil
	})
	return n, err
}
