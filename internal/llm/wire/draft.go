package wire

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"lore/internal/llm"
)

// A Draft is an answer that is being put together. It passes on what comes as it
// comes, and whole parts only at the good end, so that nothing half is ever
// taken for whole.
type Draft struct {
	// Gone says that the reader left; nothing is passed on any more.
	Gone bool
	// Limit is how many tokens were asked for at most; 0: as many as there are.
	Limit int
	// Scrub takes out of an error what nobody should read; nil: nothing.
	Scrub func(string) string

	yield  func(llm.Event, error) bool
	pieces []*Piece
	ids    map[string]bool // of calls
}

// A Piece is a part that is being put together. Opaque, OpaqueBy and, until the
// end, Name may be set by whoever knows them.
type Piece struct {
	llm.Part
	text strings.Builder
}

// Said is what the piece holds so far: text, or the arguments of a call.
func (p *Piece) Said() string { return p.text.String() }

// NewDraft makes an empty one for the reader behind yield.
func NewDraft(yield func(llm.Event, error) bool) *Draft {
	return &Draft{yield: yield, ids: map[string]bool{}}
}

func (d *Draft) pass(e llm.Event, err error) {
	d.Gone = d.Gone || !d.yield(e, err)
}

// Begin adds a piece. The reader hears of calls; one without an id of its own
// gets one.
func (d *Draft) Begin(kind llm.Kind, id, name string) *Piece {
	p := &Piece{Part: llm.Part{Kind: kind, ID: id, Name: name}}
	d.pieces = append(d.pieces, p)
	if kind == llm.ToolCall {
		if id == "" || d.ids[id] {
			// Unlike those of all other turns, so that results find their calls.
			p.ID = "call_" + strings.ToLower(rand.Text())
		}
		d.ids[p.ID] = true
		if !d.Gone {
			d.pass(llm.Event{Type: llm.CallStart, ID: p.ID, Name: name}, nil)
		}
	}
	return p
}

// Write adds to a piece: text, or a fragment of arguments.
func (d *Draft) Write(p *Piece, text string) {
	if text == "" {
		return
	}
	p.text.WriteString(text)
	if d.Gone {
		return
	}
	switch p.Kind {
	case llm.Text:
		d.pass(llm.Event{Type: llm.TextDelta, Text: text}, nil)
	case llm.Reasoning:
		d.pass(llm.Event{Type: llm.ReasoningDelta, Text: text}, nil)
	case llm.ToolCall:
		d.pass(llm.Event{Type: llm.CallDelta, ID: p.ID, Text: text}, nil)
	}
}

// Text adds to the text that is being said, or begins one.
func (d *Draft) Text(text string) {
	if text != "" {
		d.Write(d.Current(llm.Text), text)
	}
}

// Think adds to the thought that is being thought, or begins one.
func (d *Draft) Think(text string) {
	if text != "" {
		d.Write(d.Current(llm.Reasoning), text)
	}
}

// Current is the last piece if it is of this kind, else a new one.
func (d *Draft) Current(kind llm.Kind) *Piece {
	if n := len(d.pieces); n > 0 && d.pieces[n-1].Kind == kind {
		return d.pieces[n-1]
	}
	return d.Begin(kind, "", "")
}

// Calls is how many calls there are.
func (d *Draft) Calls() int {
	n := 0
	for _, p := range d.pieces {
		if p.Kind == llm.ToolCall {
			n++
		}
	}
	return n
}

// Fail ends the answer with an error. None of its parts counts.
func (d *Draft) Fail(err error) {
	if !d.Gone {
		if e, ok := errors.AsType[*llm.Error](err); ok && d.Scrub != nil {
			e.Message = d.Scrub(e.Message)
		}
		d.pass(llm.Event{}, err)
		d.Gone = true
	}
}

// Finish passes on all parts and the end. [llm.Stopped] with calls is
// [llm.WantsTool], whatever the server called it, and an answer that used up its
// limit was cut, though some servers call that a good end. Empty parts that carry no
// state of the provider are left out.
func (d *Draft) Finish(stop llm.Stop, u llm.Usage) {
	u = u.Sane()
	calls := d.Calls()
	switch {
	case d.Limit > 0 && u.Out >= d.Limit && (stop == llm.Stopped || stop == llm.WantsTool):
		stop = llm.TooLong
	case calls > 0 && stop == llm.Stopped:
		stop = llm.WantsTool
	case calls == 0 && stop == llm.WantsTool:
		stop = llm.Stopped
	}
	for _, p := range d.pieces {
		part := p.Part
		if part.Kind == llm.ToolCall {
			part.Args = Args(p.Said())
		} else {
			part.Text = p.Said()
			if part.Text == "" && part.Opaque == nil {
				continue
			}
		}
		if d.Gone {
			return
		}
		d.pass(llm.Event{Type: llm.PartDone, Part: &part}, nil)
	}
	if !d.Gone {
		d.pass(llm.Event{Type: llm.Finish, Stop: stop, Usage: u}, nil)
	}
}

// Args gives arguments that came in pieces one form that is always JSON: the
// object, also out of strings in which it stands; {} for nothing; and what is no
// object as a string, which no tool takes for arguments and no history breaks on.
func Args(said string) json.RawMessage {
	text := strings.TrimSpace(said)
	for range 3 {
		if text == "" || text == "null" {
			return json.RawMessage("{}")
		}
		var inner string
		if text[0] != '"' || json.Unmarshal([]byte(text), &inner) != nil {
			break
		}
		text = strings.TrimSpace(inner)
	}
	if text != "" && text[0] == '{' && json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	raw, err := json.Marshal(said)
	if err != nil {
		return json.RawMessage(`""`)
	}
	return raw
}

// Object is arguments of the history as an object: what was none is sent as {},
// because servers refuse a whole conversation for it.
func Object(args json.RawMessage) json.RawMessage {
	if a := Args(string(args)); a[0] == '{' {
		return a
	}
	return json.RawMessage("{}")
}

// ShortID is an id of a call for providers that allow no more than forty letters;
// the same for the same.
func ShortID(id string) string {
	if len(id) <= 40 {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return "call_" + hex.EncodeToString(sum[:16])
}

// Text is what the parts of a message say, without thoughts and calls.
func Text(parts []llm.Part) string {
	a := llm.Answer{Parts: parts}
	return a.Text()
}

// DataURL is an image as an address that holds it.
func DataURL(p llm.Part) string {
	return "data:" + p.Media + ";base64," + base64.StdEncoding.EncodeToString(p.Data)
}

// HasImage reports whether one of the parts is an image.
func HasImage(parts []llm.Part) bool {
	return slices.ContainsFunc(parts, func(p llm.Part) bool { return p.Kind == llm.Image })
}
