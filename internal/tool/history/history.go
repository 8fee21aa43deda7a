// Package history remembers what was done: every change of the vault with both
// sides of every file, every call, and a log of both that shows whether someone
// changed it. What it keeps is enough to take any change back. It opens no note
// and knows no tool.
//
// # Operations and their state
//
// An operation is one recorded change. It begins as an intent, with all that is
// needed to undo it on disk before a note is touched, and is then applied or
// dropped. Taking it back is an operation too, and so is bringing it back.
//
// Whether the effect of an operation is in the vault now is kept for each of
// its files: every applied operation that reverts the edit of a file turns its
// state over. An operation is undone when the edits of all its files are. An
// operation that reverts is itself undone when a later one turned over all that
// it had turned over, so reverting an undo and redoing the original are the
// same thing.
//
// # What is kept for how long
//
// The contents of files are kept for seven days, and after that only for the
// ten newest edits of each path; all of them together never take more than
// 1 GiB, oldest first to go. The rows that say who changed what, and the
// hashes, stay. Calls are kept for ninety days. The audit log is never cut.
package history

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"lore/internal/fault"
	"lore/internal/machine/db"
	"lore/internal/machine/state"
	"lore/internal/tool"
	"lore/internal/tool/audit"
	"lore/internal/tool/history/pack"
)

// Options tune a store. The zero value is right for most.
type Options struct {
	Now  func() time.Time
	Rand io.Reader // of the key of the audit log

	Keep     time.Duration // how long all contents are kept; 0 is seven days
	Versions int           // how many edits of a path keep theirs after that; 0 is 10
	Cap      int64         // bytes that all contents may take; 0 is 1 GiB
	Calls    time.Duration // how long calls are kept; 0 is ninety days
	Wait     time.Duration // how long a read may stay unwritten; 0 is two seconds
}

func (o Options) withDefaults() Options {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Rand == nil {
		o.Rand = rand.Reader
	}
	if o.Keep == 0 {
		o.Keep = 7 * 24 * time.Hour
	}
	if o.Versions == 0 {
		o.Versions = 10
	}
	if o.Cap == 0 {
		o.Cap = 1 << 30
	}
	if o.Calls == 0 {
		o.Calls = 90 * 24 * time.Hour
	}
	if o.Wait == 0 {
		o.Wait = 2 * time.Second
	}
	return o
}

// A Store is the history of one vault. It may be used from several goroutines,
// and several processes may use one history.
type Store struct {
	file    *state.File
	opt     Options
	audit   *audit.Log
	packs   pack.Packer
	refused error // why nothing can be kept; nil when it can

	writing sync.Mutex // held from taking the queue until it is written; taken before mu

	mu     sync.Mutex
	queue  []tool.CallRecord // reads that are not written yet
	timer  *time.Timer       // writes them; nil when the queue is empty
	failed error             // what the timer could not write, told to the next caller
	opened bool              // this process has used the database
	closed bool
	late   sync.WaitGroup // the timer's run

	taints knownTaints
}

var _ tool.Ledger = (*Store)(nil)

// New returns the history that lies in f's folder. It opens nothing.
func New(f *state.File, o Options) *Store {
	o = o.withDefaults()
	s := &Store{file: f, opt: o, audit: audit.In(f.Dir(), o.Rand)}
	s.audit.Told = f.ReportDamage
	f.Watch(s)
	return s
}

// Refuse makes the store one that only reads, for a reason: nothing new can be
// kept, so nothing happens that must be. It is called before the store is used.
func (s *Store) Refuse(reason error) { s.refused = reason }

// db opens the database when it is first needed.
func (s *Store) db(ctx context.Context) (*db.DB, error) {
	d, err := s.file.DB(ctx)
	if err == nil {
		s.mu.Lock()
		s.opened = true
		s.mu.Unlock()
	}
	return d, err
}

// explain gives err its kind.
func (s *Store) explain(err error) error { return state.Explain(err, s.file.Path()) }

// safe is one transaction that is on disk when it returns, together with the
// audit entries that f answers. The entries go first: a log that knows of
// something which did not come to pass is better than the other way round.
func (s *Store) safe(ctx context.Context, f func(tx *sql.Tx) ([]audit.Entry, error)) error {
	d, err := s.db(ctx)
	if err != nil {
		return err
	}
	var last int64
	err = d.Tx(ctx, func(tx *sql.Tx) error {
		list, err := f(tx)
		if err != nil || len(list) == 0 {
			return err
		}
		return s.log(ctx, tx, list, true, &last)
	})
	if err == nil {
		s.audit.Kept(last)
	}
	return s.explain(err)
}

// soon is one transaction that survives the end of the process, though maybe
// not a power cut: it waits for no disk.
func (s *Store) soon(ctx context.Context, f func(tx *sql.Tx) ([]audit.Entry, error)) error {
	d, err := s.db(ctx)
	if err != nil {
		return err
	}
	var last int64
	err = d.TxNoSync(ctx, func(tx *sql.Tx) error {
		list, err := f(tx)
		if err != nil || len(list) == 0 {
			return err
		}
		return s.log(ctx, tx, list, false, &last)
	})
	if err == nil {
		s.audit.Kept(last)
	}
	return s.explain(err)
}

// log appends to the audit log in the transaction that holds what the entries
// speak of, and remembers there the last one that is surely on disk.
// The number of the last one goes to last, to be told to the log when the
// transaction is over.
func (s *Store) log(ctx context.Context, tx *sql.Tx, list []audit.Entry, synced bool, last *int64) error {
	known, err := lastSynced(ctx, tx)
	if err != nil {
		return err
	}
	kept, err := fact(ctx, tx, "log_seq")
	if err != nil {
		return err
	}
	end, err := s.audit.Append(known, kept, list, synced)
	if err != nil {
		return err
	}
	*last = end.Seq
	if err := setFact(ctx, tx, "log_seq", end.Seq); err != nil || !synced {
		return err
	}
	return errors.Join(setFact(ctx, tx, "audit_seq", end.Seq), setFact(ctx, tx, "audit_mac", end.MAC))
}

// lastSynced is the last audit entry that is surely on disk.
func lastSynced(ctx context.Context, tx *sql.Tx) (end audit.End, err error) {
	if end.Seq, err = fact(ctx, tx, "audit_seq"); err != nil || end.Seq == 0 {
		return end, err
	}
	err = tx.QueryRowContext(ctx, `SELECT value FROM fact WHERE name = 'audit_mac'`).Scan(&end.MAC)
	return end, err
}

// view runs f on one state of the database.
func (s *Store) view(ctx context.Context, f func(tx *sql.Tx) error) error {
	d, err := s.db(ctx)
	if err != nil {
		return err
	}
	return s.explain(d.View(ctx, f))
}

func nanos(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

func moment(n int64) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return time.Unix(0, n).UTC()
}

// fact reads a number from the table of single values; 0 when it is not there.
func fact(ctx context.Context, tx *sql.Tx, name string) (n int64, err error) {
	err = tx.QueryRowContext(ctx, `SELECT CAST(coalesce(max(value), '0') AS INTEGER) FROM fact WHERE name = ?`, name).Scan(&n)
	return n, err
}

func setFact(ctx context.Context, tx *sql.Tx, name string, value any) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO fact VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value`, name, fmt.Sprint(value))
	return err
}

func unknownOperation(id string) error {
	return fault.New(fault.NotFound, "unknown operation %q", id)
}
