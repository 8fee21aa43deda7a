package journal

import (
	"path"

	"lore/internal/vault/disk"
)

// syncsAll reports whether one call makes durable what lies in a folder: it
// reaches the disk of the journal only.
func (t *Op) syncsAll(at *disk.Folder) bool {
	if !t.Can.SyncAll {
		return false
	}
	home, err := t.Folder(own)
	return err == nil && home.Disk() == at.Disk()
}

// syncContents makes every staged content durable by itself.
func (t *Op) syncContents() error {
	for i := range t.Plan.Steps {
		s := &t.Plan.Steps[i]
		t.Trim()
		if _, ok := t.Staged[s.N]; !ok {
			continue
		}
		if err := t.syncFile(s.Stage); err != nil {
			return err
		}
	}
	return t.syncFile(t.mark(manifestName))
}

func (t *Op) syncFile(p string) error {
	at, name, err := t.At(p)
	if err != nil {
		return err
	}
	f, err := t.Sys.Reopen(at, name)
	if err != nil {
		return err
	}
	defer f.Close()
	return t.Sys.Sync(f)
}

// syncStaged makes the names of all staged files durable, folder by folder,
// except where one call will do it.
func (t *Op) syncStaged() error {
	paths := []string{t.mark(manifestName), t.shelf().dir(), Folder}
	for i := range t.Plan.Steps {
		s := &t.Plan.Steps[i]
		if s.Stage != "" {
			paths = append(paths, s.Stage)
		}
		if s.Gone {
			paths = append(paths, s.Path)
		}
	}
	return t.syncNames(append(paths, t.Plan.Folders...))
}

// syncNames makes the folders of the paths durable that one call does not reach.
func (t *Op) syncNames(paths []string) error {
	var alone []string
	for _, p := range paths {
		t.Trim()
		at, err := t.Folder(path.Dir(p))
		if err != nil && !disk.Absent(err) {
			return err
		}
		if err == nil && !t.syncsAll(at) {
			alone = append(alone, p)
		}
	}
	return t.SyncFolders(alone...)
}

// syncSteps makes the steps durable: for one step the folder where a file
// arrived, then the one that it left, so that it is never in neither.
func (t *Op) syncSteps() error {
	paths := t.changed()
	if t.Plan.Single || !t.Can.SyncAll {
		return t.SyncFolders(paths...)
	}
	at, err := t.Folder(own)
	if err != nil {
		return err
	}
	err = t.Sys.SyncAll(at)
	if disk.IsUnsupported(err) {
		t.Can.SyncAll, err = false, nil
	}
	if err != nil {
		return err
	}
	return t.syncNames(paths)
}

// changed are the paths whose folders the steps change.
func (t *Op) changed() []string {
	var paths []string
	for i := range t.Plan.Steps {
		s := &t.Plan.Steps[i]
		paths = append(paths, s.Path)
		for dir := path.Dir(s.Path); s.Gone && dir != own; dir = path.Dir(dir) {
			paths = append(paths, dir)
		}
		if s.From != "" && s.From != s.Stage {
			paths = append(paths, s.From)
		}
		if s.Stage != "" && s.Kind == Swaps {
			paths = append(paths, s.Stage)
		}
	}
	return append(paths, t.Plan.Folders...)
}
