//go:build unix

package home

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"lore/internal/fault"
)

// RuntimeDir is a folder with a short path that belongs to this user alone, for what
// lives no longer than a process. Anyone may have made one of its name in a
// folder that all share, so it is looked at.
func (h Home) RuntimeDir() (string, error) {
	dir := h.Env("XDG_RUNTIME_DIR")
	if dir == "" {
		dir = os.TempDir()
	}
	dir = filepath.Join(dir, fmt.Sprintf("lore-%d", os.Getuid()))
	if err := os.Mkdir(dir, 0o700); err != nil && !os.IsExist(err) {
		return "", err
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return "", err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok || !info.IsDir() || info.Mode().Perm() != 0o700 || int(st.Uid) != os.Getuid() {
		return "", fault.New(fault.Unsafe, "other users can access %s", dir)
	}
	return dir, nil
}
