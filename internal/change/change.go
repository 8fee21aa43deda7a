// Package change describes edits to a vault as values: made by tools, shown to
// people, applied by the vault, and reversible. It opens no file.
package change

import "fmt"

// An Edit replaces the content of one path. A nil side means "no such file",
// so creation, replacement and removal are the same shape, and swapping the
// sides undoes it.
type Edit struct {
	Path   string  `json:"path"`
	Before *string `json:"before,omitempty"`
	After  *string `json:"after,omitempty"`
}

// A Set is applied whole or not at all.
type Set []Edit

// Inverse returns the set that undoes s, last edit first.
func (s Set) Inverse() Set {
	inv := make(Set, len(s))
	for i, e := range s {
		inv[len(s)-1-i] = Edit{Path: e.Path, Before: e.After, After: e.Before}
	}
	return inv
}

// Destroys reports whether applying s removes a file.
func (s Set) Destroys() bool {
	for _, e := range s {
		if e.Before != nil && e.After == nil {
			return true
		}
	}
	return false
}

// Paths lists the paths that s touches, in order, each once.
func (s Set) Paths() []string {
	seen := make(map[string]bool, len(s))
	var out []string
	for _, e := range s {
		if !seen[e.Path] {
			seen[e.Path] = true
			out = append(out, e.Path)
		}
	}
	return out
}

// Validate tells what is wrong with s as a set: an edit without a path or
// without sides, an edit that changes nothing, or two edits of one path, whose
// order would decide the outcome.
func (s Set) Validate() error {
	seen := make(map[string]bool, len(s))
	for i, e := range s {
		switch {
		case e.Path == "":
			return fmt.Errorf("edit %d names no file", i+1)
		case e.Before == nil && e.After == nil:
			return fmt.Errorf("edit of %q has no content", e.Path)
		case e.Before != nil && e.After != nil && *e.Before == *e.After:
			return fmt.Errorf("edit of %q changes nothing", e.Path)
		case seen[e.Path]:
			return fmt.Errorf("%q is edited twice", e.Path)
		}
		seen[e.Path] = true
	}
	return nil
}
