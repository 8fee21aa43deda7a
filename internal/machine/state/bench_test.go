package state_test

import (
	"database/sql"
	"testing"

	"lore/internal/machine/state"
)

// BenchmarkOpenWrite is what a command pays that records one read: open, one
// row, close.
func BenchmarkOpenWrite(b *testing.B) {
	dir := b.TempDir()
	for b.Loop() {
		f := state.In(dir)
		d, err := f.DB(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		err = d.Tx(b.Context(), func(tx *sql.Tx) error {
			_, err := tx.Exec(`INSERT INTO fact VALUES ('x', '1') ON CONFLICT DO UPDATE SET value = value + 1`)
			return err
		})
		if err != nil {
			b.Fatal(err)
		}
		if err := f.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkOpen is the same without a row.
func BenchmarkOpen(b *testing.B) {
	dir := b.TempDir()
	for b.Loop() {
		f := state.In(dir)
		if _, err := f.DB(b.Context()); err != nil {
			b.Fatal(err)
		}
		if err := f.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
