package files

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"lore/internal/fault"
	"lore/internal/tools/files/grep"
	"lore/internal/vault"
	"lore/internal/vault/pattern"
	"lore/internal/vault/syncname"
	"lore/internal/vault/visibility"
)

// An item is one name in a folder.
type item struct {
	path    string
	mode    fs.FileMode
	size    int64 // of a file
	modTime int64 // nanoseconds since 1970
	hidden  bool  // the name begins with a dot: it is listed, and not read
}

// list lists one folder: "" is the vault. Names that begin with a dot are marked,
// and what is Lore's own or excluded is left out. A caller that sees only a part
// of the vault gets the files of that part and the folders that they lie in.
func (env Env) list(ctx context.Context, folder string) ([]item, error) {
	at, disk, err := env.openFolder(folder)
	if !visibility.From(ctx).Everything() {
		if err == nil {
			_ = at.Close() // only its name is needed
		}
		return env.listVisible(ctx, folder, disk, err == nil)
	}
	if err != nil {
		return nil, err
	}
	defer at.Close()
	infos, err := at.Readdir(-1)
	if err != nil {
		return nil, fault.New(fault.Unavailable, "folder %q cannot be read", folder)
	}
	var out []item
	for _, info := range infos {
		key := vault.Key(path.Join(folder, info.Name()))
		if _, err := env.Vault.Visible(key, true); err != nil || !utf8.ValidString(info.Name()) {
			continue
		}
		i := item{path: key, mode: info.Mode(), modTime: info.ModTime().UnixNano(), hidden: info.Name()[0] == '.'}
		if info.Mode().IsRegular() {
			i.size = info.Size()
		}
		out = append(out, i)
	}
	slices.SortFunc(out, func(a, b item) int { return strings.Compare(a.path, b.path) })
	return out, nil
}

// listVisible lists what a limited call may know of a folder. Whether a folder
// exists in which it may see nothing, it is not told.
func (env Env) listVisible(ctx context.Context, folder, disk string, exists bool) ([]item, error) {
	var out []item
	if exists {
		list, err := env.Vault.Below(ctx, disk, nil)
		if err != nil {
			return nil, err
		}
		for _, e := range list.Entries {
			if !isVisible(ctx, e.Path) {
				continue
			}
			name, _, isFolder := strings.Cut(strings.TrimPrefix(e.Path[len(folder):], "/"), "/")
			i := item{path: path.Join(folder, name), size: e.Size, modTime: e.ModTime, mode: 0o644}
			if isFolder {
				i = item{path: i.path, mode: fs.ModeDir | 0o755}
			}
			out = append(out, i)
		}
	}
	if len(out) == 0 && folder != "" {
		return nil, noFolder(folder)
	}
	slices.SortFunc(out, func(a, b item) int { return strings.Compare(a.path, b.path) })
	return slices.CompactFunc(out, func(a, b item) bool { return a.path == b.path }), nil
}

func noFolder(folder string) error {
	return fault.New(fault.NotFound, "folder not found: %q", folder)
}

// openFolder opens a folder by its path, "" for the vault, and returns its name on
// disk. A folder that is a link, or lies in one, is refused. The caller closes it,
// and asks about every name in it whether its call may see it.
func (env Env) openFolder(folder string) (at *os.File, disk string, err error) {
	root, err := env.Vault.Handle()
	if err != nil {
		return nil, "", err
	}
	defer root.Close()
	if folder != "" {
		for name := range strings.SplitSeq(folder, "/") {
			if disk, err = enter(root, disk, name, folder); err != nil {
				return nil, "", err
			}
		}
	}
	at, err = root.Open(path.Join(".", disk))
	if err != nil {
		return nil, "", noFolder(folder)
	}
	if info, err := at.Stat(); err != nil || !info.IsDir() {
		return nil, "", errors.Join(noFolder(folder), at.Close())
	}
	return at, disk, nil
}

// enter finds the folder of that name, in whatever form the disk spells it.
func enter(root *os.Root, dir, name, whole string) (string, error) {
	disk := path.Join(dir, name)
	info, err := root.Lstat(disk)
	if errors.Is(err, fs.ErrNotExist) {
		if disk, err = spelled(root, dir, name); err == nil {
			info, err = root.Lstat(disk)
		}
	}
	switch {
	case err != nil:
		return "", noFolder(whole)
	case info.Mode()&fs.ModeSymlink != 0:
		return "", fault.Fix(fault.Unsafe, "use the real path of the folder", "folder %q is a link", disk)
	case !info.IsDir():
		return "", fault.Fix(fault.Invalid, "name a folder", "%q is a file", disk)
	}
	return disk, nil
}

// spelled is the path of a name that the disk spells in another form of Unicode.
func spelled(root *os.Root, dir, name string) (string, error) {
	at, err := root.Open(path.Join(".", dir))
	if err != nil {
		return "", err
	}
	defer at.Close()
	names, err := at.Readdirnames(-1)
	for _, n := range names {
		if n != name && vault.Key(n) == name {
			return path.Join(dir, n), nil
		}
	}
	return "", errors.Join(err, fs.ErrNotExist)
}

// only sets which folders and files are read from a folder on: those that the vault
// reads and that the caller may see.
func (env Env) only(ctx context.Context, folder string, globs pattern.List, o *grep.Options) {
	key := func(p string) (string, bool) {
		k := vault.Key(path.Join(folder, p))
		return k, path.Base(k)[0] != '.' && !env.Vault.Excludes(k)
	}
	o.Linked, o.Check = env.Vault.ReadsLinked(), func(f *os.File) error { return env.Vault.CheckOpen("", f) }
	o.Enter = func(p string) bool {
		_, ok := key(p)
		return ok
	}
	o.File = func(p string) bool {
		k, ok := key(p)
		if !ok || syncname.Partial(path.Base(k)) || !isVisible(ctx, k) {
			return false
		}
		return len(globs) == 0 || globs.Match(k) || globs.Covers(k)
	}
}
