package textcall

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"lore/internal/llm"
	"lore/internal/llm/textcall/lenient"
)

// An offer is the tools that may be called, by name.
type offer map[string]map[string]kinds

// kinds are the types that an argument may have; none: nobody said.
type kinds []string

func offered(tools []llm.Tool) offer {
	o := offer{}
	for _, t := range tools {
		var s struct {
			Properties map[string]json.RawMessage `json:"properties"`
		}
		_ = json.Unmarshal(t.Schema, &s) // without a schema nothing is known of the arguments
		args := map[string]kinds{}
		for name, p := range s.Properties {
			args[name] = typesOf(p, 0)
		}
		o[t.Name] = args
	}
	return o
}

func typesOf(schema json.RawMessage, depth int) kinds {
	var s struct {
		Type  json.RawMessage   `json:"type"`
		AnyOf []json.RawMessage `json:"anyOf"`
		OneOf []json.RawMessage `json:"oneOf"`
		Enum  []any             `json:"enum"`
	}
	if json.Unmarshal(schema, &s) != nil || depth > 3 {
		return nil
	}
	var one string
	var out kinds
	if json.Unmarshal(s.Type, &one) == nil {
		out = kinds{one}
	} else {
		_ = json.Unmarshal(s.Type, &out)
	}
	for _, sub := range append(s.AnyOf, s.OneOf...) {
		out = append(out, typesOf(sub, depth+1)...)
	}
	for _, v := range s.Enum {
		if _, ok := v.(string); ok && len(s.Type) == 0 {
			out = append(out, "string")
		}
	}
	return out
}

var counter = regexp.MustCompile(`:\d+$`)

// name is the offered tool that a model means: models put a namespace before
// names, number them, or escape underscores.
func (o offer) name(said string) (string, bool) {
	said = strings.TrimSpace(strings.ReplaceAll(said, `\_`, "_"))
	if _, ok := o[said]; ok {
		return said, true
	}
	said = counter.ReplaceAllString(said, "")
	for _, prefix := range []string{"functions.", "tools.", "function.", "default_api."} {
		said = strings.TrimPrefix(said, prefix)
	}
	_, ok := o[said]
	return said, ok
}

// typed is the value of an argument that was written as a text between tags.
func (o offer) typed(tool, arg, text string) json.RawMessage {
	want := o[tool][arg]
	bare := strings.TrimSpace(text)
	has := func(list ...string) bool {
		return slices.ContainsFunc(list, func(k string) bool { return slices.Contains(want, k) })
	}
	open := len(want) == 0
	switch {
	case bare == "null" && (open || has("null") || !has("string")):
		return json.RawMessage("null")
	case has("string"):
		return lenient.Quoted(text)
	case (open || has("boolean", "bool")) && (strings.EqualFold(bare, "true") || strings.EqualFold(bare, "false")):
		return json.RawMessage(strings.ToLower(bare))
	case has("boolean", "bool") && len(want) == 1 && (bare == "1" || bare == "0"):
		return json.RawMessage(map[string]string{"1": "true", "0": "false"}[bare])
	}
	r := reader{Reader: lenient.Reader{S: bare, Last: true, Other: true}}
	v, err := r.whole()
	if err != nil {
		return lenient.Quoted(text)
	}
	if has("integer", "int") && !has("number", "float", "double") && strings.HasSuffix(string(v), ".0") {
		v = v[:len(v)-2]
	}
	return v
}

// fit is a value of a language with types of its own, as the schema wants it:
// "5" for a number is 5, and 5 for a text is "5".
func (o offer) fit(tool, arg string, v json.RawMessage) json.RawMessage {
	want := o[tool][arg]
	switch {
	case len(want) == 0 || len(v) == 0:
	case v[0] == '"' && !slices.Contains(want, "string"):
		var text string
		if json.Unmarshal(v, &text) == nil {
			if t := o.typed(tool, arg, text); t[0] != '"' {
				return t
			}
		}
	case len(want) == 1 && want[0] == "string" && strings.IndexByte(`{["n`, v[0]) < 0:
		return lenient.Quoted(string(v))
	}
	return v
}
