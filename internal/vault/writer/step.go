package writer

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"

	"lore/internal/fault"
	"lore/internal/vault"
)

// A stepKind is how a step changes the vault.
type stepKind string

// The kinds. All edits are made of these three.
const (
	swaps  stepKind = "swap"  // the staged file and the note change places
	moves  stepKind = "move"  // a file takes a name that is free
	writes stepKind = "write" // the note is written in place: it has several names
)

// A step is one change of the vault that can be taken back. Every fact that a
// recovery needs is in it; paths are as the disk spells them.
type step struct {
	N     int         `json:"n"`
	Kind  stepKind    `json:"kind"`
	Key   string      `json:"key"`             // of whom it is told
	Path  string      `json:"path"`            // what changes; for a move, where the file arrives
	From  string      `json:"from,omitempty"`  // a move: what the file leaves
	Via   string      `json:"via,omitempty"`   // a move that changes only the case of a name
	Inode uint64      `json:"inode,omitempty"` // a move: of the file
	Stage string      `json:"stage,omitempty"` // where the new content waits; after a swap, what was displaced
	Pre   *vault.Hash `json:"preHash,omitempty"`
	Post  *vault.Hash `json:"postHash,omitempty"`
	Gone  bool        `json:"gone,omitempty"` // a move into the trash
}

// creates reports a move of staged content to its place.
func (s *step) creates() bool { return s.Kind == moves && s.Stage != "" }

// forward makes the change, or leaves everything as it was. A [Stale] says that
// the file was not what it had to be.
func (t *task) forward(s *step) error {
	var err error
	switch s.Kind {
	case swaps:
		err = t.swap(s)
	case moves:
		err = t.move(s)
	case writes:
		err = t.rewrite(s)
	}
	var stale *Stale
	if errors.As(err, &stale) {
		return err
	}
	return explain(s.Key, err)
}

// revert takes the change back if it was made. What a person wrote meanwhile
// stays where it is and is reported.
func (t *task) revert(s *step) (*Conflict, error) {
	var c *Conflict
	var err error
	switch s.Kind {
	case swaps:
		err = t.swapBack(s)
	case moves:
		c, err = t.moveBack(s)
	case writes:
		c, err = t.rewriteBack(s)
	}
	return c, explain(s.Key, err)
}

// done reports whether the change was made.
func (t *task) done(s *step) (bool, error) {
	switch s.Kind {
	case swaps:
		if err := t.repairExchange(s); err != nil {
			return false, err
		}
		h, there, err := t.hash(t.slot(s))
		return there && h != *s.Post, err
	case writes:
		h, there, err := t.hash(s.Path)
		return there && h == *s.Post, err
	}
	return t.moved(s)
}

// slot is where the staged or displaced file of a step lies: it may have been
// brought home already.
func (t *task) slot(s *step) string {
	home := t.home(s)
	if s.Stage == home {
		return home
	}
	if there, err := t.exists(home); err == nil && there {
		return home
	}
	return s.Stage
}

// home is the place of a step's file in the journal.
func (t *task) home(s *step) string {
	return path.Join(journalDir, t.op, strconv.Itoa(s.N))
}

// swap lets the staged file and the note change places and looks only then at
// what the note was: nothing can come in between unseen.
func (t *task) swap(s *step) error {
	if err := t.exchange(s); absent(err) {
		return &Stale{Path: s.Key, Want: *s.Pre, Gone: true}
	} else if err != nil {
		return err
	}
	c, err := t.read(s.Stage)
	if err != nil {
		return err
	}
	have := vault.Sum(c.data)
	if have == *s.Pre {
		return nil
	}
	if err := t.settleSwap(s, *s.Post); err != nil {
		return err
	}
	return &Stale{Path: s.Key, Want: *s.Pre, Have: have, Content: string(c.data)}
}

// manySwaps ends the duel with a program that saves without pause.
const manySwaps = 64

// settleSwap puts the slot's file back into its place, where a file with the
// hash inPlace is believed to be. When it was another one, that one is newer,
// and is put back in turn: in the end the latest is in place.
func (t *task) settleSwap(s *step, inPlace vault.Hash) error {
	for range manySwaps {
		in, there, err := t.hash(s.Stage)
		if err != nil || !there {
			return err
		}
		if err := t.exchange(s); err != nil {
			return err
		}
		out, _, err := t.hash(s.Stage)
		if err != nil || out == inPlace {
			return err
		}
		inPlace = in
	}
	return nil
}

// swapBack takes a swap back. A later text of a person stays in place, and what
// was displaced stays in the slot.
func (t *task) swapBack(s *step) error {
	if err := t.repairExchange(s); err != nil {
		return err
	}
	slot, there, err := t.hash(s.Stage)
	if err != nil || !there || slot == *s.Post {
		return err
	}
	now, there, err := t.hash(s.Path)
	if err != nil || !there || now == slot || now != *s.Post && now != *s.Pre {
		return err
	}
	return t.settleSwap(s, now)
}

// exchange is the system's, or its stand-in where the file system has none: the
// note gets a second name, or a copy, in the journal before it is written over.
func (t *task) exchange(s *step) error {
	a, x, err := t.at(s.Stage)
	if err != nil {
		return err
	}
	b, y, err := t.at(s.Path)
	if err != nil {
		return err
	}
	if t.w.can.Exchange {
		return t.sys.exchange(a, x, b, y)
	}
	old := s.Stage + oldSuffix
	if err := t.keepOld(s.Path, old); err != nil {
		return err
	}
	if err := t.sys.moveOver(a, x, b, y); err != nil {
		return errors.Join(err, t.remove(old))
	}
	return t.moveOver(old, s.Stage)
}

// oldSuffix marks the second name of a note that is about to be written over.
const oldSuffix = ".old.tmp"

// keepOld gives a file a second name, or copies it.
func (t *task) keepOld(p, old string) error {
	a, x, err := t.at(p)
	if err != nil {
		return err
	}
	b, y, err := t.at(old)
	if err != nil {
		return err
	}
	if t.w.can.HardLink {
		return t.sys.link(a, x, b, y)
	}
	c, err := t.sys.read(a, x)
	if err != nil {
		return err
	}
	return t.put(old, c.data, true)
}

// repairExchange ends a stand-in exchange that broke off.
func (t *task) repairExchange(s *step) error {
	old := s.Stage + oldSuffix
	if t.w.can.Exchange {
		return nil
	}
	if there, err := t.exists(old); err != nil || !there {
		return err
	}
	if there, err := t.exists(s.Stage); err != nil {
		return err
	} else if there {
		return t.remove(old) // a second name of what is still in its place
	}
	return t.moveOver(old, s.Stage)
}

// moved tells where the file of a move is. It is told by its inode, where the
// system has one: a person may have made another file of either name.
func (t *task) moved(s *step) (bool, error) {
	to, err := t.stat(s.Path)
	there := err == nil
	if err != nil && !absent(err) {
		return false, err
	}
	from, err := t.stat(s.From)
	left := absent(err)
	if err != nil && !left {
		return false, err
	}
	switch {
	case !there:
		return false, nil
	case s.Via != "":
		return t.spelled(s.Path)
	case left:
		return true, nil
	}
	return s.Inode != 0 && to.inode == s.Inode && from.inode != s.Inode, nil
}

// spelled reports whether a name stands in its folder exactly so.
func (t *task) spelled(p string) (bool, error) {
	f, name, err := t.at(p)
	if err != nil {
		return false, err
	}
	names, err := t.sys.names(f)
	for _, n := range names {
		if n == name {
			return true, nil
		}
	}
	return false, err
}

// move gives the file its new name. What it holds is checked afterwards.
func (t *task) move(s *step) error {
	done, err := t.moved(s)
	if err != nil {
		return err
	}
	if !done {
		if err := t.moveVia(s.From, s.Via, s.Path); err != nil {
			return arrival(s, err)
		}
	}
	if s.Pre == nil {
		return nil
	}
	c, err := t.read(s.Path)
	if err != nil {
		return err
	}
	have := vault.Sum(c.data)
	if have == *s.Pre {
		return nil
	}
	if err := t.moveVia(s.Path, s.Via, s.From); err != nil {
		return err
	}
	return &Stale{Path: s.Key, Want: *s.Pre, Have: have, Content: string(c.data)}
}

// arrival names the file that is in the way of a move.
func arrival(s *step, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return &Stale{Path: s.Key, Gone: true}
	}
	if errors.Is(err, fs.ErrExist) && s.Gone {
		return fault.New(fault.Internal, "%q is in the trash of this operation already", s.Key)
	}
	return err
}

// moveVia moves a file; over a third name when only the case changes and the
// system ignores it.
func (t *task) moveVia(from, via, to string) error {
	if via == "" {
		return t.moveNew(from, to)
	}
	there, err := t.exists(via)
	if err != nil {
		return err
	}
	if !there {
		if err := t.moveNew(from, via); err != nil {
			return err
		}
	}
	return t.moveNew(via, to)
}

// moveBack takes a move back. A file that a person changed since it was made
// stays, and so does one whose old name is taken.
func (t *task) moveBack(s *step) (*Conflict, error) {
	if s.Via != "" {
		if there, err := t.exists(s.Via); err != nil || there {
			return nil, errors.Join(err, t.moveNew(s.Via, s.From))
		}
	}
	done, err := t.moved(s)
	if err != nil {
		return nil, err
	}
	if !done {
		return nil, t.dropTwin(s)
	}
	if s.creates() {
		if h, there, err := t.hash(s.Path); err != nil || there && h != *s.Post {
			return &Conflict{Path: s.Key, Copy: s.Path, Reason: editedAtOnce}, err
		}
	}
	err = t.moveVia(s.Path, s.Via, s.From)
	switch {
	case errors.Is(err, fs.ErrExist):
		return &Conflict{Path: s.Key, Copy: s.Path, Reason: "its old name was taken meanwhile"}, nil
	case err != nil || !s.creates():
		return nil, err
	}
	h, there, err := t.hash(s.From)
	if err != nil || !there || h == *s.Post {
		return nil, err
	}
	err = t.moveNew(s.From, s.Path)
	if errors.Is(err, fs.ErrExist) {
		return nil, nil // it stays in the slot, and is kept from there
	}
	return &Conflict{Path: s.Key, Copy: s.Path, Reason: editedAtOnce}, err
}

const editedAtOnce = "it was edited as soon as it was made, and stays"

// dropTwin removes the second name that a file has when a move by links broke
// off.
func (t *task) dropTwin(s *step) error {
	if t.w.can.NoReplace || s.Via != "" {
		return nil
	}
	from, ferr := t.stat(s.From)
	to, terr := t.stat(s.Path)
	if ferr == nil && terr == nil && from.inode != 0 && from.inode == to.inode && from.links > 1 {
		return t.remove(s.Path)
	}
	return nil
}

// The names of the files that guard writing in place: the old content, and the
// mark that the note may be torn.
func (t *task) oldOf(s *step) string     { return t.home(s) + ".old" }
func (t *task) writingOf(s *step) string { return t.home(s) + ".writing" }

// rewrite writes a note in place, so that its other names keep showing it. Old
// and new content lie in the journal until it is done.
func (t *task) rewrite(s *step) error {
	now, err := t.read(s.Path)
	if err != nil {
		return err
	}
	have := vault.Sum(now.data)
	begun, err := t.exists(t.writingOf(s))
	switch {
	case err != nil:
		return err
	case have == *s.Post:
		return nil
	case have != *s.Pre && !begun:
		return &Stale{Path: s.Key, Want: *s.Pre, Have: have, Content: string(now.data)}
	case have != *s.Pre: // torn by a crash, or edited since: one cannot tell
		if _, err := t.keep(s.Path, s.Key); err != nil {
			return err
		}
	}
	if !begun {
		if err := t.put(t.writingOf(s), nil, true); err != nil {
			return err
		}
	}
	return t.overwrite(s.Path, t.home(s))
}

// rewriteBack writes the old content again.
func (t *task) rewriteBack(s *step) (*Conflict, error) {
	begun, err := t.exists(t.writingOf(s))
	if err != nil || !begun {
		return nil, err
	}
	have, there, err := t.hash(s.Path)
	if err != nil || !there || have == *s.Pre {
		return nil, err
	}
	var c *Conflict
	if have != *s.Post {
		kept, err := t.keep(s.Path, s.Key)
		if err != nil {
			return nil, err
		}
		c = &Conflict{Path: s.Key, Copy: kept, Reason: "it was half written, or edited meanwhile"}
	}
	return c, t.overwrite(s.Path, t.oldOf(s))
}

// overwrite makes the content of the file source that of p, in place.
func (t *task) overwrite(p, source string) error {
	c, err := t.read(source)
	if err != nil {
		return err
	}
	f, name, err := t.at(p)
	if err != nil {
		return err
	}
	file, err := t.sys.reopen(f, name)
	if err != nil {
		return err
	}
	defer file.Close()
	if err := t.sys.write(file, c.data); err != nil {
		return err
	}
	return t.sys.sync(file)
}

// keep copies a file of which nobody knows whether it is needed, and returns
// where the copy lies.
func (t *task) keep(p, key string) (string, error) {
	c, err := t.read(p)
	if err != nil {
		return "", err
	}
	to, err := t.free(key)
	if err != nil {
		return "", err
	}
	return to, t.put(to, c.data, true)
}

// free finds a name for a copy of key among the recovered.
func (t *task) free(key string) (string, error) {
	if err := t.mkdirAll(recoveredDir, 0o700); err != nil {
		return "", err
	}
	stamp := t.w.now().UTC().Format("20060102-150405")
	for i := range 1000 {
		to := path.Join(recoveredDir, fmt.Sprintf("%s-%d-%s", stamp, i, short(path.Base(key))))
		if there, err := t.exists(to); err != nil || !there {
			return to, err
		}
	}
	return "", fault.New(fault.Internal, "no name is left for a copy of %q", key)
}

// short cuts a name so that something can be put before it.
func short(name string) string {
	const most = 180
	if len(name) <= most {
		return name
	}
	return strings.ToValidUTF8(name[len(name)-most:], "")
}
