package vault

import (
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"lore/internal/fault"
	"lore/internal/vault/pattern"
)

// The limits that hold when [Options] names none.
const (
	DefaultMaxNote = 10 << 20
	DefaultMaxRead = 64 << 20
)

// Options says how a vault is read. The zero value is right for most.
type Options struct {
	// Exclude lists the files and folders that Lore must not see, as patterns
	// of vault paths. "*", "?" and "[...]" stay inside one name, "**" stands
	// for any number of folders, and a pattern without a slash fits a name at
	// any depth. A pattern that fits a folder excludes all that is in it.
	Exclude []string
	// MaxNote is how many bytes of a note [Vault.Head] reads.
	MaxNote int64
	// MaxRead is the size from which [Vault.Read] refuses a file.
	MaxRead int64
	// AllowLinked lets files be read that have several names (hard links). Their
	// other names can lie anywhere on the disk, and so can who put them here.
	AllowLinked bool
	// Changed is called with the state that the first walk finds, and whenever
	// the mode, the reason or the number of missing notes changes. It must not call the vault. May be nil.
	Changed func(State)
	Log     *slog.Logger
	Now     func() time.Time
}

// A Vault is an open folder. Its methods may be called from several
// goroutines.
type Vault struct {
	dir     string
	exclude pattern.List
	rules   string // which files are read; see rulesOf
	maxNote int64
	maxRead int64
	linked  bool // hard links are read
	changed func(State)
	log     *slog.Logger
	now     func() time.Time

	walking sync.Mutex // one walk at a time: what it learns must not go backwards

	mu      sync.Mutex
	closed  bool
	id      fs.FileInfo // the folder that the vault was opened on
	state   State
	entered bool              // a walk has told the state
	known   []string          // the notes of the last walk that was believed, sorted
	last    *Listing          // the last walk, believed or not
	disk    map[string]string // key -> name on disk, where they differ
	plain   map[string]bool   // folders, by name on disk, that a walk found to be no links
	aliases
}

// Open opens the folder dir as a vault. It writes nothing.
func Open(dir string, opt Options) (*Vault, error) {
	if dir == "" {
		return nil, fault.Fix(fault.Invalid, "give the folder that contains your notes", "no vault folder is set")
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, fault.New(fault.Invalid, "the vault %q cannot be opened: %v", dir, err)
	}
	exclude, err := pattern.Compile(opt.Exclude)
	if err != nil {
		return nil, err
	}
	v := &Vault{
		dir: abs, exclude: exclude, rules: rulesOf(opt), linked: opt.AllowLinked,
		maxNote: orDefault(opt.MaxNote, DefaultMaxNote),
		maxRead: orDefault(opt.MaxRead, DefaultMaxRead),
		changed: opt.Changed, log: opt.Log, now: opt.Now,
	}
	if v.log == nil {
		v.log = slog.New(slog.DiscardHandler)
	}
	if v.now == nil {
		v.now = time.Now
	}
	root, id, err := openRoot(abs)
	if err != nil {
		return nil, err
	}
	root.Close()
	v.id, v.state = id, v.healthy()
	return v, nil
}

// rulesOf spells everything that decides which files are read. A comparison
// under other rules starts anew.
func rulesOf(opt Options) string {
	rules := strings.Join(opt.Exclude, "\n")
	if opt.AllowLinked {
		rules += "\x00linked"
	}
	return rules
}

func orDefault(n, d int64) int64 {
	if n <= 0 {
		return d
	}
	return n
}

// openRoot opens the folder and proves that it can be listed, so that a person
// hears at once what is wrong with it.
func openRoot(dir string) (*os.Root, fs.FileInfo, error) {
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil, fault.Fix(fault.NotFound, "create it, or give the folder that contains your notes", "folder %q does not exist", dir)
	case errors.Is(err, fs.ErrPermission):
		return nil, nil, unreadableFolder(dir)
	case err != nil:
		return nil, nil, fault.New(fault.Invalid, "folder %q cannot be opened: %v", dir, plainError(err))
	case !info.IsDir():
		return nil, nil, fault.Fix(fault.Invalid, "give the folder that contains the file", "%q is a file, not a folder", dir)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, nil, unreadableFolder(dir)
	}
	id, err := root.Stat(".")
	if err == nil {
		err = listable(root)
	}
	if err != nil {
		root.Close()
		return nil, nil, unreadableFolder(dir)
	}
	return root, id, nil
}

// listable proves the right to list a folder and to reach what is in it.
func listable(root *os.Root) error {
	f, err := root.Open(".")
	if err != nil {
		return err
	}
	defer f.Close()
	names, err := f.Readdirnames(1)
	if errors.Is(err, io.EOF) {
		return nil
	}
	if err == nil {
		_, err = root.Lstat(names[0])
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
	}
	return err
}

func unreadableFolder(dir string) error {
	return fault.Fix(fault.Invalid, "give yourself read and search permission on it (chmod u+rx)", "folder %q cannot be read", dir)
}

// plainError drops the operation and the path that the os package puts before
// the reason: our messages name the thing themselves.
func plainError(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

// Close ends the vault's work. It does not end a [Watcher]; its context does.
func (v *Vault) Close() error {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.closed = true
	return nil
}

// Dir is the absolute path of the folder.
func (v *Vault) Dir() string { return v.dir }

// Handle opens the folder for one piece of work; the caller closes it. A handle
// that stayed open would keep the disk from being unmounted, and would go on
// showing a folder that was moved away.
func (v *Vault) Handle() (*os.Root, error) {
	root, err := os.OpenRoot(v.dir)
	if err != nil {
		return nil, fault.New(fault.Offline, "the vault is offline: folder %q: %v", v.dir, plainError(err))
	}
	info, err := root.Stat(".")
	if err == nil && !v.isOpenOn(info) {
		err = fault.New(fault.Offline, "the vault is offline: folder %q was replaced by another one", v.dir)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.closed {
		err = fault.New(fault.Unavailable, "the vault is closed")
	}
	if err != nil {
		root.Close()
		return nil, err
	}
	return root, nil
}

// isOpenOn reports whether a folder is the one that the vault was opened on.
func (v *Vault) isOpenOn(id fs.FileInfo) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return os.SameFile(id, v.id)
}
