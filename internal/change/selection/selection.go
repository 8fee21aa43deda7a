// Package selection keeps the part of a set of edits that a person accepted: some of
// the files, some of the places of a file.
package selection

import (
	"fmt"

	"lore/internal/change"
	"lore/internal/fault"
)

// Choose keeps the part of a set that a person accepted: the files of paths, all
// when it is nil, and of a file with an entry in hunks only those places,
// counted from 1. Edits that follow a move make no sense without it.
func Choose(set change.Set, paths []string, hunks map[string][]int) (change.Set, error) {
	var out change.Set
	left := false // a move or a removal was not chosen
	wanted := map[string]bool{}
	for _, p := range paths {
		wanted[p] = true
	}
	for _, e := range set {
		if paths != nil && !wanted[e.Path] && (e.From == "" || !wanted[e.From]) {
			left = left || e.Kind() == change.Moves || e.Kind() == change.Removes
			continue
		}
		delete(wanted, e.Path)
		delete(wanted, e.From)
		if list, ok := hunks[e.Path]; ok {
			var err error
			if e, err = chooseHunks(e, list); err != nil {
				return nil, err
			}
		}
		if e.Before != nil && e.After != nil && *e.Before == *e.After {
			if e.From == "" {
				continue
			}
			e.Before, e.After = nil, nil
		}
		out = append(out, e)
	}
	for p := range wanted {
		return nil, notShown("paths", p)
	}
	for p := range hunks {
		if !contains(set, p) {
			return nil, notShown("hunks", p)
		}
	}
	if left && len(out) > 0 {
		return nil, fault.Field("paths", "also select the moved and deleted files, or deny the change", "the selected edits depend on a move or deletion that was not selected")
	}
	return out, nil
}

func contains(set change.Set, path string) bool {
	for _, e := range set {
		if e.Path == path {
			return true
		}
	}
	return false
}

func chooseHunks(e change.Edit, list []int) (change.Edit, error) {
	if e.Before == nil || e.After == nil {
		return e, invalidHunks("only the parts of an edited note can be selected separately")
	}
	all := change.Hunks(*e.Before, *e.After)
	var keep []change.Hunk
	for _, n := range list {
		if n < 1 || n > len(all) {
			return e, invalidHunks(fmt.Sprintf("%s has %d parts; there is no part %d", e.Path, len(all), n))
		}
	}
	for i, h := range all {
		for _, n := range list {
			if n == i+1 {
				keep = append(keep, h)
				break
			}
		}
	}
	text, err := change.Apply(*e.Before, keep)
	if err != nil {
		return e, err
	}
	e.After = &text
	return e, nil
}

func notShown(field, path string) error {
	return fault.Field(field, "choose from the files in this change", "%q is not valid", path)
}

func invalidHunks(why string) error {
	return fault.Field("hunks", "see the diff of this change", "%s", why)
}
