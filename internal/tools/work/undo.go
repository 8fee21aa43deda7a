package work

import (
	"context"

	"lore/internal/change"
	"lore/internal/fault"
	"lore/internal/history"
)

// Undo takes back an earlier change: the last one, a named operation, one file
// of it, or everything that one run did. It refuses when a file was changed
// since, unless both changes can be kept. An undo can itself be undone.
type Undo struct {
	// Id of an operation, or its beginning; without it the last change that is
	// not undone.
	Operation string `json:"operation,omitempty" word:"true"`
	// Id of a run, token or session, to take back all that it did.
	Run string `json:"run,omitempty"`
	// Path of one file, to take back only its last change, or its part of the
	// operation or run.
	Path string `json:"path,omitempty" alias:"file"`
	// Keep what was changed in a file since, where that is possible.
	Merge bool `json:"merge,omitempty"`
}

// Plan finds the way back.
func (in Undo) Plan(ctx context.Context, env Env) (Reverted, change.Set, error) {
	if in.Run != "" && in.Operation != "" {
		return Reverted{}, nil, fault.Field("run", "name a run or an operation", "both were named")
	}
	return env.revert(ctx, history.Wanted{Operation: in.Operation, Run: in.Run, Path: in.Path}, in.Merge)
}
