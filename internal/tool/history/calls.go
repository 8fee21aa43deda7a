package history

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"path/filepath"
	"time"

	"lore/internal/fault"
	"lore/internal/machine/spool"
	"lore/internal/tool"
	"lore/internal/tool/audit"
	"lore/internal/tool/policy"
	"lore/internal/tool/schema"
)

// A Call is one recorded call.
type Call struct {
	tool.CallRecord
	Seq    int64
	Undone bool // its change is out of the vault again
}

// full is how many reads wait in memory at the most.
const full = 256

// Record keeps a call. Calls that changed, acted, asked, or were denied are on
// disk when it returns. Plain reads wait in memory until there are many of
// them, some time has passed, something else is recorded, or the store closes.
func (s *Store) Record(ctx context.Context, c tool.CallRecord) error {
	if c.ID == "" {
		return fault.New(fault.Internal, "a call has no ID")
	}
	if s.refused != nil {
		if plain(c) {
			return nil
		}
		return s.refused
	}
	if !plain(c) {
		s.writing.Lock()
		defer s.writing.Unlock()
		list, err := s.take()
		if err != nil {
			return err
		}
		return s.keep(ctx, append(list, c))
	}
	s.mu.Lock()
	if err := s.failed; err != nil || s.closed {
		s.failed = nil
		s.mu.Unlock()
		if err == nil {
			err = fault.Fix(fault.Internal, "try again", "the call was not recorded, because Lore is shutting down")
		}
		return err
	}
	s.queue = append(s.queue, c)
	if len(s.queue) >= full {
		s.mu.Unlock()
		return s.Flush(ctx)
	}
	if s.timer == nil {
		s.late.Add(1)
		s.timer = time.AfterFunc(s.opt.Wait, s.flushLate)
	}
	s.mu.Unlock()
	return nil
}

// plain reports whether a call did nothing that must be known for sure: a read,
// or one that failed before anything was decided. An act is recorded when it
// begins, so its end may come later.
func plain(c tool.CallRecord) bool {
	return c.Operation == "" && c.Question == "" && (c.Decision == policy.Allow || c.Decision == "") &&
		(c.Status == tool.CallDone || c.Status == tool.CallFailed || c.Status == tool.CallCancelled || c.Status == tool.CallDryRun)
}

func (s *Store) flushLate() {
	defer s.late.Done()
	if err := s.Flush(context.Background()); err != nil {
		s.mu.Lock()
		s.failed = err
		s.mu.Unlock()
	}
}

// take empties the queue.
func (s *Store) take() ([]tool.CallRecord, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, fault.Fix(fault.Internal, "try again", "the call was not recorded, because Lore is shutting down")
	}
	if s.timer != nil && s.timer.Stop() {
		s.late.Done()
	}
	s.timer = nil
	list, err := s.queue, s.failed
	s.queue, s.failed = nil, nil
	return list, err
}

// Flush writes the reads that wait. A process that has not used the database
// leaves them in a file beside it, which costs one write and no wait for a
// disk; whoever opens the database next puts them in. Reads that the timer writes
// at this moment are written, too, when it returns.
func (s *Store) Flush(ctx context.Context) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	list, err := s.take()
	if err != nil || len(list) == 0 {
		return err
	}
	s.mu.Lock()
	opened := s.opened
	s.mu.Unlock()
	if !opened {
		small, err := s.spool(list)
		if err != nil || small {
			return err
		}
		list = nil
	}
	return s.keep(ctx, list)
}

// spoolSize is how large the file of unwritten reads may grow.
const spoolSize = 256 << 10

func (s *Store) spoolFile() spool.File {
	return spool.File{Path: filepath.Join(s.file.Dir(), "reads.jsonl")}
}

// spool leaves reads for the next process that opens the database, and reports
// whether that file is still small.
func (s *Store) spool(list []tool.CallRecord) (small bool, err error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	for _, c := range list {
		c.Args = rawArgs(schema.Shorten(c.Args))
		if err := enc.Encode(c); err != nil {
			return false, err
		}
	}
	size, err := s.spoolFile().Append(b.Bytes())
	return size < spoolSize, err
}

// drain gives f the reads that processes left behind.
func (s *Store) drain(f func([]tool.CallRecord) error) error {
	return s.spoolFile().Drain(func(text []byte) error {
		var list []tool.CallRecord
		for line := range bytes.Lines(text) {
			var c tool.CallRecord
			if json.Unmarshal(line, &c) == nil && c.ID != "" { // a piece that a crash left is no call
				list = append(list, c)
			}
		}
		return f(list)
	})
}

// Close writes what waits. The file of the database is closed by who opened it.
func (s *Store) Close() error {
	s.mu.Lock()
	closed := s.closed
	s.mu.Unlock()
	if closed {
		return nil
	}
	err := s.Flush(context.Background())
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.late.Wait()
	return err
}

const addCall = `INSERT INTO call (id, time, kind, who, surface, tool, targets, args, args_hash, decision, reason, status, summary, fault, error,
    duration, tokens, cost, operation, question, outside)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`

// keep writes calls into the table and the audit log, after those that other
// processes left in the file beside the database.
func (s *Store) keep(ctx context.Context, list []tool.CallRecord) error {
	return s.drain(func(left []tool.CallRecord) error {
		list = append(left, list...)
		if len(list) == 0 {
			return nil
		}
		commit := s.soon
		for _, c := range list {
			// A change stands in the log already, as an operation.
			if !plain(c) && (c.Operation == "" || c.Status != tool.CallDone) {
				commit = s.safe
			}
		}
		return commit(ctx, func(tx *sql.Tx) ([]audit.Entry, error) { return putCalls(ctx, tx, list) })
	})
}

func putCalls(ctx context.Context, tx *sql.Tx, list []tool.CallRecord) (log []audit.Entry, err error) {
	st, err := tx.PrepareContext(ctx, addCall)
	if err != nil {
		return nil, err
	}
	defer st.Close()
	for _, c := range list {
		targets := ""
		if len(c.Targets) > 0 {
			b, err := json.Marshal(c.Targets)
			if err != nil {
				return nil, err
			}
			targets = string(b)
		}
		row := []any{
			c.ID, nanos(c.Time), string(c.Who.Kind), c.Who.ID, c.Who.Surface, c.Tool, targets, schema.Shorten(c.Args), c.ArgsHash,
			string(c.Decision), c.Reason, string(c.Status), c.Summary, string(c.Kind), c.Error, int64(c.Duration), int64(c.Tokens), c.Cost, c.Operation, c.Question, c.Outside,
		}
		res, err := st.ExecContext(ctx, row...)
		if err != nil {
			return nil, err
		}
		if n, err := res.RowsAffected(); err != nil || n == 0 {
			if err != nil {
				return nil, err
			}
			continue // a crash came between writing it and forgetting it
		}
		log = append(log, audit.Entry{
			Time: c.Time.UTC(), Event: "call", Call: c.ID, Row: rowHash(row), Kind: string(c.Who.Kind), Who: c.Who.ID, Surface: c.Who.Surface, Tool: c.Tool, ArgsHash: c.ArgsHash,
			Decision: string(c.Decision), Status: string(c.Status), Fault: string(c.Kind), Operation: c.Operation, Question: c.Question,
		})
	}
	return log, nil
}

const callColumns = `SELECT seq, id, time, kind, who, surface, tool, targets, args, args_hash, decision, reason, status, summary, fault, error,
    duration, tokens, cost, operation, question, outside,
    operation <> '' AND EXISTS (SELECT 1 FROM operation AS o WHERE o.id = call.operation AND o.outcome = 'undone') FROM call `

// Calls lists calls, newest first, or in order after f.After. It knows of every
// call that was recorded before, also by other processes that have ended.
func (s *Store) Calls(ctx context.Context, f Filter) (list []Call, err error) {
	if err := s.Flush(ctx); err != nil {
		return nil, err
	}
	if err := s.keep(ctx, nil); err != nil {
		return nil, err
	}
	path := `(targets <> '' AND EXISTS (SELECT 1 FROM json_each(targets) WHERE ` + inside("value") + `)
    OR operation <> '' AND operation IN (SELECT operation.id FROM edit JOIN operation ON operation.seq = edit.op WHERE ` + inside("path") + `))`
	where, args := f.clause("status", path, 2)
	err = s.view(ctx, func(tx *sql.Tx) error {
		list, err = scanCalls(ctx, tx, where, args)
		return err
	})
	return list, err
}

func scanCalls(ctx context.Context, tx *sql.Tx, where string, args []any) (list []Call, err error) {
	rows, err := tx.QueryContext(ctx, callColumns+where, args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var c Call
		var at, took int64
		var targets, arguments string
		err := rows.Scan(&c.Seq, &c.ID, &at, &c.Who.Kind, &c.Who.ID, &c.Who.Surface, &c.Tool, &targets, &arguments, &c.ArgsHash, &c.Decision, &c.Reason,
			&c.Status, &c.Summary, &c.Kind, &c.Error, &took, &c.Tokens, &c.Cost, &c.Operation, &c.Question, &c.Outside, &c.Undone)
		if err != nil {
			return nil, err
		}
		c.Time, c.Duration, c.Args = moment(at), time.Duration(took), rawArgs(arguments)
		if c.Targets, err = decodeList(targets); err != nil {
			return nil, err
		}
		list = append(list, c)
	}
	return list, rows.Err()
}
