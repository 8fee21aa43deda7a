package disk

import (
	"errors"
	"io/fs"
	"slices"

	"lore/internal/vault"
)

// MoveNew moves a file to a name that must be free, in the best way that the
// file system has. What the file system was found to do is tried first and not
// relied on: a folder of the vault may lie on another disk, or the vault was
// moved since.
func (t *Tree) MoveNew(from, to string) error {
	a, x, err := t.At(from)
	if err != nil {
		return err
	}
	b, y, err := t.At(to)
	if err != nil {
		return err
	}
	if t.Can.NoReplace {
		if err := t.Sys.MoveNew(a, x, b, y); !IsUnsupported(err) {
			return err
		}
	}
	if t.Can.HardLink {
		if err := t.moveByLink(a, x, b, y); !IsUnsupported(err) {
			return err
		}
	}
	return t.moveReserved(a, x, b, y)
}

// moveByLink gives the file its second name first: that fails when the name is
// taken. A second call after a crash in between finds both names.
func (t *Tree) moveByLink(a *Folder, x string, b *Folder, y string) error {
	err := t.Sys.Link(a, x, b, y)
	if errors.Is(err, fs.ErrExist) {
		from, ferr := t.Sys.Stat(a, x)
		to, terr := t.Sys.Stat(b, y)
		// Where case is ignored, two spellings can be one name of one file.
		two := a.path != b.path || vault.Fold(x) != vault.Fold(y)
		if ferr == nil && terr == nil && two && sameFile(from, to) {
			err = nil
		}
	}
	if err != nil {
		return err
	}
	err = t.Sys.Remove(a, x)
	if Absent(err) { // a network share can answer a repeated request so
		return nil
	}
	return err
}

// sameFile reports two names of one file. A file system in user space can go on
// showing one link for a while under the older name.
func sameFile(a, b Stat) bool {
	return a.Inode != 0 && a.Inode == b.Inode && a.Dev == b.Dev && max(a.Links, b.Links) > 1
}

// moveReserved takes the name by an empty file before it moves the file over
// it: to make a file that must not exist is what every disk can do. An empty file
// is all that a crash in between leaves; [Tree.DropReserved] removes it.
func (t *Tree) moveReserved(a *Folder, x string, b *Folder, y string) error {
	if _, err := t.Sys.Stat(a, x); err != nil {
		return err
	}
	f, err := t.Sys.Create(b, y, 0o600)
	if err != nil {
		return err
	}
	err = f.Close()
	if err == nil {
		err = t.Sys.MoveOver(a, x, b, y)
	}
	if err == nil {
		return nil
	}
	if to, serr := t.Sys.Stat(b, y); serr != nil || to.Size != 0 {
		return errors.Join(err, serr)
	}
	return errors.Join(err, t.Sys.Remove(b, y))
}

// DropReserved removes what a move from one path to the other left at the second
// when it broke off: an empty file, or a second name of the first.
func (t *Tree) DropReserved(from, to string) error {
	a, x, err := t.At(from)
	if err == nil {
		b, y, aerr := t.At(to)
		if err = aerr; err == nil {
			err = t.dropReserved(a, x, b, y)
		}
	}
	if Absent(err) {
		return nil
	}
	return err
}

func (t *Tree) dropReserved(a *Folder, x string, b *Folder, y string) error {
	from, err := t.Sys.Stat(a, x)
	if err != nil {
		return err
	}
	to, err := t.Sys.Stat(b, y)
	if err != nil {
		return err
	}
	if a.path == b.path && vault.Fold(x) == vault.Fold(y) {
		// Where case is ignored, the second name can be the file itself.
		names, err := t.Sys.Names(a)
		if err != nil || !slices.Contains(names, x) || !slices.Contains(names, y) {
			return err
		}
	}
	if to.Mode.IsRegular() && to.Size == 0 || sameFile(from, to) {
		return t.Sys.Remove(b, y)
	}
	return nil
}

// MoveFolder gives a folder a name that must be free.
func (t *Tree) MoveFolder(from, to string) error {
	t.Forget() // paths of open folders are others afterwards, and some systems move no open one
	defer t.Forget()
	a, x, err := t.At(from)
	if err != nil {
		return err
	}
	b, y, err := t.At(to)
	if err != nil {
		return err
	}
	if t.Can.NoReplace {
		if err := t.Sys.MoveNew(a, x, b, y); !IsUnsupported(err) {
			return err
		}
	}
	if _, err := t.Sys.Stat(b, y); err == nil {
		return fs.ErrExist
	} else if !Absent(err) {
		return err
	}
	return t.Sys.MoveOver(a, x, b, y)
}

// Transfer moves a file to a name that must be free, by a copy where the name
// lies on another disk.
func (t *Tree) Transfer(from, to string) error {
	err := t.MoveNew(from, to)
	if !IsOtherDisk(err) {
		return err
	}
	if err := t.Copy(from, to); err != nil {
		return err
	}
	return t.Remove(from)
}

// Copy makes a durable copy of a file, with its mode and attributes.
func (t *Tree) Copy(from, to string) error {
	c, err := t.Read(from)
	if err != nil {
		return err
	}
	at, name, err := t.At(to)
	if err != nil {
		return err
	}
	f, err := t.Sys.Create(at, name, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := t.Sys.Write(f, c.Data); err != nil {
		return errors.Join(err, t.Remove(to))
	}
	if _, err := t.Sys.Dress(f, c); err != nil {
		return errors.Join(err, t.Remove(to))
	}
	if err := t.Sys.Sync(f); err != nil {
		return errors.Join(err, t.Remove(to))
	}
	return t.Sys.SyncFolder(at)
}
