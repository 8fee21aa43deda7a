package writer

import (
	"errors"
	"io/fs"
	"path"
	"strings"

	"lore/internal/change"
	"lore/internal/fault"
	"lore/internal/vault"
	"lore/internal/vault/disk"
	"lore/internal/vault/journal"
)

// number is the inode of a file, where the disk keeps it.
func (p *planner) number(st disk.Stat) uint64 {
	if !p.Can.Inodes {
		return 0
	}
	return st.Inode
}

// spelling is a path as the disk spells it: where case is ignored, a file is
// found under other spellings too.
func (p *planner) spelling(onDisk string) (string, error) {
	if !p.Can.IgnoreCase {
		return onDisk, nil
	}
	at := "."
	for part := range strings.SplitSeq(onDisk, "/") {
		names, err := p.list(at)
		if err != nil {
			return "", err
		}
		if other, ok := names[vault.Fold(vault.Key(part))]; ok {
			part = other
		}
		at = path.Join(at, part)
	}
	return at, nil
}

// detour is a third name for a move that changes only the case of a name, where
// the system ignores case: the new name seems to be taken, by the file itself.
// It is told by the names in the folder: such disks often have no lasting numbers
// for files.
func (p *planner) detour(from, to string) (string, error) {
	_, err := p.Stat(p.onDisk(to))
	if disk.Absent(err) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	exact, err := p.Spelled(p.onDisk(to))
	if err != nil || exact || !sameLetters(from, to) {
		return "", errors.Join(err, fs.ErrExist)
	}
	if p.Can.LoseCase {
		return "", fault.New(fault.Invalid, "%q: this vault's disk does not preserve the case of names", to)
	}
	return path.Join(path.Dir(from), vault.Temp(p.w.random())), nil
}

// sameLetters reports two names in one folder that differ only in case.
func sameLetters(a, b string) bool {
	return path.Dir(a) == path.Dir(b) && vault.Fold(vault.Key(path.Base(a))) == vault.Fold(vault.Key(path.Base(b)))
}

// A recasing is a folder that gets a name in another case. It is renamed itself,
// since two such folders cannot be beside each other on every disk.
type recasing struct{ from, to string }

// after is where a path of now lies when the folders have their new names.
func (p *planner) after(onDisk string) string {
	for _, r := range p.recased {
		if rest, ok := strings.CutPrefix(onDisk, r.from+"/"); ok {
			onDisk = r.to + "/" + rest
		}
	}
	return onDisk
}

// onDisk is where something lies now that will have the path.
func (p *planner) onDisk(later string) string {
	for i := len(p.recased) - 1; i >= 0; i-- {
		r := p.recased[i]
		if later == r.to || strings.HasPrefix(later, r.to+"/") {
			later = r.from + later[len(r.to):]
		}
	}
	return later
}

func (p *planner) isRecased(dir string) bool {
	for _, r := range p.recased {
		if r.to == dir {
			return true
		}
	}
	return false
}

// recase plans the folders of which a set only changes the case: all their files
// move to the same folder in another spelling.
func (p *planner) recase(set change.Set) error {
	for _, e := range set {
		if e.Kind() != change.Moves {
			continue
		}
		for {
			more, err := p.recaseOne(set, e)
			if err != nil {
				return err
			}
			if !more {
				break
			}
		}
	}
	return nil
}

// recaseOne plans the outermost folder that differs between the two names of a
// move, when it differs only in case.
func (p *planner) recaseOne(set change.Set, e change.Edit) (bool, error) {
	from, to, ok := firstDifference(p.after(vault.Key(e.From)), vault.Key(e.Path))
	if !ok || p.isRecased(to) {
		return false, nil
	}
	names, err := p.List(p.onDisk(path.Dir(from)))
	if err != nil {
		return false, disk.Explain(e.Path, err)
	}
	old, beside := "", false
	for _, n := range names {
		switch vault.Key(n) {
		case path.Base(to):
			beside = true
		case path.Base(from):
			old = n
		}
	}
	if old == "" || beside {
		return false, nil // there are two folders, or none: an ordinary move
	}
	from = path.Join(path.Dir(from), old)
	all, err := p.wholeFolder(set, p.onDisk(from), from, to)
	if err != nil || !all {
		return false, err
	}
	s := journal.Step{Kind: journal.Moves, Dir: true, Key: to, From: from, Path: to}
	if s.Via, err = p.detour(from, to); err != nil {
		return false, disk.Explain(to, err)
	}
	p.recased = append(p.recased, recasing{from, to})
	return true, p.add(s, nil)
}

// firstDifference finds the outermost folders that differ in two paths. ok is
// false unless they differ only in case.
func firstDifference(a, b string) (from, to string, ok bool) {
	x, y := strings.Split(a, "/"), strings.Split(b, "/")
	for i := range min(len(x), len(y)) - 1 {
		if x[i] != y[i] {
			return path.Join(x[:i+1]...), path.Join(y[:i+1]...), vault.Fold(x[i]) == vault.Fold(y[i])
		}
	}
	return "", "", false
}

// wholeFolder reports whether a set moves every visible file of a folder into the
// folder's new spelling. Hidden files go along.
func (p *planner) wholeFolder(set change.Set, now, from, to string) (bool, error) {
	moves := map[string]string{}
	for _, e := range set {
		if e.Kind() == change.Moves {
			moves[p.after(vault.Key(e.From))] = vault.Key(e.Path)
		}
	}
	all := true
	err := fs.WalkDir(p.Root.FS(), now, func(at string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case at != now && strings.HasPrefix(d.Name(), ".") && d.IsDir():
			return fs.SkipDir
		case d.IsDir() || strings.HasPrefix(d.Name(), "."):
			return nil
		}
		goes := moves[vault.Key(from+strings.TrimPrefix(at, now))]
		if !strings.HasPrefix(goes, to+"/") {
			all = false
			return fs.SkipAll
		}
		return nil
	})
	return all, disk.Explain(from, err)
}
