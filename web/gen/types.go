package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A shape is the part of JSON Schema that structs become.
type shape struct {
	Ref         string                     `json:"$ref"`
	Defs        map[string]json.RawMessage `json:"$defs"`
	Type        json.RawMessage            `json:"type"`
	Enum        []json.RawMessage          `json:"enum"`
	Const       json.RawMessage            `json:"const"`
	Properties  map[string]json.RawMessage `json:"properties"`
	Required    []string                   `json:"required"`
	Items       json.RawMessage            `json:"items"`
	Prefix      []json.RawMessage          `json:"prefixItems"`
	More        json.RawMessage            `json:"additionalProperties"`
	All         []json.RawMessage          `json:"allOf"`
	Any         []json.RawMessage          `json:"anyOf"`
	One         []json.RawMessage          `json:"oneOf"`
	Description string                     `json:"description"`
}

// typeOf writes a schema as a type.
func typeOf(raw json.RawMessage, indent string) (string, error) {
	if len(raw) == 0 {
		return "void", nil
	}
	if raw[0] != '{' { // true and false are schemas
		return "unknown", nil
	}
	var s shape
	if err := json.Unmarshal(raw, &s); err != nil {
		return "", err
	}
	switch {
	case s.Ref != "":
		name, ok := strings.CutPrefix(s.Ref, "#/components/schemas/")
		if !ok {
			return "", fmt.Errorf("the schema refers to %q", s.Ref)
		}
		return name, nil
	case len(s.Defs) > 0:
		return "", fmt.Errorf("the schema has definitions of its own")
	case len(s.Const) > 0:
		return string(s.Const), nil
	case len(s.Enum) > 0:
		return joined(s.Enum, " | ", func(r json.RawMessage) (string, error) { return string(r), nil })
	case len(s.All) > 0:
		return joined(s.All, " & ", func(r json.RawMessage) (string, error) { return typeOf(r, indent) })
	case len(s.Any)+len(s.One) > 0:
		return joined(append(s.Any, s.One...), " | ", func(r json.RawMessage) (string, error) { return typeOf(r, indent) })
	}
	return s.plain(indent)
}

func joined(list []json.RawMessage, by string, f func(json.RawMessage) (string, error)) (string, error) {
	var parts []string
	for _, r := range list {
		t, err := f(r)
		if err != nil {
			return "", err
		}
		parts = append(parts, t)
	}
	return "(" + strings.Join(parts, by) + ")", nil
}

// plain is a schema that names its types.
func (s shape) plain(indent string) (string, error) {
	if len(s.Type) == 0 {
		if s.Properties != nil {
			return s.object(indent)
		}
		return "unknown", nil
	}
	types := []string{""}
	if s.Type[0] == '[' {
		if err := json.Unmarshal(s.Type, &types); err != nil {
			return "", err
		}
	} else if err := json.Unmarshal(s.Type, &types[0]); err != nil {
		return "", err
	}
	var out []string
	for _, name := range types {
		t, err := s.named(name, indent)
		if err != nil {
			return "", err
		}
		out = append(out, t)
	}
	return strings.Join(out, " | "), nil
}

func (s shape) named(name, indent string) (string, error) {
	switch name {
	case "integer", "number":
		return "number", nil
	case "string", "boolean", "null":
		return name, nil
	case "object":
		return s.object(indent)
	case "array":
		if s.Items == nil {
			return "unknown[]", nil
		}
		t, err := typeOf(s.Items, indent)
		return "(" + t + ")[]", err
	}
	return "", fmt.Errorf("unknown type %q", name)
}

func (s shape) object(indent string) (string, error) {
	if len(s.Properties) == 0 {
		if len(s.More) > 0 && s.More[0] == '{' && string(s.More) != `{"not":{}}` && string(s.More) != "{}" {
			t, err := typeOf(s.More, indent)
			return "Record<string, " + t + ">", err
		}
		return "Record<string, unknown>", nil
	}
	var b strings.Builder
	b.WriteString("{\n")
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		t, err := typeOf(s.Properties[name], indent+"  ")
		if err != nil {
			return "", fmt.Errorf("%s: %w", name, err)
		}
		var field shape
		_ = json.Unmarshal(s.Properties[name], &field) // typeOf has read it
		if field.Description != "" {
			text := strings.Join(strings.Fields(strings.ReplaceAll(field.Description, "*/", "* /")), " ")
			fmt.Fprintf(&b, "%s  /** %s */\n", indent, text)
		}
		mark := "?"
		if slices.Contains(s.Required, name) {
			mark = ""
		}
		fmt.Fprintf(&b, "%s  %s%s: %s;\n", indent, key(name), mark, t)
	}
	b.WriteString(indent + "}")
	return b.String(), nil
}

func key(name string) string {
	for _, r := range name {
		if r != '_' && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') {
			return fmt.Sprintf("%q", name)
		}
	}
	return name
}
