package quote

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"lore/internal/llm"
)

// command runs "/tool …": the arguments are a JSON object, or words for the
// required fields in their order and key=value for others.
func command(r *llm.Request, text string) llm.Part {
	name, rest, _ := strings.Cut(text[1:], " ")
	name = strings.ReplaceAll(strings.TrimSpace(name), "-", "_")
	if name == "" || name == "help" || name == "tools" {
		return help(r.Tools)
	}
	i := slices.IndexFunc(r.Tools, func(t llm.Tool) bool { return t.Name == name })
	if i < 0 {
		var near []string
		for _, t := range r.Tools {
			if strings.Contains(t.Name, name) || strings.Contains(name, t.Name) {
				near = append(near, "/"+t.Name)
			}
		}
		if len(near) > 0 {
			return say("There is no tool /%s. Did you mean %s?\n", name, strings.Join(near, ", "))
		}
		return say("There is no tool /%s. /help lists them.\n", name)
	}
	args, problem := arguments(&r.Tools[i], strings.TrimSpace(rest))
	if problem != "" {
		return say("/%s: %s\n", name, problem)
	}
	return llm.Part{Kind: llm.ToolCall, ID: "command", Name: name, Args: args}
}

func help(tools []llm.Tool) llm.Part {
	var b strings.Builder
	b.WriteString(alone + "\nAsk anything, and I search for it. Or name a tool:\n\n")
	for _, t := range tools {
		first, _, _ := strings.Cut(t.Description, ". ")
		b.WriteString("- /" + t.Name)
		for _, f := range fields(t.Schema) {
			if f.required {
				b.WriteString(" " + strings.ToUpper(f.name))
			}
		}
		b.WriteString(": " + strings.TrimSuffix(first, ".") + "\n")
	}
	return llm.Part{Kind: llm.Text, Text: b.String()}
}

// A field is one argument of a tool.
type field struct {
	name, kind string
	required   bool
}

// fields reads the arguments of a schema in their order.
func fields(schema json.RawMessage) []field {
	var s struct {
		Properties json.RawMessage
		Required   []string
	}
	if json.Unmarshal(schema, &s) != nil {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(s.Properties))
	if _, err := d.Token(); err != nil {
		return nil
	}
	var out []field
	for d.More() {
		key, err := d.Token()
		name, isName := key.(string)
		if err != nil || !isName {
			return out
		}
		var p struct{ Type any }
		if d.Decode(&p) != nil {
			return out
		}
		kind, _ := p.Type.(string)
		out = append(out, field{name, kind, slices.Contains(s.Required, name)})
	}
	slices.SortStableFunc(out, func(a, b field) int { return slices.Index(s.Required, a.name) - slices.Index(s.Required, b.name) })
	slices.SortStableFunc(out, func(a, b field) int {
		switch {
		case a.required == b.required:
			return 0
		case a.required:
			return -1
		}
		return 1
	})
	return out
}

// arguments makes an object of what was typed, or says what is wrong with it.
func arguments(t *llm.Tool, text string) (json.RawMessage, string) {
	if strings.HasPrefix(text, "{") {
		if !json.Valid([]byte(text)) {
			return nil, "the arguments are not JSON"
		}
		return json.RawMessage(text), ""
	}
	all := fields(t.Schema)
	out := map[string]any{}
	var loose []string
	for _, word := range split(text) {
		key, value, ok := strings.Cut(word, "=")
		i := slices.IndexFunc(all, func(f field) bool { return f.name == key })
		if !ok || i < 0 {
			loose = append(loose, word)
			continue
		}
		out[key] = typed(value, all[i].kind)
	}
	var need []field
	for _, f := range all {
		if _, have := out[f.name]; f.required && !have {
			need = append(need, f)
		}
	}
	if strings.ContainsAny(text, `"'`) {
		// Who quotes knows where each word belongs.
		for _, f := range all {
			if _, have := out[f.name]; !f.required && !have && f.kind == "string" && len(need) < len(loose) {
				need = append(need, f)
			}
		}
	}
	if len(need) == 0 && len(loose) > 0 {
		return nil, "unexpected argument " + strconv.Quote(strings.Join(loose, " ")) + "; write key=value, or JSON"
	}
	for i, f := range need {
		switch {
		case i >= len(loose):
			return nil, f.name + " is missing"
		case i == len(need)-1:
			out[f.name] = typed(strings.Join(loose[i:], " "), f.kind)
		default:
			out[f.name] = typed(loose[i], f.kind)
		}
	}
	b, err := json.Marshal(out)
	if err != nil {
		return nil, err.Error()
	}
	return b, ""
}

// typed gives a word the type of its field.
func typed(s, kind string) any {
	switch kind {
	case "integer", "number", "boolean", "object":
		var v any
		if json.Unmarshal([]byte(s), &v) == nil {
			return v
		}
	case "array":
		if strings.HasPrefix(s, "[") {
			var v any
			if json.Unmarshal([]byte(s), &v) == nil {
				return v
			}
		}
		return strings.Split(s, ",")
	}
	return s
}

// split cuts a line into words; quotes keep blanks together, also behind "=".
func split(s string) []string {
	var out []string
	var word strings.Builder
	var quote rune
	in := false
	for _, r := range s {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '"' || r == '\''):
			quote, in = r, true
		case quote == 0 && (r == ' ' || r == '\t' || r == '\n'):
			if in {
				out = append(out, word.String())
				word.Reset()
				in = false
			}
		default:
			word.WriteRune(r)
			in = true
		}
	}
	if in {
		out = append(out, word.String())
	}
	return out
}
