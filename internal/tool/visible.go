package tool

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"lore/internal/change"
	"lore/internal/fault"
	"lore/internal/tool/access"
	"lore/internal/tool/policy"
	"lore/internal/vault/visibility"
)

// What a change of the whole vault tells a caller who sees only a part of it.

// unlimited checks a plan that was made from a part of the vault. Files that
// move take links from the whole vault along, so these are planned once more
// from all of it; the caller hears of its own part alone.
func (c *call) unlimited(ctx context.Context, set change.Set) (change.Set, error) {
	moves := false
	for _, e := range set {
		moves = moves || e.From != "" || e.After == nil
		for _, p := range []string{e.Path, e.From} {
			if p == "" {
				continue
			}
			if err := c.limit.Check(p); err != nil {
				return nil, fmt.Errorf("%s: %w", c.tool.Name, err)
			}
		}
	}
	if !moves || c.tool.Effect != access.Changes {
		return set, nil
	}
	own := c.limit
	c.limit = visibility.Limit{}
	defer func() { c.limit = own }()
	_, whole, err := c.guarded(ctx, c.tool.run)
	if err != nil || !followsFrom(whole, set) {
		// Why it cannot be done may be told by the name of a file that is not shared.
		return nil, fault.Fix(fault.Denied, "use the full path, or ask the person to do it", "%s: the change affects notes that are not shared with %s", c.tool.Name, c.recipient())
	}
	return whole, nil
}

// withoutNames is the error of a change, in other words where it names a file
// that is not shared with the caller.
func (c *call) withoutNames(set change.Set, err error) error {
	for _, p := range c.unshared(set) {
		if strings.Contains(err.Error(), p) {
			return fault.New(fault.Of(err), "%s: the change was not made, because of a note that is not shared with %s", c.tool.Name, c.recipient())
		}
	}
	return err
}

// followsFrom reports whether a plan from the whole vault is the one that was
// made from a part of it: the same files come, go and move, and nothing but links
// in other notes follows. A name may mean another note where more notes are known,
// a folder may hold more, and a link may have to name the folder of a note that
// the caller must not know of.
func followsFrom(whole, part change.Set) bool {
	own := map[string]change.Edit{}
	for _, e := range part {
		own[e.Path] = e
	}
	kept := 0
	for _, e := range whole {
		mine, have := own[e.Path]
		switch {
		case have && (mine.Kind() != e.Kind() || mine.From != e.From || !sameText(mine.After, e.After)):
			return false
		case !have && e.Kind() != change.Replaces:
			return false
		case have:
			kept++
		}
	}
	return kept == len(part)
}

func sameText(a, b *string) bool { return a == b || a != nil && b != nil && *a == *b }

// unshared are the files of a plan that the caller must not know of.
func (c *call) unshared(set change.Set) []string {
	if c.limit.Everything() {
		return nil
	}
	var out []string
	for _, p := range c.real(set.Paths()) {
		if !c.limit.Allows(p) {
			out = append(out, p)
		}
	}
	return out
}

// VisibleTo is the question as who may know it: persons know all of it, a program
// that asked nothing of the files that are not shared with it.
func (q Question) VisibleTo(who access.Principal) Question {
	if who.Kind == access.Person || q.Who.Recipient() == "" {
		return q
	}
	q.Limit = visibility.Patterns{} // it names what is not shared
	hidden := q.Unshared
	if q.Consent != "" { // the names of folders are not shared
		hidden = paths(q.Changes)
		q.Changes = nil
	}
	q.Unshared = nil
	if q.Answer != nil && len(hidden) > 0 {
		a := Answer{Approve: q.Answer.Approve, Revision: q.Answer.Revision, Word: q.Answer.Word, By: q.Answer.By, At: q.Answer.At}
		q.Answer = &a
	}
	if len(hidden) == 0 {
		return q
	}
	names := func(text string) bool {
		return slices.ContainsFunc(hidden, func(p string) bool { return p != policy.TopLevel && strings.Contains(text, p) })
	}
	q.Changes = slices.DeleteFunc(slices.Clone(q.Changes), func(f FileChange) bool { return slices.Contains(hidden, f.Path) || slices.Contains(hidden, f.From) })
	q.Files, q.Edits, q.Value = nil, nil, nil
	q.Preview.Steps = slices.DeleteFunc(slices.Clone(q.Preview.Steps), names)
	q.Preview.Warnings = slices.DeleteFunc(slices.Clone(q.Preview.Warnings), names)
	q.Notices = slices.DeleteFunc(slices.Clone(q.Notices), names)
	if names(q.Reason) {
		q.Reason = "a person must decide"
	}
	return q
}

// IsShared reports whether how a question ended may be told to the program that
// asked, with which this much is shared now. Results wait in Lore until somebody
// looks, and a person may take back what they showed.
func (q Question) IsShared(now visibility.Limit) bool {
	hidden, all := now.Patterns().Lost(q.Limit)
	return len(q.Outcome) == 0 || !all && len(hidden) == 0
}

// ifShared is how a question ended, for the program that asked.
func (r *Registry) ifShared(ctx context.Context, q Question) (Result, error) {
	to := q.Who.Recipient()
	if to == "" || len(q.Outcome) == 0 {
		return r.resultOf(q)
	}
	c := &call{Registry: r, who: q.Who}
	s, err := c.sharing(ctx, to, c.recipient())
	switch {
	case err != nil:
		return Result{}, err
	case s.Verdict == policy.Allow && q.IsShared(s.Limit):
		return r.resultOf(q)
	case q.Operation != "": // the change is no secret to whoever made it
		return Result{Success: true, Tool: &Tool{Name: q.Tool, Title: q.Tool}, Operation: q.Operation, Message: "The change was made; its result is no longer shared with " + c.recipient()}, nil
	}
	return Result{}, fault.New(fault.Denied, "%s: the result is no longer shared with %s", q.Tool, c.recipient())
}
