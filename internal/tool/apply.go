package tool

import (
	"context"
	"errors"
	"fmt"

	"lore/internal/change"
	"lore/internal/fault"
)

// recordAndRun records that the act begins, and runs it: what reaches outside leaves a
// trace even when the program dies in it.
func (c *call) recordAndRun(ctx context.Context) (any, change.Set, error) {
	if c.deps.Ledger == nil {
		return nil, nil, fault.New(fault.Unavailable, "%s was not run, because this process cannot record calls", c.tool.Name)
	}
	begun := c.rec
	begun.ID, begun.Status, begun.Question = c.deps.ID("call"), CallStarted, c.question
	if err := c.deps.Ledger.Record(ctx, begun); err != nil {
		return nil, nil, fmt.Errorf("%s was not run, because it cannot be recorded: %w", c.tool.Name, err)
	}
	c.reached = true
	return c.planned(ctx)
}

func (c *call) writable(ctx context.Context) error {
	if c.deps.Apply == nil || c.deps.Ledger == nil {
		return fault.New(fault.ReadOnly, "%s: this process can only read", c.tool.Name)
	}
	if c.deps.Writable != nil {
		return c.deps.Writable(ctx)
	}
	return nil
}

// apply records the intent, makes the edits, and records how it ended. Once the
// intent is recorded, a caller that goes away stops nothing.
func (c *call) apply(ctx context.Context, value any, set change.Set, summary string) error {
	if c.op == "" {
		c.op = c.deps.ID("op")
	}
	c.rec.Operation, c.rec.Targets = c.op, few(set.Paths())
	op := Operation{
		ID: c.op, Time: c.deps.Now(), Who: c.maker(), Tool: c.tool.Name, Args: c.rec.Args, ArgsHash: c.rec.ArgsHash,
		Summary: summary, Question: c.question, Edits: set,
	}
	if v, ok := value.(Reverter); ok {
		op.Reverts = v.Reverts()
		ctx = context.WithValue(ctx, restoringKey{}, true)
	}
	if err := c.deps.Ledger.Begin(ctx, op); err != nil {
		return fmt.Errorf("%s was not run, because it cannot be recorded: %w", c.tool.Name, err)
	}
	lasting := context.WithoutCancel(ctx)
	if err := c.deps.Apply(ctx, c.op, set); err != nil {
		var u interface{ Interrupted() bool }
		if errors.As(err, &u) && u.Interrupted() {
			return err // recovery decides, and finishes the record
		}
		return errors.Join(err, c.deps.Ledger.Finish(lasting, c.op, Dropped, err.Error()))
	}
	if err := c.deps.Ledger.Finish(lasting, c.op, Applied, ""); err != nil {
		// The edits are made and their intent is on disk; the next start settles it.
		c.log().Error("the end of an operation could not be recorded", "operation", c.op, "kind", string(fault.Of(err)))
		c.notices = append(c.notices, "the change was made; its record will be completed at the next start")
	}
	c.log().Info("change applied", "operation", c.op, "files", len(set))
	if c.deps.Reindex != nil {
		if err := c.deps.Reindex(lasting, set.Paths()); err != nil {
			c.log().Warn("the index could not be updated after a change", "operation", c.op, "kind", string(fault.Of(err)))
			c.notices = append(c.notices, "the index is behind; searches may not show the change yet")
		}
	}
	return nil
}

type restoringKey struct{}

// Restoring reports whether the edits that Apply is to make bring back what was
// there before.
func Restoring(ctx context.Context) bool { return ctx.Value(restoringKey{}) != nil }
