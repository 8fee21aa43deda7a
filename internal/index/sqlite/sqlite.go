// Package sqlite keeps an index in one SQLite file, with the vectors of its
// passages in a flat file beside it. It implements index.Store and knows SQL;
// it does not know where notes come from.
package sqlite

import (
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"lore/internal/fault"
	"lore/internal/index"
	"lore/internal/index/seal"
	"lore/internal/index/vectors"
	"lore/internal/machine/db"
	"lore/internal/machine/home"
)

// version changes whenever the schema or the way rows are made does. It is the
// only migration there is: an index of another version is built anew.
const version = 6

// applicationID marks the file as an index of Lore ("LORI").
const applicationID = 0x4c4f5249

//go:embed schema.sql
var schema string

// A Store is an index in the folder it was opened with.
type Store struct {
	db  *db.DB
	dir string

	applying sync.Mutex // one batch at a time; also guards lastID and seal
	lastID   int64

	damaged    atomic.Bool // an answer showed that the file must be built anew
	wasSettled atomic.Bool // and stays so

	vectors *vectors.Files
	counted sync.Map // model to the last coverage that this process counted
}

var _ index.Store = (*Store)(nil)

// An Opening tells what happened while a store was opened.
type Opening struct {
	Rebuilt bool   // the index is empty and must be filled
	Reason  string // why, for people: "new", "created by another version of Lore", "damaged"
	Kept    string // where a damaged file was moved to
}

// Open opens the index in the folder dir, which it creates. An index that is
// missing, damaged or of another version is replaced by an empty one; a damaged
// one is kept beside it.
func Open(ctx context.Context, dir string, now func() time.Time) (*Store, Opening, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, Opening{}, fmt.Errorf("make the index folder: %w", db.Explain(err, dir))
	}
	path := Path(dir)
	s, o, err := open(ctx, path)
	if err == nil {
		s.reseal()
		return s, o, nil
	}
	o = Opening{Rebuilt: true, Reason: "created by another version of Lore"}
	switch {
	case Damaged(err):
		o.Reason = "damaged"
		o.Kept, err = setAside(path, now())
	case errors.Is(err, errOtherVersion):
		err = remove(path)
	}
	if err == nil {
		s, _, err = open(ctx, path)
	}
	if err != nil {
		return nil, o, db.Explain(err, path)
	}
	s.reseal()
	return s, o, nil
}

// AwaitLock waits until no other process opens or closes the index in the folder dir,
// and ready is true. Whoever opens it waits for its turn: two processes would both
// make the tables of a new index.
func AwaitLock(ctx context.Context, dir string, ready func() bool) (release func() error, err error) {
	return home.AwaitLock(ctx, filepath.Join(dir, "open.lock"), ready)
}

// Join opens the index that another process writes. It never replaces one:
// what is damaged or of another version is that process's to mend.
func Join(ctx context.Context, dir string) (*Store, error) {
	s, _, err := open(ctx, Path(dir))
	if Damaged(err) || errors.Is(err, errOtherVersion) {
		return nil, fault.Fix(fault.Busy, "stop that process, then run this again", "the index cannot be used, and another lore process has it open")
	}
	return s, db.Explain(err, Path(dir))
}

// ReleaseMemory gives memory back, see [db.DB.ReleaseMemory].
func (s *Store) ReleaseMemory(ctx context.Context) error { return s.db.ReleaseMemory(ctx) }

// Path is the database of the index in the folder dir.
func Path(dir string) string { return filepath.Join(dir, "index.db") }

var errOtherVersion = errors.New("index of another version")

func open(ctx context.Context, path string) (*Store, Opening, error) {
	var o Opening
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return nil, o, fmt.Errorf("%w: %s is not a file", errDamaged, path)
	}
	how := seal.Compare(path)
	d, err := db.Open(path, db.Options{Synchronous: "NORMAL", CacheKB: 16 << 10})
	if err != nil {
		return nil, o, err
	}
	s := &Store{db: d, dir: filepath.Dir(path)}
	s.vectors = vectors.New(s.dir)
	o, err = s.prepare(ctx, how)
	if err != nil {
		return nil, o, errors.Join(err, d.Close())
	}
	return s, o, nil
}

// prepare checks the version of the file, or makes the tables of a new one.
func (s *Store) prepare(ctx context.Context, how seal.Trust) (Opening, error) {
	var have, app, tables int
	for _, q := range []struct {
		query string
		into  *int
	}{
		{`PRAGMA user_version`, &have}, {`PRAGMA application_id`, &app}, {`SELECT count(*) FROM sqlite_schema`, &tables},
	} {
		if err := s.db.Write.QueryRowContext(ctx, q.query).Scan(q.into); err != nil {
			return Opening{}, err
		}
	}
	switch {
	case tables == 0 && have == 0 && app == 0:
		made, err := s.create(ctx)
		if err == nil && !made {
			return s.prepare(ctx, seal.Sealed) // another process was faster
		}
		return Opening{Rebuilt: true, Reason: "new"}, err
	case app != applicationID:
		return Opening{}, fmt.Errorf("%w: it belongs to another program", errDamaged)
	case have != version:
		return Opening{}, errOtherVersion
	}
	return Opening{}, s.check(ctx, how)
}

// create makes the tables, unless another process made them meanwhile.
func (s *Store) create(ctx context.Context) (made bool, err error) {
	err = s.db.Tx(ctx, func(tx *sql.Tx) error {
		var tables int
		if err := tx.QueryRowContext(ctx, `SELECT count(*) FROM sqlite_schema`).Scan(&tables); err != nil || tables > 0 {
			return err
		}
		if _, err := tx.ExecContext(ctx, schema); err != nil {
			return err
		}
		hash, err := schemaHash(ctx, tx)
		if err != nil {
			return err
		}
		made = true
		_, err = tx.ExecContext(ctx, fmt.Sprintf(`INSERT INTO meta (key, value) VALUES ('schema', '%s');
		  PRAGMA user_version = %d; PRAGMA application_id = %d`, hash, version, applicationID))
		return err
	})
	return made, err
}

// check looks at what every start needs, and at the whole file when Lore did
// not close it; see package seal.
func (s *Store) check(ctx context.Context, how seal.Trust) error {
	switch how {
	case seal.Foreign:
		return fmt.Errorf("%w: another program changed it", errDamaged)
	case seal.Torn:
		if err := s.Check(ctx); err != nil {
			return err
		}
	}
	var was string
	var id sql.NullInt64
	err := s.db.Write.QueryRowContext(ctx, `SELECT value, (SELECT max(id) FROM notes) FROM meta WHERE key = 'schema'`).Scan(&was, &id)
	if db.IsBusy(err) || db.IsFull(err) || ctx.Err() != nil {
		return err
	}
	if err != nil {
		return fmt.Errorf("%w: %w", errDamaged, err) // the version says that they are there
	}
	now, err := schemaHash(ctx, s.db.Write)
	if err == nil && now != was {
		err = fmt.Errorf("%w: its tables are not the expected ones", errDamaged)
	}
	s.lastID = id.Int64
	return err
}

// schemaHash is of the tables as SQLite keeps them: what it keeps it reads at
// every start, and a letter that changed there is a table that is not found.
func schemaHash(ctx context.Context, q querier) (string, error) {
	var all sql.NullString
	err := q.QueryRowContext(ctx, `SELECT group_concat(sql, ';') FROM (SELECT sql FROM sqlite_schema WHERE type = 'table' ORDER BY name)`).Scan(&all)
	return fmt.Sprintf("%x", index.HashOf([]byte(all.String))), err
}

// Check reads the whole file and reports the first thing that is wrong in it.
func (s *Store) Check(ctx context.Context) (err error) {
	defer s.notice(&err)
	var answer string
	if err := s.db.Read.QueryRowContext(ctx, `PRAGMA quick_check(1)`).Scan(&answer); err != nil {
		return err
	}
	if answer != "ok" {
		return fmt.Errorf("%w: %q: %s", errDamaged, s.db.Path(), answer)
	}
	return nil
}

// Close closes the file. What is in the log is written to the file, and sealed,
// while no other process opens it: the index would look like one that something
// else wrote.
func (s *Store) Close() error {
	s.applying.Lock()
	defer s.applying.Unlock()
	// Without its turn it closes all the same: then the log is there until the file
	// is sealed, and who opens it reads it whole.
	if release, err := AwaitLock(context.Background(), s.dir, func() bool { return true }); err == nil {
		defer func() { _ = release() }() // the file is closed
	}
	_, _ = s.db.Write.ExecContext(context.Background(), `PRAGMA wal_checkpoint(PASSIVE)`) // closing does what is left
	s.reseal()
	err := errors.Join(s.vectors.Close(), s.db.Close())
	if _, open := os.Stat(s.db.Path() + "-wal"); errors.Is(open, os.ErrNotExist) {
		s.reseal() // while another process has it open, that one does
	}
	return err
}

// Stats reads the counts that every batch keeps.
func (s *Store) Stats(ctx context.Context, model string) (_ index.Stats, err error) {
	defer s.notice(&err)
	c, err := readCounts(ctx, s.db.Read)
	if err != nil {
		return index.Stats{}, fmt.Errorf("read the size of the index: %w", err)
	}
	st := index.Stats{
		Notes: c.Notes, Attachments: c.Attachments, Conflicts: c.Conflicts, Links: c.Links, Relations: c.Relations, Nodes: c.Nodes, Passages: c.Passages,
		Problems: c.Problems, Bytes: c.Bytes, Version: version, Generation: c.Generation,
	}
	if model != "" {
		st.Embedded, err = s.embedded(ctx, model, c.Generation)
	}
	return st, err
}
