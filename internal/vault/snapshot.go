package vault

import (
	"io/fs"
	"os"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"lore/internal/vault/filetime"
)

// A Snapshot is what has to be remembered of a walk to see later, at a fraction of
// its cost, that nothing has changed: a file that comes or goes changes the times
// of its folder, and a file that is written changes its own.
type Snapshot struct {
	Began   time.Time        `json:"began"`
	Rules   string           `json:"rules"` // which paths the walk left out
	Folders []FolderSnapshot `json:"folders"`
}

// A FolderSnapshot is one folder as the walk saw it just before it listed it.
type FolderSnapshot struct {
	Path       string `json:"path"` // on disk; "" for the vault
	ModTime    int64  `json:"modified"`
	ChangeTime int64  `json:"changed"`
	Inode      uint64 `json:"inode"`

	empty bool // nothing was in it
}

func folderSnapshot(path string, info fs.FileInfo) FolderSnapshot {
	inode, _ := identity(info)
	return FolderSnapshot{Path: path, ModTime: info.ModTime().UnixNano(), ChangeTime: changeTime(info), Inode: inode}
}

// Snapshot remembers the walk that made l. Nothing is remembered of a walk that
// met a folder it could not read: being given leave to read it changes no time
// that the walk saw.
func (l *Listing) Snapshot() Snapshot {
	if l.unread {
		return Snapshot{}
	}
	return Snapshot{Began: l.Began, Rules: l.rules, Folders: l.folders}
}

// A Known file is one that a walk saw, with what it saw of it.
type Known struct {
	Path       string
	Size       int64
	ModTime    int64
	ChangeTime int64
	Inode      uint64
}

// Unchanged reports whether the vault is still as the walk of g saw it, when
// files is everything it listed, by path. It may say no where a walk would find
// nothing new (a hidden file came, a note is a link, a name is not NFC), and
// says yes only when it is so. Times are compared for equality, never for their
// order: copies keep old times, and clocks are set. A folder that changed a
// moment before the walk could change again under the same times, so it counts
// as changed.
func (v *Vault) Unchanged(g Snapshot, files []Known) bool {
	root, id, err := openRoot(v.dir)
	if err != nil {
		return false
	}
	defer root.Close()
	if len(g.Folders) == 0 || g.Rules != v.rules || !v.isOpenOn(id) {
		return false
	}
	folders := make(map[string]FolderSnapshot, len(g.Folders))
	for _, f := range g.Folders {
		if !filetime.AreReliable(f.ModTime, f.ChangeTime, g.Began.UnixNano()) {
			return false
		}
		if f.empty = false; f.Path != "" {
			f.Path += "/"
		}
		folders[f.Path] = f
	}
	// The system answers several questions at once, and there are many.
	parts := slices.Collect(slices.Chunk(files, max(1, len(files)/runtime.GOMAXPROCS(0)+1)))
	seen := make([]map[string]bool, len(parts))
	var wg sync.WaitGroup
	var changed atomic.Bool
	for i, part := range parts {
		wg.Go(func() {
			if seen[i] = look(root, folders, part, nil, &changed); seen[i] == nil {
				changed.Store(true)
			}
		})
	}
	wg.Wait()
	if changed.Load() {
		return false
	}
	var rest []string // the folders in which no file is known
	for f := range folders {
		if f != "" && !slices.ContainsFunc(seen, func(m map[string]bool) bool { return m[f] }) {
			rest = append(rest, f)
		}
	}
	slices.Sort(rest)
	return look(root, folders, nil, rest, &changed) != nil
}

// look visits files and folders and returns the folders it entered, or nil when
// something is not as it was, or another look found that.
func look(root *os.Root, known map[string]FolderSnapshot, files []Known, folders []string, stop *atomic.Bool) map[string]bool {
	top, err := openedFolder(root)
	if err != nil {
		return nil
	}
	d := &descent{known: known, seen: map[string]bool{}}
	defer d.close()
	if !d.push("", top) {
		return nil
	}
	for i := range files {
		if !d.same(&files[i]) || stop.Load() {
			return nil
		}
	}
	for _, f := range folders {
		if !d.enter(f) {
			return nil
		}
	}
	return d.seen
}

// A descent holds the folders open that lead to the file it looked at last, so
// that files that come by path open each folder about once. It enters no folder
// that is not as it was known.
type descent struct {
	known map[string]FolderSnapshot // by path with a slash at the end
	open  []level
	seen  map[string]bool // the folders that were entered
}

type level struct {
	path   string // with a slash at the end; "" for the vault
	folder openFolder
}

func (d *descent) push(path string, f openFolder) bool {
	d.open = append(d.open, level{path, f})
	d.seen[path] = true
	info, err := f.self()
	known, ok := d.known[path]
	return err == nil && ok && folderSnapshot(known.Path, info) == known
}

func (d *descent) same(f *Known) bool {
	dir, name := path.Split(f.Path)
	if !d.enter(dir) {
		return false
	}
	info, err := d.open[len(d.open)-1].folder.stat(name)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	inode, _ := identity(info)
	return info.Size() == f.Size && info.ModTime().UnixNano() == f.ModTime && inode == f.Inode &&
		changeTime(info) == f.ChangeTime
}

// enter opens the folders down to dir, and closes those that do not lead to it.
func (d *descent) enter(dir string) bool {
	for !strings.HasPrefix(dir, d.open[len(d.open)-1].path) {
		d.open[len(d.open)-1].folder.close()
		d.open = d.open[:len(d.open)-1]
	}
	for rest := dir[len(d.open[len(d.open)-1].path):]; rest != ""; {
		name, more, _ := strings.Cut(rest, "/")
		last := d.open[len(d.open)-1]
		if len(d.open) > maxFolders {
			return false
		}
		sub, err := last.folder.pass(name)
		if err != nil || !d.push(last.path+name+"/", sub) {
			return false
		}
		rest = more
	}
	return true
}

func (d *descent) close() {
	for _, l := range d.open {
		l.folder.close()
	}
}
