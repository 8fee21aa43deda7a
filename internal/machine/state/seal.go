package state

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"lore/internal/machine/db"
)

// The seal is a file beside state.db that says how large the database is and
// when it was last written. The last process that closes the database writes it,
// so the next one that opens it can tell, without reading the database, whether
// anything else has touched it. While a process has it open, the seal says so.
const (
	sealName    = "state.seal"
	openSeal    = "open"
	damagedSeal = "damaged"
)

// A trust says how far a database is believed before it is opened.
type trust int

const (
	trusted  trust = iota // as Lore left it, or new
	unsealed              // made by a version without seals
	torn                  // a process ended without closing it
	foreign               // something else wrote it
	marked                // an answer showed that it is damaged
	gone                  // there was one, and it is missing or empty
)

// sealOf describes the database as it is now; "" when there is none.
func sealOf(path string) string {
	info, err := os.Stat(path)
	if err != nil || info.Size() == 0 {
		return ""
	}
	return fmt.Sprintf("%d %d", info.Size(), info.ModTime().UnixNano())
}

func (f *File) sealPath() string { return filepath.Join(f.dir, sealName) }

// trust compares the database with its seal, while no other process has it open.
func (f *File) trust() trust {
	now := sealOf(f.Path())
	was, err := readSeal(f.sealPath())
	switch {
	case now == "" && err == nil && was != "":
		return gone
	case now == "":
		return trusted
	case errors.Is(err, fs.ErrNotExist):
		return unsealed
	case was == now:
		return trusted
	case was == damagedSeal:
		return marked
	case was == openSeal:
		return torn
	}
	return foreign
}

func readSeal(path string) (string, error) {
	b, err := os.ReadFile(path)
	return strings.TrimSpace(string(b)), err
}

// writeSeal writes the seal in place, always as long as before: a file that is
// emptied and written again costs a wait for the disk on some file systems.
// Without a seal the next opening looks closer, so failing is no harm.
func writeSeal(path, text string) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return
	}
	_, _ = fmt.Fprintf(f, "%-62s\n", text) // see above
	_ = f.Close()
}

func (f *File) setSeal(text string) { writeSeal(f.sealPath(), text) }

// markDamaged lets the next process that opens the database repair it.
func markDamaged(path string) {
	if filepath.Base(path) == fileName {
		writeSeal(filepath.Join(filepath.Dir(path), sealName), damagedSeal)
	}
}

// A use is this process's share in a database that several processes have open.
type use struct {
	file  *os.File
	alone bool // no other process had it open
}

// turn waits until no other process opens or closes the database. A process that
// is stopped in the middle is not waited for longer than five seconds.
func (f *File) turn(ctx context.Context) (release func()) {
	file, err := os.OpenFile(filepath.Join(f.dir, "state.lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return func() {}
	}
	release = func() { _ = file.Close() }
	for range 1000 {
		ok, err := tryLock(file, true)
		if ok || err != nil {
			return release
		}
		select {
		case <-ctx.Done():
			return release
		case <-time.After(step):
		}
	}
	return release
}

// join takes a share in the database. The caller has the turn.
func (f *File) join() use {
	file, err := os.OpenFile(filepath.Join(f.dir, "state.use"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return use{}
	}
	alone, err := tryLock(file, true)
	if err == nil {
		_, err = tryLock(file, false)
	}
	if err != nil {
		_ = file.Close()
		return use{}
	}
	return use{file, alone}
}

// leave gives the share back and reports whether it was the last one. The caller
// has the turn.
func (u use) leave() bool {
	if u.file == nil {
		return false
	}
	defer u.file.Close()
	last, err := tryLock(u.file, true)
	return last && err == nil
}

// check reads the whole database. Thorough also compares indexes with tables.
func check(ctx context.Context, d *db.DB, thorough bool) error {
	query := `PRAGMA quick_check(1)`
	if thorough {
		query = `PRAGMA integrity_check(1)`
	}
	var answer string
	if err := d.Read.QueryRowContext(ctx, query).Scan(&answer); err != nil {
		return err
	}
	if answer != "ok" {
		return fmt.Errorf("%w: %s", errDamaged, answer)
	}
	return nil
}

// errDamaged is what a check says of a database that must not be used.
var errDamaged = errors.New("the database is damaged")

// Damaged reports whether err means that the database is damaged.
func Damaged(err error) bool {
	if err == nil || db.IsCorrupt(err) || errors.Is(err, errDamaged) {
		return err != nil
	}
	// Tables that every version made are missing, or are there before they are
	// made: the schema is not what the version says.
	for _, sign := range []string{"no such table", "no such column", "SQL logic error: table ", "duplicate column name"} {
		if strings.Contains(err.Error(), sign) {
			return true
		}
	}
	return false
}

// Check reads the whole database and reports the first thing that is wrong.
func (f *File) Check(ctx context.Context) error {
	d, err := f.DB(ctx)
	if err != nil {
		return err
	}
	return Explain(check(ctx, d, true), f.Path())
}

// Aside lists the damaged databases that were kept, oldest first.
func (f *File) Aside() []string {
	list, _ := filepath.Glob(filepath.Join(f.dir, asidePrefix+"*")) // the pattern is valid
	var out []string
	for _, path := range list {
		if !strings.HasSuffix(path, "-wal") && !strings.HasSuffix(path, "-shm") {
			out = append(out, path)
		}
	}
	return out
}

const asidePrefix = "state.corrupt-"
