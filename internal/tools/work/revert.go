package work

import (
	"context"
	"fmt"
	"slices"

	"lore/internal/change"
	"lore/internal/fault"
	"lore/internal/graph/relink"
	"lore/internal/tool"
	"lore/internal/tool/history"
	"lore/internal/tools/toolkit"
)

// Reverted is what was undone or redone.
type Reverted struct {
	// Operations that were undone.
	Operations []string `json:"operations"`
	// Redone says that they were redone instead.
	Redone bool `json:"redone,omitempty"`
	// Files that change.
	Files int `json:"files"`
	// Merged files keep their later changes.
	Merged []string `json:"merged,omitempty"`
	// LinksLeft are notes with links to a file that moves back, added since it moved: those links break.
	LinksLeft []string `json:"links_left,omitempty"`

	refs    []string
	preview tool.Preview
	outside bool            // the operations were made by a caller who had read text from outside
	keep    map[string]bool // files in which words from outside may stay, by where they were
}

// ShowsOutside reports whether what is said of the operations comes from outside.
func (r Reverted) ShowsOutside() bool { return r.outside }

// KeepsMark reports whether words from outside may stay in a file.
func (r Reverted) KeepsMark(path string) bool { return r.keep[path] }

// Preview tells what will happen.
func (r Reverted) Preview() tool.Preview { return r.preview }

// Reverts names the edits whose state is turned over.
func (r Reverted) Reverts() []string { return r.refs }

// View is one line.
func (r Reverted) View() tool.View {
	verb := "undid"
	if r.Redone {
		verb = "redid"
	}
	text := fmt.Sprintf("%s %s, %s", verb, some(r.Operations), toolkit.Count(r.Files, "file"))
	if len(r.Merged) > 0 {
		text += "; later changes were kept in " + some(r.Merged)
	}
	if len(r.LinksLeft) > 0 {
		text += "; links added since the move are broken in " + some(r.LinksLeft)
	}
	return tool.View{Text: text + "\n"}
}

// own refuses to take back or bring back, for a program, what somebody else did,
// and for one who sees a part of the vault, what reaches beyond it: the plan, or
// why it cannot be done, would show it.
func (env Env) own(ctx context.Context, w history.Wanted) error {
	who := tool.Caller(ctx)
	if seesAll(ctx) {
		return nil
	}
	steps, err := env.History.Back(ctx, w)
	if err != nil {
		return err
	}
	for _, id := range operations(steps) {
		op, err := env.History.Operation(ctx, id)
		if err != nil {
			return err
		}
		reaches, err := env.reachesBeyond(ctx, id)
		if err != nil {
			return err
		}
		if !tool.Sees(who, op.Who) || reaches {
			if w.Operation == "" {
				return fault.Fix(fault.Denied, "give the ID of one of your own operations", "the last change was made by someone else")
			}
			return fault.New(fault.NotFound, "unknown operation %q", w.Operation)
		}
	}
	return nil
}

// reachesBeyond reports whether an operation touched files that the caller must
// not know of.
func (env Env) reachesBeyond(ctx context.Context, id string) (bool, error) {
	if !isLimited(ctx) {
		return false, nil
	}
	files, err := env.History.Files(ctx, id)
	return slices.ContainsFunc(files, func(f history.FileEdit) bool { return hides(ctx, f.Path, f.From) }), err
}

// revert plans what w means against the files as they are.
func (env Env) revert(ctx context.Context, w history.Wanted, merge bool) (Reverted, change.Set, error) {
	if err := env.own(ctx, w); err != nil {
		return Reverted{}, nil, err
	}
	steps, err := env.History.Back(ctx, w)
	if err != nil {
		return Reverted{}, nil, err
	}
	l := &layer{env: env, merge: merge, files: map[string]*tracked{}, left: map[string]bool{}, turns: map[history.Reversal]bool{}}
	for _, s := range steps {
		for _, t := range s.Turns {
			l.turns[t] = true
		}
	}
	for _, s := range steps {
		if err := l.apply(ctx, s); err != nil {
			return Reverted{}, nil, err
		}
	}
	verb := verbOf(steps)
	if err := l.trouble(verb); err != nil {
		return Reverted{}, nil, err
	}
	set := l.set()
	if set.Validate() != nil {
		// A file stands where another one left: said by contents, not by moves.
		if set, err = l.contents(ctx); err != nil {
			return Reverted{}, nil, err
		}
	}
	if len(set) == 0 {
		return Reverted{}, nil, fault.Fix(fault.Conflict, "name another operation",
			"nothing to do: every file in %s already has that content", some(operations(steps)))
	}
	out := describe(steps, set, verb)
	out.Merged, out.keep = l.merged, l.keeps()
	for _, p := range l.merged {
		out.preview.Warnings = append(out.preview.Warnings, "keeps later changes in "+p)
	}
	if out.LinksLeft, err = env.linksLeft(ctx, set); err != nil {
		return Reverted{}, nil, err
	}
	if len(out.LinksLeft) > 0 {
		out.preview.Warnings = append(out.preview.Warnings, "breaks links added since the move in "+some(out.LinksLeft))
	}
	return out, set, nil
}

// linksLeft finds the notes, beside those that the set changes, whose links a
// move would have to rewrite.
func (env Env) linksLeft(ctx context.Context, set change.Set) ([]string, error) {
	var moves []relink.Move
	for _, e := range set {
		if e.From != "" {
			moves = append(moves, relink.Move{From: e.From, To: e.Path})
		}
	}
	if len(moves) == 0 || env.Store == nil {
		return nil, nil
	}
	p := relink.Planner{Store: env.Store, Parse: env.Parse, Read: func(ctx context.Context, path string) (string, error) {
		f, err := env.Vault.Read(ctx, path)
		return string(f.Data), err
	}}
	plan, err := p.Moves(ctx, moves)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, f := range plan.Files {
		if !slices.Contains(set.Paths(), f.Path) {
			out = append(out, f.Path)
		}
	}
	return out, nil
}

// verbOf is Redo when all steps bring back what was undone: taking back an undo
// is a redo, however it was called.
func verbOf(steps []history.Step) string {
	if slices.ContainsFunc(steps, func(s history.Step) bool { return !s.Redo }) {
		return "Undo"
	}
	return "Redo"
}

// operations names whose edits the steps turn over, each once.
func operations(steps []history.Step) []string {
	var out []string
	for _, s := range steps {
		for _, t := range s.Turns {
			if !slices.Contains(out, t.Op) {
				out = append(out, t.Op)
			}
		}
	}
	return out
}

// describe puts a plan into words and names what it turns over.
func describe(steps []history.Step, set change.Set, verb string) Reverted {
	out := Reverted{Operations: operations(steps), Files: len(set), Redone: verb == "Redo"}
	touched := map[string]bool{}
	for _, p := range set.Paths() {
		touched[p] = true
	}
	ops := map[string]history.Operation{}
	for _, s := range steps {
		for _, t := range s.Turns {
			out.refs = append(out.refs, t.Ref(!touched[t.Path] && (t.From == "" || !touched[t.From])))
		}
		ops[s.Op.ID] = s.Op
		out.outside = out.outside || s.Op.Who.Tainted
	}
	if first, ok := ops[out.Operations[0]]; ok && len(out.Operations) == 1 {
		out.preview.Summary = fmt.Sprintf("%s %s of %s (%s)", verb, first.Tool, at(first.Time), first.ID)
	} else {
		out.preview.Summary = fmt.Sprintf("%s %s", verb, toolkit.Count(len(out.Operations), "operation"))
	}
	out.preview.Summary += ": " + shape(set)
	var details []Reverting
	for _, id := range out.Operations {
		if op, ok := ops[id]; ok {
			details = append(details, Reverting{op.ID, op.Tool, op.Summary, by(op.Who), at(op.Time)})
		}
	}
	out.preview.Details = map[string]any{"operations": details}
	return out
}

// Reverting is an operation that is about to be undone.
type Reverting struct {
	Operation string `json:"operation"`
	Tool      string `json:"tool"`
	Summary   string `json:"summary"`
	By        string `json:"by"`
	At        string `json:"at"`
}

// shape says what a set does in a few words.
func shape(set change.Set) string {
	if len(set) == 1 {
		e := set[0]
		switch e.Kind() {
		case change.Creates:
			return "create " + e.Path + " again"
		case change.Removes:
			return "delete " + e.Path
		case change.Moves:
			return "move " + e.From + " to " + e.Path
		}
		return "change " + e.Path
	}
	n := map[change.Kind]int{}
	for _, e := range set {
		n[e.Kind()]++
	}
	text := ""
	for _, k := range []change.Kind{change.Creates, change.Replaces, change.Moves, change.Removes} {
		if n[k] > 0 {
			text += fmt.Sprintf(", %s %s", k, toolkit.Count(n[k], "file"))
		}
	}
	return text[2:]
}
