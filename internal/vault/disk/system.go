// Package disk is the file system as the writer of a vault needs it: names are
// looked up in open folders and never followed, files change places in one step
// where the system can, and every call can be made to fail. It knows paths and
// bytes; what is written, and why, it does not know.
package disk

import (
	"io/fs"
	"os"
	"time"
)

// A System makes the calls. The zero value is right; Before is for tests: it is
// called with the name of every call, and its error is the call's.
type System struct {
	Before func(call string) error
}

// before is where every call that changes something passes.
func (s System) before(call string) error {
	crashpoint(call)
	return s.ask(call)
}

// ask is where the calls pass that only look.
func (s System) ask(call string) error {
	if s.Before == nil {
		return nil
	}
	return s.Before(call)
}

// A Folder is one folder of the vault, held open.
type Folder struct {
	handles
	path string // from the vault's root, "." for the root
	disk Disk
}

// A Disk is a mounted file system, told by its number and its mount: nothing can
// be renamed from one mount to another, though both show the same files. It is
// zero where the system does not tell.
type Disk struct{ dev, mount uint64 }

// Disk tells where the folder lies.
func (f *Folder) Disk() Disk { return f.disk }

// A Stat is what the system says of one name.
type Stat struct {
	Mode     fs.FileMode
	Size     int64
	ModTime  time.Time
	Changed  time.Time // of the content, the name or the rights; zero where it is not known
	Inode    uint64    // 0 where it is not known
	Links    uint64
	Dev      uint64
	Uid, Gid int
}

// A Content is a file's bytes with what else must survive its replacement.
type Content struct {
	Stat
	Data   []byte
	Xattrs map[string][]byte
}

// Open opens a folder below root.
func (s System) Open(root *os.Root, dir string) (*Folder, error) {
	if err := s.ask("open"); err != nil {
		return nil, err
	}
	return open(root, dir)
}

// Names lists a folder.
func (s System) Names(at *Folder) ([]string, error) {
	if err := s.ask("names"); err != nil {
		return nil, err
	}
	return names(at)
}

// Stat asks about a name.
func (s System) Stat(at *Folder, name string) (Stat, error) {
	if err := s.ask("stat"); err != nil {
		return Stat{}, err
	}
	return statAt(at, name)
}

// Read reads a regular file whole.
func (s System) Read(at *Folder, name string) (Content, error) {
	if err := s.ask("read"); err != nil {
		return Content{}, err
	}
	return read(at, name)
}

// Mkdir makes a folder that must not exist.
func (s System) Mkdir(at *Folder, name string, perm fs.FileMode) error {
	if err := s.before("mkdir"); err != nil {
		return err
	}
	return mkdir(at, name, perm)
}

// Create makes a file that must not exist, open for writing.
func (s System) Create(at *Folder, name string, perm fs.FileMode) (*os.File, error) {
	if err := s.before("create"); err != nil {
		return nil, err
	}
	return create(at, name, perm)
}

// Reopen opens an existing regular file for writing in place.
func (s System) Reopen(at *Folder, name string) (*os.File, error) {
	if err := s.ask("reopen"); err != nil {
		return nil, err
	}
	return reopen(at, name)
}

// Write makes data the whole content of f.
func (s System) Write(f *os.File, data []byte) error {
	if err := s.before("write"); err != nil {
		return err
	}
	if crashing && len(data) > 1 {
		if _, err := f.WriteAt(data[:len(data)/2], 0); err != nil {
			return err
		}
		crashpoint("half written")
	}
	return write(f, data)
}

// Dress gives f the mode, the owner and the attributes of another file. It
// returns what it was not allowed to do.
func (s System) Dress(f *os.File, like Content) ([]string, error) {
	err := s.before("dress")
	if IsUnsupported(err) {
		return []string{"its permissions could not be kept"}, nil
	}
	if err != nil {
		return nil, err
	}
	return dress(f, like)
}

// Sync makes the content of f durable, as far as the file system can.
func (s System) Sync(f *os.File) error {
	if err := s.sync(f); !hasNoCall(err) {
		return err
	}
	return nil
}

func (s System) sync(f *os.File) error {
	if err := s.before("sync"); err != nil {
		return err
	}
	return f.Sync()
}

// Exchange lets two files change places in one step.
func (s System) Exchange(a *Folder, x string, b *Folder, y string) error {
	if err := s.before("exchange"); err != nil {
		return err
	}
	return exchange(a, x, b, y)
}

// MoveNew gives a file another name, which must be free.
func (s System) MoveNew(a *Folder, x string, b *Folder, y string) error {
	if err := s.before("move"); err != nil {
		return err
	}
	return moveNew(a, x, b, y)
}

// MoveOver gives a file or folder another name, whoever had it.
func (s System) MoveOver(a *Folder, x string, b *Folder, y string) error {
	if err := s.before("move over"); err != nil {
		return err
	}
	return moveOver(a, x, b, y)
}

// Link gives a file a second name, which must be free.
func (s System) Link(a *Folder, x string, b *Folder, y string) error {
	if err := s.before("link"); err != nil {
		return err
	}
	return linkAt(a, x, b, y)
}

// Remove removes a file.
func (s System) Remove(at *Folder, name string) error {
	if err := s.before("remove"); err != nil {
		return err
	}
	return remove(at, name)
}

// Rmdir removes an empty folder.
func (s System) Rmdir(at *Folder, name string) error {
	if err := s.before("rmdir"); err != nil {
		return err
	}
	return rmdir(at, name)
}

// SyncFolder makes the names in a folder durable, where the file system has a
// call for it.
func (s System) SyncFolder(at *Folder) error {
	if err := s.syncFolder(at); !IsUnsupported(err) {
		return err
	}
	return nil
}

func (s System) syncFolder(at *Folder) error {
	if err := s.before("sync folder"); err != nil {
		return err
	}
	return syncFolder(at)
}

// SyncAll makes everything durable that was written to the file system.
func (s System) SyncAll(at *Folder) error {
	if err := s.before("sync all"); err != nil {
		return err
	}
	return syncAll(at)
}
