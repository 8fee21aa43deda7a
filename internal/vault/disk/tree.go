package disk

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"

	"lore/internal/vault"
)

// maxOpen bounds the folders that one tree holds open.
const maxOpen = 128

// A Tree is a vault's folder for one piece of work: it takes paths from the
// vault's root, and holds the folders open that the work is in.
type Tree struct {
	Sys  System
	Root *os.Root
	Can  Capabilities
	open map[string]*Folder
}

// NewTree works in root, which it closes at the end.
func NewTree(sys System, root *os.Root, can Capabilities) *Tree {
	return &Tree{Sys: sys, Root: root, Can: can, open: map[string]*Folder{}}
}

// Close lets all folders go.
func (t *Tree) Close() {
	t.Forget()
	_ = t.Root.Close() // a folder
}

// Forget closes the folders that are open: before one of them gets another
// name.
func (t *Tree) Forget() {
	for _, f := range t.open {
		f.close()
	}
	clear(t.open)
}

// Trim lets go of folders when there are many. It is called between steps,
// when none is in use.
func (t *Tree) Trim() {
	if len(t.open) > maxOpen {
		t.Forget()
	}
}

// Folder opens a folder of the vault.
func (t *Tree) Folder(dir string) (*Folder, error) {
	if f, ok := t.open[dir]; ok {
		return f, nil
	}
	f, err := t.Sys.Open(t.Root, dir)
	if err != nil {
		return nil, err
	}
	t.open[dir] = f
	return f, nil
}

// At opens the folder of a path.
func (t *Tree) At(p string) (*Folder, string, error) {
	f, err := t.Folder(path.Dir(p))
	return f, path.Base(p), err
}

// Stat asks about a path.
func (t *Tree) Stat(p string) (Stat, error) {
	f, name, err := t.At(p)
	if err != nil {
		return Stat{}, err
	}
	return t.Sys.Stat(f, name)
}

// Exists reports whether something has that name.
func (t *Tree) Exists(p string) (bool, error) {
	_, err := t.Stat(p)
	if Absent(err) {
		return false, nil
	}
	return err == nil, err
}

// Read reads a regular file whole.
func (t *Tree) Read(p string) (Content, error) {
	f, name, err := t.At(p)
	if err != nil {
		return Content{}, err
	}
	return t.Sys.Read(f, name)
}

// Hash reads what a file holds; there is false when there is no such file.
func (t *Tree) Hash(p string) (h vault.Hash, there bool, err error) {
	c, err := t.Read(p)
	if Absent(err) {
		return h, false, nil
	}
	if err != nil {
		return h, false, err
	}
	return vault.Sum(c.Data), true, nil
}

// Mkdir makes a folder unless it is there.
func (t *Tree) Mkdir(p string, perm fs.FileMode) error {
	f, name, err := t.At(p)
	if err != nil {
		return err
	}
	err = t.Sys.Mkdir(f, name, perm)
	if errors.Is(err, fs.ErrExist) {
		st, serr := t.Sys.Stat(f, name)
		switch {
		case serr != nil:
			return serr
		case !st.Mode.IsDir():
			return err
		}
		return nil
	}
	return err
}

// MkdirAll makes a folder and those above it.
func (t *Tree) MkdirAll(p string, perm fs.FileMode) error {
	if p == "." {
		return nil
	}
	if _, err := t.Folder(p); err == nil {
		return nil
	}
	if err := t.MkdirAll(path.Dir(p), perm); err != nil {
		return err
	}
	return t.Mkdir(p, perm)
}

// Rmdir removes an empty folder; one that is not empty or not there stays so,
// and one that the file system keeps: nothing depends on it.
func (t *Tree) Rmdir(p string) error {
	if f, ok := t.open[p]; ok {
		f.close()
		delete(t.open, p)
	}
	f, name, err := t.At(p)
	if err == nil {
		err = t.Sys.Rmdir(f, name)
	}
	if Absent(err) || isNotEmpty(err) || IsUnsupported(err) {
		return nil
	}
	return err
}

// Remove removes a file that may be gone already.
func (t *Tree) Remove(p string) error {
	f, name, err := t.At(p)
	if err == nil {
		err = t.Sys.Remove(f, name)
	}
	if Absent(err) {
		return nil
	}
	return err
}

// Put makes a file with the given content, durable when sync is set.
func (t *Tree) Put(p string, data []byte, sync bool) error {
	f, name, err := t.At(p)
	if err != nil {
		return err
	}
	file, err := t.Sys.Create(f, name, 0o600)
	if err != nil {
		return err
	}
	defer file.Close()
	if len(data) > 0 {
		if err := t.Sys.Write(file, data); err != nil {
			return err
		}
	}
	if !sync {
		return nil
	}
	if err := t.Sys.Sync(file); err != nil {
		return err
	}
	return t.Sys.SyncFolder(f)
}

// MoveOver moves a file or folder, whoever had the name.
func (t *Tree) MoveOver(from, to string) error {
	a, x, err := t.At(from)
	if err != nil {
		return err
	}
	b, y, err := t.At(to)
	if err != nil {
		return err
	}
	return t.Sys.MoveOver(a, x, b, y)
}

// SyncFolders makes the names in the folders of the paths durable, in order,
// each folder once. One that is not there has none.
func (t *Tree) SyncFolders(paths ...string) error {
	done := map[string]bool{}
	for _, p := range paths {
		dir := path.Dir(p)
		if done[dir] {
			continue
		}
		done[dir] = true
		f, err := t.Folder(dir)
		if Absent(err) {
			continue
		}
		if err != nil {
			return err
		}
		if err := t.Sys.SyncFolder(f); err != nil {
			return err
		}
	}
	return nil
}

// List lists a folder, sorted; one that is not there has no names.
func (t *Tree) List(dir string) ([]string, error) {
	f, err := t.Folder(dir)
	if Absent(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	names, err := t.Sys.Names(f)
	slices.Sort(names)
	return names, err
}

// Spelled reports whether a name stands in its folder exactly so: where case is
// ignored, a path is found in other spellings too.
func (t *Tree) Spelled(p string) (bool, error) {
	names, err := t.List(path.Dir(p))
	name := vault.Key(path.Base(p)) // a disk may have a form of its own for accents
	return slices.ContainsFunc(names, func(n string) bool { return vault.Key(n) == name }), err
}

// RmdirAll removes folders, and those above them below top, as far as they are
// empty. The system refuses to remove one that holds anything.
func (t *Tree) RmdirAll(dirs []string, tops ...string) error {
	dirs = slices.Compact(slices.Sorted(slices.Values(dirs)))
	slices.Reverse(dirs) // the inner ones first
	for _, dir := range dirs {
		for d := dir; d != "." && !slices.Contains(tops, d); d = path.Dir(d) {
			if err := t.Rmdir(d); err != nil {
				return Explain(d, err)
			}
			if there, err := t.Exists(d); err != nil || there {
				break
			}
		}
	}
	return nil
}
