package tool

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"lore/internal/change"
	"lore/internal/pick"
)

// A Preview tells a person what a planned call will do. It is made from what
// the server computed, never from words of the caller.
type Preview struct {
	// Summary is one line: "Rename Tea.md to Drinks/Tea.md, 12 links follow".
	Summary string `json:"summary"`
	// Details are the facts behind it, as an object; may be nil.
	Details any `json:"details,omitempty"`
	// Warnings are what the person may not expect.
	Warnings []string `json:"warnings,omitempty"`
	// Destroys says that something is lost which the edits alone do not show.
	Destroys bool `json:"destroys,omitempty"`
}

// A Previewer is a planned result that describes itself before it happens.
// Without one, the edits are described.
type Previewer interface{ Preview() Preview }

// A Reverter is a planned result that takes back earlier operations, or brings
// them back.
type Reverter interface{ Reverts() []string }

// A FileChange is what a call does to one file.
type FileChange struct {
	Path    string      `json:"path"`
	From    string      `json:"from,omitempty"` // the path that a moved file leaves
	Action  change.Kind `json:"action"`
	Added   int         `json:"added"`   // lines
	Removed int         `json:"removed"` // lines
	// Diff is the change as a unified diff, with three lines around each place.
	// It is left out of the summary that a finished call answers.
	Diff string `json:"diff,omitempty"`
	// Hunks is how many places change; a person may choose among them.
	Hunks int `json:"hunks,omitempty"`
}

func sides(e change.Edit) (before, after string) {
	if e.Before != nil {
		before = *e.Before
	}
	if e.After != nil {
		after = *e.After
	}
	return before, after
}

// drawn describes a set file by file.
func drawn(set change.Set) []FileChange {
	out := make([]FileChange, len(set))
	for i, e := range set {
		before, after := sides(e)
		hunks := pick.Hunks(before, after)
		c := FileChange{Path: e.Path, From: e.From, Action: e.Kind(), Hunks: len(hunks)}
		c.Added, c.Removed = change.Count(hunks)
		if len(hunks) > 0 {
			c.Diff = change.Unified(diffName(e.Before, cmp.Or(e.From, e.Path)), diffName(e.After, e.Path), hunks)
		}
		out[i] = c
	}
	return out
}

// diffName is what a diff calls one side.
func diffName(side *string, path string) string {
	if side == nil {
		return "" // no such file
	}
	return path
}

// brief is drawn without the diffs.
func brief(list []FileChange) []FileChange {
	out := make([]FileChange, len(list))
	for i, c := range list {
		c.Diff, c.Hunks = "", 0
		out[i] = c
	}
	return out
}

// bases lists the hash of every file that a set was computed from; a file that
// must not exist has an empty one.
func bases(set change.Set) map[string]string {
	out := make(map[string]string, len(set))
	for _, e := range set {
		at := e.Path
		if e.From != "" {
			out[e.Path] = ""
			at = e.From
		}
		out[at] = ""
		if e.Before != nil {
			sum := sha256.Sum256([]byte(*e.Before))
			out[at] = hex.EncodeToString(sum[:])
		}
	}
	return out
}

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
