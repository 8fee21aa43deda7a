package disk

import (
	"errors"
	"io/fs"
	"os"

	"lore/internal/fault"
)

// ErrNotRegular is what opening anything but a regular file gives.
var ErrNotRegular = errors.New("not a regular file")

// An explained error is one for a person that remembers what the system said.
type explained struct {
	error       // with its kind
	cause error // of the system
}

// Unwrap gives the error with its kind. The cause is not part of the chain:
// "does not exist", said by the disk, means something else to a caller.
func (e *explained) Unwrap() error { return e.error }

// Explain gives an error of the file system its kind and names the path.
func Explain(path string, err error) error {
	var kind fault.Kind
	if err == nil || errors.As(err, &kind) {
		return err
	}
	return &explained{explain(path, err), err}
}

func explain(path string, err error) error {
	switch {
	case isFull(err):
		return fault.Fix(fault.Unavailable, "free some space and try again", "%q: no space left on the vault's disk", path)
	case isReadOnly(err):
		return fault.Fix(fault.ReadOnly, "mount the disk for writing", "%q is on a read-only disk", path)
	case errors.Is(err, fs.ErrPermission):
		return fault.Fix(fault.Denied, "give yourself write permission on it and its folder (chmod u+rwx)", "%q cannot be written", path)
	case errors.Is(err, ErrNotRegular):
		return fault.New(fault.Unsafe, "%q is not a regular file", path)
	case errors.Is(err, fs.ErrExist):
		return fault.Fix(fault.Conflict, "choose another name, or edit the existing file", "%q already exists", path)
	case isNotFolder(err):
		return fault.New(fault.Conflict, "%q: part of the path is a file, not a folder", path)
	case errors.Is(err, fs.ErrNotExist):
		return fault.New(fault.Conflict, "%q no longer exists", path)
	case IsOtherDisk(err):
		return fault.New(fault.Unavailable, "%q is on a different disk than the rest of the vault; files cannot be moved between the two", path)
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

// cause is what the system said.
func cause(err error) error {
	var e *explained
	if errors.As(err, &e) {
		return e.cause
	}
	return err
}

// IsOtherDisk reports that a file cannot be moved because its new place lies on
// another disk.
func IsOtherDisk(err error) bool { return isOtherDisk(cause(err)) }

// IsUnsupported reports that the file system cannot do what was asked, or not
// with these files: another way may lead there.
func IsUnsupported(err error) bool {
	err = cause(err)
	return hasNoCall(err) || isOtherDisk(err) || isForbidden(err)
}

// hasNoCall reports that the file system does not know a call.
func hasNoCall(err error) bool { return errors.Is(err, errors.ErrUnsupported) || isNoCall(err) }

// IsPermanent reports an error that comes again however often the call is
// repeated. A full disk, a failing one and missing permission are not such: a
// person can do something about them.
func IsPermanent(err error) bool {
	err = cause(err)
	return hasNoCall(err) || isOtherDisk(err) || isOddPlace(err) || errors.Is(err, ErrNotRegular) || errors.Is(err, fs.ErrExist)
}
