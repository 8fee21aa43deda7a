package writer

import (
	"context"
	"fmt"
	"path"
	"slices"

	"lore/internal/vault"
	"lore/internal/vault/disk"
	"lore/internal/vault/journal"
)

// What the journal says, under the names that callers use.
type (
	// Recovered is one operation that a crash broke off, and what became of it.
	Recovered = journal.Recovered
	// Conflict is a text that could not stay in its place and was kept.
	Conflict = journal.Conflict
	// Stale says that a file is not what an edit was made for.
	Stale = journal.Stale
	// Interrupted says that a set broke off and waits for [Writer.Recover].
	Interrupted = journal.Interrupted
	// Capabilities is what the file system of a vault can do.
	Capabilities = disk.Capabilities
)

// Recover recovers what a crash left behind, and tells what became of it: a set
// that was committed is made whole, any other is taken back. When a person
// edited one of its files meanwhile, the set is taken back whole and the
// person's text stays where it is. One that can be neither, however often it is
// tried, is set aside with all its texts. It may be called again and again, also after
// being killed itself. A vault without Lore's folder, or without anything left
// in it, is not written.
func (w *Writer) Recover(ctx context.Context) ([]Recovered, error) {
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
	defer t.Close()
	if left, err := t.leftovers(); err != nil || !left && !w.unsettled {
		return disk.Explain(own, err)
	}
	return t.prepare()
}

// leftovers reports whether a crash left anything to do.
func (t *task) leftovers() (bool, error) {
	names, err := t.List(own)
	if err != nil {
		return false, err
	}
	if slices.ContainsFunc(names, vault.IsTemp) {
		return true, nil
	}
	ops, err := t.List(journal.Folder)
	if err != nil || len(ops) > 0 || t.w.lock != nil || !slices.Contains(names, lockName) {
		return len(ops) > 0, err
	}
	c, err := t.Read(path.Join(own, lockName))
	return err == nil && rebooted(string(c.Data)), err
}

// rebooted reports whether the last writer did not end in order, and the
// machine was started again since, so that its last writes may be missing.
func rebooted(before string) bool { return before != "" && before != disk.BootID() }

// recoverAll recovers every operation in the journal. before is what the last
// writer left in the lock.
func (t *task) recoverAll(before string) error {
	names, err := t.List(own)
	if err != nil {
		return disk.Explain(own, err)
	}
	for _, name := range names {
		if vault.IsTemp(name) { // of a probe: nothing else is made there
			if err := t.Remove(path.Join(own, name)); err != nil {
				return disk.Explain(own, err)
			}
		}
	}
	ops, err := t.Shelves(journal.Folder)
	if err != nil {
		return err
	}
	for _, op := range ops {
		t.Forget()
		s, err := t.recoverOne(op)
		if err != nil {
			return fmt.Errorf("recovery of operation %q: %w", op.Op, err)
		}
		t.w.log.Warn("the writer recovered an interrupted change", "op", op.Op, "outcome", s.Outcome, "conflicts", len(s.Conflicts))
		t.w.settled = append(t.w.settled, s)
	}
	t.Reset()
	t.w.trashed = nil
	if !rebooted(before) {
		return nil
	}
	kept, err := t.Strays()
	if len(kept) > 0 {
		t.w.settled = append(t.w.settled, Recovered{Outcome: journal.Discarded, Conflicts: kept})
	}
	return err
}

// recoverOne recovers one operation. When the disk answers with an error that does not
// pass, it is asked anew what it can do: it may be another one than before. An
// operation that cannot be recovered on a disk that works is set aside.
func (t *task) recoverOne(op journal.Shelf) (Recovered, error) {
	s, err := t.Recover(op)
	if !disk.IsPermanent(err) {
		return s, err
	}
	t.Forget()
	t.w.probed = false
	if err := t.probe(); err != nil {
		return s, err
	}
	if s, err = t.Recover(op); !disk.IsPermanent(err) {
		return s, err
	}
	t.w.log.Error("an interrupted change can be neither completed nor undone", "op", op.Op, "error", err)
	t.Forget()
	return t.SetAside(op)
}
