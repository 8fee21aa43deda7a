package writer

import (
	"io/fs"
	"os"
	"time"
)

// A system is the file system as the writer uses it: every call that changes
// something, and those that it decides by. There is one real one; the tests
// wrap it to make any call fail. A name is one name, never a path, and is never
// followed when it is a link.
type system interface {
	open(root *os.Root, dir string) (*folder, error)
	names(at *folder) ([]string, error)
	stat(at *folder, name string) (stat, error)
	read(at *folder, name string) (content, error)
	readlink(at *folder, name string) (string, error)

	mkdir(at *folder, name string, perm fs.FileMode) error
	// create makes a file that must not exist, open for writing.
	create(at *folder, name string, perm fs.FileMode) (*os.File, error)
	// reopen opens an existing regular file for writing in place.
	reopen(at *folder, name string) (*os.File, error)
	// write makes data the whole content of f.
	write(f *os.File, data []byte) error
	// dress gives f the mode, the owner and the attributes of another file. It
	// returns what it was not allowed to do.
	dress(f *os.File, like content) ([]string, error)
	sync(f *os.File) error

	// exchange lets two files change places in one step.
	exchange(a *folder, x string, b *folder, y string) error
	// moveNew gives a file another name that must be free.
	moveNew(a *folder, x string, b *folder, y string) error
	// moveOver gives a file another name, whoever had it.
	moveOver(a *folder, x string, b *folder, y string) error
	link(a *folder, x string, b *folder, y string) error
	remove(at *folder, name string) error
	rmdir(at *folder, name string) error
	syncFolder(at *folder) error
	// syncAll makes everything durable that was written to the file system.
	syncAll(at *folder) error
}

// A folder is one folder of the vault, held open.
type folder struct {
	path string // from the vault's root, "." for the root
	file *os.File
	root *os.Root // this folder, and
	top  *os.Root // the vault, on systems where names are looked up through them
	dev  uint64
}

func (f *folder) close() {
	if f.file != nil {
		_ = f.file.Close() // nothing was written through it
	}
	if f.root != nil {
		_ = f.root.Close()
	}
}

// A stat is what the system says of one name.
type stat struct {
	mode     fs.FileMode
	size     int64
	modTime  time.Time
	inode    uint64 // 0 where it is not known
	links    uint64
	dev      uint64
	uid, gid int
}

// A content is a file's bytes with what else must survive its replacement.
type content struct {
	stat
	data   []byte
	xattrs map[string][]byte
}

// Capabilities is what the file system of a vault can do. Where Exchange or
// NoReplace is missing, a save is checked before it and not after, and an edit
// that another program makes in that instant can be lost.
type Capabilities struct {
	Exchange  bool `json:"exchange"`   // two files change places in one step
	NoReplace bool `json:"no_replace"` // a move that never overwrites
	HardLink  bool `json:"hard_link"`
	Xattr     bool `json:"xattr"`    // user attributes of files
	Syncfs    bool `json:"sync_all"` // one call makes a set of files durable
	Lock      bool `json:"lock"`     // a second process is kept out
}
