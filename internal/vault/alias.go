package vault

import (
	"io/fs"
	"os"
	"path"
	"slices"

	"lore/internal/vault/syncname"
)

// aliases are the other names of files, by which they can change without an
// event under their own.
type aliases struct {
	links  map[string][]string // name -> the links of the vault that lead to it or over it
	shared bool                // some note can change by a name that nobody watches: it has hard links
}

// note takes in what the system says of one file.
func (a *aliases) note(key string, info fs.FileInfo) {
	if _, links := identity(info); links > 1 && KindOf(key) != Attachment {
		a.shared = true
	}
}

// link takes in a link, whether or not it leads to a file by now.
func (a *aliases) link(root *os.Root, disk, key string) {
	if a.links == nil {
		a.links = map[string][]string{}
	}
	_, over, _ := resolve(root, disk)
	for _, at := range over {
		switch target := Key(at); {
		case target == key:
		case Hidden(target) || syncname.Partial(path.Base(target)):
			a.shared = true // nobody hears of changes there
		case !slices.Contains(a.links[target], key):
			a.links[target] = append(a.links[target], key)
		}
	}
}

// noteLink takes in a link that came since the last walk; key may be none.
func (v *Vault) noteLink(root *os.Root, key string) {
	disk := v.spelled(key)
	if _, err := root.Readlink(disk); err != nil {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.link(root, disk, key)
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

// Shared reports whether some note can change by a name that nobody watches, as
// one with hard links can.
func (v *Vault) Shared() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.shared
}
