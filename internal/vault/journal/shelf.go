package journal

import (
	"encoding/json"
	"path"
	"slices"
	"strings"
	"time"

	"lore/internal/vault/disk"
)

// A Shelf is where the files of one operation lie. For a set it is a folder. For
// a single step it is only the beginning of their names: to make a folder costs
// as much as the rest of a save.
type Shelf struct {
	Op     string
	folder string
	single bool
}

// shelf is the operation's own in the journal.
func (t *Op) shelf() Shelf { return Shelf{t.ID, Folder, t.Plan.Single} }

// in is the same shelf in another folder.
func (s Shelf) in(folder string) Shelf { return Shelf{s.Op, folder, s.single} }

// dir is the folder of a set.
func (s Shelf) dir() string { return path.Join(s.folder, s.Op) }

// File is the path of a file on the shelf.
func (s Shelf) File(name string) string {
	if s.single {
		return s.dir() + "." + name
	}
	return s.dir() + "/" + name
}

// Shelves lists the shelves in a folder, by operation.
func (t *Op) Shelves(folder string) ([]Shelf, error) {
	names, err := t.List(folder)
	if err != nil {
		return nil, disk.Explain(own, err)
	}
	var out []Shelf
	for _, name := range names {
		op, _, single := strings.Cut(name, ".")
		s := Shelf{op, folder, single}
		if !slices.Contains(out[max(0, len(out)-1):], s) {
			out = append(out, s)
		}
	}
	return out, nil
}

// Files lists the files of a shelf, the manifest last.
func (t *Op) Files(s Shelf) ([]string, error) {
	if !s.single {
		names, err := t.List(s.dir())
		for i, name := range names {
			names[i] = spelled(name)
		}
		slices.SortFunc(names, func(a, b string) int { return rank(a) - rank(b) })
		return names, disk.Explain(own, err)
	}
	var out []string
	for _, name := range []string{"0", manifestName, stagedName} {
		there, err := t.Exists(s.File(name))
		if err != nil {
			return out, disk.Explain(own, err)
		}
		if there {
			out = append(out, name)
		}
	}
	return out, nil
}

// spelled is the name of a mark as it was given: some disks show names in a case
// of their own.
func spelled(name string) string {
	for _, mark := range []string{commitName, rollbackName, doneName} {
		if strings.EqualFold(name, mark) {
			return mark
		}
	}
	return name
}

// rank puts the manifest last, and before it the mark that says what to do.
func rank(name string) int {
	switch name {
	case manifestName, stagedName:
		return 2
	case rollbackName, commitName, doneName:
		return 1
	}
	return 0
}

// Record reads the manifest of a shelf, which has one of two names; ok is false
// when there is none that can be understood.
func (t *Op) Record(s Shelf) (m Manifest, ok bool, err error) {
	for _, name := range []string{stagedName, manifestName} {
		c, err := t.Read(s.File(name))
		if disk.Absent(err) {
			continue
		}
		if err != nil {
			return m, false, disk.Explain(own, err)
		}
		op, _, _ := strings.Cut(s.Op, "~")
		ok = json.Unmarshal(c.Data, &m) == nil && m.Version == Version && m.Op == op && m.isKnown()
		return m, ok, nil
	}
	return m, false, nil
}

// isKnown reports whether every step is one that can be made and taken back.
func (m *Manifest) isKnown() bool {
	return len(m.Steps) > 0 && !slices.ContainsFunc(m.Steps, func(s Step) bool { return s.Kind != Swaps && s.Kind != Moves })
}

// Clear removes a shelf with all that is left on it.
func (t *Op) Clear(s Shelf) error {
	names, err := t.Files(s)
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := t.Remove(s.File(name)); err != nil {
			return disk.Explain(own, err)
		}
	}
	if s.single {
		return nil
	}
	return disk.Explain(own, t.Rmdir(s.dir()))
}

// Since is when a shelf came to where it is.
func (t *Op) Since(s Shelf) (time.Time, error) {
	at := s.dir()
	if s.single {
		names, err := t.Files(s)
		if err != nil || len(names) == 0 {
			return time.Time{}, err
		}
		at = s.File(names[len(names)-1])
	}
	st, err := t.Stat(at)
	if st.Changed.After(st.ModTime) {
		return st.Changed, disk.Explain(own, err)
	}
	return st.ModTime, disk.Explain(own, err)
}

// reshelve moves what is on the operation's shelf in the journal to another
// folder, under the name that the operation has there.
func (t *Op) reshelve(to Shelf) error {
	from := t.shelf()
	if err := t.MkdirAll(to.folder, 0o700); err != nil {
		return disk.Explain(own, err)
	}
	if !from.single {
		t.Forget() // the folder is about to have another name
		err := t.MoveOver(from.dir(), to.dir())
		if disk.IsUnsupported(err) {
			err = t.reshelveFiles(from, to)
		}
		return disk.Explain(own, err)
	}
	for _, name := range []string{stagedName, manifestName} {
		err := t.MoveOver(from.File(name), to.File(stagedName))
		if err == nil || !disk.Absent(err) {
			return disk.Explain(own, err)
		}
	}
	return nil
}

// reshelveFiles is reshelve where a folder cannot be renamed: file by file, the
// manifest last. A mark says that the rest is only to follow.
func (t *Op) reshelveFiles(from, to Shelf) error {
	if err := t.MoveOver(from.File(commitName), from.File(doneName)); err != nil && !disk.Absent(err) {
		return err
	}
	if err := t.MkdirAll(to.dir(), 0o700); err != nil {
		return err
	}
	names, err := t.Files(from)
	if err != nil {
		return err
	}
	for _, name := range names {
		if rank(name) == 1 {
			continue
		}
		if err := t.MoveNew(from.File(name), to.File(name)); err != nil && !disk.Absent(err) {
			return err
		}
	}
	return t.Clear(from)
}

// taken reports whether a folder holds a shelf of that operation, of either
// kind.
func (t *Op) taken(folder, op string) (bool, error) {
	for _, s := range []Shelf{{op, folder, true}, {op, folder, false}} {
		at := s.dir()
		if s.single {
			at = s.File(stagedName)
		}
		if there, err := t.Exists(at); err != nil || there {
			return there, disk.Explain(own, err)
		}
	}
	return false, nil
}
