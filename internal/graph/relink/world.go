package relink

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"lore/internal/change"
	"lore/internal/fault"
	"lore/internal/index"
	"lore/internal/note"
)

// A world is what links mean before and after a change, and what must be done
// about those whose meaning would change.
type world struct {
	*Planner
	places map[string]string       // where the links of a file stand afterwards, if elsewhere
	follow map[string]string       // which path a file has afterwards, if another
	force  map[string]bool         // files that go into another: every link by their name is rewritten
	was    map[string][]index.Name // by key: the names before and after of the files that change theirs
	will   map[string][]index.Name
	own    map[string]bool // the paths whose names are in was and will, not in the index
	keys   map[string]bool // of all of these names

	before, after map[string][]index.Name // by key, as far as they were needed
	memoBefore    map[question]string
	memoAfter     map[question]string

	sources map[string]int // files to look into, with the links that the index knows there
	point   func(from string, l note.Link) string
	files   map[string]*file
	plan    Plan
}

// A question is everything that the answer of index.Resolve depends on.
type question struct{ dir, kind, target string }

// A file is one that was read.
type file struct {
	path     string
	was, now string
	note     *note.Note
}

func (p *Planner) newWorld() *world {
	return &world{
		Planner: p, places: map[string]string{}, follow: map[string]string{}, force: map[string]bool{},
		was: map[string][]index.Name{}, will: map[string][]index.Name{}, own: map[string]bool{}, keys: map[string]bool{},
		before: map[string][]index.Name{}, after: map[string][]index.Name{},
		memoBefore: map[question]string{}, memoAfter: map[question]string{},
		sources: map[string]int{}, files: map[string]*file{},
	}
}

// move says which files have other paths afterwards.
func (w *world) move(ctx context.Context, moves []Move) error {
	kinds, err := w.kinds(ctx, moves)
	if err != nil {
		return err
	}
	for _, m := range moves {
		w.places[m.From], w.follow[m.From] = m.To, m.To
		kind := kinds[m.From]
		if kind == "" {
			kind = kindOf(m.From)
		}
		var aliases []string
		if kindOf(m.From) != index.KindAttachment {
			f, err := w.open(ctx, m.From)
			if err != nil {
				return err
			}
			w.sources[m.From] = 0
			if f != nil {
				aliases = f.note.Aliases
			}
		}
		w.rename(m.From, index.NamesOf(m.From, kind, "", "", aliases), index.NamesOf(m.To, cmp.Or(m.Kind, kind), "", "", aliases))
	}
	return w.linking(ctx)
}

// kinds asks the index what the moved files are.
func (w *world) kinds(ctx context.Context, moves []Move) (map[string]index.Kind, error) {
	paths := make([]string, len(moves))
	for i, m := range moves {
		paths[i] = m.From
	}
	rows, err := w.Store.Notes(ctx, index.Select{Paths: paths})
	if err != nil {
		return nil, err
	}
	out := make(map[string]index.Kind, len(rows))
	for _, r := range rows {
		out[r.File.Path] = r.Kind
	}
	return out, nil
}

// merge says that one note goes into another.
func (w *world) merge(ctx context.Context, kept, other string, aliases []string) error {
	w.places[other], w.follow[other] = kept, kept
	w.force[other] = true
	for _, p := range []string{kept, other} {
		f, err := w.open(ctx, p)
		if err != nil {
			return err
		}
		if f == nil {
			return fault.New(fault.NotFound, "%q does not exist", p)
		}
		w.sources[p] = 0
		was := index.NamesOf(p, kindOf(p), "", "", f.note.Aliases)
		var will []index.Name
		if p == kept {
			will = index.NamesOf(p, kindOf(p), "", "", aliases)
		}
		w.rename(p, was, will)
	}
	return w.linking(ctx)
}

// rename replaces what the index knows about the names of one file.
func (w *world) rename(p string, was, will []index.Name) {
	w.own[p] = true
	for _, n := range was {
		w.was[n.Key] = append(w.was[n.Key], n)
		w.keys[n.Key] = true
	}
	for _, n := range will {
		w.will[n.Key] = append(w.will[n.Key], n)
		w.keys[n.Key] = true
	}
}

// linking finds the files with links that may concern the names that change.
func (w *world) linking(ctx context.Context) error {
	keys := make([]string, 0, len(w.keys))
	for k := range w.keys {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	links, err := w.Store.Links(ctx, index.LinkQuery{To: keys})
	if err != nil {
		return err
	}
	for i, l := range links {
		if err := index.Interrupted(ctx, i); err != nil {
			return err
		}
		w.sources[l.From]++
	}
	return w.illegible(ctx)
}

// illegible adds the notes and canvases of which a part cannot be read: links in
// it are not in the index, and are told about, not missed.
func (w *world) illegible(ctx context.Context) error {
	rows, err := w.Store.Notes(ctx, index.Select{Filter: index.Filter{Problems: true}})
	if err != nil {
		return err
	}
	for i, r := range rows {
		if err := index.Interrupted(ctx, i); err != nil {
			return err
		}
		if slices.ContainsFunc(r.Problems, func(p index.Problem) bool { return p.Kind == "broken_yaml" || p.Kind == "broken_canvas" }) {
			w.sources[r.File.Path] += 0
		}
	}
	return nil
}

// open reads a file, once. It is nil when it is gone, or cannot be read, which
// the plan then tells.
func (w *world) open(ctx context.Context, p string) (*file, error) {
	if f, ok := w.files[p]; ok {
		return f, nil
	}
	text, err := w.Read(ctx, p)
	switch kind := fault.Of(err); {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case kind == fault.Offline:
		return nil, err // that says nothing about the file
	case kind == fault.NotFound:
		w.files[p] = nil
		return nil, nil
	case err != nil:
		w.files[p] = nil
		w.skip(p, err.Error(), w.sources[p])
		return nil, nil
	}
	f := &file{path: p, was: text, now: text}
	if kindOf(p) == index.KindCanvas {
		f.note = note.ParseCanvas(p, []byte(text))
	} else {
		f.note = w.Parse.Parse(p, []byte(text))
	}
	w.files[p] = f
	return f, nil
}

func (w *world) skip(p, reason string, links int) {
	w.plan.Skipped = append(w.plan.Skipped, Skip{Path: p, Reason: reason, Links: max(1, links)})
}

// load makes sure that the names behind keys are known.
func (w *world) load(ctx context.Context, keys []string) error {
	keys = slices.DeleteFunc(keys, func(k string) bool { _, known := w.before[k]; return known })
	if len(keys) == 0 {
		return nil
	}
	names, err := w.Store.Names(ctx, index.NameQuery{Keys: keys})
	if err != nil {
		return err
	}
	for _, k := range keys {
		w.before[k] = slices.Clone(w.was[k])
		w.after[k] = slices.Clone(w.will[k])
	}
	for i, n := range names {
		if err := index.Interrupted(ctx, i); err != nil {
			return err
		}
		if !w.own[n.Path] && n.Kind < index.NameTitle {
			w.before[n.Key] = append(w.before[n.Key], n)
			w.after[n.Key] = append(w.after[n.Key], n)
		}
	}
	for _, k := range keys {
		slices.SortFunc(w.before[k], byStrength)
		slices.SortFunc(w.after[k], byStrength)
	}
	return nil
}

// byStrength is the order in which a store names names.
func byStrength(a, b index.Name) int {
	return cmp.Or(cmp.Compare(a.Kind, b.Kind), strings.Compare(a.Path, b.Path))
}

// earlier is what a link in the file from means before the change.
func (w *world) earlier(from, kind, target string) (string, bool) {
	return resolve(w.memoBefore, w.before, from, kind, target)
}

// later is what it means afterwards.
func (w *world) later(from, kind, target string) (string, bool) {
	return resolve(w.memoAfter, w.after, from, kind, target)
}

// resolve answers once for all the files of a folder: ten thousand links to one
// note are few questions.
func resolve(memo map[question]string, names map[string][]index.Name, from, kind, target string) (string, bool) {
	q := question{path.Dir(from), kind, target}
	to, known := memo[q]
	if !known {
		to, _ = index.Resolve(from, kind, target, names[index.TargetKey(target)])
		memo[q] = to
	}
	return to, to != ""
}

// unique reports whether no other file has the name of the file at p.
func (w *world) unique(p string) bool {
	n := 0
	for _, name := range w.after[index.TargetKey(p)] {
		if name.Kind == index.NameFile {
			n++
		}
	}
	return n <= 1
}

// replace adds the edits of the files that stay where they are.
func (w *world) replace() {
	for _, p := range w.sorted() {
		if f := w.files[p]; f != nil && f.now != f.was && w.places[p] == "" {
			w.plan.Set = append(w.plan.Set, change.Replace(p, f.was, f.now).Relinking())
		}
	}
}

func (w *world) sorted() []string {
	paths := make([]string, 0, len(w.sources))
	for p := range w.sources {
		paths = append(paths, p)
	}
	slices.Sort(paths)
	return paths
}

// place is where a file stands afterwards.
func (w *world) place(p string) string { return cmp.Or(w.places[p], p) }

// count tells what was rewritten in a file.
func (w *world) count(f *file, links []note.Link) {
	lines := make([]int, 0, len(links))
	for _, l := range links {
		lines = append(lines, l.Line)
	}
	w.plan.Links += len(links)
	if w.force[f.path] {
		return // its lines are no lines of a file any more
	}
	slices.Sort(lines)
	w.plan.Files = append(w.plan.Files, FileLinks{Path: w.place(f.path), Lines: slices.Compact(lines)})
}

// brokenReason says why a part of a file is left alone.
func brokenReason(n *note.Note) string {
	if n.Front.Broken != "" {
		return fmt.Sprintf("the front matter cannot be read, line %d: %s", n.Front.BrokenLine, n.Front.Broken)
	}
	return "the canvas is damaged and cannot be read completely"
}
