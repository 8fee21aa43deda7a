package writer

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"lore/internal/fault"
	"lore/internal/vault"
)

// An Outcome says how an operation that a crash broke off was settled.
type Outcome string

// The outcomes.
const (
	Applied   Outcome = "applied"   // all of it stands
	Discarded Outcome = "discarded" // none of it does
)

// A Settled is one operation that a crash broke off. Strays that belong to no
// known operation are reported under an empty Op.
type Settled struct {
	Op        string
	Outcome   Outcome
	Conflicts []Conflict
}

// A Conflict is a text that could not stay in its place and was kept.
type Conflict struct {
	Path   string // of the note
	Copy   string // where the text lies, from the vault's root
	Reason string
}

// Recover settles what a crash left behind, and tells what became of it: a set
// that was committed is made whole, any other is taken back. When a person
// edited one of its files meanwhile, the set is taken back whole and the
// person's text stays where it is. It may be called again and again, also after
// being killed itself. A vault without Lore's folder, or without anything left
// in it, is not written.
func (w *Writer) Recover(ctx context.Context) ([]Settled, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	err := w.recover(ctx)
	out := w.settled
	w.settled = nil
	return out, err
}

func (w *Writer) recover(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("recovery of the vault: %w", err)
	}
	root, err := w.v.Handle()
	if err != nil {
		return err
	}
	t := w.newTask(root)
	defer t.close()
	if left, err := t.leftovers(); err != nil || !left && !w.unsettled {
		return explain(own, err)
	}
	return t.prepare()
}

// leftovers reports whether a crash left anything to do.
func (t *task) leftovers() (bool, error) {
	names, err := t.list(own)
	if err != nil {
		return false, err
	}
	if slices.ContainsFunc(names, vault.IsTemp) {
		return true, nil
	}
	ops, err := t.list(journalDir)
	if err != nil || len(ops) > 0 || t.w.lock != nil || !slices.Contains(names, lockName) {
		return len(ops) > 0, err
	}
	c, err := t.read(path.Join(own, lockName))
	return err == nil && rebooted(string(c.data)), err
}

// rebooted reports whether the last writer did not end in order, and the
// machine was started again since, so that its last writes may be missing.
func rebooted(before string) bool { return before != "" && before != bootID() }

// list lists a folder that may not be there.
func (t *task) list(dir string) ([]string, error) {
	f, err := t.folder(dir)
	if absent(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	names, err := t.sys.names(f)
	slices.Sort(names)
	return names, err
}

// settleAll settles every operation in the journal. before is what the last
// writer left in the lock.
func (t *task) settleAll(before string) error {
	names, err := t.list(own)
	if err != nil {
		return explain(own, err)
	}
	for _, name := range names {
		if vault.IsTemp(name) { // of a probe: nothing else is made there
			if err := t.remove(path.Join(own, name)); err != nil {
				return explain(own, err)
			}
		}
	}
	ops, err := t.list(journalDir)
	if err != nil {
		return explain(own, err)
	}
	for _, op := range ops {
		t.forget()
		t.op = op
		s, err := t.settle()
		if err != nil {
			return fmt.Errorf("recovery of operation %q: %w", op, err)
		}
		t.w.log.Warn("a change that broke off was settled", "op", op, "outcome", s.Outcome, "conflicts", len(s.Conflicts))
		t.w.settled = append(t.w.settled, s)
	}
	t.op, t.m, t.w.trashed = "", manifest{}, nil
	if rebooted(before) {
		return t.strays()
	}
	return nil
}

// settle settles one operation.
func (t *task) settle() (Settled, error) {
	out := Settled{Op: t.op, Outcome: Discarded}
	t.m = manifest{}
	c, err := t.read(t.mark(manifestName))
	if err != nil && !absent(err) {
		return out, explain(own, err)
	}
	if err != nil || json.Unmarshal(c.data, &t.m) != nil || t.m.Version != version {
		out.Conflicts, err = t.unknown()
		return out, err
	}
	has := map[string]bool{}
	names, err := t.list(t.folderOf())
	for _, n := range names {
		has[n] = true
	}
	if err != nil {
		return out, explain(own, err)
	}
	stands, made := false, true
	switch {
	case t.m.Single:
		stands, made, err = t.standsAlone(has[stagedName])
	case has[commitName]:
		stands, err = t.complete()
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

// standsAlone finds out whether an operation of one step was made at all, and
// whether it was made on what it was made for. whole says that its content was
// staged, which is certain only while the machine was not started again.
func (t *task) standsAlone(whole bool) (stands, made bool, err error) {
	s := &t.m.Steps[0]
	if !whole && t.m.Boot != "" && t.m.Boot == bootID() {
		return false, false, nil
	}
	done, err := t.done(s)
	switch {
	case err != nil || !done && s.Kind != swaps:
		return false, s.Via != "", explain(s.Key, err)
	case s.Kind == swaps:
		return t.swapStands(s, done)
	case s.creates() && !whole: // or somebody else's file of that name
		have, _, err := t.hash(s.Path)
		return have == *s.Post, false, explain(s.Key, err)
	case s.Pre == nil:
		return true, true, nil
	}
	have, _, err := t.hash(s.Path) // a delete: what lies in the trash
	return have == *s.Pre, true, explain(s.Key, err)
}

// swapStands is standsAlone for a swap. A slot that was brought home was found
// to be right before.
func (t *task) swapStands(s *step, done bool) (stands, made bool, err error) {
	slot := t.slot(s)
	have, there, err := t.hash(slot)
	switch {
	case err != nil:
		return false, false, explain(s.Key, err)
	case there && slot != s.Stage, done && have == *s.Pre:
		return true, true, nil
	}
	return false, done, nil
}

// complete makes the rest of a committed set, unless a person edited one of the
// files that were not reached.
func (t *task) complete() (bool, error) {
	for i := range t.m.Steps {
		t.trim()
		s := &t.m.Steps[i]
		ok, err := t.asPlanned(s)
		if err != nil || !ok {
			return false, explain(s.Key, err)
		}
	}
	for i := range t.m.Steps {
		t.trim()
		s := &t.m.Steps[i]
		done, err := t.done(s)
		if err != nil {
			return false, explain(s.Key, err)
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
	return true, explain(own, t.syncSteps())
}

// asPlanned reports whether a step can still be made, or was made on what it was
// made for.
func (t *task) asPlanned(s *step) (bool, error) {
	done, err := t.done(s)
	if err != nil {
		return false, err
	}
	if s.Kind == moves {
		at := s.From
		if done {
			at = s.Path
		} else if s.Via != "" {
			if there, err := t.exists(s.Via); err != nil || there {
				return there, err
			}
		}
		if s.Pre == nil {
			return t.exists(at)
		}
		have, _, err := t.hash(at)
		return have == *s.Pre, err
	}
	if s.Kind == writes {
		begun, err := t.exists(t.writingOf(s))
		if err != nil || done || begun {
			return err == nil, err
		}
	}
	at := s.Path
	if done {
		at = t.slot(s)
	} else if moved := t.sourceOf(s); moved != "" {
		at = moved
	}
	have, _, err := t.hash(at)
	return have == *s.Pre, err
}

// sourceOf is where the file of a content step still lies when the move before
// it was not made.
func (t *task) sourceOf(s *step) string {
	if s.N == 0 {
		return ""
	}
	before := &t.m.Steps[s.N-1]
	if before.Kind != moves || before.Path != s.Path {
		return ""
	}
	if done, err := t.moved(before); err != nil || done {
		return ""
	}
	if there, err := t.exists(before.Via); before.Via != "" && err == nil && there {
		return before.Via
	}
	return before.From
}

// unknown drops a journal without a readable manifest: nothing was done yet
// when it was written, but after a power cut that is not certain. What lies in
// it is kept.
func (t *task) unknown() ([]Conflict, error) {
	names, err := t.list(t.folderOf())
	if err != nil {
		return nil, explain(own, err)
	}
	var out []Conflict
	for _, name := range names {
		if name == manifestName || strings.ToUpper(name) == name && name[0] >= 'A' {
			continue
		}
		c, err := t.rescue(t.mark(name), t.mark(name))
		if err != nil {
			return out, err
		}
		out = append(out, c...)
	}
	return out, t.drop()
}

// rescue moves a file of unknown origin to the recovered ones. An empty one
// holds no word and goes.
func (t *task) rescue(p, key string) ([]Conflict, error) {
	st, err := t.stat(p)
	switch {
	case absent(err):
		return nil, nil
	case err != nil:
		return nil, explain(key, err)
	case st.size == 0:
		return nil, explain(key, t.remove(p))
	}
	to, err := t.free(key)
	if err == nil {
		err = t.moveNew(p, to)
	}
	if isOtherDisk(err) {
		if to, err = t.keep(p, key); err == nil {
			err = t.remove(p)
		}
	}
	if err != nil {
		return nil, explain(key, err)
	}
	return []Conflict{{Path: key, Copy: to, Reason: "it was left by a save that a power cut broke off"}}, nil
}

// strays looks through the whole vault for temporary files that no journal
// knows, because a power cut took it.
func (t *task) strays() error {
	known, err := t.awaited()
	if err != nil {
		return err
	}
	var found []string
	err = fs.WalkDir(t.root.FS(), ".", func(p string, d fs.DirEntry, err error) error {
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
		return explain(own, err)
	}
	out := Settled{Outcome: Discarded}
	for _, p := range found {
		t.trim()
		c, err := t.rescue(p, p)
		if err != nil {
			return err
		}
		out.Conflicts = append(out.Conflicts, c...)
	}
	if len(found) > 0 {
		t.w.settled = append(t.w.settled, out)
	}
	return nil
}

// awaited are the displaced files that lie outside Lore's folder, on another
// disk, and wait for the sweep.
func (t *task) awaited() (map[string]bool, error) {
	out := map[string]bool{}
	ops, err := t.list(displacedDir)
	for _, op := range ops {
		m, ok := t.record(op)
		for i := range m.Steps {
			if s := &m.Steps[i]; ok && s.Stage != "" {
				out[s.Stage] = true
			}
		}
	}
	return out, explain(own, err)
}
