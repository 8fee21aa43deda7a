// Package home knows where things lie on this machine: the folder for all that
// is derived, the table of the vaults that were seen, which folder a person
// means, and the locks that keep processes apart. It opens no vault.
package home

import (
	"os"
	"path/filepath"
	"runtime"
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
		return "", fault.Fix(fault.Invalid, "set $HOME or $XDG_DATA_HOME", "the data folder cannot be determined: %v", err)
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
			return "", fault.Fix(fault.Invalid, "set $HOME or $XDG_CONFIG_HOME", "the settings folder cannot be determined: %v", err)
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
		return "", fault.Fix(fault.Invalid, "pass --vault FOLDER", "the current folder cannot be determined: %v", err)
	}
	if v, ok := vaultAround(here); ok {
		return v, nil
	}
	if fallback != "" {
		return Expand(fallback), nil
	}
	if tooWide(here) {
		return "", fault.Fix(fault.Invalid, "change to your notes folder, pass --vault FOLDER, or set a default with lore config set vault FOLDER",
			"%s is not a folder of notes", here)
	}
	if !mayHoldNotes(here) {
		return "", fault.Fix(fault.Invalid, "change to your notes folder, pass --vault FOLDER, or set a default with lore config set vault FOLDER",
			"%s is not a vault: it has no Markdown notes", here)
	}
	return here, nil
}

// How far mayHoldNotes looks: a person who is in the wrong folder is told at once.
const (
	notesDepth   = 3
	notesEntries = 5000
)

// mayHoldNotes reports whether a folder that nothing marks as a vault can be one:
// it is empty, or there is a Markdown file not far below.
func mayHoldNotes(dir string) bool {
	left := notesEntries
	for level, folders := 0, []string{dir}; level < notesDepth; level++ {
		var below []string
		for _, folder := range folders {
			list, err := os.ReadDir(folder)
			if folder == dir && (err != nil || len(list) == 0) {
				return true // an error is told by who opens the vault
			}
			for _, e := range list {
				if left--; left < 0 {
					return false
				}
				switch name := e.Name(); {
				case !e.IsDir() && strings.EqualFold(filepath.Ext(name), ".md"):
					return true
				case e.IsDir() && !strings.HasPrefix(name, ".") && name != "node_modules":
					below = append(below, filepath.Join(folder, name))
				}
			}
		}
		folders = below
	}
	return false
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
