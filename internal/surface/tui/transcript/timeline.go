package transcript

import (
	"bytes"
	"encoding/json"

	"lore/internal/agent/chat"
	"lore/internal/surface/cli/draw"
	"lore/internal/surface/tui/markdown"
)

// A stand is how a state of a call is shown: by a mark and by a word.
type stand struct{ mark, word string }

var stands = map[chat.CallState]stand{
	chat.Proposed: {"·", "queued"}, chat.Calling: {"●", "running"}, chat.Asked: {"…", "needs approval"}, chat.Finished: {"✓", "done"},
	chat.Refused: {"–", "denied"}, chat.Mistaken: {"✗", "failed"}, chat.Interrupted: {"?", "interrupted"},
}

// mostResult is how many lines of a result are shown.
const mostResult = 200

// called draws a call: one line, and below it what went in and came out.
func (t *Transcript) called(e *Entry) []string {
	c := &e.Call
	st := stands[c.State]
	text := st.mark + " " + draw.OneLine(c.Tool)
	word := "  (" + st.word + ")"
	if c.Summary != "" {
		text += ": " + draw.OneLine(c.Summary)
	}
	text = markdown.Clip(text, max(8, t.width-2-markdown.Cells(word))) + word
	text = markdown.Clip(text, t.width-2)
	switch c.State {
	case chat.Mistaken, chat.Interrupted:
		text = t.Paint.Red(text)
	case chat.Asked:
		text = t.Paint.Mark(text)
	default:
		text = t.Paint.Dim(text)
	}
	out := []string{t.pick(e, text)}
	if !e.Open {
		return out
	}
	part := func(name string, body []byte) {
		if len(body) == 0 {
			return
		}
		out = append(out, t.Paint.Dim("    "+name))
		lines := markdown.Plain(Indented(body), "      ", "      ", t.width)
		if len(lines) > mostResult {
			lines = append(lines[:mostResult], t.Paint.Dim("      …"))
		}
		out = append(out, lines...)
	}
	if c.Operation != "" {
		out = append(out, markdown.Plain("Undo: lore undo "+c.Operation, "    ", "      ", t.width)...)
	}
	part("arguments", c.Args)
	part("result", []byte(c.Result))
	return out
}

// Indented is JSON over several lines; what is none stays as it is.
func Indented(body []byte) string {
	var b bytes.Buffer
	if json.Indent(&b, body, "", "  ") != nil {
		return string(body)
	}
	return b.String()
}

// Show puts the newest state of calls into the transcript.
func (t *Transcript) Show(run string, calls []chat.Call) {
	for _, c := range calls {
		if e := t.entryOf(run, c.Seq); e != nil {
			e.Call = c
			t.Touch(e)
			continue
		}
		t.Add(&Entry{Kind: Called, Run: run, Call: c})
	}
}

func (t *Transcript) entryOf(run string, seq int) *Entry {
	for i := len(t.Entries) - 1; i >= 0; i-- {
		if e := t.Entries[i]; e.Kind == Called && e.Run == run && e.Call.Seq == seq {
			return e
		}
	}
	return nil
}
