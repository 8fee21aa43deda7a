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

	"lore/internal/db"
	"lore/internal/fault"
)

// A File is the state.db of one folder, opened when it is first needed: a
// process that neither asks nor records pays nothing for it. It may be used
// from several goroutines.
type File struct {
	dir string

	mu     sync.Mutex
	db     *db.DB
	closed bool
}

// In names the state.db in the folder dir. It opens nothing.
func In(dir string) *File { return &File{dir: dir} }

// Dir is the folder.
func (f *File) Dir() string { return f.dir }

// Path is the file.
func (f *File) Path() string { return filepath.Join(f.dir, "state.db") }

// DB opens the file, makes or migrates its tables, and returns it; the second
// call returns the same. A file that a newer Lore has written is refused and
// left as it is.
func (f *File) DB(ctx context.Context) (*db.DB, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.closed:
		return nil, fault.New(fault.Internal, "%s is closed", f.Path())
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
	if f.db == nil {
		return nil
	}
	d := f.db
	f.db = nil
	return Explain(d.Close(), f.Path())
}

// Rest gives memory back if the file is open, see [db.DB.Rest].
func (f *File) Rest(ctx context.Context) error {
	f.mu.Lock()
	d := f.db
	f.mu.Unlock()
	if d == nil {
		return nil
	}
	return d.Rest(ctx)
}

// cacheKB is small: what is read here are single rows, every process that
// records a call opens the file, and one that records all day fills it.
const cacheKB = 256

func (f *File) open(ctx context.Context) (*db.DB, error) {
	if err := f.prepare(); err != nil {
		return nil, err
	}
	for try := 0; ; try++ {
		d, err := db.Open(f.Path(), db.Options{CacheKB: cacheKB, Synchronous: "FULL"})
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
	if have > want {
		return fault.Fix(fault.Unavailable, "update this program, or use the one that wrote it",
			"%s was written by a newer Lore (version %d, this one knows %d)", d.Path(), have, want)
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

// Explain gives err the fault kind and the words that fit. What stands in this
// file comes back from nowhere, so damage is told in other words than that of
// an index.
func Explain(err error, path string) error {
	if db.IsCorrupt(err) {
		return fault.Fix(fault.Unavailable, "move it away to begin anew without history, or bring back a copy; no note is touched",
			"%s is damaged", path)
	}
	return db.Explain(err, path)
}
