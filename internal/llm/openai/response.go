package openai

import (
	"bytes"
	"encoding/json"
	"io"
	"strconv"

	"lore/internal/llm"
	"lore/internal/llm/wire"
)

// response is the body of a request for a response. Nothing is kept at the
// server: what it needs to remember goes back and forth encrypted.
func (m *model) response(r llm.Request, box *wire.Toolbox) object {
	body := object{"model": m.name, "stream": true, "store": false, "input": m.items(r, box)}
	if r.System != "" {
		body["instructions"] = r.System
	}
	if r.MaxTokens > 0 {
		body["max_output_tokens"] = r.MaxTokens
	}
	thinks := m.p.c.Flavour == OpenAI && m.thinks()
	if thinks {
		body["include"] = []string{"reasoning.encrypted_content"}
	} else if r.Temperature != nil {
		body["temperature"] = *r.Temperature
	}
	reasoning := object{}
	if m.tuning.Effort != "" {
		reasoning["effort"] = m.tuning.Effort
	}
	if r.Think && thinks {
		reasoning["summary"] = "auto"
	}
	if len(reasoning) > 0 {
		body["reasoning"] = reasoning
	}
	if r.Format != nil {
		format := mustFit(r.Format)
		format["type"] = "json_schema"
		body["text"] = object{"format": format}
	}
	if len(box.Tools) > 0 {
		var tools []any
		for _, t := range box.Tools {
			tools = append(tools, object{"type": "function", "name": t.Name, "description": t.Description, "parameters": t.Schema, "strict": false})
		}
		body["tools"] = tools
		switch r.ToolChoice {
		case "", "auto":
		case "none", "required":
			body["tool_choice"] = r.ToolChoice
		default:
			body["tool_choice"] = object{"type": "function", "name": box.Sent(r.ToolChoice)}
		}
	}
	return body
}

// items is the conversation as a list of what happened.
func (m *model) items(r llm.Request, box *wire.Toolbox) []any {
	out := []any{}
	for _, msg := range r.Messages {
		switch msg.Role {
		case llm.Results:
			for _, p := range msg.Parts {
				out = append(out, object{"type": "function_call_output", "call_id": m.callID(p.ID), "output": p.Text})
			}
		case llm.Assistant:
			out = append(out, m.said(msg, box)...)
		default:
			out = append(out, object{"type": "message", "role": string(msg.Role), "content": input(msg.Parts)})
		}
	}
	return out
}

// input is what a person said, with images after the text.
func input(parts []llm.Part) []any {
	out := []any{object{"type": "input_text", "text": wire.Text(parts)}}
	for _, p := range parts {
		if p.Kind == llm.Image {
			out = append(out, object{"type": "input_image", "image_url": wire.DataURL(p)})
		}
	}
	return out
}

// said is what the model said before, with the state that it wants back.
func (m *model) said(msg llm.Message, box *wire.Toolbox) []any {
	var out []any
	thoughts := 0 // at the end, which the server refuses without what they led to
	for _, p := range msg.Parts {
		mine := p.OpaqueBy == m.ID() && json.Valid(p.Opaque)
		var item object
		switch {
		case p.Kind == llm.Reasoning && mine:
			out, thoughts = append(out, p.Opaque), thoughts+1
			continue
		case p.Kind == llm.Text && p.Text != "":
			item = m.message(p.Text, mine)
		case p.Kind == llm.ToolCall:
			item = object{"type": "function_call", "call_id": m.callID(p.ID), "name": box.Sent(p.Name), "arguments": string(wire.Object(p.Args))}
		default:
			continue
		}
		var state map[string]json.RawMessage
		if mine && json.Unmarshal(p.Opaque, &state) == nil {
			for k, v := range state {
				item[k] = v
			}
		}
		out, thoughts = append(out, item), 0
	}
	return out[:len(out)-thoughts]
}

// message is something that was said: as it came when the server gave it an id,
// which it then insists on, with all that belongs to it; else as plain words.
func (m *model) message(text string, own bool) object {
	if !own {
		return object{"type": "message", "role": "assistant", "content": text}
	}
	return object{"type": "message", "role": "assistant", "status": "completed", "content": []any{object{"type": "output_text", "text": text, "annotations": []any{}}}}
}

// happened is one event of a response.
type happened struct {
	Type     string          `json:"type"`
	Index    *int            `json:"output_index"`
	ItemID   string          `json:"item_id"`
	Delta    string          `json:"delta"`
	Item     json.RawMessage `json:"item"`
	Response struct {
		Status     string          `json:"status"` // some call every end completed, and tell the truth here
		Error      json.RawMessage `json:"error"`
		Incomplete struct {
			Reason string `json:"reason"`
		} `json:"incomplete_details"`
		Usage struct {
			In   int `json:"input_tokens"`
			Out  int `json:"output_tokens"`
			InOf struct {
				Cached int `json:"cached_tokens"`
			} `json:"input_tokens_details"`
			OutOf struct {
				Reasoning int `json:"reasoning_tokens"`
			} `json:"output_tokens_details"`
		} `json:"usage"`
	} `json:"response"`
}

func (h *happened) usage() llm.Usage {
	u := h.Response.Usage
	return llm.Usage{In: u.In, Out: u.Out, CacheRead: u.InOf.Cached, Reasoning: u.OutOf.Reasoning}
}

// item is one thing of the output.
type item struct {
	Type      string          `json:"type"`
	ID        json.RawMessage `json:"id"`
	Phase     json.RawMessage `json:"phase"`
	CallID    string          `json:"call_id"`
	Name      string          `json:"name"`
	Arguments string          `json:"arguments"`
	Content   []struct {
		Text string `json:"text"`
	} `json:"content"`
}

// readResponse puts an answer together.
func (m *model) readResponse(body io.Reader, d *wire.Draft, box *wire.Toolbox) error {
	s := responseReader{m, d, box, map[string]*wire.Piece{}}
	for e, err := range wire.Events(body) {
		if d.Gone {
			return nil
		}
		if err != nil {
			return err
		}
		if e.Done() {
			break
		}
		var h happened
		if err := json.Unmarshal(e.Data, &h); err != nil {
			return &llm.Error{Kind: llm.Server, Message: "an event in the response cannot be read: " + err.Error()}
		}
		switch h.Type {
		case "error":
			return wire.Refusal(0, nil, e.Data)
		case "response.failed":
			return wire.Refusal(0, nil, h.Response.Error)
		case "response.completed", "response.incomplete":
			stop := llm.Stopped
			switch {
			case h.Response.Incomplete.Reason == "content_filter":
				stop = llm.Filtered
			case h.Type == "response.incomplete", h.Response.Status == "incomplete":
				stop = llm.TooLong
			case h.Response.Status == "failed", h.Response.Status == "cancelled":
				stop = llm.Broken
			}
			u := h.usage()
			if m.p.local() {
				u.CostUSD = new(float64)
			}
			d.Finish(stop, u)
			return nil
		}
		if err := s.take(&h); err != nil {
			return err
		}
	}
	return llm.ErrCut
}

type responseReader struct {
	m      *model
	d      *wire.Draft
	box    *wire.Toolbox
	pieces map[string]*wire.Piece // by their place in the output
}

// piece is the one at a place, made when it is new.
func (s *responseReader) piece(at string, kind llm.Kind, id, name string) *wire.Piece {
	p := s.pieces[at]
	if p == nil {
		p = s.d.Begin(kind, id, name)
		s.pieces[at] = p
	}
	return p
}

// place tells items apart: by their place where it is told, because gateways
// change ids on the way, else by their id.
func (h *happened) place(id string) string {
	if h.Index != nil {
		return strconv.Itoa(*h.Index)
	}
	return id
}

func (s *responseReader) take(h *happened) error {
	at := h.place(h.ItemID)
	switch h.Type {
	case "response.output_text.delta", "response.refusal.delta":
		s.d.Write(s.piece(at, llm.Text, "", ""), h.Delta)
	case "response.reasoning_summary_text.delta", "response.reasoning_text.delta":
		s.d.Write(s.piece(at, llm.Reasoning, "", ""), h.Delta)
	case "response.reasoning_summary_part.added":
		if p := s.piece(at, llm.Reasoning, "", ""); p.Said() != "" {
			s.d.Write(p, "\n\n")
		}
	case "response.function_call_arguments.delta":
		s.d.Write(s.piece(at, llm.ToolCall, "", ""), h.Delta)
	case "response.output_item.added", "response.output_item.done":
		return s.item(h)
	}
	return nil
}

// item reads one that begins, or is whole.
func (s *responseReader) item(h *happened) error {
	var it item
	if err := json.Unmarshal(h.Item, &it); err != nil {
		return &llm.Error{Kind: llm.Server, Message: "an item in the response cannot be read: " + err.Error()}
	}
	at := h.place(string(bytes.Trim(it.ID, `"`)))
	whole := h.Type == "response.output_item.done"
	switch it.Type {
	case "message":
		p := s.piece(at, llm.Text, "", "")
		for _, c := range it.Content {
			if whole && p.Said() == "" {
				s.d.Write(p, c.Text)
			}
		}
		return s.keep(p, whole, object{"id": it.ID, "phase": it.Phase})
	case "function_call":
		p := s.piece(at, llm.ToolCall, it.CallID, s.box.Known(it.Name))
		if p.Name == "" {
			p.Name = s.box.Known(it.Name)
		}
		if whole && p.Said() == "" {
			s.d.Write(p, it.Arguments)
		}
		return s.keep(p, whole, object{"id": it.ID})
	case "reasoning":
		p := s.piece(at, llm.Reasoning, "", "")
		if whole {
			p.Opaque, p.OpaqueBy = h.Item, s.m.ID()
		}
	}
	return nil
}

// keep remembers the state of an item that must come back with it.
func (s *responseReader) keep(p *wire.Piece, whole bool, state object) error {
	for k, v := range state {
		if raw, ok := v.(json.RawMessage); ok && !isSet(raw) {
			delete(state, k)
		}
	}
	if !whole || len(state) == 0 {
		return nil
	}
	raw, err := wire.Marshal(state)
	p.Opaque, p.OpaqueBy = raw, s.m.ID()
	return err
}
