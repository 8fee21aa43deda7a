package tool

import (
	"context"
	"encoding/json"
	"slices"

	"lore/internal/tool/access"
	"lore/internal/tool/policy"
)

// A Door is all that a surface may do with a vault: call tools, and let persons
// answer what was asked. The [Registry] is one; a connection to the process that
// holds the vault is another.
type Door interface {
	// On lists the tools that are switched on, by name.
	On() []*Tool
	// Find returns the tool of that name or alias.
	Find(name string) (*Tool, error)
	// Instructions is what models are told about a tool beyond its description.
	Instructions(t *Tool) string
	// Call runs a tool or asks a person; it never waits for one.
	Call(ctx context.Context, who access.Principal, name string, args json.RawMessage) (Result, error)

	// Questions lists what was asked, all or in these states.
	Questions(ctx context.Context, states ...State) ([]Question, error)
	// Question returns one by its id, or the beginning of it.
	Question(ctx context.Context, id string) (Question, error)
	// Answer is a person's answer, Rehearse what it would come to.
	Answer(ctx context.Context, person access.Principal, id string, a Answer) (Result, error)
	Rehearse(ctx context.Context, person access.Principal, id string, a Answer) (Question, error)
	// Await waits until a question is over, or was computed again.
	Await(ctx context.Context, id string, revision int) (Result, error)
	// Cancel withdraws a question.
	Cancel(ctx context.Context, who access.Principal, id string) error
	// Taint remembers that a program was shown a question with text from outside.
	Taint(ctx context.Context, who access.Principal) error
	// Rules lists the standing answers, Forget takes one back.
	Rules(ctx context.Context) ([]policy.Rule, error)
	Forget(ctx context.Context, person access.Principal, id string) error
}

var _ Door = (*Registry)(nil)

// EndSets are the toolsets with tools that end a run.
func EndSets(d Door) []string {
	var out []string
	for _, t := range d.On() {
		if t.Ends && !slices.Contains(out, t.Set) {
			out = append(out, t.Set)
		}
	}
	return out
}
