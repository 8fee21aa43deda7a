package app

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"lore/internal/fault"
)

// dataDir is the folder that holds everything derived.
func (a *app) dataDir() (string, error) {
	if d := a.env("XDG_DATA_HOME"); d != "" {
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
		if d := a.env("LOCALAPPDATA"); d != "" {
			return filepath.Join(d, "lore"), nil
		}
	}
	return filepath.Join(home, ".local", "share", "lore"), nil
}

// vaultDir decides which folder is the vault: the one that was named, else the
// one around the current folder, else the default of the settings, else the
// current folder.
func (a *app) vaultDir(named string, c *config) (string, error) {
	if named != "" {
		return named, nil
	}
	if v := a.env("LORE_VAULT"); v != "" {
		return expandHome(v), nil
	}
	here, err := os.Getwd()
	if err != nil {
		return "", fault.Fix(fault.Invalid, "name the vault with --vault", "no current folder: %v", err)
	}
	if v, ok := vaultAround(here); ok {
		return v, nil
	}
	if c.Vault != "" {
		return expandHome(c.Vault), nil
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
	return err == nil && sameFolder(home, dir)
}

// sameFolder compares two folders whatever names lead to them.
func sameFolder(a, b string) bool {
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

func expandHome(p string) string {
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

// vaultData returns the folder for what is derived from the vault at dir.
func (a *app) vaultData(dir string) (string, error) {
	data, err := a.dataDir()
	if err != nil {
		return "", err
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		real = dir
	}
	table := filepath.Join(data, "vaults.json")
	vaults := map[string]known{}
	b, err := os.ReadFile(table)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return "", fmt.Errorf("read the list of vaults: %w", err)
	default:
		// A damaged list costs a rebuild of indexes, nothing more.
		_ = json.Unmarshal(b, &vaults)
	}
	me := known{Path: real, File: fileID(real)}
	for id, k := range vaults {
		if k.Path == me.Path {
			return filepath.Join(data, id), nil
		}
	}
	id := ""
	for old, k := range vaults {
		if k.File != "" && k.File == me.File {
			if _, err := os.Stat(k.Path); errors.Is(err, fs.ErrNotExist) {
				id = old // it was moved
			}
		}
	}
	if id == "" {
		var r [8]byte
		_, _ = rand.Read(r[:]) // never fails
		id = hex.EncodeToString(r[:])
	}
	vaults[id] = me
	out, err := json.MarshalIndent(vaults, "", "  ")
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(filepath.Join(data, id), 0o700); err != nil {
		return "", fmt.Errorf("make the data folder: %w", err)
	}
	return filepath.Join(data, id), replaceFile(table, append(out, '\n'))
}
