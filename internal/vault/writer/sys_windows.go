package writer

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"syscall"

	"golang.org/x/sys/windows"
)

// real is the system of this machine. Names are looked up through roots.
type real struct{}

func (real) open(root *os.Root, dir string) (*folder, error) {
	r, err := root.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return &folder{path: dir, root: r, top: root}, nil
}

func (real) names(at *folder) ([]string, error) {
	f, err := at.root.Open(".")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.Readdirnames(-1)
}

func (real) stat(at *folder, name string) (stat, error) {
	info, err := at.root.Lstat(name)
	if err != nil {
		return stat{}, err
	}
	return statOf(info), nil
}

func statOf(info fs.FileInfo) stat {
	return stat{mode: info.Mode(), size: info.Size(), modTime: info.ModTime(), links: 1}
}

func (real) read(at *folder, name string) (content, error) {
	if info, err := at.root.Lstat(name); err == nil && !info.Mode().IsRegular() {
		return content{}, errNotRegular
	}
	f, err := at.root.Open(name)
	if err != nil {
		return content{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return content{}, err
	}
	data, err := io.ReadAll(f)
	return content{stat: statOf(info), data: data}, err
}

func (real) readlink(at *folder, name string) (string, error) { return at.root.Readlink(name) }

func (real) mkdir(at *folder, name string, perm fs.FileMode) error { return at.root.Mkdir(name, perm) }

func (real) create(at *folder, name string, perm fs.FileMode) (*os.File, error) {
	return at.root.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, perm)
}

func (real) reopen(at *folder, name string) (*os.File, error) {
	return at.root.OpenFile(name, os.O_RDWR, 0)
}

func (real) write(f *os.File, data []byte) error {
	if _, err := f.WriteAt(data, 0); err != nil {
		return err
	}
	if err := f.Truncate(int64(len(data))); err != nil {
		return err
	}
	info, err := f.Stat()
	if err == nil && info.Size() != int64(len(data)) {
		err = fmt.Errorf("%d of %d bytes were written: %w", info.Size(), len(data), io.ErrShortWrite)
	}
	return err
}

// dress has nothing to do: a new file inherits the rights of its folder.
func (real) dress(*os.File, content) ([]string, error) { return nil, nil }

func (real) sync(f *os.File) error { return f.Sync() }

func (real) exchange(*folder, string, *folder, string) error { return errors.ErrUnsupported }
func (real) moveNew(*folder, string, *folder, string) error  { return errors.ErrUnsupported }

func (real) moveOver(a *folder, x string, b *folder, y string) error {
	return a.top.Rename(path.Join(a.path, x), path.Join(b.path, y))
}

func (real) link(a *folder, x string, b *folder, y string) error {
	return a.top.Link(path.Join(a.path, x), path.Join(b.path, y))
}

func (real) remove(at *folder, name string) error { return at.root.Remove(name) }
func (real) rmdir(at *folder, name string) error  { return at.root.Remove(name) }

// syncFolder has nothing to do: the system has no such call.
func (real) syncFolder(*folder) error { return nil }
func (real) syncAll(*folder) error    { return errors.ErrUnsupported }

// lockFile takes the lock of an open file or reports that another has it. The
// locked byte lies far behind the content, which stays readable.
func lockFile(f *os.File) (supported, taken bool, err error) {
	at := &windows.Overlapped{Offset: 1 << 30}
	err = windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, at)
	switch {
	case err == nil:
		return true, true, nil
	case errors.Is(err, windows.ERROR_LOCK_VIOLATION), errors.Is(err, windows.ERROR_IO_PENDING):
		return true, false, nil
	}
	return false, true, nil
}

// bootID is not known here: after every crash the vault is walked.
func bootID() string { return "" }

func isFull(err error) bool {
	return errors.Is(err, windows.ERROR_DISK_FULL) || errors.Is(err, windows.ERROR_HANDLE_DISK_FULL)
}
func isReadOnly(err error) bool  { return errors.Is(err, windows.ERROR_WRITE_PROTECT) }
func isNotFolder(err error) bool { return errors.Is(err, syscall.ENOTDIR) }
func isNotEmpty(err error) bool  { return errors.Is(err, windows.ERROR_DIR_NOT_EMPTY) }
func isOtherDisk(err error) bool { return errors.Is(err, windows.ERROR_NOT_SAME_DEVICE) }
