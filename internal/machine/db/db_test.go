package db_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"lore/internal/fault"
	"lore/internal/machine/db"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func open(t *testing.T) *db.DB {
	t.Helper()
	d, err := db.Open(filepath.Join(t.TempDir(), "a file with an #odd%20 name.db"), db.Options{})
	must(t, err)
	t.Cleanup(func() { must(t, d.Close()) })
	_, err = d.Write.ExecContext(t.Context(), `CREATE TABLE parent (id INTEGER PRIMARY KEY);
	  CREATE TABLE child (id INTEGER PRIMARY KEY, parent INTEGER REFERENCES parent (id) DEFERRABLE INITIALLY DEFERRED)`)
	must(t, err)
	return d
}

func count(t *testing.T, d *db.DB, table string) (n int) {
	t.Helper()
	must(t, d.Read.QueryRowContext(t.Context(), `SELECT count(*) FROM `+table).Scan(&n))
	return n
}

func insert(ctx context.Context, tx *sql.Tx, query string) error {
	_, err := tx.ExecContext(ctx, query)
	return err
}

func TestTx(t *testing.T) {
	d := open(t)
	ctx := t.Context()
	must(t, d.Tx(ctx, func(tx *sql.Tx) error { return insert(ctx, tx, `INSERT INTO parent VALUES (1)`) }))
	if n := count(t, d, "parent"); n != 1 {
		t.Errorf("%d rows after a commit", n)
	}
	boom := errors.New("boom")
	err := d.Tx(ctx, func(tx *sql.Tx) error {
		must(t, insert(ctx, tx, `INSERT INTO parent VALUES (2)`))
		return boom
	})
	if !errors.Is(err, boom) || count(t, d, "parent") != 1 {
		t.Errorf("%v, and %d rows", err, count(t, d, "parent"))
	}
}

// TestCommitError: a deferred constraint fails when everything seemed done.
func TestCommitError(t *testing.T) {
	d := open(t)
	ctx := t.Context()
	_, err := d.Write.ExecContext(ctx, `PRAGMA foreign_keys = ON`)
	must(t, err)
	err = d.Tx(ctx, func(tx *sql.Tx) error { return insert(ctx, tx, `INSERT INTO child VALUES (1, 99)`) })
	if err == nil || !strings.Contains(err.Error(), "FOREIGN KEY") {
		t.Errorf("a commit that failed is reported as %v", err)
	}
	if n := count(t, d, "child"); n != 0 {
		t.Errorf("%d rows after a failed commit", n)
	}
	// The one writing connection is usable again.
	must(t, d.Tx(ctx, func(tx *sql.Tx) error { return insert(ctx, tx, `INSERT INTO parent VALUES (7)`) }))
}

func TestPanicRollsBack(t *testing.T) {
	d := open(t)
	ctx := t.Context()
	func() {
		defer func() {
			if p := recover(); p != "boom" {
				t.Errorf("the panic became %v", p)
			}
		}()
		_ = d.Tx(ctx, func(tx *sql.Tx) error {
			must(t, insert(ctx, tx, `INSERT INTO parent VALUES (1)`))
			panic("boom")
		})
	}()
	if n := count(t, d, "parent"); n != 0 {
		t.Errorf("%d rows after a panic", n)
	}
	must(t, d.Tx(ctx, func(tx *sql.Tx) error { return insert(ctx, tx, `INSERT INTO parent VALUES (1)`) }))
}

func TestCancelled(t *testing.T) {
	d := open(t)
	ctx, cancel := context.WithCancel(t.Context())
	err := d.Tx(ctx, func(tx *sql.Tx) error {
		must(t, insert(ctx, tx, `INSERT INTO parent VALUES (1)`))
		cancel()
		return nil
	})
	if err == nil || count(t, d, "parent") != 0 {
		t.Errorf("a transaction whose caller went away: %v, %d rows", err, count(t, d, "parent"))
	}
	if fault.Of(err) != fault.Cancelled && !errors.Is(err, sql.ErrTxDone) {
		t.Errorf("%v", err)
	}
}

// TestView: all questions of a view see one state, whatever is written between.
func TestView(t *testing.T) {
	d := open(t)
	ctx := t.Context()
	must(t, d.View(ctx, func(tx *sql.Tx) error {
		for i := range 3 {
			var n int
			if err := tx.QueryRowContext(ctx, `SELECT count(*) FROM parent`).Scan(&n); err != nil {
				return err
			}
			if n != 0 {
				t.Errorf("%d rows came into view", n)
			}
			must(t, d.Tx(ctx, func(w *sql.Tx) error { return insert(ctx, w, fmt.Sprintf(`INSERT INTO parent VALUES (%d)`, i)) }))
		}
		if err := insert(ctx, tx, `INSERT INTO parent VALUES (100)`); err == nil {
			t.Error("a view wrote")
		}
		return nil
	}))
	if n := count(t, d, "parent"); n != 3 {
		t.Errorf("%d rows", n)
	}
	if _, err := d.Read.ExecContext(ctx, `DELETE FROM parent`); err == nil {
		t.Error("a reader wrote")
	}
}

func TestWhatErrorsMean(t *testing.T) {
	ctx := t.Context()
	dir := t.TempDir()
	fail := func(path, query string) error {
		d, err := db.Open(path, db.Options{})
		if err != nil {
			return err
		}
		defer d.Close()
		_, err = d.Write.ExecContext(ctx, query)
		return err
	}
	text := filepath.Join(dir, "text.db")
	must(t, os.WriteFile(text, []byte(strings.Repeat("dear diary ", 1000)), 0o600))
	full := filepath.Join(dir, "full.db")
	busy := errors.New("not tried: it waits for five seconds")
	for _, c := range []struct {
		name                          string
		err                           error
		corrupt, full, readOnly, busy bool
		kind                          fault.Kind
	}{
		{"text", fail(text, `CREATE TABLE x (y)`), true, false, false, false, fault.Unavailable},
		{"no room", fail(full, `PRAGMA max_page_count = 1; CREATE TABLE x (y); CREATE TABLE z (y)`), false, true, false, false, fault.Unavailable},
		{"no room for a plain file", fmt.Errorf("write: %w", &os.PathError{Err: syscall.ENOSPC}), false, true, false, false, fault.Unavailable},
		{"no such folder", fail(filepath.Join(dir, "none", "x.db"), `CREATE TABLE x (y)`), false, false, true, false, fault.ReadOnly},
		{"a read-only disk", &os.PathError{Err: syscall.EROFS}, false, false, true, false, fault.ReadOnly},
		{"a mistake in SQL", fail(filepath.Join(dir, "sql.db"), `SELEKT`), false, false, false, false, fault.Internal},
		{"no error of SQLite", busy, false, false, false, false, fault.Internal},
		{"none", nil, false, false, false, false, ""},
	} {
		if c.err == nil && c.kind != "" {
			t.Errorf("%s: no error", c.name)
			continue
		}
		wrapped := c.err
		if c.err != nil {
			wrapped = fmt.Errorf("doing something: %w", c.err)
		}
		if db.IsCorrupt(wrapped) != c.corrupt || db.IsFull(wrapped) != c.full || db.IsReadOnly(wrapped) != c.readOnly || db.IsBusy(wrapped) != c.busy {
			t.Errorf("%s: %v is taken for something else", c.name, c.err)
		}
		if got := db.Explain(wrapped, "the.db"); fault.Of(got) != c.kind {
			t.Errorf("%s: %v is of kind %q, want %q", c.name, got, fault.Of(got), c.kind)
		}
	}
}

func TestBusy(t *testing.T) {
	d := open(t)
	ctx := t.Context()
	path := strings.NewReplacer("%", "%25", "#", "%23", " ", "%20").Replace(d.Path())
	other, err := sql.Open("sqlite", "file:"+filepath.ToSlash(path)+"?_pragma=busy_timeout(1)")
	must(t, err)
	defer other.Close()
	must(t, d.Tx(ctx, func(*sql.Tx) error {
		_, err := other.ExecContext(ctx, `INSERT INTO parent VALUES (1)`)
		if !db.IsBusy(err) || fault.Of(db.Explain(err, d.Path())) != fault.Busy {
			t.Errorf("a file that is in use: %v", err)
		}
		return nil
	}))
}

// TestRest: readers that nobody uses are gone, others are not disturbed, and
// everything can be asked as before.
func TestRest(t *testing.T) {
	d := open(t)
	ctx := t.Context()
	ask := func() {
		t.Helper()
		rows, err := d.Query(ctx, `SELECT id FROM parent`) // kept ready
		must(t, err)
		must(t, rows.Close())
	}
	ask()
	must(t, d.View(ctx, func(tx *sql.Tx) error {
		ask()
		if n := d.Read.Stats().OpenConnections; n != 2 {
			t.Fatalf("%d readers before", n)
		}
		must(t, d.ReleaseMemory(ctx))
		if n := d.Read.Stats().OpenConnections; n != 1 {
			t.Errorf("%d readers while one is used", n)
		}
		_, err := tx.ExecContext(ctx, `SELECT count(*) FROM parent`)
		return err
	}))
	must(t, d.ReleaseMemory(ctx))
	if n := d.Read.Stats().OpenConnections; n != 0 {
		t.Errorf("%d readers at rest", n)
	}
	ask()
	ask()
	if n := d.Read.Stats().OpenConnections; n != 1 {
		t.Errorf("%d readers afterwards", n)
	}
	must(t, d.Tx(ctx, func(tx *sql.Tx) error { return insert(ctx, tx, `INSERT INTO parent VALUES (1)`) }))
}

func TestRemove(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	must(t, db.Remove(path)) // nothing there is no error
	for _, s := range []string{"", "-wal", "-shm", "-journal", "-mine"} {
		must(t, os.WriteFile(path+s, nil, 0o600))
	}
	must(t, db.Remove(path))
	left, err := filepath.Glob(path + "*")
	if err != nil || len(left) != 1 || left[0] != path+"-mine" {
		t.Errorf("left: %q %v", left, err)
	}
}

// A transaction that is broken off says so, whatever package sql calls what it
// closed meanwhile: "sql: statement is closed" is no mistake of the caller.
func TestTxBrokenOffIsCancelled(t *testing.T) {
	t.Parallel()
	d, err := db.Open(filepath.Join(t.TempDir(), "x.db"), db.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if _, err := d.Write.ExecContext(t.Context(), `CREATE TABLE x (y INTEGER)`); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	err = d.Tx(ctx, func(tx *sql.Tx) error {
		st, err := tx.PrepareContext(ctx, `INSERT INTO x VALUES (1)`)
		if err != nil {
			return err
		}
		cancel()
		for {
			if _, err := st.ExecContext(t.Context()); err != nil {
				return err
			}
		}
	})
	if fault.Of(err) != fault.Cancelled {
		t.Errorf("%v is %s", err, fault.Of(err))
	}
}

// TestTxNoSync: only transactions that ask for it do not wait for the disk, and
// a caller that goes away changes nothing about the next one.
func TestTxNoSync(t *testing.T) {
	d := open(t)
	level := func(run func(context.Context, func(*sql.Tx) error) error) (n int) {
		t.Helper()
		must(t, run(t.Context(), func(tx *sql.Tx) error { return tx.QueryRowContext(t.Context(), `PRAGMA synchronous`).Scan(&n) }))
		return n
	}
	for range 100 {
		ctx, cancel := context.WithCancel(t.Context())
		err := d.TxNoSync(ctx, func(tx *sql.Tx) error {
			if err := insert(ctx, tx, `INSERT INTO parent VALUES (1)`); err != nil {
				return err
			}
			cancel()
			return nil
		})
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("a transaction that was broken off: %v", err)
		}
		if full, normal := level(d.Tx), level(d.TxNoSync); full != 2 || normal != 1 {
			t.Fatalf("synchronous is %d in Tx and %d in TxNoSync", full, normal)
		}
	}
	if n := count(t, d, "parent"); n != 0 {
		t.Errorf("%d rows of transactions that were broken off", n)
	}
}
