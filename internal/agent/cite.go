package agent

import (
	"encoding/json"
	"slices"

	"lore/internal/agent/chat"
	"lore/internal/agent/citation"
	"lore/internal/llm"
)

// cite checks what an answer rests on: whether the notes that it names were read
// in this run, and whether its quotes are the words of the notes that they are
// cited for. What is not so is marked, and a person sees that.
func (w *worker) cite(answer *chat.Message) {
	answer.Citations, answer.Quotes = nil, nil
	var parts []string
	for _, p := range answer.Parts {
		if p.Kind == llm.Text {
			parts = append(parts, p.Text)
		}
	}
	checked := citation.Check(parts, w.sources())
	for _, l := range checked.Links {
		c := chat.Citation{Link: l.Link, Path: l.Path, State: chat.Read}
		switch {
		case l.Path == "":
			c.State = chat.Unread
		case !l.Heading:
			c.State = chat.NoHeading
		}
		answer.Citations = append(answer.Citations, c)
	}
	for _, q := range checked.Quotes {
		answer.Quotes = append(answer.Quotes, chat.Quote{Text: q.Text, Path: q.Path, Read: q.Found})
	}
}

// uncited are the passages that were found for a question, when the answer of a model
// neither cites nor quotes anything that was read. Of a task, the changes tell.
func (w *worker) uncited(answer *chat.Message) (out []chat.Passage) {
	if w.info.Mute || w.chat.Purpose == chat.Rewriting ||
		slices.ContainsFunc(answer.Citations, func(c chat.Citation) bool { return c.State != chat.Unread }) ||
		slices.ContainsFunc(answer.Quotes, func(q chat.Quote) bool { return q.Read }) ||
		slices.ContainsFunc(w.calls, func(c chat.Call) bool { return c.Operation != "" }) {
		return nil
	}
	for _, p := range w.passages() {
		out = append(out, chat.Passage{Path: p.Path, Text: p.Text})
	}
	return out
}

// sources are the texts that results of this run showed. The note that the
// person looks at is known by name alone.
func (w *worker) sources() []citation.Source {
	var out []citation.Source
	for _, c := range w.calls {
		var v any
		if c.State != chat.Finished || json.Unmarshal(c.Whole, &v) != nil {
			continue
		}
		if m, ok := v.(map[string]any); ok && m["dry_run"] == true {
			continue // the words of a plan stand nowhere
		}
		from := len(out)
		out = citation.Gather(v, "", out)
		for i := range out[from:] {
			if c.Untrusted { // a stranger says nothing about what a note says
				out[from+i].Path = ""
			}
		}
	}
	out = append(out, w.quoted...)
	for _, m := range w.messages {
		if m.Run == w.run.ID && m.Note != "" {
			out = append(out, citation.Source{Path: m.Note})
		}
	}
	return out
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
	for _, p := range citation.Paths(w.sources()) {
		if !slices.Contains(changed, p) {
			read = append(read, p)
		}
	}
	return read[:min(len(read), 40)], changed
}
