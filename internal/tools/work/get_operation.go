package work

import (
	"context"
	"fmt"
	"strings"
	"time"

	"lore/internal/change"
	"lore/internal/fault"
	"lore/internal/note"
	"lore/internal/tool"
	"lore/internal/tool/history"
	"lore/internal/tool/paging"
)

// GetOperation: Show one recorded change: who made it, when and why, its
// files with diffs, and whether it can be undone.
type GetOperation struct {
	// Operation id or its start; default the last change.
	Operation string `json:"operation,omitempty" word:"true"`
	// Max files.
	Limit int `json:"limit,omitempty" default:"20" min:"1" max:"200"`
	// Files to skip.
	Offset int `json:"offset,omitempty" min:"0"`
}

// Help is the text for people.
func (GetOperation) Help() tool.Help {
	return tool.Help{
		Short: "Show a recorded change with its diff",
		Flags: map[string]string{
			"operation": "ID of the change, or its first characters (default: the last change)",
		},
		Examples: []string{
			"",
			"--limit 1",
		},
	}
}

// Operation is a recorded change.
type Operation struct {
	Operation   string         `json:"operation"`
	Time        time.Time      `json:"time"`
	InitiatedBy string         `json:"initiated_by"`
	Run         string         `json:"run"`
	Surface     string         `json:"surface"`
	Tool        string         `json:"tool"`
	Args        map[string]any `json:"args,omitempty"`
	Summary     string         `json:"summary"`
	// Outcome is applied, undone, dropped (it did not happen) or intended (not
	// finished).
	Outcome string `json:"outcome"`
	Reason  string `json:"reason,omitempty"`
	// Question is the approval that allowed it.
	Question string `json:"pending_operation_id,omitempty"`
	// Reverts are the operations that it undid or redid.
	Reverts []string     `json:"reverts,omitempty"`
	Count   int          `json:"count"`
	Files   []FileChange `json:"files"`
	// Undo says whether it can be undone now, and why not.
	Undo    bool   `json:"can_undo"`
	WhyNot  string `json:"why_not,omitempty"`
	More    string `json:"more,omitempty"`
	summary string
	outside bool
}

// ShowsOutside reports whether its diffs, arguments or words come from outside.
func (o Operation) ShowsOutside() bool { return o.outside }

// FileChange is what an operation did to one file.
type FileChange struct {
	tool.FileChange
	// Undone says that this file's change is undone.
	Undone bool `json:"undone,omitempty"`
	// Gone says that the contents are no longer kept.
	Gone bool `json:"gone,omitempty"`
}

// operation is the one of that id, or the last one.
func (env Env) operation(ctx context.Context, id string) (history.Operation, error) {
	who := tool.Caller(ctx)
	if id != "" {
		op, err := env.History.Operation(ctx, id)
		if err == nil && !tool.Sees(who, op.Who) {
			// As if it were not there: guessing must not help.
			return history.Operation{}, fault.New(fault.NotFound, "unknown operation %q", id)
		}
		return op, err
	}
	own := ""
	if !tool.SeesAll(who) {
		own = who.ID
	}
	list, err := env.History.Operations(ctx, history.Filter{Limit: 1, Run: own})
	if err == nil && len(list) == 0 {
		err = fault.New(fault.NotFound, "there are no changes yet")
	}
	if err != nil {
		return history.Operation{}, err
	}
	return list[0], nil
}

// Run reads the operation.
func (in GetOperation) Run(ctx context.Context, env Env) (Operation, error) {
	op, err := env.operation(ctx, in.Operation)
	if err != nil {
		return Operation{}, err
	}
	out := Operation{
		Operation: op.ID, Time: op.Time, InitiatedBy: string(op.Who.Kind), Run: op.Who.ID, Surface: op.Who.Surface, Tool: op.Tool,
		Args: arguments(op.Args), Summary: op.Summary, Outcome: string(op.Outcome), Reason: op.Reason, Question: op.Question,
		Reverts: history.Reverted(op.Reverts), Count: op.Count, Files: []FileChange{},
		summary: fmt.Sprintf("%s by %s, %s, %s", op.Tool, by(op.Who), at(op.Time), op.Outcome), outside: op.Who.Tainted,
	}
	files, err := env.History.Files(ctx, op.ID)
	if err != nil {
		return Operation{}, err
	}
	for _, f := range files {
		if hides(ctx, f.Path, f.From) {
			return Operation{}, fault.New(fault.NotFound, "unknown operation %q", op.ID)
		}
	}
	page, more := paging.Cut(files, in.Offset, in.Limit)
	out.More = more
	room := paging.MaxText
	for _, f := range page {
		c, outside := env.drawn(ctx, f)
		out.outside = out.outside || outside
		if len(c.Diff) > room {
			c.Diff = ""
			out.More = strings.TrimPrefix(out.More+"; some long diffs are left out; ask for fewer files", "; ")
		}
		room -= len(c.Diff)
		out.Files = append(out.Files, c)
	}
	_, _, err = env.revert(ctx, history.Wanted{Operation: op.ID}, false)
	if out.Undo = err == nil; err != nil {
		if k := fault.Of(err); k == fault.Internal || k == fault.Cancelled {
			return Operation{}, err
		}
		out.WhyNot = err.Error()
	}
	return out, nil
}

// drawn is the change of a file as a diff, when its contents are still kept, and
// whether the file was untrusted before it or after it.
func (env Env) drawn(ctx context.Context, f history.FileEdit) (c FileChange, outside bool) {
	c = FileChange{FileChange: tool.FileChange{Path: f.Path, From: f.From}, Undone: f.Undone}
	sides := [2]string{}
	for i, hash := range []string{f.Before, f.After} {
		if hash == "" {
			continue
		}
		text, ok := env.History.Image(ctx, hash)
		c.Gone = c.Gone || !ok
		sides[i] = text
		outside = outside || note.IsUntrusted([]byte(text))
	}
	switch {
	case f.From != "":
		c.Action = change.Moves
	case f.Before == "":
		c.Action = change.Creates
	case f.After == "":
		c.Action = change.Removes
	default:
		c.Action = change.Replaces
	}
	if c.Gone {
		return c, outside
	}
	hunks := change.Diff(sides[0], sides[1], change.DiffOptions{NoMarks: true})
	c.Added, c.Removed = change.Count(hunks)
	c.Hunks = len(hunks)
	names := [2]string{f.Path, f.Path}
	if f.From != "" {
		names[0] = f.From
	}
	if f.Before == "" && f.From == "" {
		names[0] = ""
	}
	if f.After == "" && f.From == "" {
		names[1] = ""
	}
	c.Diff = change.Unified(names[0], names[1], hunks)
	return c, outside
}

// View shows the diffs as they are.
func (o Operation) View() tool.View {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%s\n%s\n\n", o.Operation, o.Summary, o.summary)
	for _, f := range o.Files {
		switch {
		case f.Gone:
			fmt.Fprintf(&b, "%s %s (contents are no longer kept)\n", f.Action, f.Path)
		case f.Diff == "" && f.From != "":
			fmt.Fprintf(&b, "move %s to %s\n", f.From, f.Path)
		case f.Diff == "":
			fmt.Fprintf(&b, "%s %s\n", f.Action, f.Path)
		}
		b.WriteString(f.Diff)
	}
	foot := o.More
	if o.WhyNot != "" {
		foot = strings.TrimSuffix(o.WhyNot+"; "+o.More, "; ")
	}
	return tool.View{Text: b.String(), Foot: foot}
}
