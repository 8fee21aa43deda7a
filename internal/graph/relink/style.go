package relink

import (
	"path"
	"strings"

	"lore/internal/index"
	"lore/internal/note"
)

// A style is the way in which a link names its file.
type style struct {
	kind   string // the note package's LinkKind
	wiki   bool   // written with double brackets
	canvas bool
	form   form
	dot    bool   // "./"
	depth  int    // how many names the path has, for wikilinks
	ext    bool   // with ".md"
	folder bool   // it names the folder that the note is the index of
	slash  bool   // with a slash at its end
	last   string // the name as written, which may differ in case
}

// A form is what a path begins from.
type form int

const (
	byName   form = iota // a name alone, or the end of a path
	fromRoot             // the whole path
	rooted               // the whole path with a slash before it
	relative
)

// styleOf reads the style of a link in the file from that means the file to.
func styleOf(n *note.Note, l note.Link, from, to string) *style {
	t := strings.TrimSuffix(l.Target, "/")
	s := &style{kind: string(l.Kind), canvas: l.Kind == note.Canvas, slash: t != l.Target, depth: 1 + strings.Count(t, "/")}
	text := n.Text()[l.Span.Start:l.Span.End]
	s.wiki = !s.canvas && (l.Kind == note.Wikilink || l.Kind == note.InFront || l.Kind == note.Embed && strings.HasPrefix(text, "![["))
	s.ext = hasNoteExt(t)
	key := index.Key(path.Base(t))
	s.folder = key != index.Key(path.Base(to)) && key == index.Key(path.Base(path.Dir(to)))
	if !s.folder {
		s.last = path.Base(t)
	}
	file := to
	if s.folder {
		file = path.Dir(to)
	}
	switch {
	case s.canvas:
		s.form = fromRoot
	case strings.HasPrefix(t, "/"):
		s.form = rooted
	case strings.HasPrefix(t, "./"):
		s.form, s.dot = relative, true
	case strings.HasPrefix(t, "../"), t == ".", t == "..":
		s.form = relative
	case !s.wiki && samePath(path.Join(path.Dir(from), t), file):
		s.form = relative
	case samePath(t, file) && s.depth > 1:
		s.form = fromRoot
	}
	return s
}

// holds reports whether a target is still the path of a file, from where it was
// read so far.
func (s *style) holds(target, from, to string) bool {
	t := strings.TrimSuffix(target, "/")
	file := to
	if s.folder {
		file = path.Dir(to)
	}
	return samePath(path.Join(path.Dir(from), t), file) || s.form != relative && samePath(strings.TrimPrefix(t, "/"), file)
}

func hasNoteExt(p string) bool {
	e := strings.ToLower(path.Ext(p))
	return e == ".md" || e == ".markdown"
}

// bare is a path without the extension that links leave out.
func bare(p string) string {
	if hasNoteExt(p) {
		return strings.TrimSuffix(p, path.Ext(p))
	}
	return p
}

// samePath compares a target with a path as links do.
func samePath(target, p string) bool {
	return strings.EqualFold(index.Key(target), index.Key(p))
}

// ways lists how a link in the file from may name the file to, best first. The
// caller takes the first that leads there.
func (s *style) ways(from, to string, unique func(string) bool) []string {
	var out []string
	if s.folder {
		// A note that is no longer the index of its folder is named itself.
		out = s.paths(from, path.Dir(to), func(string) bool { return false }, to)
		if s.slash {
			for i := range out {
				out[i] += "/"
			}
		}
	}
	name := to
	if !s.ext && !s.canvas {
		name = bare(to)
	}
	if s.last != "" && !s.canvas {
		// The name keeps the case it was written in while it is the same name.
		if last := path.Base(name); index.Key(s.last) == index.Key(last) && hasNoteExt(s.last) == hasNoteExt(last) {
			name = path.Join(path.Dir(name), s.last)
		}
	}
	out = append(out, s.paths(from, name, unique, to)...)
	// Names such as "v1.md.md" and "photo.png.md" need their extension.
	if name != to {
		out = append(out, s.paths(from, to, unique, to)...)
	}
	return out
}

// paths lists the paths that may be written for name, which is that of the file
// to, or of its folder.
func (s *style) paths(from, name string, unique func(string) bool, to string) []string {
	if name == "." {
		return nil
	}
	rel := relativePath(from, name)
	dotted := rel
	if !strings.HasPrefix(rel, "../") {
		dotted = "./" + rel
	}
	var out []string
	switch {
	case s.form == rooted:
		out = []string{"/" + name}
	case s.form == fromRoot:
		out = []string{name}
	case s.form == relative && (s.dot || s.wiki):
		out = []string{dotted}
	case s.form == relative:
		out = []string{rel, dotted}
	default:
		out = s.named(name, unique(to))
		if !s.wiki {
			out = append(out, rel, dotted)
		}
	}
	return append(out, name, "/"+name, dotted)
}

// named lists the ends of a path, shortest first. A name alone must be unique;
// of the paths, those that are as long as the one that was written.
func (s *style) named(name string, unique bool) []string {
	parts := strings.Split(name, "/")
	if s.depth <= 1 && !s.folder {
		if unique {
			return []string{parts[len(parts)-1]}
		}
		return nil
	}
	var out []string
	for n := min(max(1, s.depth), len(parts)); n <= len(parts); n++ {
		out = append(out, strings.Join(parts[len(parts)-n:], "/"))
	}
	return out
}

// relativePath leads from the folder of one file to another file.
func relativePath(from, to string) string {
	a, b := strings.Split(path.Dir(from), "/"), strings.Split(to, "/")
	if a[0] == "." {
		a = nil
	}
	n := 0
	for n < len(a) && n < len(b)-1 && a[n] == b[n] {
		n++
	}
	return strings.Repeat("../", len(a)-n) + strings.Join(b[n:], "/")
}
