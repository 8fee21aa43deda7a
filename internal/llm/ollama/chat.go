package ollama

import (
	"encoding/json"
	"io"
	"slices"

	"lore/internal/llm"
	"lore/internal/llm/wire"
)

type object = map[string]any

// offered are the tools that the model hears of. It cannot be made to call one,
// but one alone may be offered.
func offered(r llm.Request) []llm.Tool {
	switch r.ToolChoice {
	case "none":
		return nil
	case "", "auto", "required":
		return r.Tools
	}
	i := slices.IndexFunc(r.Tools, func(t llm.Tool) bool { return t.Name == r.ToolChoice })
	if i < 0 {
		return r.Tools
	}
	return r.Tools[i : i+1]
}

// body is a request. What does not fit is refused: without truncate and shift the
// server would drop the beginning of it, and of the answer, in silence.
func (m *model) body(r llm.Request, box *wire.Toolbox, s shown) (object, error) {
	options := object{"num_ctx": m.tuning.Context}
	if m.tuning.Context == 0 {
		options["num_ctx"] = s.context()
	}
	if r.MaxTokens > 0 {
		options["num_predict"] = r.MaxTokens
	}
	if r.Temperature != nil {
		options["temperature"] = *r.Temperature
	}
	in := object{"model": m.name, "messages": messages(r, box), "stream": true, "truncate": false, "shift": false, "options": options}
	if can := s.can("thinking"); can != nil && *can {
		in["think"] = r.Think
		// Its family alone knows degrees, and no end to thinking.
		if s.Details.Family == "gptoss" && m.tuning.Effort != "" {
			in["think"] = m.tuning.Effort
		}
	}
	if r.Format != nil {
		in["format"] = r.Format
	}
	if len(box.Tools) > 0 {
		var tools []any
		for _, t := range box.Tools {
			tools = append(tools, object{"type": "function", "function": object{"name": t.Name, "description": t.Description, "parameters": t.Schema}})
		}
		in["tools"] = tools
	}
	return in, m.extend(in, options)
}

// extend adds what a person wants sent as it is; options one by one.
func (m *model) extend(in, options object) error {
	if len(m.tuning.Extra) == 0 {
		return nil
	}
	var more map[string]json.RawMessage
	var own object
	err := json.Unmarshal(m.tuning.Extra, &more)
	if raw, ok := more["options"]; ok && err == nil {
		err = json.Unmarshal(raw, &own)
		delete(more, "options")
	}
	if err != nil {
		return &llm.Error{Kind: llm.BadRequest, Message: "the extra fields for the model are not a JSON object; correct them in the settings: " + err.Error()}
	}
	for k, v := range own {
		options[k] = v
	}
	for k, v := range more {
		in[k] = v
	}
	return nil
}

func messages(r llm.Request, box *wire.Toolbox) []any {
	out := []any{}
	if r.System != "" {
		out = append(out, object{"role": "system", "content": r.System})
	}
	for _, msg := range r.Messages {
		switch msg.Role {
		case llm.Results:
			for _, p := range msg.Parts { // old servers know the tool, new ones the call
				out = append(out, object{"role": "tool", "tool_name": box.Sent(p.Name), "tool_call_id": p.ID, "content": p.Text})
			}
		case llm.Assistant:
			if o := assistant(msg, box); o != nil {
				out = append(out, o)
			}
		default:
			o := object{"role": string(msg.Role), "content": wire.Text(msg.Parts)}
			var images [][]byte
			for _, p := range msg.Parts {
				if p.Kind == llm.Image {
					images = append(images, p.Data)
				}
			}
			if images != nil {
				o["images"] = images
			}
			out = append(out, o)
		}
	}
	return out
}

// assistant is what the model said before; nil when that was nothing.
func assistant(msg llm.Message, box *wire.Toolbox) object {
	text, thought := wire.Text(msg.Parts), ""
	var calls []any
	for _, p := range msg.Parts {
		switch p.Kind {
		case llm.ToolCall:
			f := object{"name": box.Sent(p.Name), "arguments": wire.Object(p.Args)}
			calls = append(calls, object{"id": p.ID, "function": f})
		case llm.Reasoning:
			thought += p.Text
		}
	}
	if text == "" && calls == nil {
		return nil
	}
	o := object{"role": "assistant", "content": text}
	if thought != "" {
		o["thinking"] = thought
	}
	if calls != nil {
		o["tool_calls"] = calls
	}
	return o
}

// line is one of an answer.
type line struct {
	Error   json.RawMessage `json:"error"`
	Message struct {
		Content  string `json:"content"`
		Thinking string `json:"thinking"`
		Calls    []struct {
			ID       string `json:"id"`
			Function struct {
				Name      string          `json:"name"`
				Arguments json.RawMessage `json:"arguments"`
			} `json:"function"`
		} `json:"tool_calls"`
	} `json:"message"`
	Done   bool   `json:"done"`
	Reason string `json:"done_reason"`
	In     int    `json:"prompt_eval_count"`
	Cached int    `json:"prompt_eval_cached_count"`
	Out    int    `json:"eval_count"`
}

// read puts an answer together. Calls come whole, often in the last line.
func (m *model) read(body io.Reader, d *wire.Draft, box *wire.Toolbox, s shown) error {
	for raw, err := range wire.Lines(body) {
		if d.Gone {
			return nil
		}
		if err != nil {
			return err
		}
		var l line
		if err := json.Unmarshal(raw, &l); err != nil {
			return &llm.Error{Kind: llm.Server, Message: "a line in the response cannot be read: " + err.Error()}
		}
		if len(l.Error) > 0 && string(l.Error) != "null" {
			return wire.Refusal(0, nil, raw)
		}
		d.Think(l.Message.Thinking)
		d.Text(l.Message.Content)
		for _, c := range l.Message.Calls {
			d.Write(d.Begin(llm.ToolCall, c.ID, box.Known(c.Function.Name)), string(c.Function.Arguments))
		}
		if !l.Done {
			continue
		}
		u := llm.Usage{In: l.In, Out: l.Out, CacheRead: l.Cached}
		if m.p.local(m.name, &s) {
			u.CostUSD = new(float64)
		}
		stop := llm.Stopped
		if l.Reason == "length" {
			stop = llm.TooLong
		}
		d.Finish(stop, u)
		return nil
	}
	return llm.ErrCut
}
