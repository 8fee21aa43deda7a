package work

import (
	"context"

	"lore/internal/change"
	"lore/internal/fault"
	"lore/internal/tool"
	"lore/internal/tool/history"
)

// Undo: Undo a change: the last one, an operation, or all of a run. Refused
// if a file changed since.
type Undo struct {
	// Operation id or its start; default the last.
	Operation string `json:"operation,omitempty" word:"true"`
	// Undo everything this run, token or session did.
	Run string `json:"run,omitempty"`
	// Undo only this file.
	Path string `json:"path,omitempty" alias:"file"`
	// Keep later changes where possible.
	Merge bool `json:"merge,omitempty"`
}

// Help is the text for people.
func (Undo) Help() tool.Help {
	return tool.Help{
		Short: "Undo a change",
		Long:  "Undoes the last change, or the one you name. If a file has changed since then, nothing is undone unless --merge can keep both changes. lore redo brings the change back.",
		Flags: map[string]string{
			"operation": "ID of the change, or its first characters (default: the last change)",
			"run":       "undo everything that this run, token or session did",
			"path":      "undo only the change to this file",
			"merge":     "keep later changes to a file where possible",
		},
		Examples: []string{
			"",
			`--path "Notes/Matcha.md"`,
		},
	}
}

// Plan finds the way back.
func (in Undo) Plan(ctx context.Context, env Env) (Reverted, change.Set, error) {
	if in.Run != "" && in.Operation != "" {
		return Reverted{}, nil, fault.Field("run", "name either a run or an operation", "cannot be combined with operation")
	}
	return env.revert(ctx, history.Wanted{Operation: in.Operation, Run: in.Run, Path: in.Path}, in.Merge)
}
