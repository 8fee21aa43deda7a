package history

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"time"

	"lore/internal/fault"
	"lore/internal/tool"
	"lore/internal/tool/audit"
)

// Verify proves every entry of the audit log, and compares the log with the
// records in the database in both directions. Its error is an [audit.BadEntry]
// that names the first entry that is not as it was written, or says which record
// differs. Whoever has the key and can write all files can forge all of it; it
// shows damage, and changes by whoever has not.
func (s *Store) Verify(ctx context.Context) (audit.Verified, error) {
	if err := s.Flush(ctx); err != nil {
		return audit.Verified{}, err
	}
	// In this order, because other processes write meanwhile: the anchor lags
	// behind the database, and the database behind the log.
	kept := s.audit.KeptBefore()
	c := newComparison()
	var found audit.Verified
	err := s.view(ctx, func(tx *sql.Tx) (err error) {
		if c.written, err = fact(ctx, tx, "log_seq"); err != nil {
			return err
		}
		if found, err = c.compare(ctx, tx, s.audit); err != nil {
			return err
		}
		if found.Anchored > 0 && c.written < kept {
			return &lostError{differs("state.db was replaced by an older one, or rows were deleted: it has the records of the entries up to %d of the audit log, and had those up to %d", c.written, kept)}
		}
		if found.RolledBack != nil {
			return &lostError{found.RolledBack}
		}
		return c.firstLoss()
	})
	return found, err
}

func differs(format string, args ...any) error { return fault.New(fault.Conflict, format, args...) }

// rowHash is a hash of a record of a call, as it is stored. Its last column came
// later: where it says nothing, the hash is the one of a record without it.
func rowHash(row []any) string {
	h := sha256.New()
	if last := len(row) - 1; row[last] == false {
		row = row[:last]
	}
	for _, v := range row {
		_, _ = fmt.Fprintf(h, "%q\n", fmt.Sprint(v)) // a hash never fails to be written to
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// A seenCall is a call that the log tells of.
type seenCall struct {
	seq  int64
	time time.Time
	tool string
	row  string
}

// A comparison compares what the log tells with the rows of the database.
type comparison struct {
	written    int64 // the last entry whose records the database has
	calls      map[string]seenCall
	operations map[string]audit.Entry
	unkept     [][2]int64
	pruned     time.Time
	restarted  time.Time
	old        bool  // there are entries that name no call
	oldest     int64 // the first row of a call that the log names
	accepted   map[string]string
	lost       []lostRecord
}

func newComparison() *comparison {
	return &comparison{calls: map[string]seenCall{}, operations: map[string]audit.Entry{}, accepted: map[string]string{}, oldest: math.MaxInt64}
}

// compare proves the log and compares the database with it. Records that were
// lost are collected; everything else that differs is the error.
func (c *comparison) compare(ctx context.Context, tx *sql.Tx, log *audit.Log) (found audit.Verified, err error) {
	known, err := lastSynced(ctx, tx)
	if err != nil {
		return found, err
	}
	if found, err = log.Verify(ctx, known, c.see); err != nil && (found.RolledBack == nil || !errors.Is(err, found.RolledBack)) {
		return found, err
	}
	c.restarted = found.Restarted
	if err := c.compareCalls(ctx, tx); err != nil {
		return found, err
	}
	return found, c.compareOperations(ctx, tx)
}

func (c *comparison) see(e audit.Entry) {
	switch e.Event {
	case "call":
		if e.Call == "" {
			c.old = true
		} else {
			c.calls[e.Call] = seenCall{e.Seq, e.Time, e.Tool, e.Row}
		}
	case "operation":
		if e.Operation != "" {
			c.operations[e.Operation] = e
		}
	case audit.AcceptedRow:
		c.accepted[e.Call+e.Operation] = e.Row
	case "unkept":
		c.unkept = append(c.unkept, [2]int64{e.First, e.Last})
	case "pruned":
		if e.Until.After(c.pruned) {
			c.pruned = e.Until
		}
	}
}

// excused reports whether the log itself says why an entry has no record: the
// program was stopped before it was written, or it has not been written yet.
func (c *comparison) excused(seq int64) bool {
	if seq > c.written {
		return true
	}
	for _, r := range c.unkept {
		if r[0] <= seq && seq <= r[1] {
			return true
		}
	}
	return false
}

// compareCalls compares the calls, without those that were let go by rule.
func (c *comparison) compareCalls(ctx context.Context, tx *sql.Tx) (err error) {
	rows, err := tx.QueryContext(ctx, `SELECT seq, id, time, kind, who, surface, tool, targets, args, args_hash, decision, reason, status, summary, fault, error,
	    duration, tokens, cost, operation, question, outside FROM call ORDER BY seq DESC`)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	unnamed, unnamedSeq := "", int64(0)
	for rows.Next() {
		var seq, at, took, tokens int64
		var cost float64
		var outside bool
		var t [16]string // id, kind, who, surface, tool, targets, args, args_hash, decision, reason, status, summary, fault, error, operation, question
		err := rows.Scan(&seq, &t[0], &at, &t[1], &t[2], &t[3], &t[4], &t[5], &t[6], &t[7], &t[8], &t[9], &t[10], &t[11], &t[12], &t[13], &took, &tokens, &cost, &t[14], &t[15], &outside)
		if err != nil {
			return err
		}
		seen, ok := c.calls[t[0]]
		if !ok {
			if moment(at).After(c.restarted) {
				unnamed, unnamedSeq = t[0], seq // the oldest of them, in the end
				if !c.old || seq > c.oldest {
					return differs("state.db has a call to %s at %s that the audit log does not know (%s)", t[4], moment(at).Format(time.RFC3339), t[0])
				}
			}
			continue
		}
		c.oldest = min(c.oldest, seq)
		if unnamedSeq > seq {
			return differs("state.db has a call that the audit log does not know (%s)", unnamed)
		}
		row := []any{t[0], at, t[1], t[2], t[3], t[4], t[5], t[6], t[7], t[8], t[9], t[10], t[11], t[12], t[13], took, tokens, cost, t[14], t[15], outside}
		hash := rowHash(row)
		if t[9] == recovered {
			c.lose(loss{seen.seq, audit.Entry{Call: t[0], Row: hash}},
				"the record of a call to %s at %s was missing from state.db, and only the audit log's entry about it was recovered (entry %d)", seen.tool, seen.time.Format(time.RFC3339), seen.seq)
			delete(c.calls, t[0])
			continue
		}
		if seen.row != hash {
			return differs("the record of a call to %s at %s in state.db was changed (entry %d of the audit log)", seen.tool, seen.time.Format(time.RFC3339), seen.seq)
		}
		delete(c.calls, t[0])
	}
	if err := rows.Err(); err != nil {
		return err
	}
	for id, seen := range c.calls {
		if !seen.time.Before(c.pruned) && !c.excused(seen.seq) {
			c.lose(loss{seen.seq, audit.Entry{Call: id}}, "a call to %s at %s is missing from state.db (entry %d of the audit log)", seen.tool, seen.time.Format(time.RFC3339), seen.seq)
		}
	}
	return nil
}

// compareOperations compares the changes, which are never let go.
func (c *comparison) compareOperations(ctx context.Context, tx *sql.Tx) error {
	list, err := several(ctx, tx, `ORDER BY seq`)
	if err != nil {
		return err
	}
	for _, op := range list {
		e, ok := c.operations[op.ID]
		delete(c.operations, op.ID)
		switch {
		case op.Outcome == tool.Intended:
			continue
		case !ok && op.Finished.After(c.restarted):
			return differs("state.db has a change by %s that the audit log does not know (%s)", op.Tool, op.ID)
		case !ok:
			continue
		}
		if op.Reason == recovered {
			c.lose(loss{e.Seq, audit.Entry{Operation: op.ID}}, "the change %s was missing from state.db or incomplete, and only what was left of it was recovered (entry %d of the audit log)", op.ID, e.Seq)
		}
		same, err := agrees(ctx, tx, op, e)
		if err != nil {
			return err
		}
		dropped := op.Outcome == tool.Dropped
		if !same || op.Tool != e.Tool || op.ArgsHash != e.ArgsHash || string(op.Who.Kind) != e.Kind || op.Who.ID != e.Who || dropped != (e.Status == string(tool.Dropped)) {
			return differs("the change %s in state.db differs from entry %d of the audit log", op.ID, e.Seq)
		}
	}
	for id, e := range c.operations {
		if !c.excused(e.Seq) {
			c.lose(loss{e.Seq, audit.Entry{Operation: id}}, "the change %s is missing from state.db (entry %d of the audit log)", id, e.Seq)
		}
	}
	return nil
}
