// Package db opens SQLite files the one way Lore uses them: WAL, one writer,
// a pool of readers, and transactions that never lose a commit error. It knows
// no table.
package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"runtime"
	"strings"
	"sync"
	"syscall"

	sqlite "modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"lore/internal/fault"
)

// A DB is one SQLite file. Write has a single connection, so writers queue in
// the process instead of failing with "database is locked"; Read cannot write.
type DB struct {
	Write *sql.DB
	Read  *sql.DB

	path    string
	options Options
	turn    chan struct{} // held by the transaction that is open

	mu     sync.Mutex
	noSync *sql.DB              // see [DB.TxNoSync]; nil until it is used
	ready  map[string]*sql.Stmt // questions that were asked before, by their text
}

// mostReady is how many questions are kept ready. Texts are made from what was
// asked for, so that there may be many; those above are prepared each time.
const mostReady = 128

// Query asks the reading side. SQLite takes longer to understand a small
// question than to answer it, so what was understood is kept.
func (d *DB) Query(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	for try := 1; ; try++ {
		rows, err := d.query(ctx, query, args...)
		if !schemaChanged(err) || try == 8 {
			return rows, err
		}
	}
}

// schemaChanged reports that another connection changed the tables while a
// question was being understood. SQLite asks again by itself, but not where a
// virtual table takes part.
func schemaChanged(err error) bool {
	var e *sqlite.Error
	return errors.As(err, &e) && e.Code()&0xff == sqlite3.SQLITE_SCHEMA
}

func (d *DB) query(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	st, err := d.prepared(ctx, query)
	if err != nil {
		return nil, err
	}
	if st == nil {
		return d.Read.QueryContext(ctx, query, args...)
	}
	return st.QueryContext(ctx, args...)
}

func (d *DB) prepared(ctx context.Context, query string) (*sql.Stmt, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if st := d.ready[query]; st != nil || len(d.ready) >= mostReady {
		return st, nil
	}
	st, err := d.Read.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	d.ready[query] = st
	return st, nil
}

// Options tune one file.
type Options struct {
	CacheKB int // page cache of each connection; 0 means 8 MB
	Readers int // size of the reader pool; 0 means one for each core, at least two
	// Synchronous is SQLite's setting: "NORMAL" for data that can be made
	// again, "FULL" for data that cannot. Empty means FULL.
	Synchronous string
	// ReadOnly opens a file that must stay as it is, every byte of it.
	ReadOnly bool
}

// Open opens or creates the file at path. A file that is not a database is
// reported as corrupt ([IsCorrupt]) at the first query, not here.
func Open(path string, o Options) (*DB, error) {
	if o.CacheKB == 0 {
		o.CacheKB = 8 << 10
	}
	if o.Readers == 0 {
		o.Readers = max(2, runtime.GOMAXPROCS(0))
	}
	if o.Synchronous == "" {
		o.Synchronous = "FULL"
	}
	if !o.ReadOnly {
		keepPrivate(path)
	}
	w, err := sql.Open("sqlite", dsn(path, o, false))
	if err != nil {
		return nil, fmt.Errorf("open database %q: %w", path, err)
	}
	w.SetMaxOpenConns(1)
	r, err := sql.Open("sqlite", dsn(path, o, true))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open database %q: %w", path, err), w.Close())
	}
	r.SetMaxOpenConns(o.Readers)
	r.SetMaxIdleConns(o.Readers)
	return &DB{Write: w, Read: r, path: path, options: o, turn: make(chan struct{}, 1), ready: map[string]*sql.Stmt{}}, nil
}

// keepPrivate makes the file before SQLite does, for its user alone; what SQLite
// puts beside it gets the same rights. Where that does not work, SQLite says why.
// A file that exists is never opened here: closing it again would let go the
// locks that another connection of this process holds on it.
func keepPrivate(path string) {
	info, err := os.Stat(path)
	switch {
	case err == nil && info.Mode().Perm()&0o077 != 0:
		_ = os.Chmod(path, 0o600) // made by an older version
	case errors.Is(err, fs.ErrNotExist):
		if f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600); err == nil {
			_ = f.Close() // nothing was written
		}
	}
}

func dsn(path string, o Options, readOnly bool) string {
	q := url.Values{}
	// The busy timeout comes first: setting WAL on a locked file needs it.
	q.Add("_pragma", "busy_timeout(5000)")
	q.Add("_pragma", fmt.Sprintf("cache_size(-%d)", o.CacheKB))
	q.Add("_pragma", "temp_store(memory)")
	if o.ReadOnly {
		q.Add("mode", "ro")
	}
	if readOnly || o.ReadOnly {
		q.Add("_pragma", "query_only(1)")
	} else {
		q.Add("_pragma", "journal_mode(wal)")
		q.Add("_pragma", fmt.Sprintf("synchronous(%s)", o.Synchronous))
		q.Add("_txlock", "immediate")
	}
	u := url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath(), RawQuery: q.Encode()}
	return u.String()
}

// ReleaseMemory gives back the memory that only makes questions faster: the readers that
// nobody uses are closed, and the writer forgets what it has read. The next
// question takes a little longer.
func (d *DB) ReleaseMemory(ctx context.Context) error {
	readers := d.Read.Stats().MaxOpenConnections
	d.Read.SetMaxIdleConns(-1)
	d.Read.SetMaxIdleConns(readers)
	d.mu.Lock()
	noSync := d.noSync
	d.mu.Unlock()
	if noSync != nil {
		noSync.SetMaxIdleConns(-1)
		noSync.SetMaxIdleConns(1)
	}
	_, err := d.Write.ExecContext(ctx, `PRAGMA shrink_memory`)
	return err
}

// Path is the file.
func (d *DB) Path() string { return d.path }

// Close closes all connections. The last close of a file empties its WAL.
func (d *DB) Close() error {
	d.mu.Lock()
	noSync := d.noSync
	d.mu.Unlock()
	err := d.Read.Close()
	if noSync != nil {
		err = errors.Join(err, noSync.Close())
	}
	return errors.Join(err, d.Write.Close())
}

// Tx runs f in one writing transaction: committed when f returns nil, rolled
// back otherwise. A commit that fails is an error.
func (d *DB) Tx(ctx context.Context, f func(*sql.Tx) error) error {
	return d.transact(ctx, d.Write, f)
}

// TxNoSync is [DB.Tx] without waiting for the disk: a committed transaction
// survives the end of the process, though maybe not a power cut. It has a
// connection of its own, opened at the first use: a setting that is changed and
// changed back on a shared connection stays changed when the caller goes away
// in between.
func (d *DB) TxNoSync(ctx context.Context, f func(*sql.Tx) error) error {
	if d.options.Synchronous != "FULL" {
		return d.Tx(ctx, f)
	}
	w, err := d.noSyncWriter()
	if err != nil {
		return err
	}
	return d.transact(ctx, w, f)
}

func (d *DB) noSyncWriter() (*sql.DB, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.noSync != nil {
		return d.noSync, nil
	}
	o := d.options
	o.Synchronous = "NORMAL"
	w, err := sql.Open("sqlite", dsn(d.path, o, false))
	if err != nil {
		return nil, fmt.Errorf("open database %q: %w", d.path, err)
	}
	w.SetMaxOpenConns(1)
	d.noSync = w
	return w, nil
}

// transact runs f in a transaction on one of the writing connections. Those of
// one process take turns here; SQLite would let them poll for the lock.
func (d *DB) transact(ctx context.Context, w *sql.DB, f func(*sql.Tx) error) (err error) {
	select {
	case d.turn <- struct{}{}:
		defer func() { <-d.turn }()
	case <-ctx.Done():
		return ctx.Err()
	}
	tx, err := w.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() {
		if p := recover(); p != nil {
			_ = tx.Rollback() // the panic is the news
			panic(p)
		}
		if err != nil {
			_ = tx.Rollback() // err is the news
		} else {
			err = tx.Commit()
		}
		err = Ended(ctx, err)
	}()
	return f(tx)
}

// Ended names the end of ctx as the reason of an error in a transaction: package
// sql rolls back by itself when ctx ends, and says of whatever comes next that it
// is closed or done.
func Ended(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil && fault.Of(err) == fault.Internal {
		return fmt.Errorf("%w: %v", ctx.Err(), err)
	}
	return err
}

// View runs f in one reading transaction, so that all its queries see the same
// state of the file.
func (d *DB) View(ctx context.Context, f func(*sql.Tx) error) error {
	tx, err := d.Read.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // nothing to undo
	return f(tx)
}

// IsCorrupt reports whether err means that the file is damaged or is no
// database at all.
func IsCorrupt(err error) bool {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return false
	}
	switch e.Code() & 0xff {
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return true
	}
	// A truncated file can show itself as a missing table of a known schema.
	return strings.Contains(e.Error(), "malformed")
}

// IsBusy reports whether err means that another process held the file for
// longer than the busy timeout.
func IsBusy(err error) bool {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return false
	}
	c := e.Code() & 0xff
	return c == sqlite3.SQLITE_BUSY || c == sqlite3.SQLITE_LOCKED
}

// IsFull reports whether err means that the disk has no room left.
func IsFull(err error) bool {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return errors.Is(err, syscall.ENOSPC)
	}
	// The file that readers and writers share could not be made longer.
	return e.Code()&0xff == sqlite3.SQLITE_FULL || e.Code() == sqlite3.SQLITE_IOERR_SHMSIZE || errors.Is(err, syscall.ENOSPC)
}

// IsReadOnly reports whether err means that the file or its folder cannot be
// written.
func IsReadOnly(err error) bool {
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		return true
	}
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return false
	}
	switch e.Code() & 0xff {
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_CANTOPEN:
		return true
	}
	return false
}

// Explain gives err the fault kind and the words that fit what SQLite said.
func Explain(err error, path string) error {
	switch {
	case err == nil:
		return nil
	case IsBusy(err):
		return fault.Fix(fault.Busy, "wait for it to finish, or stop it", "%s is in use by another process", path)
	case IsFull(err):
		return fault.Fix(fault.Unavailable, "free some space", "the disk that holds %s is full", path)
	case IsReadOnly(err):
		return fault.Fix(fault.ReadOnly, "change the permissions, or choose another data folder", "%s cannot be opened for writing", path)
	case IsCorrupt(err):
		return fault.Fix(fault.Unavailable, "try again; Lore rebuilds everything that comes from your notes", "%s is damaged", path)
	}
	return err
}

// Remove deletes the file and the companions that SQLite keeps beside it.
func Remove(path string) error {
	var errs []error
	for _, s := range []string{"", "-wal", "-shm", "-journal"} {
		if err := os.Remove(path + s); err != nil && !errors.Is(err, os.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
