package writer

import (
	"errors"
	"io/fs"
	"os"
	"path"

	"lore/internal/vault"
)

// The folders of the writer inside [vault.OwnFolder].
const (
	own          = vault.OwnFolder
	journalDir   = own + "/journal"   // operations that are under way, or broke off
	displacedDir = own + "/displaced" // what operations replaced, until history has it
	trashDir     = own + "/trash"     // what operations deleted, by operation and path
	recoveredDir = own + "/recovered" // what nobody knows the place of
	lockName     = "lock"
)

// maxOpen bounds the folders that one task holds open.
const maxOpen = 128

// A task is one piece of work in a vault: the applying of a set, a recovery, a
// sweep. It holds the folders open that it works in.
type task struct {
	w    *Writer
	sys  system
	root *os.Root
	open map[string]*folder

	op       string
	m        manifest
	staged   map[int]staging // by number of step
	warnings []string
}

func (w *Writer) newTask(root *os.Root) *task {
	return &task{w: w, sys: w.sys, root: root, open: map[string]*folder{}, staged: map[int]staging{}}
}

func (t *task) close() {
	t.forget()
	_ = t.root.Close() // a folder
}

func (t *task) forget() {
	for _, f := range t.open {
		f.close()
	}
	clear(t.open)
}

// trim lets go of folders when there are many. It is called between steps,
// when none is in use.
func (t *task) trim() {
	if len(t.open) > maxOpen {
		t.forget()
	}
}

// folder opens a folder of the vault.
func (t *task) folder(dir string) (*folder, error) {
	if f, ok := t.open[dir]; ok {
		return f, nil
	}
	f, err := t.sys.open(t.root, dir)
	if err != nil {
		return nil, err
	}
	t.open[dir] = f
	return f, nil
}

// at opens the folder of a path.
func (t *task) at(p string) (*folder, string, error) {
	f, err := t.folder(path.Dir(p))
	return f, path.Base(p), err
}

func (t *task) stat(p string) (stat, error) {
	f, name, err := t.at(p)
	if err != nil {
		return stat{}, err
	}
	return t.sys.stat(f, name)
}

// exists reports whether something has that name.
func (t *task) exists(p string) (bool, error) {
	_, err := t.stat(p)
	if absent(err) {
		return false, nil
	}
	return err == nil, err
}

func (t *task) read(p string) (content, error) {
	f, name, err := t.at(p)
	if err != nil {
		return content{}, err
	}
	return t.sys.read(f, name)
}

// hash reads what a file holds; there is false when there is no such file.
func (t *task) hash(p string) (h vault.Hash, there bool, err error) {
	c, err := t.read(p)
	if absent(err) {
		return h, false, nil
	}
	if err != nil {
		return h, false, err
	}
	return vault.Sum(c.data), true, nil
}

// mkdir makes a folder unless it is there.
func (t *task) mkdir(p string, perm fs.FileMode) error {
	f, name, err := t.at(p)
	if err != nil {
		return err
	}
	err = t.sys.mkdir(f, name, perm)
	if errors.Is(err, fs.ErrExist) {
		st, serr := t.sys.stat(f, name)
		switch {
		case serr != nil:
			return serr
		case !st.mode.IsDir():
			return err
		}
		return nil
	}
	return err
}

// mkdirAll makes a folder and those above it.
func (t *task) mkdirAll(p string, perm fs.FileMode) error {
	if p == "." {
		return nil
	}
	if _, err := t.folder(p); err == nil {
		return nil
	}
	if err := t.mkdirAll(path.Dir(p), perm); err != nil {
		return err
	}
	return t.mkdir(p, perm)
}

// rmdir removes an empty folder; one that is not empty or not there stays so.
func (t *task) rmdir(p string) error {
	if f, ok := t.open[p]; ok {
		f.close()
		delete(t.open, p)
	}
	f, name, err := t.at(p)
	if err == nil {
		err = t.sys.rmdir(f, name)
	}
	if absent(err) || isNotEmpty(err) {
		return nil
	}
	return err
}

// remove removes a file that may be gone already.
func (t *task) remove(p string) error {
	f, name, err := t.at(p)
	if err == nil {
		err = t.sys.remove(f, name)
	}
	if absent(err) {
		return nil
	}
	return err
}

// put makes a file with the given content, durable when sync is set.
func (t *task) put(p string, data []byte, sync bool) error {
	f, name, err := t.at(p)
	if err != nil {
		return err
	}
	file, err := t.sys.create(f, name, 0o600)
	if err != nil {
		return err
	}
	defer file.Close()
	if len(data) > 0 {
		if err := t.sys.write(file, data); err != nil {
			return err
		}
	}
	if !sync {
		return nil
	}
	if err := t.sys.sync(file); err != nil {
		return err
	}
	return t.sys.syncFolder(f)
}

// moveNew moves a file to a name that must be free.
func (t *task) moveNew(from, to string) error {
	a, x, err := t.at(from)
	if err != nil {
		return err
	}
	b, y, err := t.at(to)
	if err != nil {
		return err
	}
	if t.w.can.NoReplace {
		return t.sys.moveNew(a, x, b, y)
	}
	if t.w.can.HardLink {
		return t.moveByLink(a, x, b, y)
	}
	if _, err := t.sys.stat(b, y); err == nil {
		return fs.ErrExist
	} else if !absent(err) {
		return err
	}
	return t.sys.moveOver(a, x, b, y)
}

// moveByLink gives the file its second name first: that fails when the name is
// taken. A second call after a crash in between finds both names.
func (t *task) moveByLink(a *folder, x string, b *folder, y string) error {
	err := t.sys.link(a, x, b, y)
	if errors.Is(err, fs.ErrExist) {
		from, ferr := t.sys.stat(a, x)
		to, terr := t.sys.stat(b, y)
		// Where case is ignored, two spellings can be one name of one file.
		two := from.links > 1 && (a.path != b.path || vault.Fold(x) != vault.Fold(y))
		if ferr == nil && terr == nil && two && from.inode == to.inode && from.dev == to.dev {
			err = nil
		}
	}
	if err != nil {
		return err
	}
	return t.sys.remove(a, x)
}

// moveOver moves a file or folder, whoever had the name.
func (t *task) moveOver(from, to string) error {
	a, x, err := t.at(from)
	if err != nil {
		return err
	}
	b, y, err := t.at(to)
	if err != nil {
		return err
	}
	return t.sys.moveOver(a, x, b, y)
}

// syncFolders makes the names in the folders of the paths durable, in order,
// each folder once.
func (t *task) syncFolders(paths ...string) error {
	done := map[string]bool{}
	for _, p := range paths {
		dir := path.Dir(p)
		if done[dir] {
			continue
		}
		done[dir] = true
		f, err := t.folder(dir)
		if err != nil {
			return err
		}
		if err := t.sys.syncFolder(f); err != nil {
			return err
		}
	}
	return nil
}
