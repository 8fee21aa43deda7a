//go:build unix

package vault

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// An openFolder is a folder that a walk is in. One open serves both to list it
// and to enter the folders below, which is half of what [os.Root] needs, and
// leads as little out of the vault: a name has no slash, and a link is refused.
type openFolder struct {
	file *os.File // nil for one that is only passed through
	fd   int
	// elsewhere says that what the system remembers of it may be old.
	elsewhere bool
}

// openedFolder opens the folder that root holds.
func openedFolder(root *os.Root) (openFolder, error) {
	f, err := root.Open(".")
	if err != nil {
		return openFolder{}, err
	}
	fd := int(f.Fd())
	return openFolder{f, fd, isElsewhere(fd)}, nil
}

// enter opens the folder of that name, to list it.
func (d openFolder) enter(name string) (openFolder, error) {
	sub, err := d.pass(name)
	if err == nil {
		sub.file = os.NewFile(uintptr(sub.fd), name)
	}
	return sub, err
}

// pass opens the folder of that name, to ask about it and what is in it.
func (d openFolder) pass(name string) (openFolder, error) {
	for {
		fd, err := unix.Openat(d.fd, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case err != nil:
			return openFolder{}, &fs.PathError{Op: "open", Path: name, Err: err}
		}
		return openFolder{fd: fd, elsewhere: isElsewhere(fd)}, nil
	}
}

// infos asks the system about every file in the folder, by name. One that cannot be asked
// about does not hide the others; the first error comes along. The answers lie
// in one piece of memory: a large vault has a hundred thousand.
func (d openFolder) infos() ([]fs.FileInfo, error) {
	names, err := d.file.Readdirnames(-1)
	slices.Sort(names)
	stats := make([]fileStat, len(names))
	out := make([]fs.FileInfo, 0, len(names))
	for i, name := range names {
		st := &stats[i]
		st.name = name
		switch e := d.ask(name, &st.sys); {
		case e == nil:
			out = append(out, st)
		case err == nil && !errors.Is(e, syscall.ENOENT): // it went away meanwhile
			err = e
		}
	}
	return out, err
}

// self asks the system about the folder.
func (d openFolder) self() (fs.FileInfo, error) {
	st := &fileStat{}
	if d.elsewhere {
		refresh(d.fd, "")
	}
	return st, unix.Fstat(d.fd, &st.sys)
}

// stat asks the system about one file in the folder.
func (d openFolder) stat(name string) (fs.FileInfo, error) {
	st := &fileStat{name: name}
	return st, d.ask(name, &st.sys)
}

func (d openFolder) ask(name string, st *unix.Stat_t) error {
	if d.elsewhere {
		refresh(d.fd, name)
	}
	for {
		err := unix.Fstatat(d.fd, name, st, unix.AT_SYMLINK_NOFOLLOW)
		if !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}

// A fileStat is what the system says of one file.
type fileStat struct {
	name string
	sys  unix.Stat_t
}

func (f *fileStat) Name() string       { return f.name }
func (f *fileStat) Size() int64        { return f.sys.Size }
func (f *fileStat) ModTime() time.Time { return time.Unix(f.sys.Mtim.Unix()) }
func (f *fileStat) IsDir() bool        { return f.Mode().IsDir() }
func (f *fileStat) Sys() any           { return &f.sys }

var fileTypes = map[uint32]fs.FileMode{
	unix.S_IFREG: 0, unix.S_IFDIR: fs.ModeDir, unix.S_IFLNK: fs.ModeSymlink, unix.S_IFIFO: fs.ModeNamedPipe,
	unix.S_IFSOCK: fs.ModeSocket, unix.S_IFBLK: fs.ModeDevice, unix.S_IFCHR: fs.ModeDevice | fs.ModeCharDevice,
}

// Mode tells the type and the permissions.
func (f *fileStat) Mode() fs.FileMode {
	mode, permissions := uint32(f.sys.Mode), fs.FileMode(f.sys.Mode)&fs.ModePerm
	if mode&unix.S_IFMT == unix.S_IFREG {
		return permissions // nearly all are
	}
	t, ok := fileTypes[mode&unix.S_IFMT]
	if !ok {
		t = fs.ModeIrregular
	}
	return t | permissions
}

// close lets the folder go. It was only read, so nothing can be lost.
func (d openFolder) close() {
	if d.file != nil {
		_ = d.file.Close()
		return
	}
	_ = unix.Close(d.fd)
}
