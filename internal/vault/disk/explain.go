package disk

import (
	"errors"
	"io/fs"
	"os"

	"lore/internal/fault"
)

// ErrNotRegular is what opening anything but a regular file gives.
var ErrNotRegular = errors.New("not a regular file")

// Explain gives an error of the file system its kind and names the path.
func Explain(path string, err error) error {
	var kind fault.Kind
	switch {
	case err == nil:
		return nil
	case errors.As(err, &kind):
		return err
	case isFull(err):
		return fault.Fix(fault.Unavailable, "free some space and try again", "%q: no space left on the disk of the vault", path)
	case isReadOnly(err):
		return fault.Fix(fault.ReadOnly, "mount the disk for writing", "%q lies on a read-only disk", path)
	case errors.Is(err, fs.ErrPermission):
		return fault.Fix(fault.Denied, "give yourself write permission on it and its folder (chmod u+rwx)", "%q cannot be written", path)
	case errors.Is(err, ErrNotRegular):
		return fault.New(fault.Unsafe, "%q is not a regular file", path)
	case errors.Is(err, fs.ErrExist):
		return fault.Fix(fault.Conflict, "choose another name, or edit the existing file", "%q exists already", path)
	case isNotFolder(err):
		return fault.New(fault.Conflict, "%q: a file lies where the path names a folder", path)
	case errors.Is(err, fs.ErrNotExist):
		return fault.New(fault.Conflict, "%q is no longer there", path)
	case IsOtherDisk(err):
		return fault.New(fault.Unavailable, "%q lies on another disk than the vault", path)
	}
	return fault.New(fault.Unavailable, "%q cannot be written: %v", path, plain(err))
}

// plain drops what the os package puts before the reason.
func plain(err error) error {
	var pe *fs.PathError
	var le *os.LinkError
	switch {
	case errors.As(err, &pe):
		return pe.Err
	case errors.As(err, &le):
		return le.Err
	}
	return err
}

// Absent reports that there is no such file.
func Absent(err error) bool { return errors.Is(err, fs.ErrNotExist) || isNotFolder(err) }
