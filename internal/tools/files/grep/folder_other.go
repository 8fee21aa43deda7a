//go:build !unix

package grep

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// A handle is an open folder.
type handle struct{ root *os.Root }

// An entry is one name in a folder.
type entry struct {
	name             string
	isFolder, isFile bool
}

func open(dir *os.File) (handle, error) {
	at, err := filepath.Abs(dir.Name())
	if err != nil {
		return handle{}, err
	}
	root, err := os.OpenRoot(at)
	return handle{root}, err
}

func (h handle) close() { _ = h.root.Close() } // it was only read

func (h handle) names() ([]entry, error) {
	f, err := h.root.Open(".")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	list, err := f.ReadDir(-1)
	out := make([]entry, len(list))
	for i, e := range list {
		out[i] = entry{e.Name(), e.IsDir(), e.Type().IsRegular()}
	}
	return out, err
}

func (h handle) enter(name string) (handle, error) {
	root, err := h.root.OpenRoot(name)
	return handle{root}, err
}

func (h handle) read(name string, _ *[]byte, o Options) ([]byte, fs.FileMode, bool) {
	f, err := h.root.Open(name)
	if err != nil {
		return nil, 0, false
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() > o.MaxFile || o.Check != nil && o.Check(f) != nil {
		return nil, 0, false
	}
	data, err := io.ReadAll(io.LimitReader(f, o.MaxFile))
	return data, info.Mode().Perm(), err == nil
}
