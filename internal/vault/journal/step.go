package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"

	"lore/internal/fault"
	"lore/internal/vault"
	"lore/internal/vault/disk"
)

// A Kind is how a step changes the vault.
type Kind string

// The kinds. All edits are made of these two: no file is ever written in place.
const (
	Swaps Kind = "swap" // the staged file and the note change places
	Moves Kind = "move" // a file takes a name that is free
)

// A step is one change of the vault that can be taken back. Every fact that a
// recovery needs is in it; paths are as the disk spells them.
type Step struct {
	N     int         `json:"n"`
	Kind  Kind        `json:"kind"`
	Key   string      `json:"key"`             // of whom it is told
	Path  string      `json:"path"`            // what changes; for a move, where the file arrives
	From  string      `json:"from,omitempty"`  // a move: what the file leaves
	Via   string      `json:"via,omitempty"`   // a move that changes only the case of a name
	Inode uint64      `json:"inode,omitempty"` // a move: of the file
	Stage string      `json:"stage,omitempty"` // where the new content waits; after a swap, what was displaced
	Pre   *vault.Hash `json:"preHash,omitempty"`
	Post  *vault.Hash `json:"postHash,omitempty"`
	Gone  bool        `json:"gone,omitempty"` // a move into the trash
	Dir   bool        `json:"dir,omitempty"`  // a move of a folder with all that is in it
}

// creates reports a move of staged content to its place.
func (s *Step) creates() bool { return s.Kind == Moves && s.Stage != "" }

// forward makes the change, or leaves everything as it was. A [Stale] says that
// the file was not what it had to be.
func (t *Op) forward(s *Step) error {
	var err error
	switch s.Kind {
	case Swaps:
		err = t.swap(s)
	case Moves:
		err = t.move(s)
	}
	var stale *Stale
	if errors.As(err, &stale) {
		return err
	}
	return disk.Explain(s.Key, err)
}

// revert takes the change back if it was made. What a person wrote meanwhile
// stays where it is and is reported.
func (t *Op) revert(s *Step) (*Conflict, error) {
	var c *Conflict
	var err error
	switch s.Kind {
	case Swaps:
		err = t.swapBack(s)
	case Moves:
		c, err = t.moveBack(s)
	}
	return c, disk.Explain(s.Key, err)
}

// done reports whether the change was made.
func (t *Op) done(s *Step) (bool, error) {
	switch s.Kind {
	case Swaps:
		if err := t.repairExchange(s); err != nil {
			return false, err
		}
		h, there, err := t.Hash(t.slot(s))
		return there && h != *s.Post, err
	}
	return t.moved(s)
}

// slot is where the staged or displaced file of a step lies: it may have been
// brought home already.
func (t *Op) slot(s *Step) string {
	home := t.Home(s)
	if s.Stage == home {
		return home
	}
	if there, err := t.Exists(home); err == nil && there {
		return home
	}
	return s.Stage
}

// Home is where a step's file is kept: in the journal, which becomes the record
// of a set, and for a single step in the record itself.
func (t *Op) Home(s *Step) string {
	shelf := t.shelf()
	if t.Plan.Single {
		shelf = shelf.in(DisplacedFolder)
	}
	return shelf.File(strconv.Itoa(s.N))
}

// swap lets the staged file and the note change places and looks only then at
// what the note was: nothing can come in between unseen.
func (t *Op) swap(s *Step) error {
	if err := t.exchange(s); disk.Absent(err) {
		return &Stale{Path: s.Key, Want: *s.Pre, Gone: true}
	} else if err != nil {
		return err
	}
	c, err := t.Read(s.Stage)
	if err != nil {
		return err
	}
	have := vault.Sum(c.Data)
	if have == *s.Pre {
		return nil
	}
	if err := t.recoverSwap(s, *s.Post); err != nil {
		return err
	}
	stale := &Stale{Path: s.Key, Want: *s.Pre, Have: have}
	if c.Links <= 1 { // what a hard link shows may belong to another folder
		stale.Content = string(c.Data)
	}
	return stale
}

// manySwaps ends the duel with a program that saves without pause.
const manySwaps = 64

// recoverSwap puts the slot's file back into its place, where a file with the
// hash inPlace is believed to be. When it was another one, that one is newer,
// and is put back in turn: in the end the latest is in place.
func (t *Op) recoverSwap(s *Step, inPlace vault.Hash) error {
	for range manySwaps {
		in, there, err := t.Hash(s.Stage)
		if err != nil || !there {
			return err
		}
		if err := t.exchange(s); err != nil {
			return err
		}
		out, _, err := t.Hash(s.Stage)
		if err != nil || out == inPlace {
			return err
		}
		inPlace = in
	}
	return nil
}

// swapBack takes a swap back. A later text of a person stays in place, and what
// was displaced stays in the slot.
func (t *Op) swapBack(s *Step) error {
	if err := t.repairExchange(s); err != nil {
		return err
	}
	slot, there, err := t.Hash(s.Stage)
	if err != nil || !there || slot == *s.Post {
		return err
	}
	now, there, err := t.Hash(s.Path)
	if errors.Is(err, disk.ErrNotRegular) {
		return nil // a person put something else in its place
	}
	if err != nil || !there || now == slot || now != *s.Post && now != *s.Pre {
		return err
	}
	return t.recoverSwap(s, now)
}

// exchange is the system's, or its stand-in where the file system has none: the
// note gets a second name, or a copy, in the journal before it is written over.
func (t *Op) exchange(s *Step) error {
	a, x, err := t.At(s.Stage)
	if err != nil {
		return err
	}
	b, y, err := t.At(s.Path)
	if err != nil {
		return err
	}
	if t.Can.Exchange {
		if err := t.Sys.Exchange(a, x, b, y); !disk.IsUnsupported(err) {
			return err
		}
	}
	old := s.Stage + oldSuffix
	if err := t.keepOld(s.Path, old); err != nil {
		return err
	}
	if err := t.Sys.MoveOver(a, x, b, y); err != nil {
		return errors.Join(err, t.Remove(old))
	}
	return t.MoveOver(old, s.Stage)
}

// oldSuffix marks the second name of a note that is about to be written over.
const oldSuffix = ".old.tmp"

// manyCopies ends the wait for a note that is written without pause.
const manyCopies = 64

// keepOld gives a file a second name, or copies it. A copy is compared with the
// note once more: it takes the longest.
func (t *Op) keepOld(p, old string) error {
	a, x, err := t.At(p)
	if err != nil {
		return err
	}
	b, y, err := t.At(old)
	if err != nil {
		return err
	}
	if t.Can.HardLink {
		if err := t.Sys.Link(a, x, b, y); !disk.IsUnsupported(err) {
			return err
		}
	}
	for range manyCopies {
		if err := t.Copy(p, old); err != nil {
			return err
		}
		kept, _, err := t.Hash(old)
		if err != nil {
			return errors.Join(err, t.Remove(old))
		}
		now, there, err := t.Hash(p)
		if err == nil && there && now == kept {
			return nil
		}
		if rerr := t.Remove(old); err != nil || rerr != nil {
			return errors.Join(err, rerr)
		}
		if !there {
			return fs.ErrNotExist
		}
	}
	return fault.Fix(fault.Busy, "try again when it is saved", "%q keeps changing", p)
}

// repairExchange ends a stand-in exchange that broke off.
func (t *Op) repairExchange(s *Step) error {
	old := s.Stage + oldSuffix
	if there, err := t.Exists(old); err != nil || !there {
		return err
	}
	if there, err := t.Exists(s.Stage); err != nil {
		return err
	} else if there {
		return t.Remove(old) // a second name of what is still in its place
	}
	return t.MoveOver(old, s.Stage)
}

// Free finds a name for a copy of key among the recovered.
func (t *Op) Free(key string) (string, error) {
	if err := t.MkdirAll(RecoveredFolder, 0o700); err != nil {
		return "", err
	}
	stamp := t.Now().UTC().Format("20060102-150405")
	for i := range 1000 {
		to := path.Join(RecoveredFolder, fmt.Sprintf("%s-%d-%s", stamp, i, Short(path.Base(key))))
		if there, err := t.Exists(to); err != nil || !there {
			return to, err
		}
	}
	return "", fault.New(fault.Internal, "no unused name was found for a copy of %q", key)
}

// Short cuts a name so that something can be put before it.
func Short(name string) string {
	const most = 180
	if len(name) <= most {
		return name
	}
	return strings.ToValidUTF8(name[len(name)-most:], "")
}
