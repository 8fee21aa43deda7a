// Package citation checks what an answer rests on: the notes that it links to
// and the words that it quotes are compared with the texts that were read for
// it. It opens nothing.
package citation

import (
	"maps"
	"slices"
	"strings"

	"lore/internal/note"
)

// A Source is a text that was read, with the note that it is from; "" when it
// is from no note.
type Source struct{ Path, Text string }

// Checked is what is known about the links and quotes of an answer, in order.
type Checked struct {
	Links  []Link
	Quotes []Quote
}

// A Link is a note that an answer names.
type Link struct {
	Link    string // as written, without brackets and text
	Path    string // of the note that was read; "" when none was
	Heading bool   // what was read of it has the heading, or the link names none
}

// A Quote is what an answer says to be word for word in a note.
type Quote struct {
	Text  string
	Path  string // of the note that says it
	Found bool   // by the note that it is cited for, or by any when it is cited for none
}

// Check compares an answer, given in its parts, with what was read for it.
func Check(parts []string, sources []Source) Checked {
	var out Checked
	prose, quotes := quotations(parts)
	paths := Paths(sources)
	for _, l := range note.Parse("", []byte(prose)).Links {
		if l.External || l.Definition || l.Target == "" {
			continue
		}
		c := Link{Link: l.Target, Heading: true}
		if l.Fragment != "" {
			c.Link += "#" + l.Fragment
		}
		if p, ok := match(paths, l.Target); ok {
			c.Path = p
			c.Heading = l.Fragment == "" || shows(sources, p, l.Fragment)
		}
		if !slices.Contains(out.Links, c) {
			out.Links = append(out.Links, c)
		}
	}
	t := texts{sources: sources, paths: paths, even: map[sectionOf]string{}}
	for _, q := range quotes {
		path, ok := t.find(q)
		out.Quotes = append(out.Quotes, Quote{Text: q.text, Path: path, Found: ok})
	}
	return out
}

// Paths are the notes that sources are from.
func Paths(sources []Source) []string {
	var out []string
	for _, s := range sources {
		if s.Path != "" {
			out = append(out, s.Path)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// shows reports whether a heading, or the last of several, stood in what was read
// of a note.
func shows(sources []Source, path, fragment string) bool {
	if i := strings.LastIndexAny(fragment, "#>"); i >= 0 {
		fragment = fragment[i+1:]
	}
	want := strings.ToLower(even(strings.TrimPrefix(fragment, "^")))
	return slices.ContainsFunc(sources, func(s Source) bool {
		return s.Path == path && strings.Contains(strings.ToLower(even(s.Text)), want)
	})
}

// match finds the file that a citation means: by its path, or by its name where
// only one file that was read has it.
func match(seen []string, name string) (string, bool) {
	name = strings.TrimSuffix(strings.ToLower(name), ".md")
	var found []string
	for _, p := range seen {
		low := strings.TrimSuffix(strings.ToLower(p), ".md")
		if low == name {
			return p, true
		}
		if strings.HasSuffix(low, "/"+name) {
			found = append(found, p)
		}
	}
	if len(found) == 1 {
		return found[0], true
	}
	return "", false
}

// Gather adds the texts of a result to out, each with the path that stands nearest to
// it.
func Gather(v any, path string, out []Source) []Source {
	switch v := v.(type) {
	case string:
		return append(out, Source{Path: path, Text: v})
	case []any:
		for _, e := range v {
			out = Gather(e, path, out)
		}
	case map[string]any:
		for _, k := range []string{"target_path", "source_path", "path"} {
			if p, ok := v[k].(string); ok {
				path = p
				out = append(out, Source{Path: p})
			}
		}
		for _, k := range slices.Sorted(maps.Keys(v)) { // the same answer has the same sources
			out = Gather(v[k], path, out)
		}
	}
	return out
}
