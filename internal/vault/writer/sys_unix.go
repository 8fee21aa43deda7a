//go:build unix

package writer

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

// real is the system of this machine. Names are looked up through open folders,
// so nothing can be swapped under a path.
type real struct{}

// again repeats a call that a signal broke off.
func again(call func() error) error {
	for {
		if err := call(); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

func (real) open(root *os.Root, dir string) (*folder, error) {
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
	return &folder{path: dir, file: f, dev: uint64(st.Dev)}, nil
}

func (f *folder) fd() int { return int(f.file.Fd()) }

func (real) names(at *folder) ([]string, error) {
	if _, err := at.file.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	return at.file.Readdirnames(-1)
}

func (real) stat(at *folder, name string) (stat, error) {
	var st unix.Stat_t
	err := again(func() error { return unix.Fstatat(at.fd(), name, &st, unix.AT_SYMLINK_NOFOLLOW) })
	return statOf(&st), err
}

func statOf(st *unix.Stat_t) stat {
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
	return stat{
		mode: mode, size: st.Size, modTime: time.Unix(st.Mtim.Unix()),
		inode: uint64(st.Ino), links: uint64(st.Nlink), dev: uint64(st.Dev), uid: int(st.Uid), gid: int(st.Gid),
	}
}

func (real) read(at *folder, name string) (content, error) {
	f, err := openAt(at, name, unix.O_RDONLY, 0)
	if err != nil {
		return content{}, err
	}
	defer f.Close()
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return content{}, err
	}
	c := content{stat: statOf(&st)}
	if !c.mode.IsRegular() {
		return content{}, errNotRegular
	}
	var buf bytes.Buffer
	buf.Grow(int(st.Size) + bytes.MinRead)
	if _, err := buf.ReadFrom(f); err != nil {
		return content{}, err
	}
	c.data = buf.Bytes()
	c.xattrs = xattrsOf(int(f.Fd()))
	return c, nil
}

// openAt opens a name of a folder. It never follows a link and never waits.
func openAt(at *folder, name string, flags int, perm uint32) (*os.File, error) {
	fd := -1
	err := again(func() (err error) {
		fd, err = unix.Openat(at.fd(), name, flags|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, perm)
		return err
	})
	if errors.Is(err, unix.ELOOP) || errors.Is(err, unix.ENXIO) {
		err = errNotRegular
	}
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), name), nil
}

func (real) readlink(at *folder, name string) (string, error) {
	buf := make([]byte, 4096)
	n, err := unix.Readlinkat(at.fd(), name, buf)
	if err != nil {
		return "", err
	}
	return string(buf[:n]), nil
}

func (real) mkdir(at *folder, name string, perm fs.FileMode) error {
	crashpoint("mkdir")
	return again(func() error { return unix.Mkdirat(at.fd(), name, uint32(perm.Perm())) })
}

func (real) create(at *folder, name string, perm fs.FileMode) (*os.File, error) {
	crashpoint("create")
	return openAt(at, name, unix.O_RDWR|unix.O_CREAT|unix.O_EXCL, uint32(perm.Perm()))
}

func (real) reopen(at *folder, name string) (*os.File, error) {
	return openAt(at, name, unix.O_RDWR, 0)
}

func (real) write(f *os.File, data []byte) error {
	crashpoint("write")
	if crashing && len(data) > 1 {
		if _, err := f.WriteAt(data[:len(data)/2], 0); err != nil {
			return err
		}
		crashpoint("half written")
	}
	if _, err := f.WriteAt(data, 0); err != nil {
		return err
	}
	crashpoint("truncate")
	if err := f.Truncate(int64(len(data))); err != nil {
		return err
	}
	info, err := f.Stat()
	if err == nil && info.Size() != int64(len(data)) {
		err = fmt.Errorf("%d of %d bytes were written: %w", info.Size(), len(data), io.ErrShortWrite)
	}
	return err
}

func (real) dress(f *os.File, like content) ([]string, error) {
	crashpoint("dress")
	var warnings []string
	fd, mode := int(f.Fd()), like.mode.Perm()
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return nil, err
	}
	if int(st.Uid) != like.uid || int(st.Gid) != like.gid {
		switch err := unix.Fchown(fd, like.uid, like.gid); {
		case err == nil:
		case unix.Fchown(fd, -1, like.gid) == nil:
			warnings = append(warnings, "its owner could not be kept")
		default:
			// The group is another one now: it must not be given what the old one had.
			mode = mode&^0o070 | mode&0o007<<3
			warnings = append(warnings, "its owner and group could not be kept")
		}
	}
	if err := unix.Fchmod(fd, uint32(mode)); err != nil {
		return warnings, err
	}
	for name, value := range like.xattrs {
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

func (real) sync(f *os.File) error {
	crashpoint("sync")
	return f.Sync()
}

func (real) exchange(a *folder, x string, b *folder, y string) error {
	crashpoint("exchange")
	return again(func() error { return exchangeAt(a.fd(), x, b.fd(), y) })
}

func (real) moveNew(a *folder, x string, b *folder, y string) error {
	crashpoint("move")
	return again(func() error { return moveNewAt(a.fd(), x, b.fd(), y) })
}

func (real) moveOver(a *folder, x string, b *folder, y string) error {
	crashpoint("move over")
	return again(func() error { return unix.Renameat(a.fd(), x, b.fd(), y) })
}

func (real) link(a *folder, x string, b *folder, y string) error {
	crashpoint("link")
	return again(func() error { return unix.Linkat(a.fd(), x, b.fd(), y, 0) })
}

func (real) remove(at *folder, name string) error {
	crashpoint("remove")
	return again(func() error { return unix.Unlinkat(at.fd(), name, 0) })
}

func (real) rmdir(at *folder, name string) error {
	crashpoint("rmdir")
	return again(func() error { return unix.Unlinkat(at.fd(), name, unix.AT_REMOVEDIR) })
}

func (real) syncFolder(at *folder) error {
	crashpoint("sync folder")
	err := at.file.Sync()
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOTSUP) {
		return nil // a file system whose folders need no sync
	}
	return err
}

func (real) syncAll(at *folder) error {
	crashpoint("sync all")
	return syncAllAt(at.fd())
}

// lockFile takes the lock of an open file or reports that another has it.
// supported is false where the file system has no locks.
func lockFile(f *os.File) (supported, taken bool, err error) {
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
func isNotEmpty(err error) bool  { return errors.Is(err, unix.ENOTEMPTY) || errors.Is(err, unix.EEXIST) }
func isOtherDisk(err error) bool { return errors.Is(err, unix.EXDEV) }
