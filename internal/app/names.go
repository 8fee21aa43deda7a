package app

import (
	"context"
	"fmt"
	"path"
	"slices"
	"sync"

	"lore/internal/change"
	"lore/internal/hidden"
	"lore/internal/index"
)

// names are all names of the vault by how they look, as of one state of the
// index.
type names struct {
	mu         sync.Mutex
	generation int64
	all        hidden.Names
}

// of brings the names up to date and returns them; nil when the index cannot be
// read.
func (n *names) of(ctx context.Context, store index.Store) hidden.Names {
	n.mu.Lock()
	defer n.mu.Unlock()
	st, err := store.Stats(ctx, "")
	if err != nil {
		return nil
	}
	if n.all != nil && n.generation == st.Generation {
		return n.all
	}
	var paths []string
	err = store.Files(ctx, func(f index.File) error {
		paths = append(paths, f.Path)
		return nil
	})
	if err != nil {
		return nil
	}
	n.all, n.generation = hidden.NewNames(paths), st.Generation
	return n.all
}

// warnings tell a person what the names in a set do not show: that a new one
// looks like another, and that a file has more names.
func (s *session) warnings(set change.Set) []string {
	var out, written []string
	for _, e := range set {
		switch e.Kind() {
		case change.Replaces:
			written = append(written, e.Path)
		case change.Moves:
			if e.After != nil {
				written = append(written, e.From)
			}
		}
		if e.Kind() != change.Creates && (e.Kind() != change.Moves || path.Base(e.From) == path.Base(e.Path)) {
			continue
		}
		if s.store == nil {
			continue
		}
		if twin, ok := s.names.of(context.Background(), s.store).Twin(e.Path); ok && twin != path.Base(e.From) {
			name := path.Base(e.Path)
			out = append(out, fmt.Sprintf("“%s” looks like “%s” but is spelled with %s", name, twin, hidden.Differs(name, twin)))
		}
	}
	for _, p := range s.vault.HasLinked(slices.Compact(written)) {
		out = append(out, fmt.Sprintf("%s is a hard link: this change gives it a file of its own, and its other names keep the old text", p))
	}
	return out
}
