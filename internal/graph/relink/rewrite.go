package relink

import (
	"context"
	"path"
	"regexp"
	"slices"
	"strings"

	"lore/internal/change"
	"lore/internal/fault"
	"lore/internal/index"
	"lore/internal/note"
)

// A task is one link that must be rewritten.
type task struct {
	link note.Link
	was  string // the file that it means
	to   string // the path of that file afterwards
}

// run reads every file that may be concerned and rewrites the links in it that
// would mean something else.
func (w *world) run(ctx context.Context) error {
	var read []*file
	var keys []string
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
		read = append(read, f)
		w.concerned(f, func(l note.Link) { keys = append(keys, index.TargetKey(l.Target)) })
	}
	if err := w.load(ctx, compact(keys)); err != nil {
		return err
	}
	todo := make([][]task, len(read))
	keys = keys[:0]
	for i, f := range read {
		if err := ctx.Err(); err != nil {
			return err
		}
		w.concerned(f, func(l note.Link) {
			if t, ok := w.judge(f, l); ok {
				todo[i] = append(todo[i], t)
				keys = append(keys, index.TargetKey(t.to), index.TargetKey(path.Dir(t.to)))
			}
		})
	}
	if err := w.load(ctx, compact(keys)); err != nil {
		return err
	}
	for i, f := range read {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := w.rewrite(f, todo[i]); err != nil {
			return err
		}
	}
	slices.SortFunc(w.plan.Files, func(a, b FileLinks) int { return strings.Compare(a.Path, b.Path) })
	slices.SortFunc(w.plan.Skipped, func(a, b Skip) int { return strings.Compare(a.Path, b.Path) })
	return nil
}

func compact(keys []string) []string {
	keys = slices.Clone(keys)
	slices.Sort(keys)
	return slices.Compact(keys)
}

// concerned hands over the links of a file whose meaning may change.
func (w *world) concerned(f *file, yield func(note.Link)) {
	_, moves := w.places[f.path]
	all := moves || w.point != nil
	for _, l := range f.note.Links {
		if !l.External && l.Target != "" && (all || w.keys[index.TargetKey(l.Target)]) {
			yield(l)
		}
	}
	if w.point != nil {
		return
	}
	for _, l := range lostLinks(f.note) {
		if all || w.keys[index.TargetKey(l.Target)] {
			yield(l)
		}
	}
}

// lost is the Field of a link that stands where the note cannot be read. No
// property has such a name. It is told about and never rewritten.
const lost = "\x00"

// lostLinks are the links in front matter or in a canvas that cannot be read.
func lostLinks(n *note.Note) []note.Link {
	if n.Front.Broken != "" {
		return lostWikilinks(n.Text()[n.Front.YAML.Start:n.Front.YAML.End])
	}
	if slices.ContainsFunc(n.Problems, func(p note.Problem) bool { return p.Kind == "broken_canvas" }) {
		return lostNodes(n)
	}
	return nil
}

func lostWikilinks(s string) []note.Link {
	var out []note.Link
	for {
		_, rest, ok := strings.Cut(s, "[[")
		if !ok {
			return out
		}
		inner, after, ok := strings.Cut(rest, "]]")
		if !ok {
			return out
		}
		s = after
		if strings.ContainsAny(inner, "[\r\n") {
			s = rest
			continue
		}
		target, _, _ := strings.Cut(inner, "|")
		target, fragment, _ := strings.Cut(target, "#")
		out = append(out, note.Link{Kind: note.InFront, Target: strings.TrimSpace(target), Fragment: strings.TrimSpace(fragment), Field: lost})
	}
}

// fileNode is what names the file of a canvas's node.
var fileNode = regexp.MustCompile(`"file"\s*:\s*"((?:[^"\\]|\\.)*)"`)

func lostNodes(n *note.Note) []note.Link {
	known := map[int]bool{}
	for _, l := range n.Links {
		known[l.Dest.Start] = true
	}
	var out []note.Link
	for _, m := range fileNode.FindAllStringSubmatchIndex(n.Text(), -1) {
		if !known[m[2]] {
			out = append(out, note.Link{Kind: note.Canvas, Target: n.Text()[m[2]:m[3]], Field: lost})
		}
	}
	return out
}

// judge tells whether a link must be rewritten, and to what.
func (w *world) judge(f *file, l note.Link) (task, bool) {
	if w.point != nil {
		to := w.point(f.path, l)
		return task{l, to, to}, to != ""
	}
	was, ok := w.earlier(f.path, string(l.Kind), l.Target)
	if !ok {
		return task{}, false
	}
	to := was
	if p, moved := w.follow[was]; moved {
		to = p
	}
	place := w.place(f.path)
	now, _ := w.later(place, string(l.Kind), l.Target)
	if now != to || w.force[was] && w.named(was, l.Target) {
		return task{l, was, to}, true
	}
	// Obsidian finds the file of a Markdown link by its name, too; everyone else
	// follows the path. One that was a path must stay one.
	if place == f.path && to == was || l.Field == lost {
		return task{}, false
	}
	s := styleOf(f.note, l, f.path, was)
	return task{l, was, to}, !s.wiki && !s.canvas && s.form != byName && !s.holds(l.Target, place, to)
}

// named reports whether a link says the name of a file, and not an alias that
// the file has.
func (w *world) named(p, target string) bool {
	return slices.ContainsFunc(w.before[index.TargetKey(target)], func(n index.Name) bool { return n.Path == p && n.Kind == index.NameFile })
}

// rewrite changes the links of one file. Links that take their target from a
// definition follow it.
func (w *world) rewrite(f *file, todo []task) error {
	if len(todo) == 0 {
		return nil
	}
	rs, links, failed, reason := w.spell(f, todo)
	patches, refused := note.RewriteLinks(f.note, rs)
	done := links[:0]
	for i, err := range refused {
		if err == nil {
			done = append(done, links[i])
			continue
		}
		failed++
		if reason == "" {
			reason = err.Error()
		}
	}
	if failed > 0 {
		w.skip(f.path, reason, failed)
	}
	if len(patches) == 0 {
		return nil
	}
	now, err := change.Splice(f.was, patches...)
	if err != nil {
		return fault.New(fault.Internal, "the links in %s could not be changed: %v", f.path, err)
	}
	f.now = now
	w.count(f, done)
	return nil
}

// spell finds what each link is to say. failed counts those for which nothing
// can be said.
func (w *world) spell(f *file, todo []task) (rs []note.Rewrite, links []note.Link, failed int, reason string) {
	fail := func(why string) {
		failed++
		if reason == "" {
			reason = why
		}
	}
	place := w.place(f.path)
	defined := definitions(f.note)
	for _, t := range todo {
		switch {
		case t.link.Field == lost:
			fail(brokenReason(f.note))
			continue
		case t.link.Dest == (note.Span{}) && defined[t.link.Target]:
			continue
		case t.link.Dest == (note.Span{}):
			fail("a link in it cannot be edited")
			continue
		}
		target, ok := w.target(f, t, place)
		if !ok {
			fail("no link can point to " + t.to)
			continue
		}
		if target == t.link.Target {
			continue
		}
		rs = append(rs, note.Rewrite{Link: t.link, Target: target, Text: w.words(t, target)})
		links = append(links, t.link)
	}
	return rs, links, failed, reason
}

// words are what a link to a note that goes into another has shown, where it
// would show something else: a reader of the text sees no merge. A property or a
// relation is data, and names the note alone.
func (w *world) words(t task, target string) string {
	l := t.link
	if !w.force[t.was] || l.Kind != note.Wikilink || l.Field != "" || l.Text != "" || strings.EqualFold(path.Base(l.Target), path.Base(target)) {
		return ""
	}
	if l.Fragment == "" || l.Fragment[0] == '^' {
		return l.Target
	}
	return l.Target + " > " + strings.ReplaceAll(l.Fragment, "#", " > ")
}

// definitions are the targets of the reference definitions of a note.
func definitions(n *note.Note) map[string]bool {
	out := map[string]bool{}
	for _, l := range n.Links {
		if l.Definition {
			out[l.Target] = true
		}
	}
	return out
}

// target is what a link must say to mean its file.
func (w *world) target(f *file, t task, place string) (string, bool) {
	s := styleOf(f.note, t.link, f.path, t.was)
	for _, way := range s.ways(place, t.to, w.unique) {
		if now, ok := w.later(place, s.kind, way); ok && now == t.to {
			return way, true
		}
	}
	return "", false
}
