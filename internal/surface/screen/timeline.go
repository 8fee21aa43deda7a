package screen

import (
	"bytes"
	"encoding/json"

	"lore/internal/chat"
	"lore/internal/surface/draw"
)

// A stand is how a state of a call is shown: by a mark and by a word.
type stand struct{ mark, word string }

var stands = map[chat.CallState]stand{
	chat.Proposed: {"·", "to do"}, chat.Calling: {"●", "running"}, chat.Asked: {"…", "waits for you"}, chat.Finished: {"✓", "done"},
	chat.Refused: {"–", "denied"}, chat.Mistaken: {"✗", "failed"}, chat.Interrupted: {"?", "interrupted"},
}

// mostResult is how many lines of a result are shown.
const mostResult = 200

// called draws a call: one line, and below it what went in and came out.
func (t *transcript) called(e *entry) []string {
	c := &e.call
	st := stands[c.State]
	text := st.mark + " " + draw.OneLine(c.Tool)
	word := "  (" + st.word + ")"
	if c.Summary != "" {
		text += ": " + draw.OneLine(c.Summary)
	}
	text = clip(text, max(8, t.width-2-upTo(word))) + word
	text = clip(text, t.width-2)
	switch c.State {
	case chat.Mistaken, chat.Interrupted:
		text = t.paint.Red(text)
	case chat.Asked:
		text = t.paint.Mark(text)
	default:
		text = t.paint.Dim(text)
	}
	out := []string{t.pick(e, text)}
	if !e.open {
		return out
	}
	part := func(name string, body []byte) {
		if len(body) == 0 {
			return
		}
		out = append(out, t.paint.Dim("    "+name))
		lines := plain(indented(body), "      ", "      ", t.width)
		if len(lines) > mostResult {
			lines = append(lines[:mostResult], t.paint.Dim("      …"))
		}
		out = append(out, lines...)
	}
	part("arguments", c.Args)
	part("result", []byte(c.Result))
	if c.Operation != "" {
		part("take it back with", []byte("lore undo "+c.Operation))
	}
	return out
}

// indented is JSON over several lines; what is none stays as it is.
func indented(body []byte) string {
	var b bytes.Buffer
	if json.Indent(&b, body, "", "  ") != nil {
		return string(body)
	}
	return b.String()
}

// show puts the newest state of calls into the transcript.
func (m *model) show(run string, calls []chat.Call) {
	for _, c := range calls {
		if e := m.entryOf(run, c.Seq); e != nil {
			e.call = c
			m.t.touch(e)
			continue
		}
		m.t.add(&entry{kind: called, run: run, call: c})
	}
}

func (m *model) entryOf(run string, seq int) *entry {
	for i := len(m.t.entries) - 1; i >= 0; i-- {
		if e := m.t.entries[i]; e.kind == called && e.run == run && e.call.Seq == seq {
			return e
		}
	}
	return nil
}
