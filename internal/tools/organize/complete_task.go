package organize

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"lore/internal/change"
	"lore/internal/fault"
	"lore/internal/note"
	"lore/internal/tool"
	"lore/internal/tools/toolkit"
	"lore/internal/vault"
)

// CompleteTask: Check off one task of a note.
type CompleteTask struct {
	// Path, name, title or alias.
	Path string `json:"path"`
	// Its line.
	Line int `json:"line" min:"1"`
	// Expected hash, from a read.
	IfHash string `json:"if_hash,omitempty"`
}

// Help is the text for people.
func (CompleteTask) Help() tool.Help {
	return tool.Help{
		Short:    "Check off a task",
		Flags:    map[string]string{"line": "line of the task, from lore tasks"},
		Examples: []string{"Daily/2026-04-18.md 15"},
	}
}

// CompletedTask is a task that was checked off.
type CompletedTask struct {
	Path string `json:"path"`
	Hash string `json:"hash"`
	Line int    `json:"line"`
	Text string `json:"text"`
}

// Plan replaces the one character in the box.
func (in CompleteTask) Plan(ctx context.Context, env Env) (CompletedTask, change.Set, error) {
	row, err := toolkit.Locate(ctx, env.Store, "path", in.Path)
	if err != nil {
		return CompletedTask{}, nil, err
	}
	p := row.File.Path
	f, err := env.Vault.Read(ctx, p)
	if err != nil {
		return CompletedTask{}, nil, err
	}
	if in.IfHash != "" && !strings.EqualFold(in.IfHash, f.Hash.String()) {
		return CompletedTask{}, nil, &fault.Report{Kind: fault.Conflict, Field: "if_hash", Message: p + " changed since its tasks were listed", Fix: "list the tasks again"}
	}
	n := env.parse(p, f.Data)
	if n.Text() != string(f.Data) {
		return CompletedTask{}, nil, fault.Fix(fault.ReadOnly, "save it as UTF-8 first", "%s is not valid UTF-8", p)
	}
	i := slices.IndexFunc(n.Tasks, func(t note.Task) bool { return t.Line == in.Line })
	if i < 0 {
		return CompletedTask{}, nil, fault.Field("line", "list the tasks again", "line %d of %s is not a task", in.Line, p)
	}
	t := n.Tasks[i]
	if !t.IsOpen() {
		return CompletedTask{}, nil, fault.Field("line", "list the tasks again", "the task in line %d of %s is not open", in.Line, p)
	}
	after, err := change.Splice(n.Text(), change.Patch{Start: t.Box.Start, End: t.Box.End, Text: "x"})
	if err != nil {
		return CompletedTask{}, nil, err
	}
	out := CompletedTask{Path: p, Hash: vault.Sum([]byte(after)).String(), Line: t.Line, Text: t.Text}
	return out, change.Set{change.Replace(p, n.Text(), after)}, nil
}

// Preview says what changes.
func (c CompletedTask) Preview() tool.Preview {
	return tool.Preview{Summary: fmt.Sprintf("Check off a task in %s: %s", c.Path, c.Text), Details: map[string]any{"path": c.Path, "line": c.Line}}
}

// View is one line.
func (c CompletedTask) View() tool.View {
	return tool.View{Text: fmt.Sprintf("checked off in %s: %s\n", c.Path, c.Text)}
}
