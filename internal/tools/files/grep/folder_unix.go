//go:build unix

package grep

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// A handle is an open folder. Files are opened through it and by their last name
// alone, so that nothing can be swapped on the way to them.
type handle struct{ f *os.File }

// An entry is one name in a folder.
type entry struct {
	name             string
	isFolder, isFile bool
}

func open(dir *os.File) (handle, error) {
	fd, err := unix.FcntlInt(dir.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return handle{}, err
	}
	return handle{os.NewFile(uintptr(fd), dir.Name())}, nil
}

func (h handle) close() { _ = h.f.Close() } // it was only read

func (h handle) names() ([]entry, error) {
	list, err := h.f.ReadDir(-1)
	out := make([]entry, len(list))
	for i, e := range list {
		out[i] = entry{e.Name(), e.IsDir(), e.Type().IsRegular()}
	}
	return out, err
}

func (h handle) enter(name string) (handle, error) {
	fd, err := openat(h.f, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC)
	if err != nil {
		return handle{}, err
	}
	return handle{os.NewFile(uintptr(fd), name)}, nil
}

func openat(dir *os.File, name string, flags int) (int, error) {
	for {
		fd, err := unix.Openat(int(dir.Fd()), name, flags, 0)
		if !errors.Is(err, unix.EINTR) {
			return fd, err
		}
	}
}

// read reads a regular file into buf, without the detour over os.File: a search
// opens a hundred thousand of them.
func (h handle) read(name string, buf *[]byte, o Options) ([]byte, fs.FileMode, bool) {
	fd, err := openat(h.f, name, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOFOLLOW|unix.O_CLOEXEC)
	if err != nil {
		return nil, 0, false
	}
	defer func() { _ = unix.Close(fd) }() // it was only read
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil || st.Mode&unix.S_IFMT != unix.S_IFREG || st.Size > o.MaxFile || st.Nlink > 1 && !o.Linked {
		return nil, 0, false
	}
	n := 0
	for {
		// One byte more than it had: a full buffer would not tell that it ends.
		if need := max(int(st.Size)+1, n+1); len(*buf) < need {
			grown := make([]byte, need+need/4+4096)
			copy(grown, (*buf)[:n])
			*buf = grown
		}
		m, err := unix.Read(fd, (*buf)[n:])
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return nil, 0, false
		}
		if n += m; m == 0 || n == int(st.Size) || int64(n) > o.MaxFile {
			return (*buf)[:n], fs.FileMode(st.Mode & 0o777), true
		}
	}
}
