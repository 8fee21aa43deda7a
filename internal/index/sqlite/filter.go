package sqlite

import (
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

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
	return len(f.Kinds)+len(f.Tags)+len(f.NoTags)+len(f.Folders)+len(f.Globs)+len(f.NoGlobs)+len(f.Types)+len(f.NoTypes)+len(f.Props)+len(f.Has)+len(f.Without) > 0 ||
		f.After != 0 || f.Before != 0 || f.Problems || f.Tasks || f.Typed || f.Untyped || f.MinSure != nil || f.MaxSure != nil || f.And != nil && narrow(f.And)
}

func condition(f *index.Filter) *where {
	w := &where{}
	if len(f.Kinds) == 0 {
		w.kinds([]index.Kind{index.KindNote, index.KindCanvas})
	}
	for ; f != nil; f = f.And {
		w.filter(f)
	}
	return w
}

func (w *where) kinds(kinds []index.Kind) {
	args := make([]any, len(kinds))
	for i, k := range kinds {
		args[i] = string(k)
	}
	w.add("n.kind IN "+marks(len(kinds)), args...)
}

func (w *where) filter(f *index.Filter) {
	if len(f.Kinds) > 0 {
		w.kinds(f.Kinds)
	}
	w.tags(f)
	w.paths(f)
	w.types("", " OR ", f.Types)
	w.types("NOT ", " AND ", f.NoTypes)
	if f.Typed {
		w.add("n.type <> ''")
	}
	if f.Untyped {
		w.add("n.type = ''")
	}
	if f.MinSure != nil {
		w.add("n.sure >= ?", *f.MinSure)
	}
	if f.MaxSure != nil {
		w.add("n.sure <= ?", *f.MaxSure)
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
	if f.Tasks {
		w.add("n.tasks > 0")
	}
	for _, e := range terms(f.Has) {
		w.add("n.id IN (SELECT rowid FROM words WHERE words MATCH ?)", e)
	}
	if e := terms(f.Without); len(e) > 0 {
		w.add("n.id NOT IN (SELECT rowid FROM words WHERE words MATCH ?)", strings.Join(e, " OR "))
	}
}

func (w *where) types(not, op string, types []string) {
	if len(types) == 0 {
		return
	}
	if not == "" && !slices.ContainsFunc(types, func(t string) bool { return t == "" || !ascii(t) }) {
		args := make([]any, len(types))
		for i, t := range types {
			args[i] = strings.ToLower(t)
		}
		w.add("n.type <> '' AND lower(n.type) IN "+marks(len(types)), args...) // as the index of nodes says it
		return
	}
	conds := make([]string, len(types))
	args := make([]any, len(types))
	for i, t := range types {
		conds[i], args[i] = "lower(n.type) "+not+"GLOB ?", folded(t, "")
	}
	w.add("("+strings.Join(conds, op)+")", args...)
}

// ascii reports whether lower() of SQLite knows all letters of s.
func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
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
		conds = append(conds, "lower(n.path) GLOB ?")
		args = append(args, folded(dir, "")+"/*")
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

// glob gives a pattern the meaning it has in SQLite, whose * crosses folders:
// a pattern without a wild card means "contains".
func glob(g string) string {
	g = strings.ReplaceAll(strings.TrimPrefix(g, "/"), "**", "*")
	if !strings.ContainsAny(g, "*?") {
		return "*" + folded(g, "") + "*"
	}
	return folded(g, "*?")
}

// folded writes text as a pattern that fits it in any case, of what lower() left
// of it: that knows ASCII only, so other letters are written in all their forms.
// The characters of wild keep their meaning.
func folded(text, wild string) string {
	var b strings.Builder
	for _, r := range norm.NFC.String(text) {
		switch {
		case strings.ContainsRune(wild, r):
			b.WriteRune(r)
		case r == '*' || r == '?' || r == '[':
			b.WriteString("[" + string(r) + "]")
		case r < utf8.RuneSelf:
			b.WriteRune(unicode.ToLower(r))
		case unicode.SimpleFold(r) == r:
			b.WriteRune(r)
		default:
			b.WriteByte('[')
			b.WriteRune(r)
			for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
				b.WriteRune(f)
			}
			b.WriteByte(']')
		}
	}
	return b.String()
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
		// A value is compared with its like: 2026-01-31 is no number, and "soon" no date.
		switch {
		case isNumber(p.Value):
			w.add(head+" AND q.value GLOB '[-0-9.]*' AND q.value NOT GLOB '[0-9][0-9][0-9][0-9]-*' AND CAST(q.value AS REAL) "+p.Op+" CAST(? AS REAL))", key, p.Value)
		case isDay(p.Value):
			// All times of a day are that day.
			w.add(head+" AND q.value GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]*' AND substr(q.value, 1, 10) "+p.Op+" ?)", key, p.Value)
		default:
			w.add(head+" AND q.value "+p.Op+" ?)", key, strings.ToLower(p.Value))
		}
	case index.OpContains:
		w.add(head+" AND instr(q.value, ?) > 0)", key, strings.ToLower(p.Value))
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

// isDay reports whether a value is a date without a time: 2026-01-31.
func isDay(s string) bool {
	_, err := time.Parse(time.DateOnly, s)
	return err == nil
}

// marks is "(?,?,?)" for n values.
func marks(n int) string {
	if n == 0 {
		return "()"
	}
	return "(" + strings.Repeat("?,", n-1) + "?)"
}
