package index

import (
	"path"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// Key turns a name as people write it into the form that names are compared
// in: NFC, lower case, white space folded, without ".md".
func Key(name string) string {
	if !plainASCII(name) {
		name = norm.NFC.String(name)
	}
	name = strings.ToLower(strings.TrimSpace(name))
	if strings.ContainsAny(name, "\t\n\r") || strings.Contains(name, "  ") {
		name = strings.Join(strings.Fields(name), " ")
	}
	return trimNoteExt(name)
}

func plainASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

func trimNoteExt(s string) string {
	if t, ok := strings.CutSuffix(s, ".md"); ok {
		return t
	}
	return strings.TrimSuffix(s, ".markdown")
}

// TargetKey is the key under which a link's target is looked up: that of its
// last path segment.
func TargetKey(target string) string {
	return Key(path.Base(strings.TrimSuffix(target, "/")))
}

// indexFiles are the files that stand for the folder they are in.
var indexFiles = []string{"index", "readme", "_index"}

// NamesOf lists every name of a file, each once, strongest kind first.
func NamesOf(file string, kind Kind, title, node string, aliases []string) []Name {
	if kind == KindConflict {
		return nil
	}
	base := Key(path.Base(file))
	out := []Name{{Key: base, Kind: NameFile, Path: file}}
	if kind == KindAttachment {
		return out
	}
	add := func(key string, k NameKind) {
		if key == "" || slices.ContainsFunc(out, func(n Name) bool { return n.Key == key && n.Kind == k }) {
			return
		}
		out = append(out, Name{Key: key, Kind: k, Path: file})
	}
	for _, a := range aliases {
		add(Key(a), NameAlias)
	}
	if dir := path.Dir(file); dir != "." && slices.Contains(indexFiles, base) {
		add(Key(path.Base(dir)), NameFolder)
	}
	if t := Key(title); t != base {
		add(t, NameTitle)
	}
	add(Key(node), NameNode)
	return out
}

// Resolve finds the file that a link in the note from points to, among the
// names that carry the target's key. It follows Obsidian: the exact path, then
// the file's name, then an alias; of several, the one in the nearest folder.
// Markdown links try the path relative to their note first. ok is false when
// nothing fits.
func Resolve(from, kind, target string, names []Name) (string, bool) {
	if target == "" {
		return from, true
	}
	want := pathKey(target)
	if p, ok := exactPath(from, kind, target, names); ok {
		return p, true
	}
	deep := strings.Contains(want, "/")
	best, rank := "", 0
	key := TargetKey(target)
	for _, n := range names {
		if n.Key != key || n.Kind >= NameTitle {
			continue
		}
		if deep && n.Kind == NameFile && !strings.HasSuffix("/"+pathKey(n.Path), "/"+want) {
			continue
		}
		if deep && n.Kind == NameAlias {
			continue
		}
		if deep && n.Kind == NameFolder && !strings.HasSuffix("/"+strings.ToLower(path.Dir(n.Path)), "/"+want) {
			continue
		}
		r := 1<<20 - int(n.Kind)<<16 + nearness(from, n.Path)
		if best == "" || r > rank || r == rank && lessPath(n.Path, best) {
			best, rank = n.Path, r
		}
	}
	return best, best != ""
}

// exactPath tries the target as a path: relative to the note for Markdown
// links, from the root for all.
func exactPath(from, kind, target string, names []Name) (string, bool) {
	var tries []string
	rooted := strings.TrimPrefix(target, "/")
	relative := path.Join(path.Dir(from), target)
	switch {
	case strings.HasPrefix(target, "/"):
		tries = []string{rooted}
	case strings.HasPrefix(target, "./"), strings.HasPrefix(target, "../"):
		tries = []string{relative}
	case kind == "markdown" || kind == "embed" && strings.Contains(target, "/"):
		tries = []string{relative, rooted}
	case strings.Contains(target, "/"):
		tries = []string{rooted}
	default:
		return "", false
	}
	for _, t := range tries {
		t = pathKey(path.Clean(t))
		for _, n := range names {
			switch n.Kind {
			case NameFile:
				if pathKey(n.Path) == t {
					return n.Path, true
				}
			case NameFolder:
				if strings.ToLower(path.Dir(n.Path)) == t {
					return n.Path, true
				}
			}
		}
	}
	return "", false
}

func pathKey(p string) string {
	if !plainASCII(p) {
		p = norm.NFC.String(p)
	}
	return trimNoteExt(strings.ToLower(strings.TrimSuffix(p, "/")))
}

// nearness is how many folders two paths share, less how far the second one
// lies below them.
func nearness(from, to string) int {
	a, b := strings.Split(path.Dir(from), "/"), strings.Split(path.Dir(to), "/")
	if a[0] == "." {
		a = nil
	}
	if b[0] == "." {
		b = nil
	}
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return min(n, 200)*256 - min(len(b)-n, 255)
}

func lessPath(a, b string) bool {
	if len(a) != len(b) {
		return len(a) < len(b)
	}
	return a < b
}
