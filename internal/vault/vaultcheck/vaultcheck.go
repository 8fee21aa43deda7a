// Package vaultcheck tells what is wrong with a vault after something went wrong
// with a change of it: a crash, a full disk, a person who edited meanwhile. It
// reads plain files and knows the promises, not the code that keeps them.
package vaultcheck

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A Rule is one promise about a vault.
type Rule string

// The promises.
const (
	Torn       Rule = "I1" // every note is a version that somebody wrote whole
	Lost       Rule = "I2" // what was acknowledged stands
	UserLost   Rule = "I3" // every version of a person is current, kept or in a copy
	Half       Rule = "I4" // a set stands whole or not at all
	Outside    Rule = "I5" // nothing outside the vault changed
	Stray      Rule = "I8" // no temporary file and no journal is left
	Unreadable Rule = "unreadable"
)

// A Violation is one broken promise.
type Violation struct {
	Rule   Rule
	Path   string
	Detail string
}

// String is the violation in one line.
func (v Violation) String() string { return fmt.Sprintf("%s %s: %s", v.Rule, v.Path, v.Detail) }

// A Case is what was tried with a vault. Contents are by path from the vault's
// folder, of visible files only.
type Case struct {
	Before, After map[string]string
	// Acknowledged says that the change was reported as done.
	Acknowledged bool
	// Edited are the versions that people wrote meanwhile, by path.
	Edited map[string][]string
	// Around is a folder with the vault in it, and Untouched what else it held.
	Around    string
	Untouched map[string]string
}

// ownFolder and temporary names are spelled out here: the check must not agree
// with a mistake in the code that it checks.
const ownFolder = ".lore"

func temporary(name string) bool {
	return strings.HasPrefix(name, ".lore-") && strings.HasSuffix(name, ".tmp")
}

// Check lists the promises that the vault in dir breaks, after recovery.
func Check(dir string, c Case) []Violation {
	all, err := Tree(dir, "")
	if err != nil {
		return []Violation{{Unreadable, dir, err.Error()}}
	}
	visible := map[string]string{}
	for p, s := range all {
		if !strings.HasPrefix(p, ownFolder+"/") && !temporary(p[strings.LastIndex(p, "/")+1:]) {
			visible[p] = s
		}
	}
	out := stray(all)
	out = append(out, c.torn(visible)...)
	out = append(out, c.lost(all)...)
	out = append(out, c.whole(visible)...)
	return append(out, c.around(dir)...)
}

// Tree reads all regular files of a folder, except those in skip.
func Tree(dir, skip string) (map[string]string, error) {
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && skip != "" && filepath.Clean(p) == filepath.Clean(skip) {
			return filepath.SkipDir
		}
		if !d.Type().IsRegular() {
			return nil
		}
		data, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, p)
		out[filepath.ToSlash(rel)] = string(data)
		return err
	})
	return out, err
}

func stray(all map[string]string) []Violation {
	var out []Violation
	for _, p := range slices.Sorted(maps.Keys(all)) {
		name := p[strings.LastIndex(p, "/")+1:]
		if temporary(name) {
			out = append(out, Violation{Stray, p, "a temporary file is left"})
		}
		if strings.HasPrefix(p, ownFolder+"/journal/") {
			out = append(out, Violation{Stray, p, "a journal is left"})
		}
	}
	return out
}

// versions are all contents that somebody wrote whole.
func (c *Case) versions() map[string]bool {
	out := map[string]bool{}
	for _, m := range []map[string]string{c.Before, c.After} {
		for _, s := range m {
			out[s] = true
		}
	}
	for _, list := range c.Edited {
		for _, s := range list {
			out[s] = true
		}
	}
	return out
}

func (c *Case) torn(visible map[string]string) []Violation {
	var out []Violation
	whole := c.versions()
	for p, s := range visible {
		if !whole[s] {
			out = append(out, Violation{Torn, p, fmt.Sprintf("nobody wrote this: %.60q (%d bytes)", s, len(s))})
		}
	}
	return out
}

// lost looks for every version of a person in all files, Lore's own too.
func (c *Case) lost(all map[string]string) []Violation {
	kept := map[string]bool{}
	for _, s := range all {
		kept[s] = true
	}
	var out []Violation
	for p, s := range c.Before {
		if !kept[s] {
			out = append(out, Violation{UserLost, p, fmt.Sprintf("%.60q is nowhere", s)})
		}
	}
	for p, list := range c.Edited {
		for _, s := range list {
			if !kept[s] {
				out = append(out, Violation{UserLost, p, fmt.Sprintf("the edit %.60q is nowhere", s)})
			}
		}
	}
	return out
}

// whole sees that the visible files are all old or all new, but for those that
// people edited.
func (c *Case) whole(visible map[string]string) []Violation {
	old, new := c.differs(visible, c.Before), c.differs(visible, c.After)
	switch {
	case c.Acknowledged && new != "":
		return []Violation{{Lost, new, "was reported as done and is not as it was to be"}}
	case old != "" && new != "":
		return []Violation{{Half, new, "is not new, while " + old + " is not old"}}
	}
	return nil
}

// differs names the first path that is not as in want.
func (c *Case) differs(have, want map[string]string) string {
	for _, p := range slices.Sorted(maps.Keys(want)) {
		if s, ok := have[p]; (!ok || s != want[p]) && len(c.Edited[p]) == 0 {
			return p
		}
	}
	for _, p := range slices.Sorted(maps.Keys(have)) {
		if _, ok := want[p]; !ok && len(c.Edited[p]) == 0 && !strings.Contains(p, "(conflicted copy") {
			return p
		}
	}
	return ""
}

func (c *Case) around(dir string) []Violation {
	if c.Around == "" {
		return nil
	}
	have, err := Tree(c.Around, dir)
	if err != nil {
		return []Violation{{Unreadable, c.Around, err.Error()}}
	}
	if !maps.Equal(have, c.Untouched) {
		return []Violation{{Outside, c.Around, fmt.Sprintf("holds %d files beside the vault, or other ones than the %d before", len(have), len(c.Untouched))}}
	}
	return nil
}
