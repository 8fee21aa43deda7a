//go:build unix

package disk

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// again repeats a call that a signal broke off.
func again(call func() error) error {
	for {
		if err := call(); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

func open(root *os.Root, dir string) (*Folder, error) {
	f, err := root.Open(dir)
	if err != nil {
		return nil, err
	}
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		f.Close()
		return nil, err
	}
	if uint32(st.Mode)&unix.S_IFMT != unix.S_IFDIR {
		f.Close()
		return nil, unix.ENOTDIR
	}
	return &Folder{path: dir, handles: handles{f}, disk: Disk{uint64(st.Dev), mountOf(int(f.Fd()))}}, nil
}

// handles is what a folder is held open by.
type handles struct{ file *os.File }

func (h handles) fd() int { return int(h.file.Fd()) }

func (h handles) close() { _ = h.file.Close() } // nothing was written through it

func names(at *Folder) ([]string, error) {
	if _, err := at.file.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	return at.file.Readdirnames(-1)
}

func statAt(at *Folder, name string) (Stat, error) {
	var st unix.Stat_t
	err := again(func() error { return unix.Fstatat(at.fd(), name, &st, unix.AT_SYMLINK_NOFOLLOW) })
	return statOf(&st), err
}

func statOf(st *unix.Stat_t) Stat {
	mode := fs.FileMode(st.Mode) & fs.ModePerm
	switch uint32(st.Mode) & unix.S_IFMT {
	case unix.S_IFREG:
	case unix.S_IFDIR:
		mode |= fs.ModeDir
	case unix.S_IFLNK:
		mode |= fs.ModeSymlink
	default:
		mode |= fs.ModeIrregular
	}
	return Stat{
		Mode: mode, Size: st.Size, ModTime: time.Unix(st.Mtim.Unix()), Changed: time.Unix(st.Ctim.Unix()),
		Inode: uint64(st.Ino), Links: uint64(st.Nlink), Dev: uint64(st.Dev), Uid: int(st.Uid), Gid: int(st.Gid),
	}
}

func read(at *Folder, name string) (Content, error) {
	f, err := openAt(at, name, unix.O_RDONLY, 0)
	if err != nil {
		return Content{}, err
	}
	defer f.Close()
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return Content{}, err
	}
	c := Content{Stat: statOf(&st)}
	if !c.Mode.IsRegular() {
		return Content{}, ErrNotRegular
	}
	var buf bytes.Buffer
	buf.Grow(int(st.Size) + bytes.MinRead)
	if _, err := buf.ReadFrom(f); err != nil {
		return Content{}, err
	}
	c.Data = buf.Bytes()
	c.Xattrs = xattrsOf(int(f.Fd()))
	return c, nil
}

// openAt opens a name of a folder. It never follows a link and never waits.
func openAt(at *Folder, name string, flags int, perm uint32) (*os.File, error) {
	fd := -1
	err := again(func() (err error) {
		fd, err = unix.Openat(at.fd(), name, flags|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, perm)
		return err
	})
	if errors.Is(err, unix.ELOOP) || errors.Is(err, unix.ENXIO) {
		err = ErrNotRegular
	}
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), name), nil
}

func mkdir(at *Folder, name string, perm fs.FileMode) error {
	return again(func() error { return unix.Mkdirat(at.fd(), name, uint32(perm.Perm())) })
}

func create(at *Folder, name string, perm fs.FileMode) (*os.File, error) {
	return openAt(at, name, unix.O_RDWR|unix.O_CREAT|unix.O_EXCL, uint32(perm.Perm()))
}

func reopen(at *Folder, name string) (*os.File, error) {
	return openAt(at, name, unix.O_RDWR, 0)
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

func dress(f *os.File, like Content) ([]string, error) {
	var warnings []string
	fd, mode := int(f.Fd()), like.Mode.Perm()
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return nil, err
	}
	if int(st.Uid) != like.Uid || int(st.Gid) != like.Gid {
		switch err := unix.Fchown(fd, like.Uid, like.Gid); {
		case err == nil:
		case unix.Fchown(fd, -1, like.Gid) == nil:
			warnings = append(warnings, "its owner could not be kept")
		default:
			// The group is another one now: it must not be given what the old one had.
			mode = mode&^0o070 | mode&0o007<<3
			warnings = append(warnings, "its owner and group could not be kept")
		}
	}
	if mode != fs.FileMode(st.Mode)&fs.ModePerm {
		switch err := unix.Fchmod(fd, uint32(mode)); {
		case IsUnsupported(err): // a disk without permissions
			warnings = append(warnings, "its permissions could not be kept")
		case err != nil:
			return warnings, err
		}
	}
	for name, value := range like.Xattrs {
		if err := unix.Fsetxattr(fd, name, value, 0); err != nil {
			warnings = append(warnings, fmt.Sprintf("its attribute %q could not be kept", name))
		}
	}
	return warnings, nil
}

// xattrsOf reads the attributes that belong to a person and not to the system.
func xattrsOf(fd int) map[string][]byte {
	n, err := unix.Flistxattr(fd, nil)
	if err != nil || n <= 0 {
		return nil
	}
	list := make([]byte, n)
	if n, err = unix.Flistxattr(fd, list); err != nil {
		return nil
	}
	out := map[string][]byte{}
	for name := range strings.SplitSeq(strings.TrimRight(string(list[:n]), "\x00"), "\x00") {
		if !strings.HasPrefix(name, xattrPrefix) {
			continue
		}
		if n, err := unix.Fgetxattr(fd, name, nil); err == nil {
			value := make([]byte, n)
			if n, err = unix.Fgetxattr(fd, name, value); err == nil {
				out[name] = value[:n]
			}
		}
	}
	return out
}

func exchange(a *Folder, x string, b *Folder, y string) error {
	return again(func() error { return exchangeAt(a.fd(), x, b.fd(), y) })
}

func moveNew(a *Folder, x string, b *Folder, y string) error {
	return again(func() error { return moveNewAt(a.fd(), x, b.fd(), y) })
}

func moveOver(a *Folder, x string, b *Folder, y string) error {
	return again(func() error { return unix.Renameat(a.fd(), x, b.fd(), y) })
}

func linkAt(a *Folder, x string, b *Folder, y string) error {
	return again(func() error { return unix.Linkat(a.fd(), x, b.fd(), y, 0) })
}

func remove(at *Folder, name string) error {
	return again(func() error { return unix.Unlinkat(at.fd(), name, 0) })
}

func rmdir(at *Folder, name string) error {
	return again(func() error { return unix.Unlinkat(at.fd(), name, unix.AT_REMOVEDIR) })
}

func syncFolder(at *Folder) error { return at.file.Sync() }

func syncAll(at *Folder) error {
	return syncAllAt(at.fd())
}

// Lock takes the lock of an open file or reports that another has it.
// supported is false where the file system has no locks.
func Lock(f *os.File) (supported, taken bool, err error) {
	err = again(func() error { return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) })
	switch {
	case err == nil:
		return true, true, nil
	case errors.Is(err, unix.EWOULDBLOCK):
		return true, false, nil
	case errors.Is(err, unix.ENOLCK), errors.Is(err, unix.ENOTSUP), errors.Is(err, unix.ENOSYS), errors.Is(err, unix.EINVAL):
		return false, true, nil
	}
	return true, false, err
}

func isFull(err error) bool      { return errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) }
func isReadOnly(err error) bool  { return errors.Is(err, unix.EROFS) }
func isNotFolder(err error) bool { return errors.Is(err, unix.ENOTDIR) }
func isOtherDisk(err error) bool { return errors.Is(err, unix.EXDEV) }

// isNotEmpty reports a folder that cannot go: something is in it, or it is in
// use as a mount point or by files that a network share only hides.
func isNotEmpty(err error) bool {
	return errors.Is(err, unix.ENOTEMPTY) || errors.Is(err, unix.EEXIST) || errors.Is(err, unix.EBUSY)
}

func isNoCall(err error) bool {
	return errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.ENOTSUP) || errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.ENOTTY)
}

// isForbidden reports what a disk without hard links or owners says, and a file
// that has as many links as it can.
func isForbidden(err error) bool { return errors.Is(err, unix.EPERM) || errors.Is(err, unix.EMLINK) }

// isOddPlace reports that something else lies where a file should.
func isOddPlace(err error) bool {
	return errors.Is(err, unix.EISDIR) || errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.ELOOP) || errors.Is(err, unix.ENAMETOOLONG) || errors.Is(err, unix.ENOTEMPTY)
}
