package journal

import (
	"encoding/json"
	"errors"
	"os"
	"path"
	"slices"
	"strconv"
	"time"

	"lore/internal/fault"
	"lore/internal/vault/disk"
)

// The names of the files in the folder of an operation, beside the numbers of
// its steps.
const (
	manifestName = "manifest"
	stagedName   = "manifest.staged" // what it is renamed to when the content of a single step is whole
	commitName   = "COMMIT"          // several steps: they will all be made
	rollbackName = "ROLLBACK"        // what COMMIT is renamed to when they will all be taken back
	doneName     = "DONE"            // what COMMIT is renamed to when they stand and the folder goes file by file
)

// Version is that of the manifest's format.
const Version = 1

// A manifest is the plan of one operation, written before anything is done.
type Manifest struct {
	Version int       `json:"version"`
	Op      string    `json:"op"`
	Began   time.Time `json:"began"`
	Boot    string    `json:"boot,omitempty"` // while it is the same, nothing written can be missing
	Single  bool      `json:"single"`         // one step, which is its own commit
	Folders []string  `json:"folders,omitempty"`
	Steps   []Step    `json:"steps"`
}

// A staging is the new content of a step until it is on disk.
type Staging struct {
	Data string
	Like *disk.Content // whose mode and attributes it takes; nil for a new file
	Made disk.Stat     // what was staged
}

func (t *Op) mark(name string) string { return t.shelf().File(name) }

// declare writes the manifest and makes the folders that new files need.
func (t *Op) declare() error {
	data, err := json.Marshal(&t.Plan)
	if err != nil {
		return fault.New(fault.Internal, "the record of the interrupted change %q cannot be read: %v", t.ID, err)
	}
	for _, dir := range []string{Folder, DisplacedFolder} {
		if err := t.MkdirAll(dir, 0o700); err != nil {
			return disk.Explain(own, err)
		}
	}
	there, err := t.taken(DisplacedFolder, t.ID)
	if err != nil {
		return err
	}
	if !there && !t.Plan.Single {
		at, name, aerr := t.At(t.shelf().dir())
		if err = aerr; err == nil {
			err = t.Sys.Mkdir(at, name, 0o700)
		}
	}
	if err == nil && !there {
		err = t.Put(t.mark(manifestName), data, false)
	}
	if there || errors.Is(err, os.ErrExist) {
		return errTwice
	}
	return disk.Explain(own, err)
}

// stage puts all new contents on disk, beside their places.
func (t *Op) stage() error {
	for _, dir := range t.Plan.Folders {
		if err := t.Mkdir(dir, 0o777); err != nil {
			return disk.Explain(dir, err)
		}
	}
	for i := range t.Plan.Steps {
		s := &t.Plan.Steps[i]
		t.Trim()
		if s.Gone {
			if err := t.MkdirAll(path.Dir(s.Path), 0o700); err != nil {
				return disk.Explain(own, err)
			}
		}
		st, ok := t.Staged[s.N]
		if !ok {
			continue
		}
		if err := t.stageOne(s, &st); err != nil {
			return disk.Explain(s.Key, err)
		}
		t.Staged[s.N] = st
	}
	return nil
}

// stageOne writes one new content, durable at once unless the whole journal
// will be.
func (t *Op) stageOne(s *Step, st *Staging) error {
	at, name, err := t.At(s.Stage)
	if err != nil {
		return err
	}
	perm := os.FileMode(0o666) // a new file gets what the user's mask leaves
	if st.Like != nil {
		perm = 0o600
	}
	f, err := t.Sys.Create(at, name, perm)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := t.Sys.Write(f, []byte(st.Data)); err != nil {
		return err
	}
	if st.Like != nil {
		warnings, err := t.Sys.Dress(f, *st.Like)
		if err != nil {
			return err
		}
		for _, w := range warnings {
			t.Warnings = append(t.Warnings, s.Key+": "+w)
		}
	}
	if t.Plan.Single || !t.syncsAll(at) {
		if err := t.Sys.Sync(f); err != nil {
			return err
		}
	}
	if st.Made, err = t.Sys.Stat(at, name); err != nil {
		return err
	}
	return nil
}

// commit is the point after which the operation will be made whole.
func (t *Op) commit() error {
	if t.Plan.Single {
		return disk.Explain(own, t.MoveOver(t.mark(manifestName), t.mark(stagedName)))
	}
	at, err := t.Folder(t.shelf().dir())
	if err != nil {
		return disk.Explain(own, err)
	}
	err = t.syncStaged()
	if t.Can.SyncAll && err == nil {
		err = t.Sys.SyncAll(at)
		if disk.IsUnsupported(err) { // it could when it was asked
			t.Can.SyncAll = false
			err = errors.Join(t.syncContents(), t.syncStaged())
		}
	}
	if err != nil {
		return disk.Explain(own, err)
	}
	return disk.Explain(own, t.Put(t.mark(commitName), nil, true))
}

// run makes all steps and makes them durable.
func (t *Op) run() error {
	for i := range t.Plan.Steps {
		t.Trim()
		if err := t.forward(&t.Plan.Steps[i]); err != nil {
			return err
		}
	}
	return disk.Explain(own, t.syncSteps())
}

// finish lets the journal of an applied operation become the record of what it
// displaced. Nothing that it does is needed for the change itself.
func (t *Op) finish() error {
	for i := range t.Plan.Steps {
		s := &t.Plan.Steps[i]
		if s.Kind != Swaps || s.Stage == t.Home(s) {
			continue
		}
		err := t.MoveNew(s.Stage, t.Home(s))
		if err != nil && !disk.Absent(err) && !disk.IsOtherDisk(err) {
			return disk.Explain(s.Key, err)
		}
	}
	if err := t.reshelve(t.shelf().in(DisplacedFolder)); err != nil {
		return err
	}
	if err := t.prune(); err != nil {
		t.Warnings = append(t.Warnings, "an empty folder could not be removed: "+err.Error())
	}
	return nil
}

// prune removes the folders that the operation emptied.
func (t *Op) prune() error {
	var dirs []string
	for i := range t.Plan.Steps {
		s := &t.Plan.Steps[i]
		if s.Kind == Moves && !s.creates() {
			dirs = append(dirs, path.Dir(s.From))
		}
	}
	return t.RmdirAll(dirs, TrashFolder, own)
}

// rollback takes back what was made, and drops the journal.
func (t *Op) rollback() ([]Conflict, error) {
	if !t.Plan.Single {
		err := t.MoveOver(t.mark(commitName), t.mark(rollbackName))
		if err == nil {
			err = t.SyncFolders(t.mark(rollbackName))
		}
		if err != nil && !disk.Absent(err) {
			return nil, disk.Explain(own, err)
		}
	}
	var conflicts []Conflict
	for i := range slices.Backward(t.Plan.Steps) {
		t.Trim()
		c, err := t.revert(&t.Plan.Steps[i])
		if err != nil {
			return conflicts, err
		}
		if c != nil {
			conflicts = append(conflicts, *c)
		}
	}
	if err := t.syncSteps(); err != nil {
		return conflicts, disk.Explain(own, err)
	}
	left := false
	for i := range t.Plan.Steps {
		t.Trim()
		more, c, err := t.releaseSlot(&t.Plan.Steps[i])
		if err != nil {
			return conflicts, err
		}
		left = left || more
		if c != nil {
			conflicts = append(conflicts, *c)
		}
	}
	if left {
		return conflicts, t.retire()
	}
	return conflicts, t.drop()
}

// aside is a free shelf for what is left of an operation that was taken back. It
// may have been tried before.
func (t *Op) aside() (Shelf, error) {
	for i := 0; ; i++ {
		s := t.shelf().in(DiscardedFolder)
		if i > 0 {
			s.Op += "~" + strconv.Itoa(i)
		}
		there, err := t.taken(DiscardedFolder, s.Op)
		if err == nil && !there && s.single { // a slot whose manifest a crash kept from following
			there, err = t.Exists(s.File("0"))
		}
		if err != nil || !there {
			return s, disk.Explain(own, err)
		}
	}
}

// releaseSlot sees what is left in the slot of a step that was taken back. Our own new
// content, or a copy of what is in place, stays in the journal: it may have been
// in its place for a moment, and a program that opened it then can still write
// into it. Anything else is a person's and goes to the trash.
func (t *Op) releaseSlot(s *Step) (left bool, c *Conflict, err error) {
	if s.Stage == "" {
		return false, nil, nil
	}
	slot := t.slot(s)
	have, there, err := t.Hash(slot)
	if err != nil || !there {
		return false, nil, disk.Explain(s.Key, err)
	}
	if have == *s.Post {
		return true, nil, disk.Explain(s.Key, t.setAside(s, slot))
	}
	now, standing, err := t.Hash(s.Path)
	if err != nil && !errors.Is(err, disk.ErrNotRegular) {
		return false, nil, disk.Explain(s.Key, err)
	}
	if standing && now == have {
		return false, nil, disk.Explain(s.Key, t.Remove(slot))
	}
	kept := path.Join(TrashFolder, t.ID, s.Path)
	if err := t.MkdirAll(path.Dir(kept), 0o700); err != nil {
		return false, nil, disk.Explain(own, err)
	}
	err = t.Transfer(slot, kept)
	if errors.Is(err, os.ErrExist) {
		if kept, err = t.Free(s.Key); err == nil {
			err = t.Transfer(slot, kept)
		}
	}
	return false, &Conflict{Path: s.Key, Copy: kept, Reason: "it was edited during the change; the newer text was kept"}, disk.Explain(s.Key, err)
}

// setAside brings a slot that lies beside its note to where the rest of the
// operation goes.
func (t *Op) setAside(s *Step, slot string) error {
	if slot == t.mark(strconv.Itoa(s.N)) {
		return nil // it goes with its folder
	}
	to := t.mark(strconv.Itoa(s.N))
	if t.Plan.Single {
		shelf, err := t.aside()
		if err != nil {
			return err
		}
		t.set = &shelf
		to = shelf.File(strconv.Itoa(s.N))
		if err := t.MkdirAll(DiscardedFolder, 0o700); err != nil {
			return err
		}
	}
	err := t.MoveNew(slot, to)
	if disk.IsOtherDisk(err) {
		return t.Remove(slot)
	}
	return err
}

// retire sets the journal of an operation that was taken back aside, for the
// sweep.
func (t *Op) retire() error {
	if err := t.RmdirAll(append(t.trashFolders(), t.Plan.Folders...), TrashFolder, own); err != nil {
		return err
	}
	if t.set != nil {
		return t.reshelve(*t.set)
	}
	to, err := t.aside()
	if err != nil {
		return err
	}
	return t.reshelve(to)
}

// discard drops an operation of which nothing was made: what is staged is a
// copy of what the caller still has.
func (t *Op) discard() error {
	for i := range t.Plan.Steps {
		s := &t.Plan.Steps[i]
		t.Trim()
		if s.Stage == "" {
			continue
		}
		if err := t.Remove(s.Stage); err != nil {
			return disk.Explain(s.Key, err)
		}
	}
	return t.drop()
}

// drop removes the journal of an operation that was not made, the manifest
// last: while it is there, everything else is known.
func (t *Op) drop() error {
	if err := t.RmdirAll(append(t.trashFolders(), t.Plan.Folders...), TrashFolder, own); err != nil {
		return err
	}
	return t.Clear(t.shelf())
}

func (t *Op) trashFolders() []string {
	var out []string
	for i := range t.Plan.Steps {
		if s := &t.Plan.Steps[i]; s.Gone {
			out = append(out, path.Dir(s.Path))
		}
	}
	return out
}
