package writer

import (
	"encoding/json"
	"errors"
	"os"
	"path"
	"slices"
	"time"

	"lore/internal/fault"
	"lore/internal/vault"
)

// The names of the files in the folder of an operation, beside the numbers of
// its steps.
const (
	manifestName = "manifest"
	stagedName   = "STAGED"   // a single step: its content is whole
	commitName   = "COMMIT"   // several steps: they will all be made
	rollbackName = "ROLLBACK" // what COMMIT is renamed to when they will all be taken back
)

// version is that of the manifest's format.
const version = 1

// A manifest is the plan of one operation, written before anything is done.
type manifest struct {
	Version int       `json:"version"`
	Op      string    `json:"op"`
	Began   time.Time `json:"began"`
	Boot    string    `json:"boot,omitempty"` // while it is the same, nothing written can be missing
	Single  bool      `json:"single"`         // one step, which is its own commit
	Folders []string  `json:"folders,omitempty"`
	Steps   []step    `json:"steps"`
}

// A staging is the new content of a step until it is on disk.
type staging struct {
	data string
	old  string   // what a note that is written in place held
	like *content // whose mode and attributes it takes; nil for a new file
	made stat
}

// folderOf is the folder of the operation in the journal.
func (t *task) folderOf() string { return path.Join(journalDir, t.op) }

func (t *task) mark(name string) string { return path.Join(journalDir, t.op, name) }

// declare writes the manifest and makes the folders that new files need.
func (t *task) declare() error {
	data, err := json.Marshal(&t.m)
	if err != nil {
		return fault.New(fault.Internal, "the manifest of %q: %v", t.op, err)
	}
	for _, dir := range []string{journalDir, displacedDir} {
		if err := t.mkdirAll(dir, 0o700); err != nil {
			return explain(own, err)
		}
	}
	there, err := t.exists(path.Join(displacedDir, t.op))
	if err != nil {
		return explain(own, err)
	}
	at, name, err := t.at(t.folderOf())
	if err == nil && !there {
		err = t.sys.mkdir(at, name, 0o700)
	}
	if there || errors.Is(err, os.ErrExist) {
		return fault.New(fault.Invalid, "operation %q was applied already", t.op)
	}
	if err != nil {
		return explain(own, err)
	}
	return explain(own, t.put(t.mark(manifestName), data, false))
}

// stage puts all new contents on disk, beside their places.
func (t *task) stage() error {
	for _, dir := range t.m.Folders {
		if err := t.mkdir(dir, 0o777); err != nil {
			return explain(dir, err)
		}
	}
	for i := range t.m.Steps {
		s := &t.m.Steps[i]
		t.trim()
		if s.Gone {
			if err := t.mkdirAll(path.Dir(s.Path), 0o700); err != nil {
				return explain(own, err)
			}
		}
		st, ok := t.staged[s.N]
		if !ok {
			continue
		}
		if err := t.stageOne(s, &st); err != nil {
			return explain(s.Key, err)
		}
		t.staged[s.N] = st
	}
	return nil
}

// stageOne writes one new content, durable at once unless the whole journal
// will be.
func (t *task) stageOne(s *step, st *staging) error {
	at, name, err := t.at(s.Stage)
	if err != nil {
		return err
	}
	perm := os.FileMode(0o666) // a new file gets what the user's mask leaves
	if st.like != nil {
		perm = 0o600
	}
	f, err := t.sys.create(at, name, perm)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := t.sys.write(f, []byte(st.data)); err != nil {
		return err
	}
	if st.like != nil {
		warnings, err := t.sys.dress(f, *st.like)
		if err != nil {
			return err
		}
		for _, w := range warnings {
			t.warnings = append(t.warnings, s.Key+": "+w)
		}
	}
	if t.m.Single || !t.w.can.Syncfs {
		if err := t.sys.sync(f); err != nil {
			return err
		}
	}
	if st.made, err = t.sys.stat(at, name); err != nil {
		return err
	}
	if s.Kind != writes {
		return nil
	}
	return t.put(t.oldOf(s), []byte(st.old), !t.w.can.Syncfs)
}

// commit is the point after which the operation will be made whole.
func (t *task) commit() error {
	if t.m.Single {
		return explain(own, t.put(t.mark(stagedName), nil, false))
	}
	at, err := t.folder(t.folderOf())
	if err != nil {
		return explain(own, err)
	}
	if t.w.can.Syncfs {
		err = t.sys.syncAll(at)
	} else {
		err = t.syncStaged()
	}
	if err != nil {
		return explain(own, err)
	}
	return explain(own, t.put(t.mark(commitName), nil, true))
}

// syncStaged makes the names of all staged files durable, folder by folder.
func (t *task) syncStaged() error {
	paths := []string{t.mark(manifestName), t.folderOf(), journalDir}
	for i := range t.m.Steps {
		s := &t.m.Steps[i]
		if s.Stage != "" {
			paths = append(paths, s.Stage)
		}
		if s.Gone {
			paths = append(paths, s.Path)
		}
	}
	return t.syncFolders(append(paths, t.m.Folders...)...)
}

// run makes all steps and makes them durable.
func (t *task) run() error {
	for i := range t.m.Steps {
		t.trim()
		if err := t.forward(&t.m.Steps[i]); err != nil {
			return err
		}
	}
	return explain(own, t.syncSteps())
}

// syncSteps makes the steps durable: for one step the folder where a file
// arrived, then the one that it left, so that it is never in neither.
func (t *task) syncSteps() error {
	if !t.m.Single && t.w.can.Syncfs {
		at, err := t.folder(".")
		if err != nil {
			return err
		}
		return t.sys.syncAll(at)
	}
	var paths []string
	for i := range t.m.Steps {
		s := &t.m.Steps[i]
		paths = append(paths, s.Path)
		for dir := path.Dir(s.Path); s.Gone && dir != own; dir = path.Dir(dir) {
			paths = append(paths, dir)
		}
		if s.From != "" && s.From != s.Stage {
			paths = append(paths, s.From)
		}
		if s.Stage != "" && s.Kind == swaps {
			paths = append(paths, s.Stage)
		}
	}
	return t.syncFolders(append(paths, t.m.Folders...)...)
}

// finish lets the journal of an applied operation become the record of what it
// displaced. Nothing that it does is needed for the change itself.
func (t *task) finish() error {
	for i := range t.m.Steps {
		s := &t.m.Steps[i]
		if s.Kind != swaps || s.Stage == t.home(s) {
			continue
		}
		err := t.moveNew(s.Stage, t.home(s))
		if err != nil && !absent(err) && !isOtherDisk(err) {
			return explain(s.Key, err)
		}
	}
	t.forget() // the folder is about to have another name
	if err := t.mkdirAll(displacedDir, 0o700); err != nil {
		return explain(own, err)
	}
	if err := t.moveOver(t.folderOf(), path.Join(displacedDir, t.op)); err != nil {
		return explain(own, err)
	}
	if err := t.prune(); err != nil {
		t.warnings = append(t.warnings, "an empty folder stays: "+err.Error())
	}
	return nil
}

// prune removes the folders that the operation emptied.
func (t *task) prune() error {
	var dirs []string
	for i := range t.m.Steps {
		s := &t.m.Steps[i]
		if s.Kind == moves && !s.creates() {
			dirs = append(dirs, path.Dir(s.From))
		}
	}
	return t.rmdirs(dirs)
}

// rmdirs removes folders, and those above them, as far as they are empty. The
// system refuses to remove one that holds anything.
func (t *task) rmdirs(dirs []string) error {
	slices.Sort(dirs)
	dirs = slices.Compact(dirs)
	slices.Reverse(dirs) // the inner ones first
	for _, dir := range dirs {
		for d := dir; d != "." && d != trashDir && d != own; d = path.Dir(d) {
			if err := t.rmdir(d); err != nil {
				return explain(d, err)
			}
			if there, err := t.exists(d); err != nil || there {
				break
			}
		}
	}
	return nil
}

// rollback takes back what was made, and drops the journal.
func (t *task) rollback() ([]Conflict, error) {
	if !t.m.Single {
		err := t.moveOver(t.mark(commitName), t.mark(rollbackName))
		if err == nil {
			err = t.syncFolders(t.mark(rollbackName))
		}
		if err != nil && !absent(err) {
			return nil, explain(own, err)
		}
	}
	var conflicts []Conflict
	for i := range slices.Backward(t.m.Steps) {
		t.trim()
		c, err := t.revert(&t.m.Steps[i])
		if err != nil {
			return conflicts, err
		}
		if c != nil {
			conflicts = append(conflicts, *c)
		}
	}
	if err := t.syncSteps(); err != nil {
		return conflicts, explain(own, err)
	}
	for i := range t.m.Steps {
		t.trim()
		c, err := t.letGo(&t.m.Steps[i])
		if err != nil {
			return conflicts, err
		}
		if c != nil {
			conflicts = append(conflicts, *c)
		}
	}
	return conflicts, t.drop()
}

// letGo removes what is left in the slot of a step that was taken back: our own
// new content, or a copy of what is in place. Anything else goes to the trash.
func (t *task) letGo(s *step) (*Conflict, error) {
	if s.Stage == "" {
		return nil, nil
	}
	slot := t.slot(s)
	have, there, err := t.hash(slot)
	if err != nil || !there {
		return nil, explain(s.Key, err)
	}
	now, standing, err := t.hash(s.Path)
	if errors.Is(err, errNotRegular) {
		err = nil
	}
	if err != nil {
		return nil, explain(s.Key, err)
	}
	if s.Kind == writes || have == *s.Post || standing && now == have {
		return nil, explain(s.Key, t.remove(slot))
	}
	kept := path.Join(trashDir, t.op, s.Path)
	if err := t.mkdirAll(path.Dir(kept), 0o700); err != nil {
		return nil, explain(own, err)
	}
	err = t.moveNew(slot, kept)
	if errors.Is(err, os.ErrExist) {
		if kept, err = t.free(s.Key); err == nil {
			err = t.moveNew(slot, kept)
		}
	}
	t.w.forgetTrash()
	return &Conflict{Path: s.Key, Copy: kept, Reason: "it was edited while it was changed; the later text is in place"}, explain(s.Key, err)
}

// discard drops an operation of which nothing was made: what is staged is a
// copy of what the caller still has.
func (t *task) discard() error {
	for i := range t.m.Steps {
		s := &t.m.Steps[i]
		t.trim()
		if s.Stage == "" {
			continue
		}
		if err := t.remove(s.Stage); err != nil {
			return explain(s.Key, err)
		}
	}
	return t.drop()
}

// drop removes the journal of an operation that was not made, the manifest
// last: while it is there, everything else is known.
func (t *task) drop() error {
	if err := t.rmdirs(append(t.trashFolders(), t.m.Folders...)); err != nil {
		return err
	}
	dir, err := t.folder(t.folderOf())
	if absent(err) {
		return nil
	}
	if err != nil {
		return explain(own, err)
	}
	names, err := t.sys.names(dir)
	if err != nil {
		return explain(own, err)
	}
	slices.SortFunc(names, func(a, b string) int { return rankOf(a) - rankOf(b) })
	for _, name := range names {
		if err := t.remove(t.mark(name)); err != nil {
			return explain(own, err)
		}
	}
	return explain(own, t.rmdir(t.folderOf()))
}

// rankOf puts the manifest last, and before it the mark that says what to do.
func rankOf(name string) int {
	switch name {
	case manifestName:
		return 2
	case rollbackName, commitName:
		return 1
	}
	return 0
}

func (t *task) trashFolders() []string {
	var out []string
	for i := range t.m.Steps {
		if s := &t.m.Steps[i]; s.Gone {
			out = append(out, path.Dir(s.Path))
		}
	}
	return out
}

// sum is a hash that can be left out.
func sum(s *string) *vault.Hash {
	if s == nil {
		return nil
	}
	h := vault.Sum([]byte(*s))
	return &h
}
