package agent

import (
	"encoding/json"
	"slices"
	"strings"

	"lore/internal/chat"
	"lore/internal/llm"
	"lore/internal/note"
)

// A source is a piece of text that a result of this run showed, with the note
// that it stands in.
type source struct{ path, text string }

// cite checks what an answer rests on: whether the notes that it names, and the
// words that it quotes, were read in this run. What was not is marked, and a
// person sees that.
func (w *worker) cite(answer *chat.Message) {
	answer.Citations, answer.Quotes = nil, nil
	prose, quotes := parted(answer)
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
	quotes = append(quotes, spoken(note.Plain(prose))...)
	if len(quotes) == 0 {
		return
	}
	for i := range sources {
		sources[i].text = even(sources[i].text)
	}
	for _, q := range quotes {
		found := chat.Quote{Text: q}
		for _, s := range sources {
			if within(s.text, q) {
				found.Path, found.Read = s.path, true
				break
			}
		}
		answer.Quotes = append(answer.Quotes, found)
	}
}

// parted takes the quotes out of an answer: a quote has the links of what it
// quotes, and its words are checked by themselves.
func parted(answer *chat.Message) (prose string, quotes []string) {
	var rest, quote strings.Builder
	end := func() {
		if q := strings.TrimSpace(quote.String()); q != "" {
			quotes = append(quotes, q)
		}
		quote.Reset()
	}
	for _, p := range answer.Parts {
		if p.Kind != llm.Text {
			continue
		}
		for line := range strings.Lines(p.Text) {
			if inner, ok := strings.CutPrefix(strings.TrimLeft(line, " "), ">"); ok {
				quote.WriteString(strings.TrimPrefix(inner, " "))
				continue
			}
			end()
			rest.WriteString(line)
		}
		end()
		rest.WriteByte('\n')
	}
	return rest.String(), quotes
}

// quoteMarks are the pairs that words are quoted with inside a sentence.
var quoteMarks = [][2]string{{"“", "”"}, {"„", "“"}, {"«", "»"}, {"»", "«"}, {"\"", "\""}}

// fewWords are too few to be a quote: a name or a term stands in quotes too.
const fewWords = 5

// spoken are the quotes inside sentences.
func spoken(text string) []string {
	var out []string
	for text != "" {
		first, marks := -1, [2]string{}
		for _, m := range quoteMarks {
			if i := strings.Index(text, m[0]); i >= 0 && (first < 0 || i < first) {
				first, marks = i, m
			}
		}
		if first < 0 {
			break
		}
		text = text[first+len(marks[0]):]
		inner, rest, ok := strings.Cut(text, marks[1])
		if !ok {
			continue
		}
		if len(strings.Fields(inner)) >= fewWords {
			out = append(out, inner)
		}
		text = rest
	}
	return out
}

// even is a text in the form in which words are compared: without markup, with
// single blanks and plain marks.
func even(s string) string {
	return strings.Join(strings.Fields(marks.Replace(note.Plain(s))), " ")
}

var marks = strings.NewReplacer("’", "'", "‘", "'", "“", `"`, "”", `"`, "„", `"`, "–", "-", "—", "-", "\u00a0", " ", "\u00ad", "", "...", "…", "[…]", "…", "(…)", "…")

// within reports whether a text has the words of a quote, one after the other.
// Where the quote says that it leaves something out, it may.
func within(text, quote string) bool {
	said := false
	for piece := range strings.SplitSeq(even(quote), "…") {
		piece = strings.Trim(piece, ` .,;:!?"'-`)
		if piece == "" {
			continue
		}
		i := strings.Index(text, piece)
		if i < 0 {
			return false
		}
		text, said = text[i+len(piece):], true
	}
	return said
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
