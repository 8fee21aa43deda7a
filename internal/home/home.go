// Package home knows where things lie on this machine: the folder for all that
// is derived, the table of the vaults that were seen, which folder a person
// means, and the locks that keep processes apart. It opens no vault.
package home

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"lore/internal/fault"
)

// Home is what the environment of a process says.
type Home struct {
	Env func(string) string
}

// Data is the folder that holds everything derived.
func (h Home) Data() (string, error) {
	if d := h.Env("XDG_DATA_HOME"); d != "" {
		return filepath.Join(d, "lore"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fault.Fix(fault.Invalid, "set $HOME or $XDG_DATA_HOME", "no folder for the index: %v", err)
	}
	switch runtime.GOOS {
	case "darwin":
		return filepath.Join(home, "Library", "Application Support", "lore"), nil
	case "windows":
		if d := h.Env("LOCALAPPDATA"); d != "" {
			return filepath.Join(d, "lore"), nil
		}
	}
	return filepath.Join(home, ".local", "share", "lore"), nil
}

// Config is the folder that holds what a person set.
func (h Home) Config() (string, error) {
	dir := h.Env("XDG_CONFIG_HOME")
	if dir == "" {
		var err error
		if dir, err = os.UserConfigDir(); err != nil {
			return "", fault.Fix(fault.Invalid, "set $HOME or $XDG_CONFIG_HOME", "no folder for the settings: %v", err)
		}
	}
	return filepath.Join(dir, "lore"), nil
}

// Vault decides which folder is the vault: the one that was named, else the
// one around the current folder, else the default of the settings, else the
// current folder.
func (h Home) Vault(named, fallback string) (string, error) {
	if named != "" {
		return named, nil
	}
	if v := h.Env("LORE_VAULT"); v != "" {
		return Expand(v), nil
	}
	here, err := os.Getwd()
	if err != nil {
		return "", fault.Fix(fault.Invalid, "name the vault with --vault", "no current folder: %v", err)
	}
	if v, ok := vaultAround(here); ok {
		return v, nil
	}
	if fallback != "" {
		return Expand(fallback), nil
	}
	if tooWide(here) {
		return "", fault.Fix(fault.Invalid, "go to the folder of your notes, name it with --vault, or set a default: lore config set vault FOLDER",
			"%s is not a folder of notes", here)
	}
	return here, nil
}

// marks are what note programs leave in their vaults.
var marks = []string{".obsidian", filepath.Join("logseq", "config.edn"), "dendron.yml", ".lore"}

// vaultAround looks for a vault that the folder dir is in. A home folder is
// none, whatever lies in it, unless it is named.
func vaultAround(dir string) (string, bool) {
	for !tooWide(dir) {
		for _, mark := range marks {
			if _, err := os.Stat(filepath.Join(dir, mark)); err == nil {
				return dir, true
			}
		}
		dir = filepath.Dir(dir)
	}
	return "", false
}

// tooWide reports whether dir is a home folder or the root of a disk: what lies
// there is not meant to be read as notes.
func tooWide(dir string) bool {
	if filepath.Dir(dir) == dir {
		return true
	}
	home, err := os.UserHomeDir()
	return err == nil && SameFolder(home, dir)
}

// SameFolder compares two folders whatever names lead to them.
func SameFolder(a, b string) bool {
	if filepath.Clean(a) == filepath.Clean(b) {
		return true
	}
	ia, err := os.Stat(a)
	if err != nil {
		return false
	}
	ib, err := os.Stat(b)
	return err == nil && os.SameFile(ia, ib)
}

// Expand reads ~ as the home folder.
func Expand(p string) string {
	rest, ok := strings.CutPrefix(p, "~")
	if !ok || rest != "" && !os.IsPathSeparator(rest[0]) {
		return p
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return p
	}
	return filepath.Join(home, rest)
}

// A known vault is one line of the table that gives every vault its data
// folder. A vault is known by its path, and by its folder's identity when it
// was moved.
type known struct {
	Path string `json:"path"`
	File string `json:"file,omitempty"` // device and inode
}

// VaultData returns the folder for what is derived from the vault at dir. Two
// processes that see a vault for the first time get the same one. Adopted says
// that only one of path and identity of the folder fits, as after a move, so
// that it may be another vault: see [Home.Confirm] and [Home.Part].
func (h Home) VaultData(ctx context.Context, dir string) (folder string, adopted bool, err error) {
	data, err := h.Data()
	if err != nil {
		return "", false, err
	}
	me := identify(dir)
	vaults, err := readVaults(filepath.Join(data, "vaults.json"))
	if err != nil {
		return "", false, err
	}
	if id, ok := me.byPath(vaults); ok {
		return filepath.Join(data, id), me.differs(vaults[id]), nil
	}
	id := ""
	err = h.table(ctx, func(vaults map[string]known) {
		var ok bool
		if id, ok = me.byPath(vaults); ok {
			return // another process was quicker
		}
		if id, adopted = me.moved(vaults); !adopted {
			id = newVaultID()
		}
		vaults[id] = me
	})
	return filepath.Join(data, id), adopted, err
}

func newVaultID() string {
	var r [8]byte
	_, _ = rand.Read(r[:]) // never fails
	return hex.EncodeToString(r[:])
}

// table changes the table of vaults, one process at a time.
func (h Home) table(ctx context.Context, f func(map[string]known)) error {
	data, err := h.Data()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(data, 0o700); err != nil {
		return fmt.Errorf("make the data folder: %w", err)
	}
	release, err := Turn(ctx, filepath.Join(data, "vaults.lock"), func() bool { return true })
	if err != nil {
		return err
	}
	defer func() { _ = release() }() // the table is written by then
	table := filepath.Join(data, "vaults.json")
	vaults, err := readVaults(table)
	if err != nil {
		return err
	}
	f(vaults)
	for id := range vaults {
		if err := os.MkdirAll(filepath.Join(data, id), 0o700); err != nil {
			return fmt.Errorf("make the data folder: %w", err)
		}
	}
	out, err := json.MarshalIndent(vaults, "", "  ")
	if err != nil {
		return err
	}
	return Replace(table, append(out, '\n'))
}

// Confirm remembers the identity that the folder at dir has now: its notes
// showed that it is the vault. On some systems it changes with every start.
func (h Home) Confirm(ctx context.Context, dir string) error {
	return h.table(ctx, func(vaults map[string]known) {
		me := identify(dir)
		if id, ok := me.byPath(vaults); ok {
			vaults[id] = me
		}
	})
}

// Part gives the folder at dir data of its own, because it is another one than
// the vault whose path or identity it has. Rules, questions and history stay
// with the other.
func (h Home) Part(ctx context.Context, dir string) error {
	return h.table(ctx, func(vaults map[string]known) {
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

// readVaults reads the table. A damaged one costs a rebuild of indexes, nothing
// more, so it counts as empty.
func readVaults(path string) (map[string]known, error) {
	vaults := map[string]known{}
	b, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return vaults, nil
	case err != nil:
		return nil, fmt.Errorf("read the list of vaults: %w", err)
	}
	if json.Unmarshal(b, &vaults) != nil || vaults == nil {
		return map[string]known{}, nil
	}
	// The names become folders: whatever else stands in the table is not ours.
	maps.DeleteFunc(vaults, func(id string, _ known) bool {
		_, err := hex.DecodeString(id)
		return err != nil || len(id) != 16
	})
	return vaults, nil
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
