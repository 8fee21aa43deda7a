package openai

import (
	"encoding/json"

	"lore/internal/llm"
	"lore/internal/llm/wire"
)

type object = map[string]any

// chat is the body of a request for a chat completion.
func (m *model) chat(r llm.Request, box *wire.Toolbox) object {
	body := object{"model": m.name, "stream": true, "stream_options": object{"include_usage": true}}
	switch {
	case r.MaxTokens == 0:
	case m.p.c.Flavour == OpenAI:
		body["max_completion_tokens"] = r.MaxTokens
	default:
		body["max_tokens"] = r.MaxTokens
	}
	if r.Temperature != nil && !(m.p.c.Flavour == OpenAI && m.thinks()) {
		body["temperature"] = *r.Temperature
	}
	m.effort(body, r.Think)
	if r.Format != nil && m.p.c.Flavour == DeepSeek { // it knows no schemas
		body["response_format"] = object{"type": "json_object"}
		r.System += "\n\nAnswer with one JSON object that fits this JSON schema: " + string(r.Format)
	} else if r.Format != nil {
		body["response_format"] = object{"type": "json_schema", "json_schema": mustFit(r.Format)}
	}
	if len(box.Tools) > 0 {
		var tools []any
		for _, t := range box.Tools {
			tools = append(tools, object{"type": "function", "function": object{"name": t.Name, "description": t.Description, "parameters": t.Schema}})
		}
		body["tools"] = tools
		switch r.ToolChoice {
		case "", "auto":
		case "none", "required":
			body["tool_choice"] = r.ToolChoice
		default:
			body["tool_choice"] = object{"type": "function", "function": object{"name": box.Sent(r.ToolChoice)}}
		}
	}
	body["messages"] = m.messages(r, box)
	return body
}

// effort says how much to think, in the server's way.
func (m *model) effort(body object, think bool) {
	effort := m.tuning.Effort
	if m.p.c.Flavour == OpenRouter {
		body["usage"] = object{"include": true}
		switch {
		case effort != "":
			body["reasoning"] = object{"effort": effort}
		case think:
			body["reasoning"] = object{"enabled": true}
		}
	} else if effort != "" {
		body["reasoning_effort"] = effort
	}
}

func (m *model) messages(r llm.Request, box *wire.Toolbox) []any {
	out := []any{}
	if r.System != "" {
		out = append(out, object{"role": "system", "content": r.System})
	}
	turn := 0 // where the last of the person's turns begins
	for i, msg := range r.Messages {
		if msg.Role == llm.User {
			turn = i
		}
	}
	for i, msg := range r.Messages {
		switch msg.Role {
		case llm.Results:
			for _, p := range msg.Parts {
				out = append(out, object{"role": "tool", "tool_call_id": m.callID(p.ID), "content": p.Text})
			}
		case llm.Assistant:
			if o := m.assistant(msg, box, i > turn); o != nil {
				out = append(out, o)
			}
		default:
			out = append(out, object{"role": string(msg.Role), "content": content(msg.Parts)})
		}
	}
	return out
}

// content is what a person said: plain text, which every server understands, or
// a list where there are images.
func content(parts []llm.Part) any {
	if !wire.HasImage(parts) {
		return wire.Text(parts)
	}
	var out []any
	for _, p := range parts {
		switch {
		case p.Kind == llm.Image:
			out = append(out, object{"type": "image_url", "image_url": object{"url": wire.DataURL(p)}})
		case p.Kind == llm.Text && p.Text != "":
			out = append(out, object{"type": "text", "text": p.Text})
		}
	}
	return out
}

// assistant is what the model said before; nil when that was nothing. Thoughts
// go back to where they came from alone, plain ones only within the turn.
func (m *model) assistant(msg llm.Message, box *wire.Toolbox, current bool) object {
	o := object{"role": "assistant", "content": nil}
	if text := wire.Text(msg.Parts); text != "" {
		o["content"] = text
	}
	var calls []any
	var details []json.RawMessage
	thought := ""
	for _, p := range msg.Parts {
		switch {
		case p.Kind == llm.ToolCall:
			f := object{"name": box.Sent(p.Name), "arguments": string(wire.Object(p.Args))}
			calls = append(calls, object{"id": m.callID(p.ID), "type": "function", "function": f})
		case p.Kind == llm.Reasoning:
			thought += p.Text
			var more []json.RawMessage
			if p.OpaqueBy == m.ID() && json.Unmarshal(p.Opaque, &more) == nil {
				details = append(details, more...)
			}
		}
	}
	if calls == nil && o["content"] == nil {
		return nil
	}
	if calls != nil {
		o["tool_calls"] = calls
	}
	if details != nil {
		o["reasoning_details"] = details
	}
	if f := m.p.c.Flavour; thought != "" && current && (f == DeepSeek || f == Llama) {
		o["reasoning_content"] = thought
	}
	return o
}
