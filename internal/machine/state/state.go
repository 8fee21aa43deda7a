// Package state opens state.db, the file that remembers what was asked and done
// in one vault. It owns the tables and their migrations, and knows nothing of
// what the rows mean: approval and history do.
package state

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"

	"lore/internal/fault"
	"lore/internal/machine/db"
)

// A File is the state.db of one folder, opened when it is first needed: a
// process that neither asks nor records pays nothing for it. It may be used
// from several goroutines.
type File struct {
	dir   string
	guard Guard
	told  func(string)

	mu     sync.Mutex
	db     *db.DB
	use    use
	closed bool

	events  *fsnotify.Watcher      // of the folder, while somebody waits for changes
	waiting map[chan struct{}]bool // who does
}

// A Guard knows from elsewhere what a database must hold.
type Guard interface {
	// Reconcile adds what the database lacks, and returns what people should
	// know about that. Full says that the database may lack anything; otherwise
	// it is a quick look that costs the same however much there is.
	Reconcile(ctx context.Context, d *db.DB, full bool) ([]string, error)
}

// Watch sets who compares the database with what else is known when it is
// opened. It is called before the file is used.
func (f *File) Watch(g Guard) { f.guard = g }

// OnDamage sets who is told of damage. It is called before the file is used.
func (f *File) OnDamage(told func(string)) { f.told = told }

// ReportDamage tells of damage that was found beside the file.
func (f *File) ReportDamage(text string) { f.tell(text) }

func (f *File) tell(text string) {
	if f.told != nil {
		f.told(text)
	}
}

// In names the state.db in the folder dir. It opens nothing.
func In(dir string) *File { return &File{dir: dir} }

// Dir is the folder.
func (f *File) Dir() string { return f.dir }

// Path is the file.
func (f *File) Path() string { return filepath.Join(f.dir, fileName) }

const fileName = "state.db"

// DB opens the file, makes or migrates its tables, and returns it; the second
// call returns the same. A file that a newer Lore has written is refused and
// left as it is.
func (f *File) DB(ctx context.Context) (*db.DB, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.closed:
		return nil, fault.Fix(fault.Internal, "try again", "%s is not available while Lore is shutting down", f.Path())
	case f.db != nil:
		return f.db, nil
	}
	d, err := f.open(ctx)
	if err != nil {
		return nil, Explain(err, f.Path())
	}
	f.db = d
	return d, nil
}

// Close closes what was opened.
func (f *File) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	if f.events != nil {
		_ = f.events.Close() // only read
		f.events, f.waiting = nil, nil
	}
	if f.db == nil {
		return nil
	}
	d := f.db
	f.db = nil
	defer f.turn(context.Background())()
	err := d.Close()
	if f.use.leave() && err == nil {
		if was, _ := readSeal(f.sealPath()); was != damagedSeal {
			f.setSeal(sealOf(f.Path()))
		}
	}
	return Explain(err, f.Path())
}

// ReleaseMemory gives memory back if the file is open, see [db.DB.ReleaseMemory].
func (f *File) ReleaseMemory(ctx context.Context) error {
	f.mu.Lock()
	d := f.db
	f.mu.Unlock()
	if d == nil {
		return nil
	}
	return d.ReleaseMemory(ctx)
}

// cacheKB is small: what is read here are single rows, every process that
// records a call opens the file, and one that records all day fills it.
const cacheKB = 256

// smallFile is up to which size a database that a process did not close is read
// whole: that takes some milliseconds.
const smallFile = 16 << 20

// open opens the database, looks whether it is as it was left, and repairs it
// where it is not.
func (f *File) open(ctx context.Context) (*db.DB, error) {
	if err := f.prepare(); err != nil {
		return nil, err
	}
	defer f.turn(ctx)()
	u := f.join()
	how := trusted
	if u.alone {
		how = f.trust()
		if err := f.complete(); err != nil {
			u.leave()
			return nil, err
		}
	}
	d, err := f.examined(ctx, how)
	if Damaged(err) && u.alone {
		if err = f.replace(ctx, time.Now().UTC().Format("20060102T150405.000000000"), err); err == nil {
			d, err = connect(ctx, f.Path())
		}
	}
	if err == nil {
		if err = f.reconcile(ctx, d, how); err != nil {
			err = errors.Join(err, d.Close())
		}
	}
	if err != nil {
		u.leave()
		return nil, err
	}
	if u.alone {
		f.setSeal(openSeal)
	}
	f.use = u
	return d, nil
}

// complete ends what a crash interrupted while a damaged database was replaced,
// and keeps the log of one that is missing: SQLite would delete it.
func (f *File) complete() error {
	info, err := os.Stat(f.Path())
	if err == nil && info.Size() > 0 {
		return nil
	}
	if errors.Is(err, fs.ErrNotExist) {
		if err := os.Rename(filepath.Join(f.dir, newName), f.Path()); err == nil || !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	wal, err := os.Stat(f.Path() + "-wal")
	if err != nil || wal.Size() == 0 {
		return nil
	}
	return setAside(f.Path(), filepath.Join(f.dir, asidePrefix+time.Now().UTC().Format("20060102T150405.000000000")))
}

// examined opens the database and looks at it as closely as the trust in it
// demands.
func (f *File) examined(ctx context.Context, how trust) (*db.DB, error) {
	if how == marked {
		return nil, fmt.Errorf("%w: a query failed", errDamaged)
	}
	d, err := connect(ctx, f.Path())
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(f.Path())
	if err == nil && (how == foreign || info.Size() <= smallFile && (how == torn || how == unsealed)) {
		err = check(ctx, d, how == foreign)
	}
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// reconcile compares the database with what the guard knows, and tells what was
// found.
func (f *File) reconcile(ctx context.Context, d *db.DB, how trust) error {
	switch how {
	case gone:
		f.tell(fmt.Sprintf("%s was missing or empty: approvals, rules, tokens and chats are lost", f.Path()))
	case foreign:
		f.tell(fmt.Sprintf("%s was changed by another program, or restored from a backup; it can be read, but its content may be wrong", f.Path()))
	}
	if f.guard == nil {
		return nil
	}
	found, err := f.guard.Reconcile(ctx, d, how == gone || how == foreign)
	for _, text := range found {
		f.tell(text)
	}
	return err
}

// connect opens a database and brings its tables up to date.
func connect(ctx context.Context, path string) (*db.DB, error) {
	for try := 0; ; try++ {
		d, err := db.Open(path, db.Options{CacheKB: cacheKB, Synchronous: "FULL"})
		if err != nil {
			return nil, err
		}
		if err = migrate(ctx, d); err == nil {
			return d, nil
		}
		err = errors.Join(err, d.Close())
		// SQLite does not wait for another process that gives a new file its
		// log at the same moment, whatever the busy timeout says.
		if !db.IsBusy(err) || try == tries {
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(step):
		}
	}
}

// How often, and how far apart, a file is tried that others are making.
const (
	tries = 200
	step  = 5 * time.Millisecond
)

// prepare makes the folder, so that nobody else can read what stands in it: the
// images of notes are as private as notes. The file itself is db's to make.
func (f *File) prepare() error { return os.MkdirAll(f.dir, 0o700) }

//go:embed migrations/*.sql
var migrations embed.FS

// Version is how many migrations this program knows.
func Version() int {
	list, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		panic(err) // the pattern is a constant
	}
	return len(list)
}

// migrate brings the tables to [Version], one transaction for each step. Two
// processes that try at once take turns, and the second finds it done.
func migrate(ctx context.Context, d *db.DB) error {
	have, err := version(ctx, d.Write)
	if err != nil {
		return err
	}
	want := Version()
	if have < 0 || have > want+1000 {
		return fmt.Errorf("%w: its version is %d", errDamaged, have)
	}
	if have > want {
		return fault.Fix(fault.Unavailable, "update Lore, or use the version that wrote it",
			"%s was written by a newer version of Lore (format %d; this version supports %d)", d.Path(), have, want)
	}
	for have < want {
		err := d.Tx(ctx, func(tx *sql.Tx) error {
			if have, err = version(ctx, tx); err != nil || have >= want {
				return err
			}
			have++
			text, err := migrations.ReadFile(fmt.Sprintf("migrations/%03d.sql", have))
			if err != nil {
				return err
			}
			if _, err := tx.ExecContext(ctx, string(text)); err != nil {
				return fmt.Errorf("migration %d: %w", have, err)
			}
			_, err = tx.ExecContext(ctx, fmt.Sprintf(`PRAGMA user_version = %d`, have))
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

func version(ctx context.Context, q querier) (n int, err error) {
	err = q.QueryRowContext(ctx, `PRAGMA user_version`).Scan(&n)
	return n, err
}

// Explain gives err the fault kind and the words that fit. Damage that an answer
// shows is repaired by the next process that opens the file.
func Explain(err error, path string) error {
	if Damaged(err) {
		markDamaged(path)
		return fault.Fix(fault.Unavailable, "stop every lore process and run this again: Lore recovers readable data and keeps the damaged file; notes are not changed",
			"%s is damaged", path)
	}
	return db.Explain(err, path)
}
