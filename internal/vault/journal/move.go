package journal

import (
	"errors"
	"io/fs"
	"path"
	"slices"

	"lore/internal/fault"
	"lore/internal/vault"
	"lore/internal/vault/disk"
)

// moved tells where the file of a move is. It is told by its inode, where the
// system has one: a person may have made another file of either name.
func (t *Op) moved(s *Step) (bool, error) {
	to, err := t.Stat(s.Path)
	there := err == nil
	if err != nil && !disk.Absent(err) {
		return false, err
	}
	from, err := t.Stat(s.From)
	left := disk.Absent(err)
	if err != nil && !left {
		return false, err
	}
	switch {
	case !there:
		return false, nil
	case s.Via != "":
		return t.movedVia(s, to)
	case left:
		return true, nil
	case t.broke && !s.Dir && from.Mode.IsRegular() && from.Size == 0 && to.Size > 0 && (s.Inode == 0 || s.Inode == to.Inode):
		// The way back broke off when it had only taken the name.
		return true, t.DropReserved(s.Path, s.From)
	}
	return s.Inode != 0 && to.Inode == s.Inode && from.Inode != s.Inode, nil
}

// movedVia is moved for a detour, whose two ends are one name to the system. While
// the third name has the file, the second can only have been taken for it; the
// other way round when the way back broke off.
func (t *Op) movedVia(s *Step, to disk.Stat) (bool, error) {
	spelled, err := t.Spelled(s.Path)
	if err != nil || !spelled {
		return false, err
	}
	via, err := t.Stat(s.Via)
	switch {
	case disk.Absent(err):
		return true, nil
	case err != nil || s.Dir || via.Size > 0 || to.Size == 0:
		return false, err
	}
	return true, t.DropReserved(s.Path, s.Via)
}

// move gives the file its new name. What it holds is checked afterwards.
func (t *Op) move(s *Step) error {
	done, err := t.moved(s)
	if err != nil {
		return err
	}
	if !done {
		if err := t.moveVia(s, s.From, s.Path); err != nil {
			return arrival(s, err)
		}
	}
	if s.Pre == nil {
		return nil
	}
	c, err := t.Read(s.Path)
	if err != nil {
		return err
	}
	have := vault.Sum(c.Data)
	if have == *s.Pre {
		return nil
	}
	if err := t.moveVia(s, s.Path, s.From); err != nil {
		return err
	}
	return &Stale{Path: s.Key, Want: *s.Pre, Have: have, Content: string(c.Data)}
}

// arrival names the file that is in the way of a move.
func arrival(s *Step, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return &Stale{Path: s.Key, Gone: true}
	}
	if errors.Is(err, fs.ErrExist) && s.Gone {
		return fault.New(fault.Conflict, "%q is already in this operation's trash", s.Key)
	}
	return err
}

// moveVia moves the file or folder of a step; over a third name when only the
// case changes and the system ignores it.
func (t *Op) moveVia(s *Step, from, to string) error {
	if s.Via == "" {
		return t.moveFree(s, from, to)
	}
	there, err := t.Exists(s.Via)
	if err != nil {
		return err
	}
	if !there {
		if err := t.moveFree(s, from, s.Via); err != nil {
			return err
		}
	}
	return t.endDetour(s, to)
}

// endDetour moves the file or folder of a step from its third name to a name in
// its folder. The system may still believe that the name is taken, by the file
// that had it a moment ago in another case; the folder itself tells.
func (t *Op) endDetour(s *Step, to string) error {
	err := t.moveFree(s, s.Via, to)
	if !errors.Is(err, fs.ErrExist) {
		return err
	}
	names, lerr := t.List(path.Dir(to))
	fold := vault.Fold(vault.Key(path.Base(to)))
	if lerr != nil || slices.ContainsFunc(names, func(n string) bool { return vault.Fold(vault.Key(n)) == fold }) {
		return errors.Join(err, lerr)
	}
	err = t.MoveOver(s.Via, to)
	if s.Dir {
		t.Forget()
	}
	return err
}

// moveFree moves the file or folder of a step to a name that must be free.
func (t *Op) moveFree(s *Step, from, to string) error {
	if s.Dir {
		return t.MoveFolder(from, to)
	}
	return t.MoveNew(from, to)
}

// moveBack takes a move back. A file that a person changed since it was made
// stays, and so does one whose old name is taken.
func (t *Op) moveBack(s *Step) (*Conflict, error) {
	if s.Via != "" {
		if there, err := t.Exists(s.Via); err != nil || there {
			return nil, t.leaveDetour(s, err)
		}
	}
	done, err := t.moved(s)
	if err != nil {
		return nil, err
	}
	if !done {
		return nil, t.dropTwin(s)
	}
	if s.Dir {
		return nil, t.moveVia(s, s.Path, s.From)
	}
	if s.creates() {
		h, there, err := t.Hash(s.Path)
		if errors.Is(err, disk.ErrNotRegular) || err == nil && there && h != *s.Post {
			return &Conflict{Path: s.Key, Copy: s.Path, Reason: editedAtOnce}, nil
		}
		if err != nil {
			return nil, err
		}
	}
	err = t.moveVia(s, s.Path, s.From)
	switch {
	case errors.Is(err, fs.ErrExist):
		return &Conflict{Path: s.Key, Copy: s.Path, Reason: "another file took its old name in the meantime"}, nil
	case err != nil || !s.creates():
		return nil, err
	}
	h, there, err := t.Hash(s.From)
	if err != nil || !there || h == *s.Post {
		return nil, err
	}
	err = t.MoveNew(s.From, s.Path)
	if errors.Is(err, fs.ErrExist) {
		return nil, nil // it stays in the slot, and is kept from there
	}
	return &Conflict{Path: s.Key, Copy: s.Path, Reason: editedAtOnce}, err
}

const editedAtOnce = "it was edited right after it was created, so it was kept"

// leaveDetour brings a file back from its third name.
func (t *Op) leaveDetour(s *Step, err error) error {
	if err != nil {
		return err
	}
	if !s.Dir {
		// The third name, or that which comes after it, may only have been taken.
		if err := t.DropReserved(s.From, s.Via); err != nil {
			return err
		}
		if there, err := t.Exists(s.Via); err != nil || !there {
			return err
		}
		if err := errors.Join(t.DropReserved(s.Via, s.Path), t.DropReserved(s.Via, s.From)); err != nil {
			return err
		}
	}
	return t.endDetour(s, s.From)
}

// dropTwin removes what a move that broke off left at the new name: an empty file
// or a second name of the file, where the system cannot move in one step.
func (t *Op) dropTwin(s *Step) error {
	if s.Via != "" || s.Dir {
		return nil
	}
	return t.DropReserved(s.From, s.Path)
}
