package home

import (
	"errors"
	"os"
	"path/filepath"
)

// Replace writes a file whole or not at all. A link stays a link, and a
// file keeps its permissions.
func Replace(path string, data []byte) (err error) {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".lore-*.tmp")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name()) // err is the news
		}
	}()
	if _, err := f.Write(data); err != nil {
		return errors.Join(err, f.Close())
	}
	if info, err := os.Stat(path); err == nil {
		_ = f.Chmod(info.Mode().Perm()) // kept where the system can
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
