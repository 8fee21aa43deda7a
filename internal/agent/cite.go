package agent

import (
	"encoding/json"
	"slices"
	"strings"

	"lore/internal/chat"
	"lore/internal/note"
)

// A source is a piece of text that a result of this run showed, with the note
// that it stands in.
type source struct{ path, text string }

// cite checks what an answer rests on: whether the notes that it names were read
// in this run, and whether its quotes are the words of the notes that they are
// cited for. What is not so is marked, and a person sees that.
func (w *worker) cite(answer *chat.Message) {
	answer.Citations, answer.Quotes = nil, nil
	prose, quotes := quotations(answer)
	sources := w.sources()
	paths := pathsOf(sources)
	for _, l := range note.Parse("", []byte(prose)).Links {
		if l.External || l.Definition || l.Target == "" {
			continue
		}
		c := chat.Citation{Link: l.Target, State: chat.Unread}
		if l.Fragment != "" {
			c.Link += "#" + l.Fragment
		}
		if p, ok := match(paths, l.Target); ok {
			c.Path, c.State = p, chat.Read
			if l.Fragment != "" && !shows(sources, p, l.Fragment) {
				c.State = chat.NoHeading
			}
		}
		if !slices.Contains(answer.Citations, c) {
			answer.Citations = append(answer.Citations, c)
		}
	}
	t := texts{sources: sources, paths: paths, even: map[sectionOf]string{}}
	for _, q := range quotes {
		path, ok := t.find(q)
		answer.Quotes = append(answer.Quotes, chat.Quote{Text: q.text, Path: path, Read: ok})
	}
}

// shows reports whether a heading, or the last of several, stood in what was read
// of a note.
func shows(sources []source, path, fragment string) bool {
	if i := strings.LastIndexAny(fragment, "#>"); i >= 0 {
		fragment = fragment[i+1:]
	}
	want := strings.ToLower(even(strings.TrimPrefix(fragment, "^")))
	return slices.ContainsFunc(sources, func(s source) bool {
		return s.path == path && strings.Contains(strings.ToLower(even(s.text)), want)
	})
}

// sources are the texts that results of this run showed. The note that the
// person looks at is known by name alone.
func (w *worker) sources() []source {
	var out []source
	for _, c := range w.calls {
		var v any
		if c.State != chat.Finished || json.Unmarshal(c.Whole, &v) != nil {
			continue
		}
		if m, ok := v.(map[string]any); ok && m["dry_run"] == true {
			continue // the words of a plan stand nowhere
		}
		from := len(out)
		out = gather(v, "", out)
		for i := range out[from:] {
			if c.Untrusted { // a stranger says nothing about what a note says
				out[from+i].path = ""
			}
		}
	}
	for _, m := range w.messages {
		if m.Run == w.run.ID && m.Note != "" {
			out = append(out, source{path: m.Note})
		}
	}
	return out
}

// gather collects the texts of a result, each with the path that stands nearest
// to it.
func gather(v any, path string, out []source) []source {
	switch v := v.(type) {
	case string:
		return append(out, source{path, v})
	case []any:
		for _, e := range v {
			out = gather(e, path, out)
		}
	case map[string]any:
		for _, k := range []string{"target_path", "source_path", "path"} {
			if p, ok := v[k].(string); ok {
				path = p
				out = append(out, source{path: p})
			}
		}
		for _, e := range v {
			out = gather(e, path, out)
		}
	}
	return out
}

// pathsOf are the notes that sources stand in.
func pathsOf(sources []source) []string {
	var out []string
	for _, s := range sources {
		if s.path != "" {
			out = append(out, s.path)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
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

// touched are the notes that were read and those that were changed.
func (w *worker) touched() (read, changed []string) {
	for _, c := range w.calls {
		if c.State != chat.Finished {
			continue
		}
		var v struct {
			Changes []struct{ Path string }
		}
		if json.Unmarshal(c.Whole, &v) == nil && c.Operation != "" {
			for _, x := range v.Changes {
				changed = append(changed, x.Path)
			}
		}
	}
	slices.Sort(changed)
	changed = slices.Compact(changed)
	for _, p := range pathsOf(w.sources()) {
		if !slices.Contains(changed, p) {
			read = append(read, p)
		}
	}
	return read[:min(len(read), 40)], changed
}
