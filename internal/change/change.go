// Package change describes edits to a vault as values: made by tools, shown to
// people, applied by the vault, and reversible. It opens no file.
package change

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// An Edit replaces the content of one file, moves it, or both. A nil side means
// "no such file", so creation, replacement and removal are the same shape, and
// swapping the sides undoes it.
//
// A file that moves has From, the path it leaves. With both sides nil it moves
// as it is, whatever it holds; with both, its content changes on the way.
type Edit struct {
	Path   string  `json:"path"`
	From   string  `json:"from,omitempty"`
	Before *string `json:"before,omitempty"`
	After  *string `json:"after,omitempty"`
	// Relinks says that the edit only keeps links, tags or relationships in step
	// with another change: it brings in no text that the caller wrote.
	Relinks bool `json:"relinks,omitempty"`
}

// Create makes a new file.
func Create(path, after string) Edit { return Edit{Path: path, After: &after} }

// Replace gives a file another content.
func Replace(path, before, after string) Edit {
	return Edit{Path: path, Before: &before, After: &after}
}

// Delete takes a file away.
func Delete(path, before string) Edit { return Edit{Path: path, Before: &before} }

// Move gives a file another path and leaves its content alone.
func Move(from, path string) Edit { return Edit{Path: path, From: from} }

// MoveReplace gives a file another path and another content.
func MoveReplace(from, path, before, after string) Edit {
	return Edit{Path: path, From: from, Before: &before, After: &after}
}

// Relinking is e as an edit that only follows another change; see [Edit.Relinks].
func (e Edit) Relinking() Edit {
	e.Relinks = true
	return e
}

// A Kind is what an edit does to its file.
type Kind string

// The kinds of edits. A file whose content changes on a move is [Moves].
const (
	Creates  Kind = "create"
	Replaces Kind = "change"
	Removes  Kind = "delete"
	Moves    Kind = "move"
	Reads    Kind = "read" // no edit: somebody gets to see the file
)

// Kind tells what e does.
func (e Edit) Kind() Kind {
	switch {
	case e.From != "":
		return Moves
	case e.Before == nil:
		return Creates
	case e.After == nil:
		return Removes
	}
	return Replaces
}

// Inverse returns the edit that undoes e.
func (e Edit) Inverse() Edit {
	inv := Edit{Path: e.Path, Before: e.After, After: e.Before}
	if e.From != "" {
		inv.Path, inv.From = e.From, e.Path
	}
	return inv
}

// A Set is applied whole or not at all.
type Set []Edit

// Inverse returns the set that undoes s, last edit first.
func (s Set) Inverse() Set {
	inv := make(Set, len(s))
	for i, e := range s {
		inv[len(s)-1-i] = e.Inverse()
	}
	return inv
}

// Destroys reports whether applying s removes a file.
func (s Set) Destroys() bool {
	return slices.ContainsFunc(s, func(e Edit) bool { return e.Kind() == Removes })
}

// Creates reports whether s does nothing but make new files.
func (s Set) Creates() bool {
	return len(s) > 0 && !slices.ContainsFunc(s, func(e Edit) bool { return e.Kind() != Creates })
}

// shortText is how many words a rewrite of which is no loss worth a second look.
const shortText = 30

// Shrinks reports whether a file of some length loses more than half of its
// text, or any file all of it.
func (s Set) Shrinks() bool {
	if slices.ContainsFunc(s, Edit.empties) {
		return true
	}
	return slices.ContainsFunc(s.Losses(), Loss.Halves)
}

// Halves reports whether more than half of a text of some length is gone.
func (l Loss) Halves() bool { return (l.Words > shortText || l.size > 6*shortText) && l.Share() > 0.5 }

// empties reports whether nothing is left of a text.
func (e Edit) empties() bool {
	return e.Before != nil && e.After != nil && strings.TrimSpace(*e.After) == "" && strings.TrimSpace(*e.Before) != ""
}

// Paths lists the paths that s touches, those that files leave too, in order,
// each once.
func (s Set) Paths() []string {
	seen := make(map[string]bool, len(s))
	var out []string
	for _, e := range s {
		for _, p := range []string{e.From, e.Path} {
			if p != "" && !seen[p] {
				seen[p] = true
				out = append(out, p)
			}
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
		if err := e.validate(); err != nil {
			return fmt.Errorf("edit %d: %w", i+1, err)
		}
		for _, p := range []string{e.From, e.Path} {
			if p != "" && seen[p] {
				return fmt.Errorf("%q is edited twice", p)
			}
			seen[p] = true
		}
	}
	return nil
}

func (e Edit) validate() error {
	same := e.Before != nil && e.After != nil && *e.Before == *e.After
	switch {
	case e.Path == "":
		return errors.New("it names no file")
	case e.From == e.Path:
		return fmt.Errorf("%q moves to itself", e.Path)
	case e.From != "" && (e.Before == nil) != (e.After == nil):
		return fmt.Errorf("the move of %q has one side only", e.From)
	case e.From == "" && e.Before == nil && e.After == nil:
		return fmt.Errorf("the edit to %q has no content", e.Path)
	case same:
		return fmt.Errorf("the edit to %q changes nothing", e.Path)
	}
	return nil
}

// Hash identifies what s does, byte for byte: two sets with one hash are the
// same edits in the same order.
func (s Set) Hash() string {
	h := sha256.New()
	part := func(p *string) {
		if p == nil {
			_, _ = io.WriteString(h, "-;") // a hash never fails to be written to
			return
		}
		_, _ = fmt.Fprintf(h, "%d:", len(*p))
		_, _ = io.WriteString(h, *p)
	}
	for _, e := range s {
		part(&e.Path)
		part(&e.From)
		part(e.Before)
		part(e.After)
	}
	return hex.EncodeToString(h.Sum(nil))
}
