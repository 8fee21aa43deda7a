// Package heard reads calls out of what models say that have a way of their own to
// make them: small ones write some as text all the same, or write arguments that
// are nearly JSON.
package heard

import (
	"context"
	"encoding/json"
	"iter"
	"strings"

	"lore/internal/llm"
	"lore/internal/llm/textcall"
)

// Wrap reads the calls out of the answers of a model that has a way of its own to
// make them, and writes them as text all the same. What it calls in its own way
// counts alone; everything else is told as it comes, in its order.
func Wrap(m llm.Model) llm.Model { return model{m} }

type model struct{ llm.Model }

// Stream asks as the model knows it.
func (m model) Stream(ctx context.Context, r llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		if len(r.Tools) == 0 || r.ToolChoice == "none" {
			m.Model.Stream(ctx, r)(yield)
			return
		}
		h := answer{tools: r.Tools, yield: yield}
		for e, err := range m.Model.Stream(ctx, r) {
			if err != nil {
				if h.flush() {
					yield(llm.Event{}, err)
				}
				return
			}
			if !h.take(e) {
				return
			}
		}
		h.flush()
	}
}

// An answer is what was said so far. What may be a call is held back until it
// is known what it is.
type answer struct {
	tools   []llm.Tool
	yield   func(llm.Event, error) bool
	machine *textcall.Machine // of the text that comes
	said    strings.Builder   // of it
	raw     strings.Builder   // all of it, and what is held back
	native  bool              // there was a call of the model's own making
	part    *llm.Part         // a text that ended in calls
	calls   []textcall.Call
}

func (h *answer) take(e llm.Event) bool {
	isText := e.Type == llm.PartDone && e.Part != nil && e.Part.Kind == llm.Text
	isCall := e.Type == llm.CallStart || e.Type == llm.PartDone && e.Part != nil && e.Part.Kind == llm.ToolCall
	switch {
	case isCall:
		h.native = true
		if !h.flush() {
			return false
		}
		if e.Type == llm.PartDone {
			e.Part = mended(e.Part)
		}
	case h.native: // what it says is only said
	case e.Type == llm.TextDelta:
		if h.part != nil && !h.flush() {
			return false
		}
		return h.hear(e.Text)
	case isText:
		if h.part != nil && !h.flush() {
			return false
		}
		return h.end(e)
	case e.Type == llm.Finish && h.part != nil:
		if e.Stop != llm.Stopped && e.Stop != llm.WantsTool { // half of a call is none
			if !h.flush() {
				return false
			}
			break
		}
		if !h.make() {
			return false
		}
		e.Stop = llm.WantsTool
	}
	return h.yield(e, nil)
}

// mended is a call whose arguments can be read: an adapter gives those that are no
// JSON as a string.
func mended(p *llm.Part) *llm.Part {
	var text string
	if len(p.Args) == 0 || p.Args[0] != '"' || json.Unmarshal(p.Args, &text) != nil {
		return p
	}
	args, what, ok := textcall.Mend(text)
	if !ok {
		return p
	}
	out := *p
	out.Args, out.Repaired = args, what
	return &out
}

// hear takes a piece of a text, and tells what is no call.
func (h *answer) hear(delta string) bool {
	if h.machine == nil {
		h.machine = textcall.NewMachine(h.tools)
	}
	h.raw.WriteString(delta)
	return h.say(h.machine.Feed(delta))
}

func (h *answer) say(text string) bool {
	if text == "" {
		return true
	}
	h.said.WriteString(text)
	return h.yield(llm.Event{Type: llm.TextDelta, Text: text}, nil)
}

// end takes a whole text. One without a call is told as it is.
func (h *answer) end(e llm.Event) bool {
	streamed := h.machine != nil
	if !streamed {
		h.machine = textcall.NewMachine(h.tools)
		h.said.WriteString(h.machine.Feed(e.Part.Text))
	}
	rest, calls := h.machine.Finish(true)
	h.machine = nil
	if len(calls) > 0 {
		p := *e.Part
		h.part, h.calls = &p, calls
		h.part.Text = h.said.String() + rest
		if !streamed {
			h.raw.WriteString(e.Part.Text)
			h.said.Reset()
		}
		if strings.TrimSpace(rest) != "" { // who goes on speaking has spoken of a call
			return h.flush()
		}
		return true
	}
	defer h.reset()
	return (!streamed || h.say(rest)) && h.yield(e, nil)
}

func (h *answer) reset() {
	h.said.Reset()
	h.raw.Reset()
	h.part, h.calls, h.machine = nil, nil, nil
}

// flush tells what was held back, as text.
func (h *answer) flush() bool {
	defer h.reset()
	raw := h.raw.String()
	if rest := strings.TrimPrefix(raw, h.said.String()); rest != "" && !h.say(rest) {
		return false
	}
	if h.part == nil {
		return true
	}
	p := *h.part
	p.Text = raw
	return h.yield(llm.Event{Type: llm.PartDone, Part: &p}, nil)
}

// make tells the words beside the calls, and the calls.
func (h *answer) make() bool {
	part, calls := h.part, h.calls
	rest := strings.TrimPrefix(part.Text, h.said.String())
	defer h.reset()
	if strings.TrimSpace(part.Text) != "" {
		if !h.say(rest) || !h.yield(llm.Event{Type: llm.PartDone, Part: part}, nil) {
			return false
		}
	}
	for _, c := range calls {
		p := textcall.PartOf(c)
		if !h.yield(llm.Event{Type: llm.PartDone, ID: p.ID, Name: p.Name, Part: &p}, nil) {
			return false
		}
	}
	return true
}
