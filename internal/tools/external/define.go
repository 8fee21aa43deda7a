package external

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"lore/internal/fault"
	"lore/internal/mcpclient/serverlist"
)

// What a server may say about its tools.
const (
	maxTools  = 128
	maxPages  = 64
	maxDoc    = 2 << 10  // of a description, as models see it
	maxTitle  = 120      // characters
	maxOwn    = 256      // bytes of a tool's own name
	maxSchema = 64 << 10 // bytes
	maxDepth  = 24
)

// definition puts what a server says about a tool into the form that is kept.
// The SDK read the schemas into maps, so writing them sorts their keys.
func definition(t *sdk.Tool) (serverlist.Definition, error) {
	d := serverlist.Definition{Name: t.Name, Title: t.Title, Description: t.Description}
	if t.Name == "" || len(t.Name) > maxOwn {
		return d, fault.New(fault.Invalid, "its name is empty or too long (%d bytes)", len(t.Name))
	}
	var err, e1, e2, e3 error
	if t.InputSchema != nil {
		d.Input, e1 = json.Marshal(t.InputSchema)
	}
	if t.OutputSchema != nil {
		d.Output, e2 = json.Marshal(t.OutputSchema)
	}
	if t.Annotations != nil {
		d.Annotations, e3 = json.Marshal(t.Annotations)
	}
	if err = errors.Join(e1, e2, e3); err != nil {
		return d, fault.New(fault.Invalid, "its definition cannot be read: %v", err)
	}
	for _, raw := range []json.RawMessage{d.Input, d.Output, d.Annotations} {
		if len(raw) > maxSchema {
			return d, fault.New(fault.TooLarge, "its schema has %d bytes, more than %d", len(raw), maxSchema)
		}
	}
	return d, nil
}

// inputSchema makes a schema that arguments are checked with from what a server
// sent. What refers to another place is not followed but left out, as is a
// pattern that Lore cannot read: the server checks its arguments itself.
//
// A schema that uses words of another age of the language is read again loosely:
// which arguments there are, and of what type.
func inputSchema(d serverlist.Definition, loose bool) (*jsonschema.Schema, error) {
	var root map[string]any
	if len(d.Input) > 0 {
		if err := json.Unmarshal(d.Input, &root); err != nil {
			return nil, fault.New(fault.Invalid, "its schema is not an object")
		}
	}
	if root == nil {
		root = map[string]any{}
	}
	if err := tame(root, 0); err != nil {
		return nil, err
	}
	if loose {
		root = loosened(root)
	}
	root["type"] = "object"
	b, err := json.Marshal(root)
	if err != nil {
		return nil, err
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(b, &s); err != nil {
		return nil, fault.New(fault.Invalid, "its schema is not valid: %s", line(err.Error(), 200))
	}
	return &s, nil
}

// loosened keeps the names, types and descriptions of the arguments alone.
func loosened(root map[string]any) map[string]any {
	properties := map[string]any{}
	all, _ := root["properties"].(map[string]any)
	for name, v := range all {
		p := map[string]any{}
		from, _ := v.(map[string]any)
		switch t := from["type"]; t {
		case "string", "number", "integer", "boolean", "object", "array", "null":
			p["type"] = t
		}
		if text, ok := from["description"].(string); ok {
			p["description"] = text
		}
		properties[name] = p
	}
	return map[string]any{"properties": properties}
}

// tame walks through a schema and changes it in place.
func tame(v any, depth int) error {
	if depth > maxDepth {
		return fault.New(fault.TooLarge, "its schema is nested more than %d deep", maxDepth)
	}
	switch v := v.(type) {
	case []any:
		for i := range v {
			if s, ok := v[i].(string); ok {
				v[i], _ = clean(s)
			}
			if err := tame(v[i], depth+1); err != nil {
				return err
			}
		}
	case map[string]any:
		tameObject(v)
		for _, k := range slices.Sorted(maps.Keys(v)) {
			if s, ok := v[k].(string); ok {
				v[k] = tamed(k, s)
			}
			if err := tame(v[k], depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}

// tameObject takes out what would be looked up elsewhere or cannot be read.
func tameObject(v map[string]any) {
	for _, k := range []string{"$ref", "$dynamicRef"} {
		if s, ok := v[k].(string); ok && !strings.HasPrefix(s, "#") {
			delete(v, k)
		}
	}
	for _, k := range []string{"$id", "$schema", "$vocabulary", "id"} {
		if _, ok := v[k].(string); ok || k == "$vocabulary" {
			delete(v, k)
		}
	}
	if s, ok := v["pattern"].(string); ok {
		if _, err := regexp.Compile(s); err != nil || len(s) > 1000 {
			delete(v, "pattern")
		}
	}
	if m, ok := v["patternProperties"].(map[string]any); ok {
		maps.DeleteFunc(m, func(k string, _ any) bool {
			_, err := regexp.Compile(k)
			return err != nil
		})
	}
}

// tamed is a text of a schema as it is shown.
func tamed(key, s string) string {
	s, _ = clean(s)
	if key == "description" || key == "title" || key == "$comment" {
		s, _ = cut(s, maxDoc)
	}
	return s
}

// describe is a description as models and persons see it: as the server's own
// words, cut, with nothing hidden in it.
func describe(server string, d serverlist.Definition) (doc string, warnings []string) {
	text, n := clean(d.Description)
	if n > 0 {
		warnings = append(warnings, fmt.Sprintf("%d invisible characters were removed from its description", n))
	}
	text, was := cut(strings.TrimSpace(text), maxDoc)
	if was {
		warnings = append(warnings, fmt.Sprintf("its description was shortened: it has %d bytes", len(d.Description)))
	}
	return strings.TrimSpace(fmt.Sprintf("(of the server %s) %s", line(server, 60), text)), warnings
}
