package agent

import (
	"context"
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"lore/internal/chat"
	"lore/internal/llm"
)

var citation = regexp.MustCompile(`\[\[([^\[\]\n]{1,400})\]\]`)

// cite checks the notes that an answer names: whether they were read in this
// run. Those that were not are marked, and a person sees that.
func (w *worker) cite(_ context.Context, answer *chat.Message) []chat.Citation {
	var text strings.Builder
	for _, p := range answer.Parts {
		if p.Kind == llm.Text {
			for line := range strings.Lines(p.Text) {
				if !strings.HasPrefix(strings.TrimLeft(line, " "), ">") { // a quote has the links of what it quotes
					text.WriteString(line)
				}
			}
			text.WriteByte('\n')
		}
	}
	seen := w.seen()
	var out []chat.Citation
	for _, m := range citation.FindAllStringSubmatch(text.String(), -1) {
		link, _, _ := strings.Cut(m[1], "|")
		path, _, _ := strings.Cut(strings.TrimSpace(link), "#")
		c := chat.Citation{Link: strings.TrimSpace(link), State: "unread"}
		if p, ok := match(seen, path); ok {
			c.Path, c.State = p, "read"
		}
		if !slices.ContainsFunc(out, func(x chat.Citation) bool { return x.Link == c.Link }) {
			out = append(out, c)
		}
	}
	return out
}

// seen are the paths of notes that results of this run showed.
func (w *worker) seen() []string {
	var out []string
	for _, c := range w.calls {
		if c.State != chat.Finished {
			continue
		}
		var v any
		if json.Unmarshal(c.Whole, &v) == nil {
			out = paths(v, out)
		}
	}
	for _, m := range w.messages {
		if m.Run == w.run.ID && m.Note != "" {
			out = append(out, m.Note)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// paths gathers what stands in fields that name files.
func paths(v any, out []string) []string {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			out = paths(e, out)
		}
	case map[string]any:
		for k, e := range v {
			if s, ok := e.(string); ok && (k == "path" || k == "source_path" || k == "target_path") {
				out = append(out, s)
				continue
			}
			out = paths(e, out)
		}
	}
	return out
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
	for _, p := range w.seen() {
		if !slices.Contains(changed, p) {
			read = append(read, p)
		}
	}
	return read[:min(len(read), 40)], changed
}
