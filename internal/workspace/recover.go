package workspace

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"

	"lore/internal/fault"
	"lore/internal/tool"
	"lore/internal/tool/history"
	"lore/internal/tool/policy"
	"lore/internal/vault/journal"
)

// recover completes or takes back what a crash left behind: first the files, then the record,
// then the questions. Without a crash it looks at one folder and for one row. It
// always looks: no file shows that a process was killed, since another one may
// have closed state.db in order after it.
func (s *Session) recover(ctx context.Context) error {
	if !s.holds {
		return nil
	}
	settled, err := s.Writer.Recover(ctx)
	if err != nil {
		return err
	}
	for _, op := range settled {
		s.Log.Warn("an interrupted change was recovered", "operation", op.Op, "outcome", string(op.Outcome), "conflicts", len(op.Conflicts))
		for _, c := range op.Conflicts {
			s.Log.Warn("a conflict copy was saved", "path", c.Path, "copy", c.Copy, "reason", c.Reason)
		}
	}
	held, err := s.Writer.Held(ctx)
	if err != nil {
		return err
	}
	// An intent can be all that is left: of a change that never began, or of a
	// new note, which displaced nothing.
	if err := s.recoverRecords(ctx, settled, held); err != nil || len(settled)+len(held) == 0 {
		return err
	}
	_, err = s.Writer.Sweep(ctx, s.synced(ctx))
	return err
}

// synced says whether history holds both sides of an operation.
func (s *Session) synced(ctx context.Context) func(op string) bool {
	return func(op string) bool {
		o, err := s.History.Outcome(ctx, op)
		return err == nil && o != tool.Intended
	}
}

// recoverRecords ends the operations of which only the intent is known. Where
// the journal does not know, the files tell: a change is made when every file
// is as it should be afterwards.
func (s *Session) recoverRecords(ctx context.Context, settled []journal.Recovered, held []string) error {
	if _, err := os.Stat(s.State.Path()); errors.Is(err, fs.ErrNotExist) && !s.History.Lost() {
		return nil // nothing was ever recorded
	}
	list, err := s.History.Unresolved(ctx)
	if err != nil {
		return err
	}
	known := map[string]bool{}
	for _, op := range settled {
		if op.Outcome != journal.SetAside { // then the files tell
			known[op.Op] = op.Outcome == journal.Applied
		}
	}
	for _, op := range held {
		known[op] = true // what is kept was displaced by a change that stands
	}
	for _, op := range list {
		applied, sure := known[op.ID]
		if !sure {
			if applied, err = s.isApplied(ctx, op.ID); err != nil {
				return err
			}
		}
		outcome := tool.Dropped
		if applied {
			outcome = tool.Applied
		}
		if err := s.History.Resolve(ctx, op.ID, outcome, "recovered after the program was stopped"); err != nil {
			return err
		}
		if err := s.History.Record(ctx, interrupted(op, applied)); err != nil {
			return err
		}
	}
	lost, err := s.History.Unrecorded(ctx)
	if err != nil || len(lost) == 0 {
		return err
	}
	return s.History.Record(ctx, interrupted(lost[0], true))
}

// interrupted is the record of a call that the program did not live to make.
func interrupted(op history.Operation, applied bool) tool.CallRecord {
	c := tool.CallRecord{
		ID: "call-" + strings.TrimPrefix(op.ID, "op-"), Time: op.Time, Who: op.Who, Tool: op.Tool, Args: op.Args, ArgsHash: op.ArgsHash,
		Decision: policy.Allow, Reason: "recovered after the program was stopped", Status: tool.CallDone, Summary: op.Summary,
		Operation: op.ID, Question: op.Question, Cost: -1,
	}
	if !applied {
		c.Status, c.Kind, c.Error = tool.CallCancelled, fault.Cancelled, "the program was stopped before the call was done"
	}
	return c
}

// isApplied reports whether the vault is as an operation wanted it.
func (s *Session) isApplied(ctx context.Context, op string) (bool, error) {
	set, err := s.History.Edits(ctx, op)
	if err != nil {
		return false, err
	}
	for _, e := range set {
		f, err := s.Vault.Read(ctx, e.Path)
		switch {
		case fault.Of(err) == fault.NotFound:
			if e.After != nil || e.From != "" {
				return false, nil
			}
		case err != nil:
			return false, err
		case e.After == nil && e.From == "", e.After != nil && string(f.Data) != *e.After:
			return false, nil
		}
	}
	return true, nil
}
