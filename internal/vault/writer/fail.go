package writer

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"lore/internal/fault"
	"lore/internal/vault"
)

// errNotRegular is what opening anything but a regular file gives.
var errNotRegular = errors.New("not a regular file")

// A Stale says that a file is not what an edit was made for. Nothing was
// changed.
type Stale struct {
	Path       string
	Want, Have vault.Hash
	Content    string // what the file holds
	Gone       bool   // there is no such file
}

// Error names the file.
func (s *Stale) Error() string {
	if s.Gone {
		return fmt.Sprintf("%q is no longer there", s.Path)
	}
	return fmt.Sprintf("%q changed on disk since it was read", s.Path)
}

// Unwrap gives the kind.
func (s *Stale) Unwrap() error { return fault.Conflict }

// An Unsettled says that a set broke off, could not be taken back either, and
// waits in the journal: [Writer.Recover] decides whether it stands or not.
type Unsettled struct {
	Op  string
	Err error // what broke it off
}

// Error says what happens next.
func (u *Unsettled) Error() string {
	return fmt.Sprintf("%v; the change broke off and will be settled before the next one", u.Err)
}

// Unwrap gives what broke the set off.
func (u *Unsettled) Unwrap() error { return u.Err }

// explain gives an error of the file system its kind and names the path.
func explain(path string, err error) error {
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
	case errors.Is(err, errNotRegular):
		return fault.New(fault.Unsafe, "%q is not a regular file", path)
	case errors.Is(err, fs.ErrExist):
		return fault.Fix(fault.Conflict, "choose another name, or edit the existing file", "%q exists already", path)
	case isNotFolder(err):
		return fault.New(fault.Conflict, "%q: a file lies where the path names a folder", path)
	case errors.Is(err, fs.ErrNotExist):
		return fault.New(fault.Conflict, "%q is no longer there", path)
	case isOtherDisk(err):
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

func absent(err error) bool { return errors.Is(err, fs.ErrNotExist) || isNotFolder(err) }
