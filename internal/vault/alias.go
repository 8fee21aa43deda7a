package vault

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
)

// aliases are the other names of files, by which they can change without an
// event under their own.
type aliases struct {
	links  map[string][]string // file -> the links of the vault that lead to it or through it
	shared bool                // some note has hard links, perhaps outside the vault
}

func (a *aliases) add(key string, targets []string) {
	if a.links == nil {
		a.links = map[string][]string{}
	}
	for _, t := range targets {
		if !slices.Contains(a.links[t], key) {
			a.links[t] = append(a.links[t], key)
		}
	}
}

// note takes in what the system says of one file.
func (a *aliases) note(root *os.Root, disk, key string, info fs.FileInfo, link bool) {
	if _, links := identity(info); links > 1 && KindOf(key) != Attachment {
		a.shared = true
	}
	if link {
		a.add(key, hops(root, disk))
	}
}

// hops are the names that a link leads through, with the last.
func hops(root *os.Root, disk string) (out []string) {
	for at := disk; len(out) < maxLinks; {
		target, err := root.Readlink(at)
		if err != nil {
			break
		}
		at = path.Join(path.Dir(at), filepath.ToSlash(target))
		out = append(out, Key(at))
	}
	return out
}

// WithLinks adds to paths the links of the vault that lead to them: when a file
// changes, so does what is found under the names of its links.
func (v *Vault) WithLinks(paths []string) []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, p := range slices.Clip(paths) {
		paths = append(paths, v.links[p]...)
	}
	return paths
}

// Shared reports whether some note has hard links: it can change by a name that
// nobody watches.
func (v *Vault) Shared() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.shared
}
