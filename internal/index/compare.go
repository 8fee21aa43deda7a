package index

import (
	"lore/internal/vault"
	"lore/internal/vault/filetime"
)

// A job is one file to look into.
type job struct {
	entry vault.Entry
	old   File
	had   bool
	own   bool // Lore wrote it, so that an empty note is no accident
}

// work is what a comparison leaves to do.
type work struct {
	read  []job
	drop  []string
	first bool            // the index was empty
	files int             // in the vault, when all were compared
	known map[string]bool // of those to read, the paths that the index has
}

// compare walks two sorted lists side by side.
func compare(known []File, list *vault.Listing) work {
	w := work{first: len(known) == 0}
	i, seen := 0, 0
	for _, e := range list.Entries {
		for i < len(known) && known[i].Path < e.Path {
			i++
		}
		if i < len(known) && known[i].Path == e.Path {
			if !same(known[i], e) {
				w.read = append(w.read, job{entry: e, old: known[i], had: true})
			}
			i++
			seen++
			continue
		}
		w.read = append(w.read, job{entry: e})
	}
	if seen == len(known) {
		return w // nothing is gone
	}
	all := make([]string, len(known))
	for i, f := range known {
		all[i] = f.Path
	}
	w.drop = list.Gone(all)
	return w
}

// same reports whether a file is as it was when it was indexed.
func same(f File, e vault.Entry) bool {
	return f.Size == e.Size && f.ModTime == e.ModTime && f.ChangeTime == e.ChangeTime && f.Inode == e.Inode && trusted(f, e.Kind)
}

// trusted reports whether a file that shows the same times has the same content.
// One that was read too soon after its last change is looked into again, and so
// is one that could not be read: it has no hash, and being given leave to read
// it need not change its times.
func trusted(f File, k vault.Kind) bool {
	return !isRead(k) || f.Hash != Hash{} && filetime.AreReliable(f.ModTime, f.ChangeTime, f.Seen)
}

// isRead reports whether the index holds the content of such files.
func isRead(k vault.Kind) bool { return k == vault.Note || k == vault.Canvas }
