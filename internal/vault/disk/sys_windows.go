package disk

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

func open(root *os.Root, dir string) (*Folder, error) {
	r, err := root.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	f := &Folder{path: dir, handles: handles{root: r, top: root}}
	if self, err := r.Open("."); err == nil {
		var about windows.ByHandleFileInformation
		if windows.GetFileInformationByHandle(windows.Handle(self.Fd()), &about) == nil {
			f.disk.dev = uint64(about.VolumeSerialNumber)
		}
		_ = self.Close() // nothing was written through it
	}
	return f, nil
}

// handles is what a folder is held open by: itself, and the vault.
type handles struct{ root, top *os.Root }

func (h handles) close() { _ = h.root.Close() } // nothing was written through it

func names(at *Folder) ([]string, error) {
	f, err := at.root.Open(".")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.Readdirnames(-1)
}

func statAt(at *Folder, name string) (Stat, error) {
	info, err := at.root.Lstat(name)
	if err != nil {
		return Stat{}, err
	}
	st := statOf(info)
	if !info.Mode().IsRegular() {
		return st, nil
	}
	if f, err := at.root.Open(name); err == nil { // else another program keeps it for itself
		identify(f, &st)
		_ = f.Close() // nothing was written through it
	}
	return st, nil
}

func statOf(info fs.FileInfo) Stat {
	return Stat{Mode: info.Mode(), Size: info.Size(), ModTime: info.ModTime(), Links: 1}
}

// identify adds what tells two names of one file from two files.
func identify(f *os.File, st *Stat) {
	var about windows.ByHandleFileInformation
	if windows.GetFileInformationByHandle(windows.Handle(f.Fd()), &about) != nil {
		return
	}
	st.Inode = uint64(about.FileIndexHigh)<<32 | uint64(about.FileIndexLow)
	st.Links, st.Dev = uint64(about.NumberOfLinks), uint64(about.VolumeSerialNumber)
}

func read(at *Folder, name string) (Content, error) {
	if info, err := at.root.Lstat(name); err == nil && !info.Mode().IsRegular() {
		return Content{}, ErrNotRegular
	}
	f, err := at.root.Open(name)
	if err != nil {
		return Content{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return Content{}, err
	}
	data, err := io.ReadAll(f)
	c := Content{Stat: statOf(info), Data: data}
	identify(f, &c.Stat)
	return c, err
}

func mkdir(at *Folder, name string, perm fs.FileMode) error { return at.root.Mkdir(name, perm) }

func create(at *Folder, name string, perm fs.FileMode) (*os.File, error) {
	return at.root.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, perm)
}

func reopen(at *Folder, name string) (*os.File, error) {
	return at.root.OpenFile(name, os.O_RDWR, 0)
}

func write(f *os.File, data []byte) error {
	if _, err := f.WriteAt(data, 0); err != nil {
		return err
	}
	if err := f.Truncate(int64(len(data))); err != nil {
		return err
	}
	info, err := f.Stat()
	if err == nil && info.Size() != int64(len(data)) {
		err = fmt.Errorf("only %d of %d bytes were written: %w", info.Size(), len(data), io.ErrShortWrite)
	}
	return err
}

// dress has nothing to do: a new file inherits the rights of its folder.
func dress(*os.File, Content) ([]string, error) { return nil, nil }

func exchange(*Folder, string, *Folder, string) error { return errors.ErrUnsupported }
func moveNew(*Folder, string, *Folder, string) error  { return errors.ErrUnsupported }

func moveOver(a *Folder, x string, b *Folder, y string) error {
	return a.top.Rename(path.Join(a.path, x), path.Join(b.path, y))
}

func linkAt(a *Folder, x string, b *Folder, y string) error {
	return a.top.Link(path.Join(a.path, x), path.Join(b.path, y))
}

func remove(at *Folder, name string) error { return at.root.Remove(name) }
func rmdir(at *Folder, name string) error  { return at.root.Remove(name) }

// syncFolder has nothing to do: the system has no such call.
func syncFolder(*Folder) error { return nil }
func syncAll(*Folder) error    { return errors.ErrUnsupported }

// Lock takes the lock of an open file or reports that another has it. The
// locked byte lies far behind the content, which stays readable.
func Lock(f *os.File) (supported, taken bool, err error) {
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

// BootID is not known here: after every crash the vault is walked.
func BootID() string { return "" }

func isFull(err error) bool {
	return errors.Is(err, windows.ERROR_DISK_FULL) || errors.Is(err, windows.ERROR_HANDLE_DISK_FULL)
}
func isReadOnly(err error) bool { return errors.Is(err, windows.ERROR_WRITE_PROTECT) }
func isNotFolder(err error) bool {
	return errors.Is(err, syscall.ENOTDIR) || errors.Is(err, windows.ERROR_DIRECTORY)
}
func isOtherDisk(err error) bool { return errors.Is(err, windows.ERROR_NOT_SAME_DEVICE) }

// isNotEmpty reports a folder that cannot go: something is in it, or a program
// has it open.
func isNotEmpty(err error) bool {
	return errors.Is(err, windows.ERROR_DIR_NOT_EMPTY) || errors.Is(err, windows.ERROR_SHARING_VIOLATION)
}

func isNoCall(err error) bool {
	return errors.Is(err, windows.ERROR_NOT_SUPPORTED) || errors.Is(err, windows.ERROR_INVALID_FUNCTION) ||
		errors.Is(err, windows.ERROR_CALL_NOT_IMPLEMENTED) || errors.Is(err, windows.ERROR_INVALID_PARAMETER)
}

// isForbidden reports a file that has as many links as it can, and a call that
// needs a privilege.
func isForbidden(err error) bool {
	return errors.Is(err, windows.ERROR_TOO_MANY_LINKS) || errors.Is(err, windows.ERROR_PRIVILEGE_NOT_HELD)
}

// isOddPlace reports that something else lies where a file should.
func isOddPlace(err error) bool {
	return errors.Is(err, windows.ERROR_DIRECTORY) || errors.Is(err, windows.ERROR_FILENAME_EXCED_RANGE) || errors.Is(err, syscall.EISDIR)
}
