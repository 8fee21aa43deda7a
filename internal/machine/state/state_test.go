package state_test

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"lore/internal/fault"
	"lore/internal/machine/db"
	"lore/internal/machine/state"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestNothingIsOpenedUnasked(t *testing.T) {
	dir := t.TempDir()
	f := state.In(filepath.Join(dir, "data"))
	must(t, f.Close())
	if list, err := os.ReadDir(dir); err != nil || len(list) != 0 {
		t.Errorf("%v, %v", list, err)
	}
	if _, err := f.DB(t.Context()); err == nil {
		t.Error("a closed file was opened")
	}
}

func TestManyMakeItAtOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			f := state.In(dir)
			d, err := f.DB(t.Context())
			if err != nil {
				t.Error(err)
				return
			}
			var n int
			if err := d.Read.QueryRow(`PRAGMA user_version`).Scan(&n); err != nil || n != state.Version() {
				t.Errorf("version %d, %v", n, err)
			}
			if err := f.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	info, err := os.Stat(filepath.Join(dir, "state.db"))
	must(t, err)
	if info.Mode().Perm()&0o077 != 0 && os.PathSeparator == '/' {
		t.Errorf("others may read it: %v", info.Mode())
	}
}

func TestNewerFilesAreLeftAlone(t *testing.T) {
	f := state.In(t.TempDir())
	d, err := f.DB(t.Context())
	must(t, err)
	_, err = d.Write.Exec(`PRAGMA user_version = 99`)
	must(t, err)
	must(t, f.Close())
	before, err := os.ReadFile(f.Path())
	must(t, err)
	_, err = state.In(f.Dir()).DB(t.Context())
	if fault.Of(err) != fault.Unavailable || !strings.Contains(err.Error(), "newer version of Lore (format 99") {
		t.Errorf("%v", err)
	}
	after, err := os.ReadFile(f.Path())
	must(t, err)
	if string(before) != string(after) {
		t.Error("the file was touched")
	}
}

func TestDamageIsToldAndKept(t *testing.T) {
	dir := t.TempDir()
	f := state.In(dir)
	var told []string
	f.OnDamage(func(text string) { told = append(told, text) })
	garbage := strings.Repeat("no database at all ", 400)
	must(t, os.WriteFile(f.Path(), []byte(garbage), 0o600))
	_, err := f.DB(t.Context())
	must(t, err)
	defer f.Close()
	aside := f.Aside()
	if len(told) != 1 || len(aside) != 1 || !strings.Contains(told[0], filepath.Base(aside[0])) || !strings.Contains(told[0], "tokens") {
		t.Fatalf("told %q, kept %q", told, aside)
	}
	if b, err := os.ReadFile(aside[0]); err != nil || string(b) != garbage {
		t.Errorf("what was damaged is not kept: %v", err)
	}
	blocked := filepath.Join(dir, "file")
	must(t, os.WriteFile(blocked, nil, 0o600))
	if _, err := state.In(filepath.Join(blocked, "sub")).DB(t.Context()); err == nil {
		t.Error("a folder inside a file was made")
	}
}

func TestFailedTransactionsLeaveNothing(t *testing.T) {
	f := state.In(t.TempDir())
	d, err := f.DB(t.Context())
	must(t, err)
	defer f.Close()
	broken := errors.New("broken")
	err = d.Tx(t.Context(), func(tx *sql.Tx) error {
		_, err := tx.Exec(`INSERT INTO fact VALUES ('a', 'b')`)
		must(t, err)
		return broken
	})
	var n int
	must(t, d.Read.QueryRow(`SELECT count(*) FROM fact`).Scan(&n))
	if !errors.Is(err, broken) || n != 0 {
		t.Errorf("%v, %d rows", err, n)
	}
}

// TestOldFilesAreMigrated: a file of every earlier version becomes what a new
// one is.
func TestOldFilesAreMigrated(t *testing.T) {
	tables := func(f *state.File) (out string) {
		d, err := f.DB(t.Context())
		must(t, err)
		must(t, d.Read.QueryRow(`SELECT group_concat(name || ':' || (SELECT group_concat(name) FROM pragma_table_info(s.name)), ';')
		  FROM (SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name) s`).Scan(&out))
		return out
	}
	fresh := state.In(t.TempDir())
	defer fresh.Close()
	want := tables(fresh)
	for v := 1; v < state.Version(); v++ {
		dir := t.TempDir()
		old, err := db.Open(filepath.Join(dir, "state.db"), db.Options{})
		must(t, err)
		for i := 1; i <= v; i++ {
			text, err := os.ReadFile(fmt.Sprintf("migrations/%03d.sql", i))
			must(t, err)
			_, err = old.Write.Exec(string(text))
			must(t, err)
		}
		_, err = old.Write.Exec(fmt.Sprintf(`PRAGMA user_version = %d; INSERT INTO fact VALUES ('kept', 'yes')`, v))
		must(t, err)
		must(t, old.Close())
		f := state.In(dir)
		if got := tables(f); got != want {
			t.Errorf("version %d becomes\n%s\nwant\n%s", v, got, want)
		}
		d, err := f.DB(t.Context())
		must(t, err)
		var kept string
		if err := d.Read.QueryRow(`SELECT value FROM fact`).Scan(&kept); err != nil || kept != "yes" {
			t.Errorf("version %d: %q, %v", v, kept, err)
		}
		must(t, f.Close())
	}
}
