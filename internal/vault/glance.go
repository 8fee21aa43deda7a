package vault

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// A Glance is a short list of places that show at little cost whether a vault
// is still as a walk saw it: every folder, because a file that comes, goes or is
// replaced changes the time of its folder, and the files that were changed
// last, because those are the ones that are written again. A file that lay
// untouched and is now overwritten in place escapes it; a walk does not.
type Glance struct {
	Began   time.Time `json:"began"` // of the walk
	Folders []string  `json:"folders"`
	Files   []string  `json:"files"`
}

// glanceFiles is how many files a glance looks at.
const glanceFiles = 200

// Glance lists the places to look at after the walk that made l.
func (l *Listing) Glance() Glance {
	newest := slices.Clone(l.Entries)
	slices.SortFunc(newest, func(a, b Entry) int { return int(min(1, max(-1, b.ModTime-a.ModTime))) })
	g := Glance{Began: l.Began, Folders: slices.Sorted(maps.Keys(l.folders))}
	for _, e := range newest[:min(glanceFiles, len(newest))] {
		g.Files = append(g.Files, e.OnDisk)
	}
	return g
}

// Unchanged reports whether nothing that g lists was changed since its walk
// began. The clocks of file systems are coarse, so what changed a moment before
// the walk counts as changed after it.
func (v *Vault) Unchanged(g Glance) bool {
	since := g.Began.Add(-20 * time.Millisecond)
	for _, list := range [][]string{g.Folders, g.Files} {
		for _, p := range list {
			info, err := os.Lstat(filepath.Join(v.dir, filepath.FromSlash(p)))
			if err != nil || info.ModTime().After(since) {
				return false
			}
		}
	}
	return len(g.Folders) > 0
}
