package tool

import (
	"cmp"
	"slices"

	"lore/internal/change"
	"lore/internal/fault"
	"lore/internal/note"
	"lore/internal/tool/access"
	"lore/internal/vault"
)

// A Guided result says which notes decided, by their text, what the tool wants to
// edit: a model that was asked about them may have been led by them.
type Guided interface{ GuidedBy() []string }

// mark adds the property to notes that would get words from outside: from a tool
// that brings them, from a caller who has read some, or from a note that goes away
// in the same set. What only follows another change brings none, and neither does
// what takes back or brings back a recorded change, whose words were judged when
// they were written. It changes the plan, so a person sees it.
func (c *call) mark(set change.Set, reverts bool) (change.Set, error) {
	tainted := !reverts && (c.tool.Untrusted || c.follows || (c.guided || c.who.Tainted) && c.who.Kind != access.Person)
	gone := slices.ContainsFunc(set, func(e change.Edit) bool { // its words go elsewhere in the set
		return !reverts && e.After == nil && e.From == "" && e.Before != nil && note.IsUntrusted([]byte(*e.Before))
	})
	if !tainted && !gone {
		return set, nil
	}
	out := slices.Clone(set)
	for i, e := range set {
		if e.After == nil || e.Relinks {
			continue
		}
		marked, err := c.marked(e)
		if err != nil {
			return nil, err
		}
		if marked != *e.After {
			out[i].After = &marked
			c.notices = append(c.notices, e.Path+" is now marked as untrusted, because it contains text from outside; read it again for its hash")
		}
	}
	return out, nil
}

// marked is the text of a note with the property. Where it cannot be set, nothing is
// written: text from outside would pass for the person's own.
func (c *call) marked(e change.Edit) (string, error) {
	if !vault.IsNoteName(e.Path) {
		return "", fault.Fix(fault.Invalid, "write it to a note", "%s: %s would contain text from outside, and only a note can be marked as untrusted", c.tool.Name, e.Path)
	}
	text, err := note.MarkUntrusted(e.Path, *e.After)
	if err == nil && !note.IsUntrusted([]byte(text)) {
		err = fault.New(fault.Invalid, "the property %q cannot be set", note.UntrustedKey)
	}
	if err != nil {
		return "", fault.Fix(fault.Invalid, "fix the front matter first, or write to another note",
			"%s: %s would contain text from outside and cannot be marked as untrusted: %v", c.tool.Name, e.Path, err)
	}
	return text, nil
}

// A Restorer is a result that takes back or brings back recorded changes, and knows
// where the words go that a mark was set for.
type Restorer interface {
	// KeepsMark reports whether words from outside may stay in a file.
	KeepsMark(path string) bool
}

// keepMarks puts the property back where an edit takes it away: that text from
// outside can be trusted is for a person to say. A change that is taken back takes
// its words along, and then its mark.
func (c *call) keepMarks(set change.Set, value any) (change.Set, error) {
	if c.who.Kind == access.Person {
		return set, nil
	}
	back, restores := value.(Restorer)
	out := slices.Clone(set)
	for i, e := range set {
		if e.Before == nil || e.After == nil || !note.IsUntrusted([]byte(*e.Before)) || note.IsUntrusted([]byte(*e.After)) {
			continue
		}
		if restores && !back.KeepsMark(cmp.Or(e.From, e.Path)) {
			continue
		}
		marked, err := c.marked(e)
		if err != nil {
			return nil, err
		}
		out[i].After = &marked
		c.notices = append(c.notices, e.Path+" stays marked as untrusted; only a person can remove the mark")
	}
	return withoutIdle(out), nil
}

// withoutIdle is a set without the edits that change nothing any more.
func withoutIdle(set change.Set) change.Set {
	same := func(e change.Edit) bool { return e.Before != nil && e.After != nil && *e.Before == *e.After }
	for i, e := range set {
		if e.From != "" && same(e) {
			set[i] = change.Move(e.From, e.Path)
		}
	}
	return slices.DeleteFunc(set, same)
}
