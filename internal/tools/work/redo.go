package work

import (
	"context"

	"lore/internal/change"
	"lore/internal/tool"
	"lore/internal/tool/history"
)

// Redo: Redo a change that was undone: the last undo, or an operation.
// Refused if a file changed since, unless both changes can be kept.
type Redo struct {
	// Id of an undone operation or its start; default the last undo.
	Operation string `json:"operation,omitempty" word:"true"`
	// Keep later changes of a file where possible.
	Merge bool `json:"merge,omitempty"`
}

// Help is the text for people.
func (Redo) Help() tool.Help {
	return tool.Help{
		Short: "Redo a change that was undone",
		Long:  "If a file has changed since then, nothing is redone unless --merge can keep both changes.",
		Flags: map[string]string{
			"operation": "ID of the undone change, or its first characters (default: the last undo)",
			"merge":     "keep later changes to a file where possible",
		},
		Examples: []string{
			"",
		},
	}
}

// Plan finds the way forward again.
func (in Redo) Plan(ctx context.Context, env Env) (Reverted, change.Set, error) {
	return env.revert(ctx, history.Wanted{Redo: true, Operation: in.Operation}, in.Merge)
}
