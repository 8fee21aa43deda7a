package gemini

import (
	"encoding/json"
	"slices"
	"strings"

	"lore/internal/llm"
	"lore/internal/llm/wire"
)

// A content is what one side said, in parts.
type content struct {
	Role  string `json:"role,omitempty"`
	Parts []part `json:"parts"`
}

// A part is one piece, both ways.
type part struct {
	Text      *string         `json:"text,omitempty"`
	Inline    *inline         `json:"inlineData,omitempty"`
	Thought   bool            `json:"thought,omitempty"`
	Call      *call           `json:"functionCall,omitempty"`
	Response  *response       `json:"functionResponse,omitempty"`
	Signature json.RawMessage `json:"thoughtSignature,omitempty"`

	order int // of responses: the place of their call, from the end
}

// inline is an image.
type inline struct {
	Media string `json:"mimeType"`
	Data  []byte `json:"data"`
}

type call struct {
	ID   string          `json:"id,omitempty"`
	Name string          `json:"name"`
	Args json.RawMessage `json:"args,omitempty"`
}

type response struct {
	ID       string            `json:"id,omitempty"`
	Name     string            `json:"name"`
	Response map[string]string `json:"response"`
}

// unchecked is what the API takes in place of a signature, for calls that were
// made by another model.
var unchecked = json.RawMessage(`"skip_thought_signature_validator"`)

// made begins the ids of calls that the API gave none; it never sees them.
const made = "made_"

// body is a request in the words of the API.
func (m *model) body(r *llm.Request, box *wire.Toolbox) (map[string]any, error) {
	out := map[string]any{"contents": m.contents(r.Messages, box)}
	if strings.TrimSpace(r.System) != "" {
		out["systemInstruction"] = content{Parts: []part{{Text: &r.System}}}
	}
	if len(box.Tools) > 0 {
		var list []any
		for _, t := range box.Tools {
			list = append(list, map[string]any{"name": t.Name, "description": t.Description, "parametersJsonSchema": t.Schema})
		}
		out["tools"] = []any{map[string]any{"functionDeclarations": list}}
		if c := choice(r.ToolChoice, box); c != nil {
			out["toolConfig"] = map[string]any{"functionCallingConfig": c}
		}
	}
	if config := m.config(r); len(config) > 0 {
		out["generationConfig"] = config
	}
	if len(m.tuning.Extra) > 0 {
		var fields map[string]json.RawMessage
		if err := json.Unmarshal(m.tuning.Extra, &fields); err != nil {
			return nil, &llm.Error{Kind: llm.BadRequest, Message: "the extra fields for this model are not a JSON object: " + err.Error()}
		}
		for k, v := range fields {
			out[k] = v
		}
	}
	return out, nil
}

func choice(which string, box *wire.Toolbox) map[string]any {
	switch which {
	case "", "auto":
		return nil
	case "none":
		return map[string]any{"mode": "NONE"}
	case "required":
		return map[string]any{"mode": "ANY"}
	}
	return map[string]any{"mode": "ANY", "allowedFunctionNames": []string{box.Sent(which)}}
}

func (m *model) config(r *llm.Request) map[string]any {
	out := map[string]any{}
	thinking, more := m.thinking(r)
	if thinking != nil {
		out["thinkingConfig"] = thinking
	}
	if r.MaxTokens > 0 {
		out["maxOutputTokens"] = r.MaxTokens + more
	}
	if r.Temperature != nil {
		out["temperature"] = *r.Temperature
	}
	// Older ones take a schema or tools, not both.
	if len(r.Format) > 0 && (len(r.Tools) == 0 || m.signs()) {
		out["responseMimeType"], out["responseJsonSchema"] = "application/json", r.Format
	}
	return out
}

// A history is what is known of calls while messages are gone through.
type history struct {
	names  map[string]string // of tools, by the ids of their calls
	places map[string]int    // of calls, among all
	often  map[string]int    // calls with this id
	calls  int
}

// id is one that the API may see: its own, and of others what is unmistakable.
func (h *history) id(id string) string {
	if strings.HasPrefix(id, made) || h.often[id] != 1 {
		return ""
	}
	return id
}

// contents are the messages, with neighbours of one side joined: all results of a
// turn stand in one content, in the order of their calls and before other words.
func (m *model) contents(list []llm.Message, box *wire.Toolbox) []content {
	h := &history{names: map[string]string{}, places: map[string]int{}, often: map[string]int{}}
	for _, msg := range list {
		for _, p := range msg.Parts {
			if p.Kind == llm.ToolCall {
				h.often[p.ID]++
			}
		}
	}
	out := []content{}
	for _, msg := range list {
		role := "user"
		if msg.Role == llm.Assistant {
			role = "model"
		}
		parts := m.parts(msg, box, h)
		if len(parts) == 0 {
			continue
		}
		if n := len(out); n > 0 && out[n-1].Role == role {
			out[n-1].Parts = append(out[n-1].Parts, parts...)
		} else {
			out = append(out, content{role, parts})
		}
	}
	for i := range out {
		if out[i].Role == "user" {
			slices.SortStableFunc(out[i].Parts, func(a, b part) int { return a.order - b.order })
		}
	}
	return out
}

func (m *model) parts(msg llm.Message, box *wire.Toolbox, h *history) []part {
	var out []part
	first := true
	for _, p := range msg.Parts {
		var own json.RawMessage
		if p.OpaqueBy == m.ID() {
			own = p.Opaque
		}
		switch p.Kind {
		case llm.Text:
			if p.Text != "" || own != nil {
				out = append(out, part{Text: &p.Text, Signature: own})
			}
		case llm.Image:
			out = append(out, part{Inline: &inline{p.Media, p.Data}})
		case llm.Reasoning: // thoughts themselves are not wanted back
			if own != nil {
				out = append(out, part{Text: &p.Text, Thought: true, Signature: own})
			}
		case llm.ToolCall:
			if own == nil && first && m.signs() {
				own = unchecked
			}
			first = false
			h.names[p.ID], h.places[p.ID] = p.Name, h.calls
			h.calls++
			out = append(out, part{Call: &call{h.id(p.ID), box.Sent(p.Name), wire.Object(p.Args)}, Signature: own})
		case llm.ToolResult:
			key, name := "output", p.Name
			if p.IsError {
				key = "error"
			}
			if name == "" {
				name = h.names[p.ID]
			}
			place, known := h.places[p.ID]
			if !known {
				place = h.calls
			}
			out = append(out, part{Response: &response{h.id(p.ID), box.Sent(name), map[string]string{key: p.Text}}, order: place - maxCalls})
		}
	}
	return out
}

// maxCalls is more than any history has: results come before all else, whose
// order is 0.
const maxCalls = 1 << 30
