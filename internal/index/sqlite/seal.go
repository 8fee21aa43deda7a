package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"lore/internal/db"
	"lore/internal/fault"
)

// The seal is a line beside the database that says how large it is and when it
// was last written, renewed whenever Lore itself writes it. At a start it tells,
// without reading the file, whether anything else has touched it.
//
// What is promised: an index that something else wrote to, cut short or put in
// place is never asked a question; it is set aside and built anew. One that Lore
// was writing when it was killed is read whole once, by SQLite's own check: its
// structure is proved then, and its log carries checksums of its own. A disk
// that changes bytes without a write is noticed when SQLite or a row's own form
// shows it; then the index is marked and built anew at the next opening. A
// letter of a text that a failing disk turned into another letter is not
// noticed: only reading every note again could tell.
type seal string

// damagedSeal marks a file that must not be used again.
const damagedSeal seal = "damaged\n"

func sealPath(path string) string { return strings.TrimSuffix(path, ".db") + ".seal" }

// sealOf describes the file as it is now.
func sealOf(path string) (seal, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	return seal(fmt.Sprintf("%d %d\n", info.Size(), info.ModTime().UnixNano())), nil
}

// A trust says how far a file is believed before it is opened.
type trust int

const (
	sealed  trust = iota // as Lore left it, or not there yet
	torn                 // Lore was writing it when it ended
	foreign              // something else wrote it, or it was marked as damaged
)

// trustOf compares the file with its seal, which it returns too.
func trustOf(path string) (trust, seal) {
	now, err := sealOf(path)
	if err != nil || strings.HasPrefix(string(now), "0 ") {
		return sealed, ""
	}
	b, _ := os.ReadFile(sealPath(path)) // a seal that cannot be read is none
	was := seal(b)
	switch was {
	case now:
		return sealed, was
	case damagedSeal:
		return foreign, was
	}
	// Whoever dies leaves its log behind; whoever closes removes it.
	if _, err := os.Stat(path + "-wal"); err == nil {
		return torn, was
	}
	return foreign, was
}

// reseal renews the seal after the file was written. Failing is no harm: the
// next opening looks closer, or builds the index anew. The caller holds
// s.applying.
func (s *Store) reseal() {
	now, err := sealOf(s.db.Path())
	if err != nil || now == s.seal || s.damaged.Load() {
		return
	}
	if os.WriteFile(sealPath(s.db.Path()), []byte(now), 0o600) == nil {
		s.seal = now
	}
}

// notice gives an error its kind, and marks the file when it says that it is
// damaged, so that the next opening builds it anew. Every method defers it.
func (s *Store) notice(err *error) {
	if *err == nil {
		return
	}
	if !Damaged(*err) {
		*err = db.Explain(*err, s.db.Path())
		return
	}
	*err = fmt.Errorf("%w: %w", fault.Fix(fault.Unavailable, "run it again, and it is built anew", "the index is damaged"), *err)
	if !s.damaged.Swap(true) {
		_ = os.WriteFile(sealPath(s.db.Path()), []byte(damagedSeal), 0o600) // the error itself is the news
	}
}

// errDamaged is what a row says that no version of this package wrote.
var errDamaged = errors.New("the index is damaged")

// Damaged reports whether err means that the index must be built anew. Opening
// it again does so.
func Damaged(err error) bool {
	if err == nil {
		return false
	}
	// A column of a strict table that is not what its table says; package sql
	// has no other name for it.
	return db.IsCorrupt(err) || errors.Is(err, errDamaged) || strings.Contains(err.Error(), "sql: Scan error on column")
}

// setAside moves a file that is not used again out of the way, where it can be
// looked at. Only the newest one is kept: they are as large as an index.
func setAside(path string, now time.Time) (string, error) {
	dir := filepath.Dir(path)
	old, err := filepath.Glob(filepath.Join(dir, "index.corrupt-*"))
	if err != nil {
		return "", err
	}
	kept := filepath.Join(dir, "index.corrupt-"+now.UTC().Format("20060102T150405.000000000"))
	if err := os.Rename(path, kept); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("set the damaged index aside: %w", err)
	}
	slices.Sort(old)
	for _, p := range old {
		_ = os.RemoveAll(p) // waste; it is tried again next time
	}
	return kept, remove(path)
}

// remove deletes the database, its companions and its seal.
func remove(path string) error {
	err := os.Remove(sealPath(path))
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if err = errors.Join(err, db.Remove(path)); err != nil {
		return fmt.Errorf("remove the old index: %w", err)
	}
	return nil
}
