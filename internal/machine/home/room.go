package home

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"lore/internal/fault"
)

// room is how much a folder must take to be of use: SQLite needs that much for
// what its readers share and for a small change.
const room = 256 << 10

// Unwritable says why nothing can be stored in a folder, or in the nearest one
// above it that exists: the disk is full or read-only, or it is another user's.
// It is nil when something can.
func Unwritable(dir string) error {
	for {
		if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) || filepath.Dir(dir) == dir {
			break
		}
		dir = filepath.Dir(dir)
	}
	f, err := os.CreateTemp(dir, ".lore-*.tmp")
	if err == nil {
		_, err = f.Write(make([]byte, room))
		_ = errors.Join(f.Close(), os.Remove(f.Name())) // err is the news
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, errQuota):
		return fault.Fix(fault.Unavailable, "free some space", "the disk that holds %s is full", dir)
	case errors.Is(err, syscall.EROFS), errors.Is(err, fs.ErrPermission):
		return fault.Fix(fault.ReadOnly, "change the permissions, or set $XDG_DATA_HOME", "%s is not writable", dir)
	}
	return nil // something else, which whoever needs the folder will meet
}
