package journal

import (
	"io/fs"
	"strings"

	"lore/internal/fault"
	"lore/internal/vault"
	"lore/internal/vault/disk"
)

// An Outcome says how an operation that a crash broke off was recovered.
type Outcome string

// The outcomes.
const (
	Applied   Outcome = "applied"   // all of it stands
	Discarded Outcome = "discarded" // none of it does
	SetAside  Outcome = "set aside" // nobody can tell: every text of it was kept
)

// A Recovered is one operation that a crash broke off. Strays that belong to no
// known operation are reported under an empty Op.
type Recovered struct {
	Op        string
	Outcome   Outcome
	Conflicts []Conflict
}

// Recover completes or undoes an operation that a crash interrupted. It
// may be called again after being killed itself.
func (t *Op) Recover(shelf Shelf) (Recovered, error) {
	out := Recovered{Op: shelf.Op, Outcome: Discarded}
	m, ok, err := t.Record(shelf)
	if err != nil {
		return out, err
	}
	t.ID, t.Plan, t.set, t.broke = shelf.Op, m, nil, true
	if !ok {
		t.Plan = Manifest{Single: shelf.single}
		out.Conflicts, err = t.unknown()
		return out, err
	}
	has := map[string]bool{}
	names, err := t.Files(shelf)
	for _, n := range names {
		has[n] = true
	}
	if err != nil {
		return out, err
	}
	stands, made := false, true
	switch {
	case t.Plan.Single:
		stands, made, err = t.wasApplied(has[stagedName])
	case has[doneName]:
		stands = true
	case has[commitName]:
		stands, err = t.complete()
		if disk.IsPermanent(err) { // it cannot be made, so it is taken back
			stands, err = false, nil
		}
	default:
		made = has[rollbackName]
	}
	switch {
	case err != nil:
		return out, err
	case stands:
		out.Outcome = Applied
		return out, t.finish()
	case !made:
		return out, t.discard()
	}
	out.Conflicts, err = t.rollback()
	return out, err
}

// wasApplied finds out whether an operation of one step was made at all, and
// whether it was made on what it was made for. whole says that its content was
// staged, which is certain only while the machine was not started again.
func (t *Op) wasApplied(whole bool) (stands, made bool, err error) {
	s := &t.Plan.Steps[0]
	if !whole && t.Plan.Boot != "" && t.Plan.Boot == disk.BootID() {
		return false, false, nil
	}
	done, err := t.done(s)
	switch {
	case err != nil || !done && s.Kind != Swaps:
		return t.wasMoveApplied(s, err)
	case s.Kind == Swaps:
		return t.wasSwapApplied(s, done)
	case s.creates() && !whole: // or somebody else's file of that name
		have, _, err := t.Hash(s.Path)
		return have == *s.Post, false, disk.Explain(s.Key, err)
	case s.Pre == nil:
		return true, true, nil
	}
	have, _, err := t.Hash(s.Path) // a delete: what lies in the trash
	return have == *s.Pre, true, disk.Explain(s.Key, err)
}

// wasMoveApplied is wasApplied for a move that was not made. On a detour, or with a
// name that was taken for it already, there is something to take back.
func (t *Op) wasMoveApplied(s *Step, err error) (stands, made bool, _ error) {
	if err == nil && s.Via == "" {
		made, err = t.Exists(s.Path)
		return false, made, disk.Explain(s.Key, err)
	}
	return false, true, disk.Explain(s.Key, err)
}

// wasSwapApplied is wasApplied for a swap. A slot that was brought home was found
// to be right before.
func (t *Op) wasSwapApplied(s *Step, done bool) (stands, made bool, err error) {
	slot := t.slot(s)
	have, there, err := t.Hash(slot)
	switch {
	case err != nil:
		return false, false, disk.Explain(s.Key, err)
	case there && slot != s.Stage, done && have == *s.Pre:
		return true, true, nil
	}
	return false, true, nil
}

// complete makes the rest of a committed set, unless a person edited one of the
// files that were not reached.
func (t *Op) complete() (bool, error) {
	for i := range t.Plan.Steps {
		t.Trim()
		s := &t.Plan.Steps[i]
		ok, err := t.asPlanned(s)
		if err != nil || !ok {
			return false, disk.Explain(s.Key, err)
		}
	}
	for i := range t.Plan.Steps {
		t.Trim()
		s := &t.Plan.Steps[i]
		done, err := t.done(s)
		if err != nil {
			return false, disk.Explain(s.Key, err)
		}
		if done {
			continue
		}
		err = t.forward(s)
		if fault.Of(err) == fault.Conflict {
			return false, nil
		}
		if err != nil {
			return false, err
		}
	}
	return true, disk.Explain(own, t.syncSteps())
}

// asPlanned reports whether a step can still be made, or was made on what it was
// made for.
func (t *Op) asPlanned(s *Step) (bool, error) {
	done, err := t.done(s)
	if err != nil {
		return false, err
	}
	if s.Kind == Moves {
		at := s.From
		if done {
			at = s.Path
		} else if s.Via != "" {
			if there, err := t.Exists(s.Via); err != nil || there {
				return there, err
			}
		}
		if s.Pre == nil {
			return t.Exists(at)
		}
		have, _, err := t.Hash(at)
		return have == *s.Pre, err
	}
	at := s.Path
	if done {
		at = t.slot(s)
	} else if moved := t.sourceOf(s); moved != "" {
		at = moved
	}
	have, _, err := t.Hash(at)
	return have == *s.Pre, err
}

// sourceOf is where the file of a content step still lies when the move before
// it was not made.
func (t *Op) sourceOf(s *Step) string {
	if s.N == 0 {
		return ""
	}
	before := &t.Plan.Steps[s.N-1]
	if before.Kind != Moves || before.Path != s.Path {
		return ""
	}
	if done, err := t.moved(before); err != nil || done {
		return ""
	}
	if there, err := t.Exists(before.Via); before.Via != "" && err == nil && there {
		return before.Via
	}
	return before.From
}

// unknown drops a journal without a readable manifest: nothing was done yet
// when it was written, but after a power cut that is not certain. What lies in
// it is kept.
func (t *Op) unknown() ([]Conflict, error) {
	names, err := t.Files(t.shelf())
	if err != nil {
		return nil, err
	}
	var out []Conflict
	for _, name := range names {
		if name == manifestName || name == stagedName || strings.ToUpper(name) == name && name[0] >= 'A' {
			continue
		}
		c, err := t.Rescue(t.mark(name), t.mark(name))
		if err != nil {
			return out, err
		}
		out = append(out, c...)
	}
	return out, t.drop()
}

// Rescue moves a file of unknown origin to the recovered ones. An empty one
// holds no word and goes.
func (t *Op) Rescue(p, key string) ([]Conflict, error) {
	st, err := t.Stat(p)
	switch {
	case disk.Absent(err):
		return nil, nil
	case err != nil:
		return nil, disk.Explain(key, err)
	case st.Size == 0:
		return nil, disk.Explain(key, t.Remove(p))
	}
	to, err := t.Free(key)
	if err == nil {
		err = t.Transfer(p, to)
	}
	if err != nil {
		return nil, disk.Explain(key, err)
	}
	return []Conflict{{Path: key, Copy: to, Reason: "it was left behind by a save that a power failure interrupted"}}, nil
}

// Strays looks through the whole vault for temporary files that no journal
// knows, because a power cut took it, and keeps what they hold.
func (t *Op) Strays() ([]Conflict, error) {
	known, err := t.awaited()
	if err != nil {
		return nil, err
	}
	var found []string
	err = fs.WalkDir(t.Root.FS(), ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			if d != nil && d.IsDir() {
				return fs.SkipDir
			}
			return nil // what cannot be read holds nothing of ours
		}
		if d.IsDir() && p != "." && d.Name()[0] == '.' {
			return fs.SkipDir
		}
		if d.Type().IsRegular() && vault.IsTemp(d.Name()) && !known[p] {
			found = append(found, p)
		}
		return nil
	})
	if err != nil {
		return nil, disk.Explain(own, err)
	}
	var out []Conflict
	for _, p := range found {
		t.Trim()
		c, err := t.Rescue(p, p)
		if err != nil {
			return out, err
		}
		out = append(out, c...)
	}
	return out, nil
}

// awaited are the displaced files that lie outside Lore's folder, on another
// disk, and wait for the sweep.
func (t *Op) awaited() (map[string]bool, error) {
	out := map[string]bool{}
	shelves, err := t.Shelves(DisplacedFolder)
	for _, shelf := range shelves {
		m, _, err := t.Record(shelf)
		if err != nil {
			return nil, err
		}
		for i := range m.Steps {
			out[m.Steps[i].Stage] = true
		}
	}
	return out, err
}
