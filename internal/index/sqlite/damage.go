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

	"lore/internal/fault"
	"lore/internal/index/seal"
	"lore/internal/machine/db"
)

// reseal renews the seal after the file was written. The caller holds s.applying.
func (s *Store) reseal() {
	if !s.damaged.Load() {
		seal.Renew(s.db.Path())
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
	*err = fmt.Errorf("%w: %w", fault.Fix(fault.Unavailable, "run the command again to rebuild it", "the index is damaged"), *err)
	if !s.damaged.Swap(true) {
		_ = seal.MarkDamaged(s.db.Path()) // the error itself is the news
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
	if err := errors.Join(seal.Remove(path), db.Remove(path)); err != nil {
		return fmt.Errorf("remove the old index: %w", err)
	}
	return nil
}
