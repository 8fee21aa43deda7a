package index

import (
	"context"
	"slices"
	"strconv"
	"sync"

	"lore/internal/note"
)

// Marked are the names of the notes that are marked as untrusted.
type Marked struct {
	Paths []string
	Nodes []string // their ids, of those that have one
	// At is the state of the index that they were read from: while it is the same,
	// so are they.
	At Stats
}

// Untrusted tells which notes are marked as untrusted. Every call asks, so the notes
// are read again only when the index is another one.
func Untrusted(s Store) func(context.Context) (Marked, error) {
	var mu sync.Mutex
	var last Marked
	known := false
	return func(ctx context.Context) (Marked, error) {
		at, err := s.Stats(ctx, "")
		if err != nil {
			return Marked{}, err
		}
		mu.Lock()
		defer mu.Unlock()
		if known && at == last.At {
			return last, nil
		}
		found, err := readMarked(ctx, s)
		if err != nil {
			return Marked{}, err
		}
		found.At = at // what came meanwhile is read the next time
		last, known = found, true
		return last, nil
	}
}

func readMarked(ctx context.Context, s Store) (m Marked, err error) {
	rows, err := s.Notes(ctx, Select{Filter: Filter{Props: []PropFilter{{Key: note.UntrustedKey}}}})
	marked := Prop{Key: note.UntrustedKey, Value: strconv.FormatBool(true)}
	for i := range rows {
		if !slices.Contains(rows[i].Props, marked) {
			continue
		}
		m.Paths = append(m.Paths, rows[i].File.Path)
		if rows[i].Node != "" {
			m.Nodes = append(m.Nodes, rows[i].Node)
		}
	}
	return m, err
}
