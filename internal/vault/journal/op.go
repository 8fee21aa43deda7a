// Package journal makes a set of changes in a vault's folder whole or not at all.
// It writes down what it is going to do, does it in steps that can be taken back,
// and recovers afterwards what a crash broke off. It knows steps on files; which
// edits they stand for, and who wanted them, it does not know.
package journal

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"lore/internal/fault"
	"lore/internal/vault"
	"lore/internal/vault/disk"
)

// The folders of the journal inside [vault.OwnFolder].
const (
	own             = vault.OwnFolder
	Folder          = own + "/journal"   // operations that are under way, or broke off
	DisplacedFolder = own + "/displaced" // what operations replaced, until history has it
	DiscardedFolder = own + "/discarded" // what operations staged that were taken back
	TrashFolder     = own + "/trash"     // what operations deleted, by operation and path
	RecoveredFolder = own + "/recovered" // what nobody knows the place of
)

// An Op is one operation on a vault.
type Op struct {
	*disk.Tree
	ID       string
	Plan     Manifest
	Staged   map[int]Staging // by number of step
	Warnings []string
	Now      func() time.Time
	Log      *slog.Logger

	set   *Shelf // where a slot was set aside
	broke bool   // the operation broke off before, perhaps in the middle of a step
}

// Reset makes the Op ready for another operation.
func (t *Op) Reset() {
	t.ID, t.Plan, t.Staged, t.set, t.broke = "", Manifest{}, map[int]Staging{}, nil, false
}

// A Stale says that a file is not what an edit was made for. Nothing was
// changed.
type Stale struct {
	Path       string
	Want, Have vault.Hash
	Content    string // what the file holds
	Gone       bool   // there is no such file
}

// Error names the file.
func (s *Stale) Error() string {
	if s.Gone {
		return fmt.Sprintf("%q no longer exists", s.Path)
	}
	return fmt.Sprintf("%q changed on disk since it was read", s.Path)
}

// Unwrap gives the kind.
func (s *Stale) Unwrap() error { return fault.Conflict }

// An Interrupted says that an operation broke off, could not be taken back either,
// and waits in the journal: recovery decides whether it stands or not.
type Interrupted struct {
	Op  string
	Err error // what broke it off
}

// Error says what happens next.
func (u *Interrupted) Error() string {
	return fmt.Sprintf("%v; the change was interrupted and will be recovered before the next one", u.Err)
}

// Unwrap gives what broke the operation off.
func (u *Interrupted) Unwrap() error { return u.Err }

// Interrupted says so to who does not know this package.
func (u *Interrupted) Interrupted() bool { return true }

// A Conflict is a text that could not stay in its place and was kept.
type Conflict struct {
	Path   string // of the note
	Copy   string // where the text lies, from the vault's root
	Reason string
}

// Apply makes the planned steps: all of them, or none. An error means none,
// unless it is an [*Interrupted]. tidy is false when everything stands and only
// the journal could not be closed. The context is heeded until the commit.
func (t *Op) Apply(ctx context.Context) (tidy bool, err error) {
	if err := t.declare(); err != nil {
		if errors.Is(err, errTwice) {
			return true, fault.New(fault.Invalid, "operation %q was already applied", t.ID)
		}
		return true, t.giveUp(err, t.discard)
	}
	err = t.stage()
	if err == nil && ctx.Err() != nil {
		err = fmt.Errorf("change to the vault: %w", ctx.Err())
	}
	if err != nil {
		return true, t.giveUp(err, t.discard)
	}
	if err := t.commit(); err != nil {
		return true, t.giveUp(err, t.takeBack)
	}
	if err := t.run(); err != nil {
		return true, t.giveUp(err, t.takeBack)
	}
	if err := t.finish(); err != nil {
		t.Warnings = append(t.Warnings, "the journal could not be closed yet: "+err.Error())
		return false, nil
	}
	return true, nil
}

// errTwice says that the id of an operation was used before.
var errTwice = errors.New("the operation was already applied")

// giveUp ends an operation with the error that broke it off.
func (t *Op) giveUp(cause error, undo func() error) error {
	if err := undo(); err != nil {
		t.Log.Error("a change was interrupted and could not be undone", "op", t.ID, "error", err)
		return &Interrupted{Op: t.ID, Err: cause}
	}
	return cause
}

// takeBack is rollback for a caller who is told of the failure anyway.
func (t *Op) takeBack() error {
	conflicts, err := t.rollback()
	for _, c := range conflicts {
		t.Log.Warn("a conflict copy was saved during a change", "path", c.Path, "copy", c.Copy, "reason", c.Reason)
	}
	return err
}
