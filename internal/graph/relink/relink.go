// Package relink plans what happens to links when files move: after the moves
// every link means the file that it meant before, and only the links of which
// that would not be true by itself are rewritten, each in the way it was
// written.
//
// It reads the index to find the files that may be concerned, and those files
// through a function, fresh; it writes nothing and knows no vault and no tool.
package relink

import (
	"context"
	"path"
	"slices"
	"strings"

	"lore/internal/change"
	"lore/internal/fault"
	"lore/internal/index"
	"lore/internal/note"
)

// A Planner knows where the links of a vault stand.
type Planner struct {
	Store index.Store
	// Read returns the content of a file as it is now.
	Read func(ctx context.Context, path string) (string, error)
	// Parse is the dialect of the vault.
	Parse note.Options
	// Told hears how many of the files that may be concerned were read; may be
	// nil.
	Told func(ctx context.Context, done, total int)
}

// told tells how far a plan is.
func (p *Planner) told(ctx context.Context, done, total int) {
	if p.Told != nil {
		p.Told(ctx, done, total)
	}
}

// A Move gives a file another path.
type Move struct {
	From, To string
	// Kind is what the file is afterwards; empty when it stays what it was.
	Kind index.Kind
}

// A Plan is what is to be done, and what is told about it.
type Plan struct {
	Set     change.Set
	Links   int         // that are rewritten
	Files   []FileLinks // where, by path
	Skipped []Skip      // links that should be rewritten and cannot be, by path
}

// FileLinks are the lines of a file on which links are rewritten. The path is
// the one that the file has afterwards.
type FileLinks struct {
	Path  string `json:"path"`
	Lines []int  `json:"lines"`
}

// A Skip is a file with links that lead elsewhere afterwards, because they
// cannot be rewritten.
type Skip struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
	Links  int    `json:"links"`
}

// Moves plans to move files together with everything that links to them. That
// the new paths are free is for the caller to see to.
func (p *Planner) Moves(ctx context.Context, moves []Move) (Plan, error) {
	moves = slices.DeleteFunc(slices.Clone(moves), func(m Move) bool { return m.From == m.To })
	if err := distinct(moves); err != nil {
		return Plan{}, err
	}
	if len(moves) == 0 {
		return Plan{}, nil
	}
	w := p.newWorld()
	if err := w.move(ctx, moves); err != nil {
		return Plan{}, err
	}
	if err := w.run(ctx); err != nil {
		return Plan{}, err
	}
	for _, m := range moves {
		if f := w.files[m.From]; f != nil && f.now != f.was {
			w.plan.Set = append(w.plan.Set, change.MoveReplace(m.From, m.To, f.was, f.now).Relinking())
		} else {
			w.plan.Set = append(w.plan.Set, change.Move(m.From, m.To))
		}
	}
	w.replace()
	return w.plan, nil
}

// distinct refuses moves whose order would decide the outcome.
func distinct(moves []Move) error {
	seen := make(map[string]bool, 2*len(moves))
	for _, m := range moves {
		for _, q := range []string{m.From, m.To} {
			if q == "" {
				return fault.New(fault.Invalid, "a move needs a path")
			}
			if seen[q] {
				return fault.Fix(fault.Conflict, "move them one at a time", "%q occurs in more than one move", q)
			}
			seen[q] = true
		}
	}
	return nil
}

// Point makes links lead to other files: to is asked about every link of the
// files at paths, and answers with a path, or "" to leave the link alone.
func (p *Planner) Point(ctx context.Context, paths []string, to func(from string, l note.Link) string) (Plan, error) {
	w := p.newWorld()
	w.point = to
	w.sources = make(map[string]int, len(paths))
	for _, q := range paths {
		w.sources[q] = 0
	}
	if err := w.run(ctx); err != nil {
		return Plan{}, err
	}
	w.replace()
	return w.plan, nil
}

// A Merge is a plan with the two notes that become one. The texts of the notes
// are as their links must be when both stand in the kept one; what is done to
// the two files is not in the set.
type Merge struct {
	Plan
	Kept, Other       string // with links rewritten
	KeptWas, OtherWas string // as they are on disk
}

// Merge plans to let all links to one note lead to another that takes its
// place, and to let the links of its text stand in that other note. names are
// the aliases that the kept note has afterwards: a link by one of them is left
// alone. The others keep the words that they show.
func (p *Planner) Merge(ctx context.Context, kept, other string, names []string) (Merge, error) {
	w := p.newWorld()
	if err := w.merge(ctx, kept, other, names); err != nil {
		return Merge{}, err
	}
	if err := w.run(ctx); err != nil {
		return Merge{}, err
	}
	a, b := w.files[kept], w.files[other]
	m := Merge{Kept: a.now, Other: b.now, KeptWas: a.was, OtherWas: b.was}
	a.now, b.now = a.was, b.was
	w.replace()
	m.Plan = w.plan
	return m, nil
}

// Spell returns how a wikilink in one file names another: by its name where
// that is unique, else by its path.
func (p *Planner) Spell(ctx context.Context, from, to string) (string, error) {
	w := p.newWorld()
	if err := w.load(ctx, []string{index.TargetKey(to)}); err != nil {
		return "", err
	}
	for _, t := range (&style{wiki: true, kind: "wikilink"}).ways(from, to, w.unique) {
		if got, ok := w.later(from, "wikilink", t); ok && got == to {
			return t, nil
		}
	}
	return "", fault.New(fault.Invalid, "no wikilink can point to %q", to)
}

// kindOf tells what a file is by its name.
func kindOf(p string) index.Kind {
	switch strings.ToLower(path.Ext(p)) {
	case ".md", ".markdown":
		return index.KindNote
	case ".canvas":
		return index.KindCanvas
	}
	return index.KindAttachment
}

// Under returns the moves of those files that lie in a folder, when the folder
// gets another path.
func Under(files []string, from, to string) []Move {
	var out []Move
	for _, p := range files {
		if rest, ok := strings.CutPrefix(p, from+"/"); ok {
			out = append(out, Move{From: p, To: path.Join(to, rest)})
		}
	}
	return out
}
