package work

import (
	"context"

	"lore/internal/change"
	"lore/internal/history"
)

// Redo brings back a change that was undone: what the last undo took back, or a
// named operation. It refuses when a file was changed since, unless both
// changes can be kept.
type Redo struct {
	// Id of an operation that was undone, or its beginning; without it what the
	// last undo took back.
	Operation string `json:"operation,omitempty" word:"true"`
	// Keep what was changed in a file since, where that is possible.
	Merge bool `json:"merge,omitempty"`
}

// Plan finds the way forward again.
func (in Redo) Plan(ctx context.Context, env Env) (Reverted, change.Set, error) {
	return env.revert(ctx, history.Wanted{Redo: true, Operation: in.Operation}, in.Merge)
}
