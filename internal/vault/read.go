package vault

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"time"

	"lore/internal/fault"
	"lore/internal/vault/overlay"
	"lore/internal/vault/syncname"
	"lore/internal/vault/visibility"
)

// A Hash is the SHA-256 of a file's bytes: what a writer must show to prove
// which version it saw.
type Hash [sha256.Size]byte

// Sum hashes data.
func Sum(data []byte) Hash { return sha256.Sum256(data) }

// String is the hash in hexadecimal digits.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// MarshalText gives the hexadecimal digits.
func (h Hash) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

// UnmarshalText reads 64 hexadecimal digits.
func (h *Hash) UnmarshalText(text []byte) error {
	parsed, err := ParseHash(string(text))
	if err == nil {
		*h = parsed
	}
	return err
}

// ParseHash reads what [Hash.String] wrote.
func ParseHash(s string) (Hash, error) {
	var h Hash
	if len(s) != hex.EncodedLen(len(h)) {
		return h, fault.Fix(fault.Invalid, "give the hash that reading the file returned", "%q is not a SHA-256 in hexadecimal digits", s)
	}
	if _, err := hex.Decode(h[:], []byte(s)); err != nil {
		return Hash{}, fault.Fix(fault.Invalid, "give the hash that reading the file returned", "%q is not a SHA-256 in hexadecimal digits", s)
	}
	return h, nil
}

// Info is what the file system says about an open file.
type Info struct {
	Size    int64
	ModTime time.Time
	// ChangeTime is as in [Entry].
	ChangeTime int64
	Inode      uint64
	Links      uint64 // names that the file has; more than one means hard links
	Mode       fs.FileMode
}

// A File is the content of one file at one moment.
type File struct {
	Path   string // the key
	OnDisk string
	Data   []byte
	Info   Info
	// Hash is of Data. Truncated says that Data is only the beginning.
	Hash      Hash
	Truncated bool
}

// Read returns the whole content of a visible file. It never waits for a pipe
// and never opens what is not a regular file. A file that is being written
// while it is read is read again.
func (v *Vault) Read(ctx context.Context, p string) (File, error) {
	return v.read(ctx, p, v.maxRead, false, false)
}

// ReadHidden is [Vault.Read] for dot files such as Obsidian's settings. What is
// Lore's own stays closed.
func (v *Vault) ReadHidden(ctx context.Context, p string) (File, error) {
	return v.read(ctx, p, v.maxRead, false, true)
}

// Head is [Vault.Read] for files of any size: it returns at most MaxNote bytes
// from the beginning.
func (v *Vault) Head(ctx context.Context, p string) (File, error) {
	return v.read(ctx, p, v.maxNote, true, false)
}

// Stat tells what a visible file is, following a link to a file inside. What a
// walk does not list, it does not tell either.
func (v *Vault) Stat(ctx context.Context, p string) (Entry, error) {
	if err := ctx.Err(); err != nil {
		return Entry{}, fmt.Errorf("stat of %q: %w", p, err)
	}
	key, err := v.Visible(p, false)
	if err != nil {
		return Entry{}, err
	}
	if err := v.allowed(ctx, key, false); err != nil { // before anything tells whether there is such a file
		return Entry{}, err
	}
	if f, ok, err := v.readPlanned(ctx, key, v.maxRead, true); ok {
		return Entry{Path: key, OnDisk: key, Kind: KindOf(key), Size: f.Info.Size, ModTime: f.Info.ModTime.UnixNano()}, err
	}
	root, err := v.Handle()
	if err != nil {
		return Entry{}, err
	}
	defer root.Close()
	disk, info, link, err := v.Locate(root, key)
	if err != nil || link {
		v.noteLink(root, key)
	}
	if err != nil {
		return Entry{}, err
	}
	if err := v.allowed(ctx, key, link); err != nil {
		return Entry{}, err
	}
	if syncname.Partial(path.Base(key)) {
		return Entry{}, fault.New(fault.Denied, "path %q is an unfinished download or save", p)
	}
	v.mu.Lock()
	v.note(key, info)
	v.mu.Unlock()
	inode, links := identity(info)
	return Entry{
		Path: key, OnDisk: disk, Link: link, Kind: KindOf(key), Linked: links > 1,
		Size: info.Size(), ModTime: info.ModTime().UnixNano(), ChangeTime: changeTime(info), Inode: inode,
	}, nil
}

// Visible is the one check of a path that is to be read or written: hidden says
// that a dot file may be.
func (v *Vault) Visible(p string, hidden bool) (string, error) {
	key, err := Clean(p)
	switch {
	case err != nil:
		return "", err
	case own(key):
		return "", fault.New(fault.Unsafe, "path %q belongs to Lore itself", p)
	case !hidden && Hidden(key):
		return "", fault.New(fault.Denied, "path %q is hidden", p)
	case v.exclude.Covers(key):
		return "", fault.New(fault.Denied, "path %q is excluded by the vault's settings", p)
	}
	return key, nil
}

// Excludes reports whether the settings keep a path out of the vault.
func (v *Vault) Excludes(key string) bool { return v.exclude.Covers(key) }

type observerKey struct{}

// Observed is ctx in which see is told of every file that is read.
func Observed(ctx context.Context, see func(File)) context.Context {
	return context.WithValue(ctx, observerKey{}, see)
}

// observe tells the observer of ctx of a file that was read.
func observe(ctx context.Context, f File, err error) {
	if see, ok := ctx.Value(observerKey{}).(func(File)); ok && err == nil {
		see(f)
	}
}

// readPlanned reads a file as planned edits leave it; ok is false where they leave
// it alone.
func (v *Vault) readPlanned(ctx context.Context, key string, limit int64, cut bool) (File, bool, error) {
	p, ok, err := overlay.Read(ctx, key, limit, cut)
	if ok && p.From != "" {
		f, err := v.read(overlay.Without(ctx), p.From, limit, cut, false)
		f.Path, f.OnDisk = key, key
		return f, true, err
	}
	info := Info{Size: p.Size, ModTime: v.now(), Links: 1, Mode: 0o644}
	return File{Path: key, OnDisk: key, Data: p.Data, Hash: Sum(p.Data), Truncated: p.Size > int64(len(p.Data)), Info: info}, ok, err
}

// tries is how often a file is read that changes while it is read.
const tries = 3

func (v *Vault) read(ctx context.Context, p string, limit int64, cut, hidden bool) (File, error) {
	key, err := v.Visible(p, hidden)
	if err != nil {
		return File{}, err
	}
	if err := v.allowed(ctx, key, false); err != nil { // before anything tells whether there is such a file
		return File{}, err
	}
	if f, ok, err := v.readPlanned(ctx, key, limit, cut); ok {
		observe(ctx, f, err)
		return f, err
	}
	root, err := v.Handle()
	if err != nil {
		return File{}, err
	}
	defer root.Close()
	var refusal error
	for range tries {
		if err := ctx.Err(); err != nil {
			return File{}, fmt.Errorf("read of %q: %w", key, err)
		}
		disk, _, link, err := v.Locate(root, key)
		if err != nil {
			return File{}, err
		}
		if err := v.allowed(ctx, key, link); err != nil {
			return File{}, err
		}
		f, steady, err := v.readOnce(root, disk, limit, cut)
		if refusal = err; IsLinked(err) {
			continue // a move of our own gives a file two names for a moment
		}
		if err != nil {
			return File{}, v.explain(key, err)
		}
		if steady {
			f.Path, f.OnDisk = key, disk
			observe(ctx, f, nil)
			return f, nil
		}
	}
	if refusal != nil {
		return File{}, Linked(key)
	}
	return File{}, fault.Fix(fault.Busy, "try again in a moment", "%q is being written", key)
}

// allowed refuses a file that the call must not see, by its name or by the name
// of the file that it is a link to.
func (v *Vault) allowed(ctx context.Context, key string, link bool) error {
	l := visibility.From(ctx)
	if l.Everything() {
		return nil
	}
	if err := l.Check(key); err != nil || !link {
		return err
	}
	return l.Check(v.Real([]string{key})[0])
}

// readOnce reads a file. It is not steady when it changed meanwhile.
func (v *Vault) readOnce(root *os.Root, disk string, limit int64, cut bool) (f File, steady bool, err error) {
	file, err := root.OpenFile(disk, os.O_RDONLY|openFlags, 0)
	if err != nil {
		return File{}, false, err
	}
	defer file.Close()
	before, err := file.Stat()
	if err != nil {
		return File{}, false, err
	}
	if !before.Mode().IsRegular() {
		return File{}, false, fault.New(fault.Unsafe, "%q is %s, not a regular file", disk, what(before.Mode()))
	}
	if err := v.CheckOpen(disk, file); err != nil {
		return File{}, false, err
	}
	if before.Size() > limit && !cut {
		return File{}, false, fault.New(fault.TooLarge, "%q has %d bytes; the limit is %d", disk, before.Size(), limit)
	}
	var buf bytes.Buffer
	buf.Grow(int(min(before.Size(), limit)) + bytes.MinRead)
	n, err := io.Copy(&buf, io.LimitReader(file, limit))
	if err != nil {
		return File{}, false, err
	}
	after, err := file.Stat()
	if err != nil {
		return File{}, false, err
	}
	// A link that came meanwhile changes the time of change: it is read again,
	// and refused then.
	inode, _ := identity(after)
	links := openLinks(file, after)
	f.Info = Info{Size: after.Size(), ModTime: after.ModTime(), ChangeTime: changeTime(after), Inode: inode, Links: links, Mode: after.Mode()}
	f.Data = buf.Bytes()
	f.Hash = Sum(f.Data)
	f.Truncated = after.Size() > n
	steady = before.Size() == after.Size() && before.ModTime().Equal(after.ModTime()) && changeTime(before) == changeTime(after) && n == min(after.Size(), limit)
	return f, steady, nil
}

// Locate finds the name on disk of a key and what lies there. It refuses
// links that are not followed and folders that are links: a file has one path.
func (v *Vault) Locate(root *os.Root, key string) (disk string, info fs.FileInfo, link bool, err error) {
	disk = v.spelled(key)
	info, err = root.Lstat(disk)
	if errors.Is(err, fs.ErrNotExist) && !ascii(key) {
		if found, ok := search(root, key); ok {
			disk = found
			info, err = root.Lstat(disk)
		}
	}
	if err != nil {
		return "", nil, false, v.explain(key, err)
	}
	if err := v.plainFolders(root, disk); err != nil {
		return "", nil, false, err
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		target, p := v.follow(root, disk)
		if p.Kind == "" {
			return disk, target, true, nil
		}
		// One that leads nowhere is no free name either.
		return "", nil, false, fault.New(fault.Unsafe, "%q: %s", key, p.Detail)
	}
	if info.IsDir() {
		return "", nil, false, fault.Fix(fault.Invalid, "name a file in it", "%q is a folder", key)
	}
	if !info.Mode().IsRegular() {
		return "", nil, false, fault.New(fault.Unsafe, "%q is %s, not a regular file", key, what(info.Mode()))
	}
	return disk, info, false, nil
}

// spelled returns the name on disk that the last walk saw for a key.
func (v *Vault) spelled(key string) string {
	if ascii(key) {
		return key
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if d, ok := v.disk[key]; ok {
		return d
	}
	for dir := path.Dir(key); dir != "."; dir = path.Dir(dir) {
		if d, ok := v.disk[dir]; ok {
			return d + key[len(dir):]
		}
	}
	return key
}

// search finds a key name by name, as a walk would, for files that came since
// the last one.
func search(root *os.Root, key string) (string, bool) {
	at := ""
	for name := range strings.SplitSeq(key, "/") {
		next := join(at, name)
		if _, err := root.Lstat(next); err != nil {
			found, ok := spelling(root, at, name)
			if !ok {
				return "", false
			}
			next = join(at, found)
		}
		at = next
	}
	return at, true
}

// spelling finds the name in a folder whose key is name.
func spelling(root *os.Root, dir, name string) (string, bool) {
	f, err := root.Open(keyOrRoot(dir))
	if err != nil {
		return "", false
	}
	defer f.Close()
	names, _ := f.Readdirnames(-1)
	for _, n := range names {
		if Key(n) == name {
			return n, true
		}
	}
	return "", false
}

// plainFolders refuses a path through a folder that is a link. Folders that the
// last walk entered were none; that no link leads out, the root ensures anyway.
func (v *Vault) plainFolders(root *os.Root, disk string) error {
	for dir := path.Dir(disk); dir != "."; dir = path.Dir(dir) {
		v.mu.Lock()
		known := v.plain[dir]
		v.mu.Unlock()
		if known {
			return nil
		}
		info, err := root.Lstat(dir)
		if err == nil && info.Mode()&fs.ModeSymlink != 0 {
			target, _ := Trace(root, dir)
			return fault.Fix(fault.Unsafe, "use the real path of the folder", "folder %q is a link to %q", dir, target)
		}
	}
	return nil
}

// explain gives a file system's error its kind.
func (v *Vault) explain(key string, err error) error {
	var kind fault.Kind
	switch {
	case errors.As(err, &kind):
		return err
	case errors.Is(err, fs.ErrNotExist), isNotFolder(err):
		if s := v.State(); !s.Believed() {
			return fault.Fix(fault.Offline, s.wayOut(), "%q was not found; %s", key, s.Trouble())
		}
		return fault.New(fault.NotFound, "%q does not exist", key)
	case errors.Is(err, fs.ErrPermission):
		return fault.Fix(fault.Denied, "give yourself read permission on it (chmod u+r)", "%q cannot be read", key)
	case escapes(err):
		return fault.New(fault.Unsafe, "%q points outside the vault", key)
	}
	return fault.New(fault.Unavailable, "%q cannot be read: %v", key, plainError(err))
}

// escapes recognises the error of [os.Root] that has no name.
func escapes(err error) bool {
	return plainError(err).Error() == "path escapes from parent"
}
