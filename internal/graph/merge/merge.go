// Package merge makes one text of two notes without losing a word of either:
// properties are joined or shown, bodies follow each other, and both must read as
// before. It is pure: links are rewritten by others.
package merge

import (
	"fmt"
	"slices"
	"strings"

	"lore/internal/change"
	"lore/internal/fault"
	"lore/internal/index"
	"lore/internal/note"
)

// Options say how two notes become one.
type Options struct {
	Parse  func(path string, data []byte) *note.Note
	First  bool            // the other's text comes first
	Prefer bool            // of properties that both have, the other's counts
	Drop   map[string]bool // properties of the other, in lower case, that are not needed where the kept note has them too
}

// Joined is the one note.
type Joined struct {
	Text     string
	Added    []string // properties that the kept note got or that grew
	Shown    []string // properties of which one value stands in the text
	Aliases  []string // names that the kept note got
	Warnings []string // what is no longer unique
}

// Notes puts the other note into the kept one, which gets the aliases.
func Notes(kept, other *note.Note, aliases []string, o Options) (Joined, error) {
	j := &joiner{Options: o, kept: kept, other: other}
	j.out.Aliases = aliases
	j.properties(aliases)
	text, err := j.text(o.First)
	if err != nil {
		return Joined{}, err
	}
	j.out.Text, j.out.Warnings = text, j.warnings()
	return j.out, nil
}

// Names are the names of the other note that the kept one does not have, those
// in more first.
func Names(kept, other *note.Note, more ...string) []string {
	have := []string{index.TargetKey(kept.Path)}
	for _, a := range kept.Aliases {
		have = append(have, index.Key(a))
	}
	var out []string
	for _, name := range slices.Concat(more, []string{other.Title}, other.Aliases) {
		if k := index.Key(name); k != "" && !slices.Contains(have, k) {
			have = append(have, k)
			out = append(out, name)
		}
	}
	return out
}

// AllNames are the aliases that the kept note has when it gets those in added:
// without them where its front matter takes none.
func AllNames(kept *note.Note, added []string) []string {
	key, list := withAliases(kept, added)
	if _, err := note.SetProperty(kept, key, list); err != nil {
		return kept.Aliases
	}
	return slices.Concat(kept.Aliases, added)
}

// withAliases is the property of a note for aliases, with more of them.
func withAliases(n *note.Note, more []string) (key string, list []any) {
	key, list = "aliases", []any{}
	for _, p := range n.Front.Props {
		if k := strings.ToLower(p.Key); k == "aliases" || k == "alias" {
			key, list = p.Key, asList(p.Value)
			break
		}
	}
	for _, a := range more {
		list = append(list, a)
	}
	return key, list
}

// A joiner makes one text of two notes.
type joiner struct {
	Options
	out         Joined
	kept, other *note.Note
	lost        []string // entries of front matter that stand in the text
}

// set gives the kept note a property. It reports whether that worked.
func (j *joiner) set(key string, v any) bool {
	patches, err := note.SetProperty(j.kept, key, v)
	if err != nil {
		return false
	}
	text, err := change.Splice(j.kept.Text(), patches...)
	if err != nil {
		return false
	}
	j.kept = j.Parse(j.kept.Path, []byte(text))
	return true
}

// properties joins the front matter. What cannot be joined is shown as it was
// written.
func (j *joiner) properties(aliases []string) {
	named := true
	if len(aliases) > 0 {
		key, list := withAliases(j.kept, aliases)
		if named = j.set(key, list); !named {
			j.out.Aliases = nil
		}
	}
	f := &j.other.Front
	yaml := j.other.Text()[f.YAML.Start:f.YAML.End]
	if f.Broken != "" || strings.Contains(yaml, "#") && hasComment(yaml) {
		// Comments belong to nobody: the whole block is kept.
		j.lost = []string{yaml}
	}
	for _, p := range f.Props {
		if k := strings.ToLower(p.Key); named && (k == "aliases" || k == "alias") {
			if !names(p.Value) {
				j.lost = append(j.lost, j.other.Text()[p.Span.Start:p.Span.End])
			}
			continue // they are names, and joined as names
		}
		j.property(p)
	}
}

// names reports whether every value is one that can be a name.
func names(v any) bool {
	return !slices.ContainsFunc(asList(v), func(v any) bool {
		switch v.(type) {
		case []any, map[string]any:
			return true
		}
		return false
	})
}

func (j *joiner) property(p note.Property) {
	have, both := j.kept.Front.Get(p.Key)
	mine, isList := have.([]any)
	yours, areList := p.Value.([]any)
	raw := j.other.Text()[p.Span.Start:p.Span.End]
	switch {
	case !both:
		if j.set(p.Key, p.Value) {
			j.out.Added = append(j.out.Added, p.Key)
			return
		}
	case fmt.Sprint(have) == fmt.Sprint(p.Value):
		return
	case j.Drop[strings.ToLower(p.Key)]:
		return
	case isList && areList:
		all := slices.Clone(mine)
		for _, v := range yours {
			if !slices.ContainsFunc(all, func(w any) bool { return strings.EqualFold(fmt.Sprint(w), fmt.Sprint(v)) }) {
				all = append(all, v)
			}
		}
		if len(all) == len(mine) {
			return
		}
		if j.set(p.Key, all) {
			j.out.Added = append(j.out.Added, p.Key)
			return
		}
	}
	if both && j.Prefer {
		if mine := j.raw(p.Key); j.set(p.Key, p.Value) {
			raw = mine
		}
	}
	j.out.Shown = append(j.out.Shown, p.Key)
	if len(j.lost) == 0 || !strings.Contains(j.lost[0], raw) {
		j.lost = append(j.lost, raw)
	}
}

// raw is a property of the kept note as it is written.
func (j *joiner) raw(key string) string {
	for _, p := range j.kept.Front.Props {
		if strings.EqualFold(p.Key, key) {
			return j.kept.Text()[p.Span.Start:p.Span.End]
		}
	}
	return ""
}

func asList(v any) []any {
	switch v := v.(type) {
	case nil:
		return nil
	case []any:
		return slices.Clone(v)
	case string:
		var out []any
		for _, s := range strings.Split(v, ",") {
			if s = strings.TrimSpace(s); s != "" {
				out = append(out, s)
			}
		}
		return out
	}
	return []any{v}
}

// hasComment reports whether YAML holds what may be a comment. A '#' inside of
// quotes counts too: keeping too much loses nothing.
func hasComment(yaml string) bool {
	for line := range strings.SplitSeq(yaml, "\n") {
		if t := strings.TrimLeft(line, " \t"); strings.HasPrefix(t, "#") || strings.Contains(t, " #") {
			return true
		}
	}
	return false
}

// text puts the two bodies together and makes sure that both read as before.
func (j *joiner) text(first bool) (string, error) {
	kept := j.kept.Text()
	eol := "\n"
	if i := strings.IndexByte(kept, '\n'); i > 0 && kept[i-1] == '\r' {
		eol = "\r\n"
	}
	// What comes takes the line ends of the kept note, whose bytes stay.
	part := strings.ReplaceAll(strings.ReplaceAll(j.part(), "\r\n", "\n"), "\n", eol)
	head := j.kept.Front.Span.End
	if head == 0 && strings.HasPrefix(kept, "\ufeff") {
		head = len("\ufeff")
	}
	var text string
	if first {
		body := strings.TrimLeft(kept[head:], "\r\n")
		text = kept[:head] + part
		if body != "" {
			text += eol + body
		}
	} else {
		body := strings.TrimRight(kept[head:], "\r\n")
		text = kept[:head] + body
		if body != "" {
			text += eol + eol
		}
		text += part
	}
	again := j.Parse(j.kept.Path, []byte(text))
	if !slices.Equal(targets(again), j.targets(first)) || len(again.Headings) < len(j.kept.Headings)+len(j.other.Headings) {
		return "", fault.Fix(fault.Conflict, "close open code blocks, comments and HTML, and rename link labels (\"[label]:\") that both notes define",
			"%s and %s cannot be merged without changing how their Markdown renders", j.kept.Path, j.other.Path)
	}
	return text, nil
}

// part is what comes into the kept note: the other's text under a heading, and
// properties that have no other place.
func (j *joiner) part() string {
	body := strings.TrimLeft(j.other.Text()[j.other.Front.Span.End:], "\ufeff\r\n")
	var b strings.Builder
	if len(j.other.Headings) == 0 || j.other.Headings[0].Span.Start > j.other.Front.Span.End+len(j.other.Text()[j.other.Front.Span.End:])-len(body) {
		b.WriteString("## " + strings.Join(strings.Fields(j.other.Title), " ") + "\n\n")
	}
	if len(j.lost) > 0 {
		block := "```yaml\n" + strings.TrimRight(strings.Join(j.lost, ""), "\r\n") + "\n```\n"
		if b.Len() > 0 {
			b.WriteString(block + "\n")
		} else {
			// The note begins with a heading: its properties stand below it.
			end := j.other.Headings[0].Span.End - (len(j.other.Text()) - len(body))
			b.WriteString(body[:end] + "\n\n" + block + "\n")
			body = strings.TrimLeft(body[end:], "\r\n")
		}
	}
	b.WriteString(body)
	if s := b.String(); !strings.HasSuffix(s, "\n") {
		return s + "\n"
	}
	return b.String()
}

// targets are the links that the one note must have.
func (j *joiner) targets(first bool) []string {
	a, b := targets(j.kept), targets(j.other)
	if first {
		a, b = b, a
	}
	return append(a, b...)
}

// targets lists the links in the body of a note.
func targets(n *note.Note) []string {
	out := []string{}
	for _, l := range n.Links {
		if l.Span.Start >= n.Front.Span.End {
			out = append(out, l.Target+"#"+l.Fragment)
		}
	}
	return out
}

// which says what became of properties that both notes have.
func (j *joiner) which() string {
	if j.Prefer {
		return "the value from the other note is used, and the value from the kept note is in the text"
	}
	return "the value from the kept note is used, and the value from the other note is in the text"
}

// warnings tell what is no longer unique in the one note.
func (j *joiner) warnings() []string {
	var out []string
	both := 0
	for _, h := range j.other.Headings {
		if slices.ContainsFunc(j.kept.Headings, func(k note.Heading) bool { return strings.EqualFold(k.Text, h.Text) }) {
			both++
		}
	}
	switch both {
	case 0:
	case 1:
		out = append(out, "one heading occurs in both notes: links to it go to the first")
	default:
		out = append(out, fmt.Sprintf("%d headings occur in both notes: links to them go to the first", both))
	}
	for _, b := range j.other.Blocks {
		if slices.ContainsFunc(j.kept.Blocks, func(k note.Block) bool { return strings.EqualFold(k.ID, b.ID) }) {
			out = append(out, "the block ^"+b.ID+" occurs in both notes")
		}
	}
	if len(j.out.Shown) > 0 {
		out = append(out, "both notes have "+strings.Join(j.out.Shown, ", ")+": "+j.which())
	}
	if strings.Contains(j.kept.Text(), "[^") && strings.Contains(j.other.Text(), "[^") {
		out = append(out, "both notes have footnotes: notes with the same label are combined")
	}
	return out
}
