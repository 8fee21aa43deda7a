package tool

import (
	"fmt"
	"strings"

	"lore/internal/change"
)

// A Preview tells a person what a planned call will do. It is made from what
// the server computed, never from words of the caller.
type Preview struct {
	// Summary is one line: "Rename Tea.md to Drinks/Tea.md, 12 links follow".
	Summary string `json:"summary"`
	// Details are the facts behind it, as an object; may be nil.
	Details any `json:"details,omitempty"`
	// Steps are the calls that it makes, one line each, where it makes several.
	Steps []string `json:"steps,omitempty"`
	// Warnings are what the person may not expect.
	Warnings []string `json:"warnings,omitempty"`
	// Destroys says that something is lost which the edits alone do not show.
	Destroys bool `json:"destroys,omitempty"`
}

// A Previewer is a planned result that describes itself before it happens.
// Without one, the edits are described.
type Previewer interface{ Preview() Preview }

// A Spender is a result that a model was asked for: how many tokens that took,
// and what it cost in US dollars, -1 when that is not known.
type Spender interface {
	Spent() (tokens int, cost float64)
}

// A Reverter is a planned result that takes back earlier operations, or brings
// them back.
type Reverter interface{ Reverts() []string }

// A FileChange is what a call does to one file.
type FileChange = change.FileChange

// previewOf describes a planned call.
func previewOf(t *Tool, value any, set change.Set) Preview {
	var p Preview
	if v, ok := value.(Previewer); ok {
		p = v.Preview()
	}
	if p.Summary == "" {
		p.Summary = summary(t, set)
	}
	return p
}

var verbs = map[change.Kind]string{
	change.Creates: "create", change.Replaces: "change", change.Removes: "delete", change.Moves: "move",
}

// summary says in one line what a set does.
func summary(t *Tool, set change.Set) string {
	switch len(set) {
	case 0:
		return t.Title + ": nothing to change"
	case 1:
		e := set[0]
		if e.From != "" {
			return fmt.Sprintf("%s: move %s to %s", t.Title, e.From, e.Path)
		}
		return fmt.Sprintf("%s: %s %s", t.Title, verbs[e.Kind()], e.Path)
	}
	n := map[change.Kind]int{}
	for _, e := range set {
		n[e.Kind()]++
	}
	var parts []string
	for _, k := range []change.Kind{change.Creates, change.Replaces, change.Moves, change.Removes} {
		if n[k] > 0 {
			parts = append(parts, fmt.Sprintf("%s %d", verbs[k], n[k]))
		}
	}
	return fmt.Sprintf("%s: %s of %d files", t.Title, strings.Join(parts, ", "), len(set))
}
