package doctor

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"lore/internal/change"
	"lore/internal/index"
	"lore/internal/note/invisible"
	"lore/internal/vault"
)

// names are all names of the vault by how they look, as of one state of the
// index.
type names struct {
	mu         sync.Mutex
	generation int64
	all        invisible.Names
}

// of brings the names up to date and returns them; nil when the index cannot be
// read.
func (n *names) of(ctx context.Context, store index.Store) invisible.Names {
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
	n.all, n.generation = invisible.NewNames(paths), st.Generation
	return n.all
}

// An Adviser tells a person what the names in a set of edits do not show.
type Adviser struct {
	Vault *vault.Vault
	Store index.Store
	names names
}

// Warn tells of new names that look like others, and of files that have more
// names than one.
func (a *Adviser) Warn(set change.Set) []string {
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
		if e.Kind() != change.Creates && e.Kind() != change.Moves {
			continue
		}
		name, twin, ok := a.names.of(context.Background(), a.Store).Twin(e.Path, e.From)
		if ok {
			out = append(out, fmt.Sprintf("“%s” looks like “%s” but is spelled with %s", name, twin, invisible.Differs(name, twin)))
		}
	}
	for _, p := range a.Vault.HasLinked(slices.Compact(written)) {
		out = append(out, fmt.Sprintf("%s is a hard link: this change makes it a separate file, and its other names keep the old text", p))
	}
	return out
}
