// Package seal tells whether a database was written by anything but Lore, without
// reading it.
//
// A seal is a line beside the database that says how large it is and when it was
// last written, renewed whenever Lore itself writes it.
//
// What is promised: an index that something else wrote to, cut short or put in
// place is never asked a question; it is set aside and built anew. One that Lore
// was writing when it was killed is read whole once, by SQLite's own check: its
// structure is proved then, and its log carries checksums of its own. A disk
// that changes bytes without a write is noticed when SQLite or a row's own form
// shows it; then the index is marked and built anew at the next opening. A
// letter of a text that a failing disk turned into another letter is not
// noticed: only reading every note again could tell.
package seal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// damaged is the seal of a file that must not be used again.
const damaged = "damaged\n"

// Path is the seal of the database at path.
func Path(path string) string { return strings.TrimSuffix(path, ".db") + ".seal" }

// of describes the database as it is now.
func of(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%d %d\n", info.Size(), info.ModTime().UnixNano()), nil
}

// read reads a seal; one that cannot be read is none.
func read(path string) string {
	b, _ := os.ReadFile(Path(path))
	return string(b)
}

// A Trust says how far a database is believed before it is opened.
type Trust int

const (
	Sealed  Trust = iota // as Lore left it, or not there yet
	Torn                 // Lore was writing it when it ended
	Foreign              // something else wrote it, or it was marked as damaged
)

// Compare compares a database with its seal. No other process may close the
// database meanwhile: that changes both.
func Compare(path string) Trust {
	now, err := of(path)
	if err != nil || strings.HasPrefix(now, "0 ") {
		return Sealed
	}
	switch read(path) {
	case now:
		return Sealed
	case damaged:
		return Foreign
	}
	// Whoever dies leaves its log behind; whoever closes removes it.
	if _, err := os.Stat(path + "-wal"); err == nil {
		return Torn
	}
	return Foreign
}

// Renew seals a database after it was written. Failing is no harm: the next
// opening looks closer, or builds the index anew.
func Renew(path string) {
	if now, err := of(path); err == nil && read(path) != now {
		_ = os.WriteFile(Path(path), []byte(now), 0o600)
	}
}

// MarkDamaged says that the database must not be used again.
func MarkDamaged(path string) error { return os.WriteFile(Path(path), []byte(damaged), 0o600) }

// Remove removes the seal of a database that is removed.
func Remove(path string) error {
	if err := os.Remove(Path(path)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
