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
	"time"

	"lore/internal/db"
	"lore/internal/index"
)

// version changes whenever the schema or the way rows are made does. It is the
// only migration there is: an index of another version is built anew.
const version = 1

// applicationID marks the file as an index of Lore ("LORI").
const applicationID = 0x4c4f5249

//go:embed schema.sql
var schema string

// A Store is an index in the folder it was opened with.
type Store struct {
	db  *db.DB
	dir string

	applying sync.Mutex // one batch at a time; also guards lastID
	lastID   int64

	vectors *vectorFiles
}

var _ index.Store = (*Store)(nil)

// An Opening tells what happened while a store was opened.
type Opening struct {
	Rebuilt bool   // the index is empty and must be filled
	Reason  string // why, for people: "new", "made by another version", "damaged"
	Kept    string // where a damaged file was moved to
}

// Open opens the index in the folder dir, which it creates. An index that is
// missing, damaged or of another version is replaced by an empty one.
func Open(ctx context.Context, dir string, now func() time.Time) (*Store, Opening, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, Opening{}, fmt.Errorf("make the index folder: %w", err)
	}
	path := Path(dir)
	s, o, err := open(ctx, path)
	if err == nil {
		return s, o, nil
	}
	if !db.IsCorrupt(err) && !errors.Is(err, errOtherVersion) {
		return nil, o, db.Explain(err, path)
	}
	o = Opening{Rebuilt: true, Reason: "made by another version"}
	if db.IsCorrupt(err) {
		o.Reason = "damaged"
		o.Kept = filepath.Join(dir, "index.corrupt-"+now().UTC().Format("20060102T150405"))
		if err := os.Rename(path, o.Kept); err != nil {
			return nil, o, fmt.Errorf("set the damaged index aside: %w", err)
		}
	}
	if err := db.Remove(path); err != nil {
		return nil, o, fmt.Errorf("remove the old index: %w", err)
	}
	s, _, err = open(ctx, path)
	if err != nil {
		return nil, o, db.Explain(err, path)
	}
	return s, o, nil
}

// Path is the database of the index in the folder dir.
func Path(dir string) string { return filepath.Join(dir, "index.db") }

var errOtherVersion = errors.New("index of another version")

func open(ctx context.Context, path string) (*Store, Opening, error) {
	var o Opening
	d, err := db.Open(path, db.Options{Synchronous: "NORMAL", CacheKB: 16 << 10})
	if err != nil {
		return nil, o, err
	}
	s := &Store{db: d, dir: filepath.Dir(path)}
	s.vectors = newVectorFiles(s.dir)
	o, err = s.prepare(ctx)
	if err != nil {
		return nil, o, errors.Join(err, d.Close())
	}
	return s, o, nil
}

// prepare checks the version of the file, or makes the tables of a new one.
func (s *Store) prepare(ctx context.Context) (Opening, error) {
	var have, app int
	if err := s.db.Write.QueryRowContext(ctx, `PRAGMA user_version`).Scan(&have); err != nil {
		return Opening{}, err
	}
	if err := s.db.Write.QueryRowContext(ctx, `PRAGMA application_id`).Scan(&app); err != nil {
		return Opening{}, err
	}
	if have == version && app == applicationID {
		return Opening{}, s.check(ctx)
	}
	var tables int
	if err := s.db.Write.QueryRowContext(ctx, `SELECT count(*) FROM sqlite_schema`).Scan(&tables); err != nil {
		return Opening{}, err
	}
	if tables > 0 {
		return Opening{}, errOtherVersion
	}
	err := s.db.Tx(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, schema); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, fmt.Sprintf(`PRAGMA user_version = %d; PRAGMA application_id = %d`, version, applicationID))
		return err
	})
	return Opening{Rebuilt: true, Reason: "new"}, err
}

// check looks at the parts of the file that every start needs. It is not a full
// check of every page, which reads the whole file: [Store.Check] does that, and
// damage that it would find shows itself as an error of a later query too.
func (s *Store) check(ctx context.Context) error {
	var id sql.NullInt64
	if err := s.db.Write.QueryRowContext(ctx, `SELECT max(id) FROM notes`).Scan(&id); err != nil {
		return asCorrupt(err)
	}
	s.lastID = id.Int64
	return nil
}

// asCorrupt treats a file whose tables are gone as damaged: the version says
// that they were there.
func asCorrupt(err error) error {
	if err == nil || db.IsBusy(err) || db.IsFull(err) || errors.Is(err, context.Canceled) {
		return err
	}
	return errors.Join(errOtherVersion, err)
}

// Check reads the whole file and reports the first thing that is wrong in it.
func (s *Store) Check(ctx context.Context) error {
	var answer string
	if err := s.db.Read.QueryRowContext(ctx, `PRAGMA quick_check(1)`).Scan(&answer); err != nil {
		return err
	}
	if answer != "ok" {
		return fmt.Errorf("index %q: %s", s.db.Path(), answer)
	}
	return nil
}

// Damaged reports whether err means that the index file must be built anew.
func Damaged(err error) bool { return db.IsCorrupt(err) }

// Close closes the file.
func (s *Store) Close() error { return errors.Join(s.vectors.close(), s.db.Close()) }

// Stats reads the counts that every batch keeps.
func (s *Store) Stats(ctx context.Context, model string) (index.Stats, error) {
	c, err := readCounts(ctx, s.db.Read)
	if err != nil {
		return index.Stats{}, fmt.Errorf("read the size of the index: %w", err)
	}
	st := index.Stats{
		Notes: c.Notes, Attachments: c.Attachments, Conflicts: c.Conflicts, Links: c.Links, Passages: c.Passages,
		Problems: c.Problems, Bytes: c.Bytes, Version: version, Generation: c.Generation,
	}
	if model != "" {
		st.Embedded, err = s.embedded(ctx, model, c.Generation)
	}
	return st, err
}
