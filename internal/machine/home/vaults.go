package home

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// A known vault is how a vault is recognized: by its path, and by the identity
// of its folder when it was moved. Each data folder says in a file of its own
// which vault it belongs to (see card.go); the table in vaults.json repeats it
// for all of them, so that one read finds the folder. Where the two disagree or
// the table is damaged, the table is rebuilt from the folders.
type known struct {
	Path string `json:"path"`
	File string `json:"file,omitempty"` // device and inode
}

// A Folder is the data folder of a vault.
type Folder struct {
	Dir string
	// Adopted says that only one of path and identity of the vault fits, as
	// after a move, so that it may be another vault: see [Home.Confirm] and
	// [Home.Part].
	Adopted bool
	// Damage tells what was wrong with the files that assign folders to vaults,
	// and what was done about it.
	Damage []string
}

// VaultData returns the folder for what is derived from the vault at dir. Two
// processes that see a vault for the first time get the same one.
func (h Home) VaultData(ctx context.Context, dir string) (Folder, error) {
	data, err := h.Data()
	if err != nil {
		return Folder{}, err
	}
	me := identify(dir)
	t, err := readTable(data)
	if err != nil {
		return Folder{}, err
	}
	if id, ok := me.byPath(t.vaults); ok && t.state == tableWhole && cardSays(data, id, t.vaults[id]) {
		return Folder{Dir: filepath.Join(data, id), Adopted: me.differs(t.vaults[id])}, nil
	}
	var f Folder
	id, found := "", false
	damage, err := h.table(ctx, func(vaults map[string]known) {
		if id, found = me.byPath(vaults); found {
			f.Adopted = me.differs(vaults[id])
			return
		}
		if id, found = me.moved(vaults); !found {
			id = newVaultID()
		}
		f.Adopted = found
		vaults[id] = me
	})
	f.Dir, f.Damage = filepath.Join(data, id), damage
	if err == nil || id == "" {
		return f, err
	}
	// A disk that cannot be written does not hide what lies on it.
	if _, e := os.Stat(f.Dir); e == nil && found {
		return f, nil
	}
	return f, err
}

// KnownData is the folder of a vault that was opened before, under the same path.
func (h Home) KnownData(dir string) (string, bool) {
	data, err := h.Data()
	if err != nil {
		return "", false
	}
	t, err := readTable(data)
	if err != nil {
		return "", false
	}
	id, ok := identify(dir).byPath(t.vaults)
	return filepath.Join(data, id), ok
}

func newVaultID() string {
	var r [8]byte
	_, _ = rand.Read(r[:]) // never fails
	return hex.EncodeToString(r[:])
}

// table changes the assignment of data folders to vaults, one process at a time.
// It tells what was damaged. Without the right to write it calls f all the same
// and returns an error.
func (h Home) table(ctx context.Context, f func(map[string]known)) (damage []string, err error) {
	data, err := h.Data()
	if err != nil {
		return nil, err
	}
	release, locked := func() error { return nil }, false
	if err = os.MkdirAll(data, 0o700); err != nil {
		err = fmt.Errorf("make the data folder: %w", err)
	} else if release, err = AwaitLock(ctx, filepath.Join(data, "vaults.lock"), func() bool { return true }); err == nil {
		locked = true
		defer func() { _ = release() }() // the table is written by then
	}
	vaults, damage, e := load(data)
	if e != nil && !errors.Is(e, errNotKept) {
		return nil, e
	}
	f(vaults)
	if err = errors.Join(err, e); err != nil || !locked {
		return damage, err
	}
	for _, id := range slices.Sorted(maps.Keys(vaults)) {
		if err := writeCard(data, id, vaults[id]); err != nil {
			return damage, fmt.Errorf("write the data folder of %s: %w", vaults[id].Path, err)
		}
	}
	return damage, Replace(filepath.Join(data, tableName), render(vaults, true))
}

// Confirm remembers the identity that the folder at dir has now: its notes
// showed that it is the vault. On some systems it changes with every start.
func (h Home) Confirm(ctx context.Context, dir string) error {
	_, err := h.table(ctx, func(vaults map[string]known) {
		me := identify(dir)
		if id, ok := me.byPath(vaults); ok {
			vaults[id] = me
		}
	})
	return err
}

// Part gives the folder at dir data of its own, because it is another one than
// the vault whose path or identity it has. Rules, questions and history stay
// with the other.
func (h Home) Part(ctx context.Context, dir string) error {
	_, err := h.table(ctx, func(vaults map[string]known) {
		me := identify(dir)
		for id, k := range vaults {
			if k.Path == me.Path {
				k.Path = ""
			}
			if k.File == me.File {
				k.File = ""
			}
			vaults[id] = k
		}
		vaults[newVaultID()] = me
	})
	return err
}

// identify is how a folder is known.
func identify(dir string) known {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		real = dir
	}
	return known{Path: real, File: FileID(real)}
}

// differs reports whether the folder cannot be the known one by its identity.
func (k known) differs(old known) bool {
	return k.File != "" && old.File != "" && k.File != old.File
}

// byPath finds the vault under the path it has.
func (k known) byPath(vaults map[string]known) (string, bool) {
	for _, id := range slices.Sorted(maps.Keys(vaults)) {
		if vaults[id].Path == k.Path {
			return id, true
		}
	}
	return "", false
}

// moved finds the vault by its folder, when it is no longer at the old path.
func (k known) moved(vaults map[string]known) (string, bool) {
	for _, id := range slices.Sorted(maps.Keys(vaults)) {
		if old := vaults[id]; old.File != "" && old.File == k.File {
			if old.Path == "" || FileID(old.Path) != old.File {
				return id, true
			}
		}
	}
	return "", false
}
