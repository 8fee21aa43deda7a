package change

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
)

// Hunks is the diff that is shown and chosen from: the number of a hunk means
// one thing wherever it is used.
func Hunks(before, after string) []Hunk { return Diff(before, after, DiffOptions{NoMarks: true}) }

// A FileChange is what an edit does to one file, in words and as a diff.
type FileChange struct {
	Path    string `json:"path"`
	From    string `json:"from,omitempty"` // the path that a moved file leaves
	Action  Kind   `json:"action"`
	Added   int    `json:"added"`   // lines
	Removed int    `json:"removed"` // lines
	// Diff is the change as a unified diff, with three lines around each place.
	// It is left out of the summary that a finished call answers.
	Diff string `json:"diff,omitempty"`
	// Hunks is how many places change; a person may choose among them.
	Hunks int `json:"hunks,omitempty"`
}

func sides(e Edit) (before, after string) {
	if e.Before != nil {
		before = *e.Before
	}
	if e.After != nil {
		after = *e.After
	}
	return before, after
}

// Describe tells file by file what s does.
func (s Set) Describe() []FileChange {
	out := make([]FileChange, len(s))
	for i, e := range s {
		before, after := sides(e)
		hunks := Hunks(before, after)
		c := FileChange{Path: e.Path, From: e.From, Action: e.Kind(), Hunks: len(hunks)}
		c.Added, c.Removed = Count(hunks)
		if len(hunks) > 0 {
			c.Diff = Unified(diffName(e.Before, cmp.Or(e.From, e.Path)), diffName(e.After, e.Path), hunks)
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

// Brief is a description without the diffs.
func Brief(list []FileChange) []FileChange {
	out := make([]FileChange, len(list))
	for i, c := range list {
		c.Diff, c.Hunks = "", 0
		out[i] = c
	}
	return out
}

// Bases lists the hash of every file that a set was computed from; a file that
// must not exist has an empty one.
func (s Set) Bases() map[string]string {
	out := make(map[string]string, len(s))
	for _, e := range s {
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
