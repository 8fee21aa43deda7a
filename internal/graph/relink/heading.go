package relink

import (
	"context"
	"slices"
	"strings"

	"lore/internal/change"
	"lore/internal/fault"
	"lore/internal/index"
	"lore/internal/note"
)

// Heading plans to give a heading of a note another text, and to let every link
// that leads to a heading of the note lead to the same one afterwards.
func (p *Planner) Heading(ctx context.Context, path, old, now string) (Plan, error) {
	w := p.newWorld()
	f, err := w.open(ctx, path)
	if err != nil {
		return Plan{}, err
	}
	if f == nil || kindOf(path) != index.KindNote {
		return Plan{}, fault.New(fault.NotFound, "there is no note %q", path)
	}
	i, err := f.note.FindHeading(old)
	if err != nil {
		return Plan{}, err
	}
	patches, err := note.SetHeading(f.note, i, now)
	if err != nil {
		return Plan{}, err
	}
	text, err := change.Splice(f.was, patches...)
	if err != nil {
		return Plan{}, fault.New(fault.Internal, "the heading in %s could not be changed: %v", path, err)
	}
	h := headings{path: path, old: f.note, now: w.Parse.Parse(path, []byte(text)), which: i, memo: map[string]string{}}
	names := index.NamesOf(path, index.KindNote, "", "", f.note.Aliases)
	w.rename(path, names, names)
	w.sources[path] = 0
	if err := w.linking(ctx); err != nil {
		return Plan{}, err
	}
	if err := w.retitle(ctx, &h, patches[0]); err != nil {
		return Plan{}, err
	}
	w.replace()
	for i := range w.plan.Set {
		w.plan.Set[i].Relinks = w.plan.Set[i].Path != path // the heading itself is the caller's text
	}
	return w.plan, nil
}

// retitle rewrites the fragments of all links to the note.
func (w *world) retitle(ctx context.Context, h *headings, own change.Patch) error {
	keys := make([]string, 0, len(w.keys))
	for k := range w.keys {
		keys = append(keys, k)
	}
	if err := w.load(ctx, keys); err != nil {
		return err
	}
	sources := w.sorted()
	for i, p := range sources {
		w.told(ctx, i, len(sources))
		f, err := w.open(ctx, p)
		if err != nil {
			return err
		}
		if f == nil {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := w.refragment(f, h, own); err != nil {
			return err
		}
	}
	slices.SortFunc(w.plan.Skipped, func(a, b Skip) int { return strings.Compare(a.Path, b.Path) })
	return nil
}

func (w *world) refragment(f *file, h *headings, own change.Patch) error {
	var rs []note.Rewrite
	var links []note.Link
	failed, reason := 0, ""
	for _, l := range f.note.Links {
		if !w.leadsTo(f, l, h.path) {
			continue
		}
		fragment := h.follow(l.Fragment)
		switch {
		case fragment == l.Fragment || l.Frag == (note.Span{}):
		case fragment == "":
			failed, reason = failed+1, "two headings would have the same name"
		case f.path == h.path && l.Span.Start < own.End && l.Span.End > own.Start:
			// It stands in the heading itself, which is replaced whole.
		default:
			rs = append(rs, note.Rewrite{Link: l, Fragment: fragment})
			links = append(links, l)
		}
	}
	for _, l := range lostLinks(f.note) {
		if w.leadsTo(f, l, h.path) && h.follow(l.Fragment) != l.Fragment {
			failed, reason = failed+1, brokenReason(f.note)
		}
	}
	patches, refused := note.RewriteLinks(f.note, rs)
	done := links[:0]
	for i, err := range refused {
		if err == nil {
			done = append(done, links[i])
			continue
		}
		failed, reason = failed+1, err.Error()
	}
	if failed > 0 {
		w.skip(f.path, reason, failed)
	}
	if len(done) > 0 {
		w.count(f, done)
	}
	if f.path == h.path {
		patches = append(patches, own)
	}
	now, err := change.Splice(f.was, patches...)
	if err != nil {
		return fault.New(fault.Internal, "the links in %s could not be changed: %v", f.path, err)
	}
	f.now = now
	return nil
}

// leadsTo reports whether a link leads into the note at p.
func (w *world) leadsTo(f *file, l note.Link, p string) bool {
	if l.External || l.Fragment == "" || strings.HasPrefix(l.Fragment, "^") {
		return false
	}
	if l.Target == "" {
		return f.path == p
	}
	if !w.keys[index.TargetKey(l.Target)] {
		return false
	}
	to, ok := w.earlier(f.path, string(l.Kind), l.Target)
	return ok && to == p
}

// headings are those of a note before and after one of them is renamed.
type headings struct {
	path     string
	old, now *note.Note
	which    int
	memo     map[string]string // fragment to what it becomes
}

// follow is what a fragment must become: itself when nothing is to be done, ""
// when nothing leads to its heading any more.
func (h *headings) follow(fragment string) string {
	now, known := h.memo[fragment]
	if !known {
		now = h.find(fragment)
		h.memo[fragment] = now
	}
	return now
}

func (h *headings) find(fragment string) string {
	steps := h.old.Trail(fragment)
	if len(steps) == 0 {
		return fragment // it leads to no heading now
	}
	last := steps[len(steps)-1].Heading
	parts := make([]string, len(steps))
	same := true
	for k, s := range steps {
		parts[k] = s.Text
		switch {
		case s.Slug && h.now.Slug(s.Heading) != s.Text:
			parts[k], same = h.now.Slug(s.Heading), false
		case !s.Slug && s.Heading == h.which:
			parts[k], same = linkable(h.now.Headings[h.which].Text), false
		}
	}
	ways := []string{fragment}
	if !same {
		ways = []string{strings.Join(parts, "#")}
	}
	ways = append(ways, h.whole(last))
	for _, way := range ways {
		if t := h.now.Trail(way); len(t) > 0 && t[len(t)-1].Heading == last {
			return way
		}
	}
	return ""
}

// whole is the path of all headings above one, and itself.
func (h *headings) whole(i int) string {
	hs := h.now.Headings
	parts := []string{linkable(hs[i].Text)}
	level := hs[i].Level
	for k := i - 1; k >= 0; k-- {
		if hs[k].Level < level {
			level = hs[k].Level
			parts = append(parts, linkable(hs[k].Text))
		}
	}
	slices.Reverse(parts)
	return strings.Join(parts, "#")
}

// linkable is the text of a heading without what cannot stand in a link, as
// Obsidian writes it.
func linkable(text string) string {
	text = strings.ReplaceAll(text, "%%", " ")
	text = strings.Map(func(r rune) rune {
		if strings.ContainsRune(":#|^[]\\", r) {
			return ' '
		}
		return r
	}, text)
	return strings.Join(strings.Fields(text), " ")
}
