// Package sample is a small vault about tea that comes with the program, so
// that Lore can be tried without notes of one's own. It holds files and knows
// nothing about them.
package sample

import (
	"embed"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

//go:embed all:vault
var files embed.FS

// Copy writes the vault into dir, which must not exist yet or be empty. It
// writes over nothing.
func Copy(dir string) error {
	empty, err := Empty(dir)
	if err != nil {
		return err
	}
	if !empty {
		return &fs.PathError{Op: "copy", Path: dir, Err: fs.ErrExist}
	}
	root, err := fs.Sub(files, "vault")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return os.CopyFS(dir, root)
}

// Empty reports whether dir can be copied into.
func Empty(dir string) (bool, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	return len(entries) == 0, err
}

// Marker is a file that the sample vault has and few others do.
const Marker = "Start here.md"

// Is reports whether dir is a copy of the sample vault.
func Is(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, Marker))
	return err == nil
}
