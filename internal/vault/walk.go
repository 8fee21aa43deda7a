package vault

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
	"unicode/utf8"

	"lore/internal/fault"
	"lore/internal/note/invisible"
	"lore/internal/vault/syncname"
)

// maxFolders bounds how deep folders may lie inside folders. Each level costs
// an open descriptor while the walk is below it.
const maxFolders = 100

// Walk lists the vault. A folder or file that cannot be read is a problem in
// the listing and hides nothing else; the error is [fault.Offline] when the
// vault's folder is missing or cannot be read, or the context's.
func (v *Vault) Walk(ctx context.Context) (*Listing, error) {
	v.walking.Lock()
	defer v.walking.Unlock()
	began := v.now()
	root, id, err := openRoot(v.dir)
	if err != nil {
		v.missingRoot(err)
		return nil, fault.New(fault.Offline, "the vault is offline: %v", err)
	}
	defer root.Close()
	w := v.newWalker(ctx, root)
	w.list.Began = began
	w.list.Entries = make([]Entry, 0, v.expected())
	w.list.root, w.list.Replaced = id, !v.isOpenOn(id)
	if err := w.from(root, "", 0); err != nil {
		return nil, err
	}
	w.list.rules = v.rules
	w.list.finish()
	v.judge(w.list)
	v.mu.Lock()
	v.disk, v.plain, v.aliases = w.disk, w.plain, w.aliases
	v.mu.Unlock()
	return w.list, nil
}

// Below lists a folder, by its name on disk, and those in it. entered is called
// for each before it is read. It fails only with entered, or with the context;
// a folder that is gone has nothing in it.
func (v *Vault) Below(ctx context.Context, disk string, entered func(onDisk string) error) (*Listing, error) {
	root, err := os.OpenRoot(v.dir)
	if err != nil {
		return &Listing{}, nil
	}
	defer root.Close()
	walk := v.newWalker(ctx, root)
	walk.entered = entered
	at := root
	if disk != "" {
		if at, err = root.OpenRoot(disk); err != nil {
			return walk.list, nil
		}
		defer at.Close()
	}
	return walk.list, walk.from(at, disk, strings.Count(disk, "/"))
}

// expected is how many files the next walk is likely to find.
func (v *Vault) expected() int {
	v.mu.Lock()
	defer v.mu.Unlock()
	n := len(v.known)
	if v.last != nil {
		n = len(v.last.Entries)
	}
	return n + n/16 + 64
}

// A walker goes through one folder after the other. It holds one descriptor
// per level, never follows a link into a folder, and asks the system about
// files through the open folder, so that nothing can be swapped under it.
type walker struct {
	ctx     context.Context // of this one walk
	v       *Vault
	root    *os.Root
	list    *Listing
	disk    map[string]string
	plain   map[string]bool
	aliases aliases
	entered func(onDisk string) error // called before a folder is read; may be nil
	folded  map[string]string         // scratch: the names of one folder, without case
	sizes   map[string]int64          // scratch: the sizes of one folder's notes
}

func (v *Vault) newWalker(ctx context.Context, root *os.Root) *walker {
	return &walker{
		ctx: ctx, v: v, root: root, list: &Listing{},
		disk: map[string]string{}, plain: map[string]bool{},
		folded: map[string]string{}, sizes: map[string]int64{},
	}
}

func (w *walker) problem(kind ProblemKind, key, other, format string, args ...any) {
	w.list.Problems = append(w.list.Problems, Problem{Kind: kind, Path: key, Other: other, Detail: fmt.Sprintf(format, args...)})
}

// A child is a folder that is still to be entered.
type child struct{ name, key, disk string }

// from walks the folder that at holds, whose name on disk is disk.
func (w *walker) from(at *os.Root, disk string, depth int) error {
	top, err := openedFolder(at)
	if err != nil {
		w.unreadable(keyOrRoot(Key(disk)), err)
		return nil
	}
	defer top.close()
	return w.folder(top, Key(disk), disk, depth)
}

// folder lists one folder and then those in it. It fails only with the context
// or with w.entered.
func (w *walker) folder(at openFolder, key, disk string, depth int) error {
	if err := w.ctx.Err(); err != nil {
		return fmt.Errorf("walk of the vault: %w", err)
	}
	if w.entered != nil {
		if err := w.entered(disk); err != nil {
			return err
		}
	}
	// The folder before its names: what comes later gives it other times.
	self, err := at.self()
	if err == nil {
		w.list.folders = append(w.list.folders, folderSnapshot(disk, self))
	}
	infos, listErr := at.infos()
	if err = errors.Join(err, listErr); err != nil {
		w.unreadable(keyOrRoot(key), err)
	} else if len(infos) == 0 {
		w.list.folders[len(w.list.folders)-1].empty = true
	}
	w.list.Folders++
	w.list.any = w.list.any || len(infos) > 0
	w.plain[disk] = true
	clear(w.folded)
	clear(w.sizes)
	first := len(w.list.Entries)
	var children []child
	for _, info := range keysFirst(infos) {
		if c, ok := w.name(info, key, disk); ok {
			children = append(children, c)
		}
	}
	w.possible(w.list.Entries[first:])
	for _, c := range children {
		if err := w.enter(at, c, depth+1); err != nil {
			return err
		}
	}
	return nil
}

func (w *walker) enter(at openFolder, c child, depth int) error {
	if depth > maxFolders {
		w.problem(TooDeep, c.key, "", "folders are nested more than %d deep; deeper files are not read", maxFolders)
		w.list.unknown = append(w.list.unknown, c.key)
		return nil
	}
	sub, err := at.enter(c.name)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) { // it went away meanwhile
			w.unreadable(c.key, err)
		}
		return nil
	}
	defer sub.close()
	return w.folder(sub, c.key, c.disk, depth)
}

func (w *walker) unreadable(key string, err error) {
	w.list.unread = true
	w.problem(Unreadable, key, "", "%v", plainError(err))
	w.list.unknown = append(w.list.unknown, key)
}

func keyOrRoot(key string) string {
	if key == "" {
		return "."
	}
	return key
}

func join(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name
}

// keysFirst moves names that are not their own keys to the end, so that of two
// twins the one is listed that a plain open of the key finds.
func keysFirst(infos []fs.FileInfo) []fs.FileInfo {
	var odd []fs.FileInfo
	for i, info := range infos {
		if name := info.Name(); !ascii(name) && Key(name) != name {
			odd = append(odd, info)
		} else if len(odd) > 0 {
			infos[i-len(odd)] = info
		}
	}
	copy(infos[len(infos)-len(odd):], odd)
	return infos
}

// name takes in one name of a folder. It returns the folders to enter.
func (w *walker) name(info fs.FileInfo, key, disk string) (child, bool) {
	name := info.Name()
	if name[0] == '.' {
		w.hidden(name, key)
		return child{}, false
	}
	if !info.IsDir() && syncname.Partial(name) {
		w.list.Partial++
		return child{}, false
	}
	if !utf8.ValidString(name) {
		shown := strings.ToValidUTF8(name, "\uFFFD")
		w.problem(BadName, join(key, shown), "", "the name is not valid UTF-8; rename the file")
		return child{}, false
	}
	c := child{name: name, key: join(key, Key(name))}
	c.disk = c.key // one string, not two
	if key != disk || Key(name) != name {
		c.disk = join(disk, name)
	}
	if err := checkName(name); err != nil {
		w.problem(BadName, c.key, "", "%v", err)
		return child{}, false
	}
	if w.v.exclude.Match(c.key) {
		w.list.Excluded++
		return child{}, false
	}
	if !w.twins(c) {
		return child{}, false
	}
	if bad, ok := invisible.InName(name); ok {
		w.problem(MisleadingName, c.key, "", "the name has the invisible character %s", bad)
	}
	if c.disk != c.key {
		w.disk[c.key] = c.disk
	}
	switch mode := info.Mode(); {
	case mode.IsRegular():
		w.file(c, info, false)
	case mode.IsDir():
		return c, true
	case mode&fs.ModeSymlink != 0:
		w.link(c)
	default:
		w.problem(NotRegular, c.key, "", "%s is never opened", what(mode))
	}
	return child{}, false
}

// hidden counts a dot name. A placeholder of iCloud is no hidden file to its
// owner but a note whose content is elsewhere.
func (w *walker) hidden(name, key string) {
	if file := syncname.Placeholder(name); file != "" {
		k := join(key, Key(file))
		w.problem(NotDownloaded, k, "", "its content is in iCloud; open it in Finder to download it")
		w.list.unknown = append(w.list.unknown, k)
		return
	}
	if name != OwnFolder && !IsTemp(name) {
		w.list.Hidden++
	}
}

// twins reports names that mean the same key, or differ from another one only
// in case. It returns false for a name whose key is taken.
func (w *walker) twins(c child) bool {
	key := path.Base(c.key)
	fold := Fold(key)
	other, taken := w.folded[fold]
	switch {
	case !taken:
		w.folded[fold] = key
	case other == key:
		w.problem(NameTwin, c.key, c.disk, "two names differ only in their Unicode form; the second file is not read; rename one of them")
		return false
	default:
		w.problem(CaseTwin, c.key, join(path.Dir(c.key), other), "differs from %q only in case; macOS and Windows cannot keep both", other)
	}
	return true
}

func (w *walker) file(c child, info fs.FileInfo, link bool) {
	w.aliases.note(c.key, info)
	inode, links := identity(info)
	if links > 1 && !w.v.linked {
		w.problem(HardLink, c.key, "", "it is a hard link: its text also exists under another name, so Lore does not read it")
	}
	e := Entry{
		Path: c.key, OnDisk: c.disk, Link: link, Kind: KindOf(c.key), Linked: links > 1,
		Size: info.Size(), ModTime: info.ModTime().UnixNano(), ChangeTime: changeTime(info), Inode: inode,
	}
	if e.Kind == Note {
		w.sizes[path.Base(c.key)] = e.Size
	}
	w.list.Entries = append(w.list.Entries, e)
}

// link follows a link to a file, and reports every other one.
func (w *walker) link(c child) {
	w.aliases.link(w.root, c.disk, c.key)
	info, p := w.v.follow(w.root, c.disk)
	if p.Kind != "" {
		p.Path = c.key
		w.list.Problems = append(w.list.Problems, p)
		return
	}
	w.file(c, info, true)
}

// possible reports "x 2.md" beside "x.md" when the sizes are alike.
func (w *walker) possible(entries []Entry) {
	for _, e := range entries {
		if e.Kind != Note {
			continue
		}
		dir, name := path.Split(e.Path)
		base := syncname.PossibleBase(name)
		if size, ok := w.sizes[base]; ok && base != "" && syncname.Alike(size, e.Size) {
			w.problem(PossibleConflict, e.Path, dir+base, "may be a sync tool's copy of %q; it is read as a separate note", base)
		}
	}
}

// what names a file that is not regular.
func what(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "a folder"
	case mode&fs.ModeNamedPipe != 0:
		return "a pipe"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	case mode&fs.ModeDevice != 0:
		return "a device"
	}
	return "a special file"
}
