//go:build unix

package vault

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// An openFolder is a folder that a walk is in. One open serves both to list it
// and to enter the folders below, which is half of what [os.Root] needs, and
// leads as little out of the vault: a name has no slash, and a link is refused.
type openFolder struct{ file *os.File }

// openedFolder opens the folder that root holds.
func openedFolder(root *os.Root) (openFolder, error) {
	f, err := root.Open(".")
	return openFolder{f}, err
}

// enter opens the folder of that name.
func (d openFolder) enter(name string) (openFolder, error) {
	for {
		fd, err := unix.Openat(int(d.file.Fd()), name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case err != nil:
			return openFolder{}, &fs.PathError{Op: "open", Path: name, Err: err}
		}
		return openFolder{os.NewFile(uintptr(fd), name)}, nil
	}
}

// infos asks the system about every file in the folder.
func (d openFolder) infos() ([]fs.FileInfo, error) { return d.file.Readdir(-1) }

// names lists the files in the folder, from the beginning.
func (d openFolder) names() ([]string, error) {
	if _, err := d.file.Seek(0, 0); err != nil {
		return nil, err
	}
	return d.file.Readdirnames(-1)
}

func (d openFolder) close() { _ = d.file.Close() } // only read
