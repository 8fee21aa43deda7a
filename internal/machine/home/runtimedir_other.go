//go:build !unix

package home

import (
	"os"
	"path/filepath"
)

// RuntimeDir is a folder with a short path that belongs to this user alone, for what
// lives no longer than a process.
func (h Home) RuntimeDir() (string, error) {
	dir := filepath.Join(os.TempDir(), "lore") // of this user, on this system
	return dir, os.MkdirAll(dir, 0o700)
}
