// Package rundiff joins the changes that one caller made, step by step, into the
// one change that they come to. It reads the history and changes nothing.
package rundiff

import (
	"context"
	"time"

	"lore/internal/change"
	"lore/internal/fault"
	"lore/internal/tool"
	"lore/internal/tool/access"
	"lore/internal/tool/history"
)

// mostSteps is how many operations of a caller are looked at.
const mostSteps = 1000

// In returns what tells, of that history, what a caller has done to the vault
// since a time, as one set: each file with what it held before and what the
// caller left there. What a person approved is no part of it: its outcome is
// where counting begins anew. Files of which a content is no longer kept are
// left out.
func In(h *history.Store) func(context.Context, access.Principal, time.Time) (change.Set, error) {
	return func(ctx context.Context, who access.Principal, since time.Time) (change.Set, error) {
		list, err := h.Operations(ctx, history.Filter{Run: who.ID, Kind: who.Kind, Status: string(tool.Applied), Since: since, Limit: mostSteps})
		if err != nil {
			return nil, err
		}
		files := courses{}
		for i := len(list) - 1; i >= 0; i-- { // the newest come first
			edits, err := h.Files(ctx, list[i].ID)
			if err != nil {
				return nil, err
			}
			for _, e := range edits {
				files.add(list[i].ID, list[i].Question != "", e)
			}
		}
		return files.load(ctx, h)
	}
}

// A side is a content of a file: the edit that has it, and its hash.
type side struct {
	op, path, hash string
	after          bool // it is what the edit left there
}

// A course is what became of one file. A side without a hash is no such file, or
// one that nobody has looked into yet.
type course struct{ before, after side }

type courses map[string]course // by the path that the file has now

// add takes in what an operation did to a file.
func (cs courses) add(op string, approved bool, e history.FileEdit) {
	at := e.Path
	if e.From != "" {
		at = e.From
	}
	c := cs[at]
	delete(cs, at)
	before, after := side{op, e.Path, e.Before, false}, side{op, e.Path, e.After, true}
	switch {
	case e.From == "" && e.After == "":
		return // it was removed, which a person has approved
	case approved:
		c = course{before: after}
	case c.before.hash == "" && c.after.hash == "": // not seen, or only moved
		c.before = before
	}
	if e.After != "" {
		c.after = after
	}
	cs[e.Path] = c
}

func (cs courses) load(ctx context.Context, h *history.Store) (change.Set, error) {
	r := reader{h, map[string]change.Set{}}
	var set change.Set
	for path, c := range cs {
		if c.after.hash == "" || c.before.hash == c.after.hash {
			continue
		}
		before, err := r.text(ctx, c.before)
		var after *string
		if err == nil {
			after, err = r.text(ctx, c.after)
		}
		switch {
		case fault.Of(err) == fault.Unavailable: // it is kept no longer
		case err != nil:
			return nil, err
		default:
			set = append(set, change.Edit{Path: path, Before: before, After: after})
		}
	}
	return set, nil
}

// A reader reads the contents of each operation once.
type reader struct {
	history *history.Store
	edits   map[string]change.Set
}

// text is the content of a side, nil where there was no file.
func (r reader) text(ctx context.Context, s side) (*string, error) {
	if s.hash == "" {
		return nil, nil
	}
	set, ok := r.edits[s.op]
	if !ok {
		var err error
		if set, err = r.history.Edits(ctx, s.op); err != nil {
			return nil, err
		}
		r.edits[s.op] = set
	}
	for _, e := range set {
		switch {
		case e.Path != s.path:
		case s.after:
			return e.After, nil
		default:
			return e.Before, nil
		}
	}
	return nil, fault.New(fault.Internal, "operation %s did not edit %q", s.op, s.path)
}
