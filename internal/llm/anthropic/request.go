package anthropic

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"lore/internal/llm"
	"lore/internal/llm/wire"
)

// A turn is what one side said, in blocks.
type turn struct {
	Role    string `json:"role"`
	Content []any  `json:"content"`
}

// mark is where the provider may remember everything up to.
var mark = map[string]string{"type": "ephemeral"}

// body is a request in the words of the API.
func (m *model) body(r *llm.Request, box *wire.Toolbox) (map[string]any, error) {
	turns := m.turns(r.Messages, box)
	markLast(turns)
	most := r.MaxTokens
	if most <= 0 {
		most = m.family.maxOut()
		if m.tuning.Context > 0 {
			most = min(most, max(m.tuning.Context/2, 1))
		}
	}
	thinking, most := m.thinking(r, most)
	out := map[string]any{"model": m.name, "messages": turns, "max_tokens": most, "stream": true}
	if strings.TrimSpace(r.System) != "" {
		out["system"] = []any{map[string]any{"type": "text", "text": r.System, "cache_control": mark}}
	}
	if tools, choice := offered(r, box); tools != nil {
		out["tools"] = tools
		if choice != nil {
			out["tool_choice"] = choice
		}
	}
	switch {
	case thinking != nil:
		out["thinking"] = thinking
	case r.Temperature != nil && m.family.tempered():
		out["temperature"] = min(*r.Temperature, 1)
	}
	config := map[string]any{}
	if m.tuning.Effort != "" && m.family.effort() {
		config["effort"] = m.tuning.Effort
	}
	if len(r.Format) > 0 && m.family.formatted() {
		config["format"] = map[string]any{"type": "json_schema", "schema": strict(r.Format)}
	}
	if len(config) > 0 {
		out["output_config"] = config
	}
	return out, extra(out, m.tuning.Extra)
}

// offered is the tools of a request, and which of them must be called. A history
// with calls wants the tools to be there even when none is offered any more.
func offered(r *llm.Request, box *wire.Toolbox) ([]any, map[string]any) {
	var choice map[string]any
	switch r.ToolChoice {
	case "", "auto":
	case "none":
		choice = map[string]any{"type": "none"}
	case "required":
		choice = map[string]any{"type": "any"}
	default:
		choice = map[string]any{"type": "tool", "name": box.Sent(r.ToolChoice)}
	}
	tools := box.Tools
	if len(tools) == 0 {
		for _, msg := range r.Messages {
			for _, p := range msg.Parts {
				if p.Kind == llm.ToolCall {
					tools = append(tools, llm.Tool{Name: p.Name})
				}
			}
		}
		slices.SortFunc(tools, func(a, b llm.Tool) int { return strings.Compare(a.Name, b.Name) })
		tools = wire.NewToolbox(slices.CompactFunc(tools, func(a, b llm.Tool) bool { return a.Name == b.Name })).Tools
		choice = map[string]any{"type": "none"}
	}
	var list []any
	for i, t := range tools {
		tool := map[string]any{"name": t.Name, "input_schema": t.Schema}
		if t.Description != "" {
			tool["description"] = t.Description
		}
		if i == len(tools)-1 {
			tool["cache_control"] = mark
		}
		list = append(list, tool)
	}
	return list, choice
}

// turns are the messages, with neighbours of one side joined: all results of a
// turn must stand in one message, before anything else in it.
func (m *model) turns(list []llm.Message, box *wire.Toolbox) []turn {
	var out []turn
	ids := idents{taken: map[string]bool{}, now: map[string]string{}}
	for _, msg := range list {
		role := "user"
		if msg.Role == llm.Assistant {
			role = "assistant"
		}
		blocks := m.blocks(msg, box, &ids)
		if len(blocks) == 0 {
			continue
		}
		if n := len(out); n > 0 && out[n-1].Role == role {
			out[n-1].Content = append(out[n-1].Content, blocks...)
		} else {
			out = append(out, turn{role, blocks})
		}
	}
	for i := range out {
		slices.SortStableFunc(out[i].Content, func(a, b any) int { return later(a) - later(b) })
	}
	return out
}

// later is 0 for results and for everything in a turn without.
func later(block any) int {
	if b, ok := block.(map[string]any); ok && b["type"] == "tool_result" {
		return 0
	}
	return 1
}

func (m *model) blocks(msg llm.Message, box *wire.Toolbox, ids *idents) []any {
	var out []any
	for _, p := range msg.Parts {
		switch p.Kind {
		case llm.Text:
			if strings.TrimSpace(p.Text) != "" { // an empty one is refused
				out = append(out, map[string]any{"type": "text", "text": p.Text})
			}
		case llm.Image:
			out = append(out, map[string]any{"type": "image", "source": map[string]any{"type": "base64", "media_type": p.Media, "data": p.Data}})
		case llm.Reasoning:
			// As it came, or not at all: it is signed, for this model alone.
			if p.OpaqueBy == m.ID() && len(p.Opaque) > 0 {
				out = append(out, p.Opaque)
			}
		case llm.ToolCall:
			out = append(out, map[string]any{"type": "tool_use", "id": ids.call(p.ID), "name": box.Sent(p.Name), "input": wire.Object(p.Args)})
		case llm.ToolResult:
			block := map[string]any{"type": "tool_result", "tool_use_id": ids.result(p.ID)}
			if strings.TrimSpace(p.Text) != "" {
				block["content"] = p.Text
			}
			if p.IsError {
				block["is_error"] = true
			}
			out = append(out, block)
		}
	}
	return out
}

// markLast marks the end of what was said. Thoughts cannot be marked.
func markLast(turns []turn) {
	if len(turns) == 0 {
		return
	}
	blocks := turns[len(turns)-1].Content
	for _, b := range slices.Backward(blocks) {
		if block, ok := b.(map[string]any); ok {
			block["cache_control"] = mark
			return
		}
	}
}

// idents are the ids of calls in the form that the API takes, each once: those
// of other providers may hold anything, and come again in every turn.
type idents struct {
	taken map[string]bool
	now   map[string]string // what an id stands for at this place of the history
}

func (x *idents) call(id string) string {
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '_'
	}, id)
	if name == "" {
		name = "call"
	}
	sent := name
	for n := 2; x.taken[sent]; n++ {
		sent = name + "_" + strconv.Itoa(n)
	}
	x.taken[sent], x.now[id] = true, sent
	return sent
}

func (x *idents) result(id string) string {
	if sent, ok := x.now[id]; ok {
		return sent
	}
	return x.call(id)
}

// limits are words of schemas that the API refuses in a format. Whoever asked
// checks the answer anyway.
var limits = []string{
	"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength", "minItems", "maxItems",
	"uniqueItems", "minProperties", "maxProperties", "minContains", "maxContains", "$schema",
}

// strict is a schema as the API takes it: without limits, and with objects that
// hold nothing unnamed.
func strict(schema json.RawMessage) any {
	var s any
	if json.Unmarshal(schema, &s) != nil {
		return schema
	}
	tighten(s)
	return s
}

func tighten(schema any) {
	s, ok := schema.(map[string]any)
	if !ok {
		return
	}
	for _, word := range limits {
		delete(s, word)
	}
	if fields, ok := s["properties"].(map[string]any); ok {
		s["additionalProperties"] = false
		for _, f := range fields {
			tighten(f)
		}
	}
	tighten(s["items"])
	for _, word := range []string{"$defs", "definitions"} {
		if defs, ok := s[word].(map[string]any); ok {
			for _, d := range defs {
				tighten(d)
			}
		}
	}
	for _, word := range []string{"anyOf", "allOf", "oneOf"} {
		if ways, ok := s[word].([]any); ok {
			for _, w := range ways {
				tighten(w)
			}
		}
	}
}
