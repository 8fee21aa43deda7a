package sqlite

import (
	"strings"

	"lore/internal/index"
)

// A where builds the condition of a filter on the table notes (as n). Values
// are always bound, never written into the text.
type where struct {
	conds []string
	args  []any
}

func (w *where) add(cond string, args ...any) {
	w.conds = append(w.conds, cond)
	w.args = append(w.args, args...)
}

func (w *where) sql() string {
	if len(w.conds) == 0 {
		return "1"
	}
	return strings.Join(w.conds, " AND ")
}

// narrow reports whether f asks for anything beyond notes and canvases.
func narrow(f *index.Filter) bool {
	return len(f.Kinds)+len(f.Tags)+len(f.NoTags)+len(f.Folders)+len(f.Globs)+len(f.NoGlobs)+len(f.Types)+len(f.NoTypes)+len(f.Props) > 0 ||
		f.After != 0 || f.Before != 0 || f.Problems
}

func condition(f *index.Filter) *where {
	w := &where{}
	kinds := f.Kinds
	if len(kinds) == 0 {
		kinds = []index.Kind{index.KindNote, index.KindCanvas}
	}
	kindArgs := make([]any, len(kinds))
	for i, k := range kinds {
		kindArgs[i] = string(k)
	}
	w.add("n.kind IN "+marks(len(kinds)), kindArgs...)
	w.tags(f)
	w.paths(f)
	for _, list := range []struct {
		types []string
		op    string
	}{{f.Types, "IN "}, {f.NoTypes, "NOT IN "}} {
		if len(list.types) == 0 {
			continue
		}
		args := make([]any, len(list.types))
		for i, t := range list.types {
			args[i] = lower(t)
		}
		w.add("lower(n.type) "+list.op+marks(len(args)), args...)
	}
	// The date of a note is its own, else the time of its last change.
	const when = "coalesce(nullif(n.date, 0), n.mtime / 1000000000)"
	if f.After != 0 {
		w.add(when+" >= ?", f.After)
	}
	if f.Before != 0 {
		w.add(when+" < ?", f.Before)
	}
	for _, p := range f.Props {
		w.prop(p)
	}
	if f.Problems {
		w.add("n.problems <> ''")
	}
	return w
}

// tagArgs are the bounds of a tag and everything nested in it: '0' is the
// character after '/'.
func tagArgs(tag string) []any {
	tag = strings.ToLower(strings.TrimPrefix(tag, "#"))
	return []any{tag, tag + "/", tag + "0"}
}

func (w *where) tags(f *index.Filter) {
	var conds []string
	var args []any
	for _, t := range f.Tags {
		// The set of notes is found by the tag, not by the note: tags has no
		// index by note.
		conds = append(conds, "n.id IN (SELECT t.note FROM tags t WHERE t.tag = ? OR (t.tag > ? AND t.tag < ?))")
		args = append(args, tagArgs(t)...)
	}
	if len(conds) > 0 {
		op := " AND "
		if f.AnyTag {
			op = " OR "
		}
		w.add("("+strings.Join(conds, op)+")", args...)
	}
	for _, t := range f.NoTags {
		w.add("n.id NOT IN (SELECT t.note FROM tags t WHERE t.tag = ? OR (t.tag > ? AND t.tag < ?))", tagArgs(t)...)
	}
}

func (w *where) paths(f *index.Filter) {
	var conds []string
	var args []any
	for _, dir := range f.Folders {
		dir = strings.Trim(dir, "/")
		if dir == "" || dir == "." {
			conds = append(conds, "1")
			continue
		}
		conds = append(conds, "(lower(n.path) > ? AND lower(n.path) < ?)")
		args = append(args, lower(dir)+"/", lower(dir)+"0")
	}
	for _, g := range f.Globs {
		conds = append(conds, "lower(n.path) GLOB ?")
		args = append(args, glob(g))
	}
	if len(conds) > 0 {
		w.add("("+strings.Join(conds, " OR ")+")", args...)
	}
	for _, g := range f.NoGlobs {
		w.add("lower(n.path) NOT GLOB ?", glob(g))
	}
}

// lower is what SQLite's lower does: the letters of ASCII and no others. What is
// compared with its result must go through the same.
func lower(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, s)
}

// glob gives a pattern the meaning it has in SQLite, whose * crosses folders:
// a pattern without a wild card means "contains".
func glob(g string) string {
	g = lower(strings.TrimPrefix(g, "/"))
	g = strings.NewReplacer("[", "[[]", "**", "*").Replace(g)
	if !strings.ContainsAny(g, "*?") {
		return "*" + g + "*"
	}
	return g
}

func (w *where) prop(p index.PropFilter) {
	not := ""
	if p.Not {
		not = "NOT "
	}
	key := strings.ToLower(p.Key)
	const in = "n.id %IN (SELECT q.note FROM props q WHERE q.key = ?"
	head := strings.Replace(in, "%", not, 1)
	switch p.Op {
	case "<", "<=", ">", ">=":
		// Numbers compare as numbers; anything else, such as dates, as text.
		if isNumber(p.Value) {
			w.add(head+" AND q.value GLOB '[-0-9.]*' AND CAST(q.value AS REAL) "+p.Op+" CAST(? AS REAL))", key, p.Value)
		} else {
			w.add(head+" AND q.value "+p.Op+" ?)", key, strings.ToLower(p.Value))
		}
	default:
		if p.Value == "" {
			w.add(head+")", key)
			return
		}
		value := strings.ToLower(p.Value)
		// A link in a property is found by its target too.
		w.add(head+" AND q.value IN (?, ?))", key, value, "[["+value+"]]")
	}
}

func isNumber(s string) bool {
	if s == "" {
		return false
	}
	for i, c := range s {
		if c >= '0' && c <= '9' || c == '.' || (i == 0 && (c == '-' || c == '+')) {
			continue
		}
		return false
	}
	return true
}

// marks is "(?,?,?)" for n values.
func marks(n int) string {
	if n == 0 {
		return "()"
	}
	return "(" + strings.Repeat("?,", n-1) + "?)"
}
