package anthropic

import (
	"encoding/json"
	"fmt"
	"iter"

	"lore/internal/llm"
	"lore/internal/llm/wire"
)

// A reader puts an answer together from events. Blocks go by their number: they
// may overlap.
type reader struct {
	draft  *wire.Draft
	box    *wire.Toolbox
	by     string // whose the signatures are
	free   bool   // nothing is paid
	blocks map[int]*block
	fresh  int // input that no cache had to do with
	usage  llm.Usage
	stop   string
}

// A block is one that has begun.
type block struct {
	piece     *wire.Piece // nil: of a kind that is not for us
	kind      string
	input     string // arguments that came with the start
	signature string
	closed    bool
}

type event struct {
	Type    string `json:"type"`
	Index   int    `json:"index"`
	Message struct {
		Usage counts `json:"usage"`
	} `json:"message"`
	Block json.RawMessage `json:"content_block"`
	Delta struct {
		Type      string `json:"type"`
		Text      string `json:"text"`
		Thinking  string `json:"thinking"`
		Signature string `json:"signature"`
		JSON      string `json:"partial_json"`
		Stop      string `json:"stop_reason"`
	} `json:"delta"`
	Usage counts `json:"usage"`
}

// counts are sums up to this event; what is not there has not changed.
type counts struct {
	In      *int `json:"input_tokens"`
	Out     *int `json:"output_tokens"`
	Read    *int `json:"cache_read_input_tokens"`
	Write   *int `json:"cache_creation_input_tokens"`
	Details *struct {
		Thinking *int `json:"thinking_tokens"`
	} `json:"output_tokens_details"`
}

// read reads until the answer is over, and says so.
func (r *reader) read(events iter.Seq2[wire.Event, error]) {
	r.blocks = map[int]*block{}
	for e, err := range events {
		if err != nil {
			r.draft.Fail(err)
			return
		}
		var v event
		if err := json.Unmarshal(e.Data, &v); err != nil {
			r.draft.Fail(&llm.Error{Kind: llm.Server, Message: fmt.Sprintf("an event in the response cannot be read: %v", err)})
			return
		}
		switch v.Type {
		case "error":
			r.draft.Fail(wire.Refusal(0, nil, e.Data))
			return
		case "message_stop":
			r.finish()
			return
		}
		if r.take(&v); r.draft.Gone {
			return
		}
	}
	r.draft.Fail(llm.ErrCut)
}

func (r *reader) take(e *event) {
	switch e.Type {
	case "message_start":
		r.count(e.Message.Usage)
	case "message_delta":
		r.count(e.Usage)
		if e.Delta.Stop != "" {
			r.stop = e.Delta.Stop
		}
	case "content_block_start":
		r.begin(e)
	case "content_block_delta":
		r.delta(e)
	case "content_block_stop":
		if b := r.blocks[e.Index]; b != nil {
			r.close(b)
		}
	}
}

func (r *reader) begin(e *event) {
	var c struct {
		Type      string          `json:"type"`
		ID        string          `json:"id"`
		Name      string          `json:"name"`
		Text      string          `json:"text"`
		Thinking  string          `json:"thinking"`
		Signature string          `json:"signature"`
		Input     json.RawMessage `json:"input"`
	}
	if err := json.Unmarshal(e.Block, &c); err != nil {
		r.draft.Fail(&llm.Error{Kind: llm.Server, Message: fmt.Sprintf("a block in the response cannot be read: %v", err)})
		return
	}
	b := &block{kind: c.Type, signature: c.Signature}
	r.blocks[e.Index] = b
	switch c.Type {
	case "text":
		b.piece = r.draft.Begin(llm.Text, "", "")
		r.draft.Write(b.piece, c.Text)
	case "thinking":
		b.piece = r.draft.Begin(llm.Reasoning, "", "")
		r.draft.Write(b.piece, c.Thinking)
	case "redacted_thinking":
		b.piece = r.draft.Begin(llm.Reasoning, "", "")
		b.piece.Opaque, b.piece.OpaqueBy = e.Block, r.by
	case "tool_use":
		b.piece = r.draft.Begin(llm.ToolCall, c.ID, r.box.Known(c.Name))
		b.input = string(c.Input)
	}
}

func (r *reader) delta(e *event) {
	b := r.blocks[e.Index]
	if b == nil || b.piece == nil {
		return
	}
	switch d := &e.Delta; d.Type {
	case "text_delta":
		r.draft.Write(b.piece, d.Text)
	case "thinking_delta":
		r.draft.Write(b.piece, d.Thinking)
	case "input_json_delta":
		r.draft.Write(b.piece, d.JSON)
	case "signature_delta":
		b.signature += d.Signature
	}
}

func (r *reader) close(b *block) {
	b.closed = true
	if b.kind == "tool_use" && b.piece.Said() == "" && b.input != "{}" && b.input != "null" {
		r.draft.Write(b.piece, b.input)
	}
	if b.kind == "thinking" && b.signature != "" {
		raw, err := wire.Marshal(map[string]string{"type": "thinking", "thinking": b.piece.Said(), "signature": b.signature})
		if err == nil { // strings always can be
			b.piece.Opaque, b.piece.OpaqueBy = raw, r.by
		}
	}
}

func (r *reader) count(c counts) {
	set := func(to, from *int) {
		if from != nil {
			*to = *from
		}
	}
	set(&r.fresh, c.In)
	set(&r.usage.Out, c.Out)
	set(&r.usage.CacheRead, c.Read)
	set(&r.usage.CacheWrite, c.Write)
	if c.Details != nil {
		set(&r.usage.Reasoning, c.Details.Thinking)
	}
	r.usage.In = r.fresh + r.usage.CacheRead + r.usage.CacheWrite
}

// stops are the reasons of the API. One that is not here is none to run calls on.
var stops = map[string]llm.Stop{
	"end_turn": llm.Stopped, "stop_sequence": llm.Stopped, "tool_use": llm.WantsTool, "pause_turn": llm.Stopped,
	"max_tokens": llm.TooLong, "model_context_window_exceeded": llm.TooLong, "refusal": llm.Filtered,
}

func (r *reader) finish() {
	stop, known := stops[r.stop]
	if !known {
		stop = llm.Broken
	}
	for _, b := range r.blocks {
		if !b.closed && b.kind == "tool_use" && (stop == llm.WantsTool || stop == llm.Stopped) {
			r.draft.Fail(llm.ErrCut) // a call that never ended is no call
			return
		}
		if !b.closed {
			r.close(b)
		}
	}
	if r.stop == "" {
		r.draft.Fail(llm.ErrCut)
		return
	}
	if r.free {
		r.usage.CostUSD = new(float64)
	}
	r.draft.Finish(stop, r.usage)
}
