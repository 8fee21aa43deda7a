package textcall

import (
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"strings"

	"lore/internal/llm"
	"lore/internal/llm/textcall/worded"
)

// Wrap gives tools to a model that has no way to call them: it is told of them
// in words, and its calls are read out of what it says. They come with the end
// of the answer, and only if it ended well.
func Wrap(m llm.Model) llm.Model { return model{m} }

type model struct{ llm.Model }

// Stream asks in words, and reads the calls out of the answer.
func (m model) Stream(ctx context.Context, r llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		tools := r.Tools
		if r.ToolChoice == "none" {
			tools = nil
		}
		a := answer{Machine: NewMachine(tools), yield: yield}
		for e, err := range m.Model.Stream(ctx, worded.Request(r)) {
			if err != nil {
				if a.held(false) {
					yield(llm.Event{}, err)
				}
				return
			}
			if !a.take(e) {
				return
			}
		}
		if !a.done { // no finish: the reader sees it, and loses no word
			a.held(false)
		}
	}
}

// An answer is what was said so far.
type answer struct {
	*Machine
	yield    func(llm.Event, error) bool
	text     strings.Builder // what was told as text and is in no part yet
	deltas   bool            // the text of the part that comes was told in pieces
	native   bool            // there was a call of the model's own making: what it says is only said
	done     bool
	calls    []Call
	opaque   []byte
	opaqueBy string
}

func (a *answer) take(e llm.Event) bool {
	switch {
	case e.Type == llm.TextDelta:
		a.deltas = true
		return a.say(a.Feed(e.Text))
	case e.Type == llm.PartDone && e.Part != nil && e.Part.Kind == llm.Text:
		more := ""
		if !a.deltas {
			more = a.Feed(e.Part.Text)
		}
		a.deltas = false
		if e.Part.Opaque != nil {
			a.opaque, a.opaqueBy = e.Part.Opaque, e.Part.OpaqueBy
		}
		return a.say(more)
	case e.Type == llm.CallStart, e.Type == llm.PartDone && e.Part != nil && e.Part.Kind == llm.ToolCall:
		a.native = true
	case e.Type == llm.Finish:
		well := e.Stop == llm.Stopped || e.Stop == llm.WantsTool
		if !a.end(well && !a.native) {
			return false
		}
		for _, c := range a.calls {
			p := PartOf(c)
			if !a.yield(llm.Event{Type: llm.PartDone, ID: p.ID, Name: p.Name, Part: &p}, nil) {
				return false
			}
			e.Stop = llm.WantsTool
		}
	}
	return a.yield(e, nil)
}

// PartOf is a call as a part of an answer.
func PartOf(c Call) llm.Part {
	return llm.Part{Kind: llm.ToolCall, ID: fmt.Sprintf("text_%016x", rand.Uint64()), Name: c.Name, Args: c.Args, FromText: true, Repaired: c.Repaired}
}

func (a *answer) say(text string) bool {
	if text == "" {
		return true
	}
	a.text.WriteString(text)
	return a.yield(llm.Event{Type: llm.TextDelta, Text: text}, nil)
}

// held tells what was held back.
func (a *answer) held(well bool) bool {
	text, calls := a.Finish(well)
	a.calls = calls
	if strings.TrimSpace(text) == "" && len(calls) > 0 {
		return true
	}
	return a.say(text)
}

// end tells the rest, and the text as a part.
func (a *answer) end(well bool) bool {
	a.done = true
	if !a.held(well) {
		return false
	}
	whole := a.text.String()
	if strings.TrimSpace(whole) == "" && a.opaque == nil {
		return true
	}
	p := llm.Part{Kind: llm.Text, Text: whole, Opaque: a.opaque, OpaqueBy: a.opaqueBy}
	return a.yield(llm.Event{Type: llm.PartDone, Part: &p}, nil)
}
