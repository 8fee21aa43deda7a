package tool

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"lore/internal/fault"
)

// maxDepth bounds how deep arguments may be nested.
const maxDepth = 64

// canonical turns what a caller sent into one object that fits the schema:
// validated, with defaults, keys sorted. Everything after it (preview, hash,
// record, run) sees only this form. The notices tell what was changed on the
// way. With lenient, what models get wrong in obvious ways is mended.
func canonical(s *schemas, raw json.RawMessage, lenient bool) (args json.RawMessage, notices []string, err error) {
	obj, err := object(raw)
	if err != nil {
		return nil, nil, err
	}
	v, err := decodeStrict(obj)
	if err != nil {
		return nil, nil, err
	}
	m, ok := v.(map[string]any)
	if !ok {
		return nil, nil, fault.New(fault.Invalid, "arguments must be an object, got %s", describeJSON(v))
	}
	if lenient {
		notices = coerce(s.in, m, notices)
	}
	notices = clamp(s.in, m, notices)
	for name, p := range s.in.Properties {
		if _, have := m[name]; !have && p.Default != nil {
			d, err := decodeStrict(p.Default)
			if err != nil {
				return nil, nil, fmt.Errorf("default of %s: %w", name, err)
			}
			m[name] = d
		}
	}
	if problems := check(s.in, m, ""); len(problems) > 0 {
		return nil, nil, explain(problems)
	}
	out, err := json.Marshal(m)
	return out, notices, err
}

// object accepts what callers really send: nothing, an object, or an object
// written inside a JSON string.
func object(raw json.RawMessage) (json.RawMessage, error) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || bytes.Equal(raw, []byte("null")) {
		return json.RawMessage("{}"), nil
	}
	if raw[0] == '"' {
		var s string
		if err := json.Unmarshal(raw, &s); err != nil {
			return nil, fault.New(fault.Invalid, "arguments: %v", err)
		}
		if strings.TrimSpace(s) == "" {
			return json.RawMessage("{}"), nil
		}
		return json.RawMessage(s), nil
	}
	return raw, nil
}

// decodeStrict reads JSON and refuses what two readers could understand
// differently: keys that stand twice, or that differ only in case.
func decodeStrict(raw []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	v, err := decodeValue(d, 0)
	if err != nil {
		var r *fault.Report
		if errors.As(err, &r) {
			return nil, err
		}
		return nil, fault.New(fault.Invalid, "arguments are not JSON: %v", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, fault.New(fault.Invalid, "arguments: text after the object")
	}
	return v, nil
}

func decodeValue(d *json.Decoder, depth int) (any, error) {
	if depth > maxDepth {
		return nil, fault.New(fault.Invalid, "arguments are nested deeper than %d", maxDepth)
	}
	t, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch t {
	case json.Delim('{'):
		return decodeObject(d, depth)
	case json.Delim('['):
		out := []any{}
		for d.More() {
			v, err := decodeValue(d, depth+1)
			if err != nil {
				return nil, err
			}
			out = append(out, v)
		}
		_, err := d.Token()
		return out, err
	}
	return t, nil
}

func decodeObject(d *json.Decoder, depth int) (any, error) {
	out := map[string]any{}
	seen := map[string]string{}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return nil, err
		}
		key, ok := t.(string)
		if !ok {
			return nil, fmt.Errorf("unexpected %v", t)
		}
		if twin, ok := seen[strings.ToLower(key)]; ok {
			return nil, fault.New(fault.Invalid, "arguments: %q and %q are the same key", twin, key)
		}
		seen[strings.ToLower(key)] = key
		if out[key], err = decodeValue(d, depth+1); err != nil {
			return nil, err
		}
	}
	_, err := d.Token()
	return out, err
}

// coerce mends "5" for 5, "true" for true, one value for a list of one, and a
// list or object written as a string.
func coerce(s *jsonschema.Schema, m map[string]any, notices []string) []string {
	for _, name := range Arguments(s) {
		v, have := m[name]
		if !have {
			continue
		}
		if v == nil {
			delete(m, name) // an optional field that was not given
			continue
		}
		fixed, ok := coerceValue(s.Properties[name], v)
		if ok {
			notices = append(notices, fmt.Sprintf("%s: read %s as %s", name, describeJSON(v), s.Properties[name].Type))
			m[name] = fixed
		}
	}
	return notices
}

func coerceValue(p *jsonschema.Schema, v any) (any, bool) {
	str, isString := v.(string)
	switch p.Type {
	case "integer", "number":
		if !isString {
			return nil, false
		}
		if _, err := strconv.ParseFloat(strings.TrimSpace(str), 64); err != nil {
			return nil, false
		}
		return json.Number(strings.TrimSpace(str)), true
	case "boolean":
		switch strings.ToLower(strings.TrimSpace(str)) {
		case "true", "yes":
			return true, isString
		case "false", "no":
			return false, isString
		}
	case "array":
		if _, ok := v.([]any); ok {
			return nil, false
		}
		if isString && strings.HasPrefix(strings.TrimSpace(str), "[") {
			if list, err := decodeStrict([]byte(str)); err == nil {
				return list, true
			}
		}
		return []any{v}, true
	case "object":
		if isString && strings.HasPrefix(strings.TrimSpace(str), "{") {
			if obj, err := decodeStrict([]byte(str)); err == nil {
				return obj, true
			}
		}
	case "string":
		if n, ok := v.(json.Number); ok {
			return n.String(), true
		}
	}
	return nil, false
}

// clamp brings a number that is too large down to its maximum: a caller that
// asks for too much is given what there is, and told.
func clamp(s *jsonschema.Schema, m map[string]any, notices []string) []string {
	for _, name := range Arguments(s) {
		p := s.Properties[name]
		n, ok := m[name].(json.Number)
		if !ok || p.Maximum == nil {
			continue
		}
		if f, err := n.Float64(); err == nil && f > *p.Maximum {
			limit := strconv.FormatFloat(*p.Maximum, 'f', -1, 64)
			m[name] = json.Number(limit)
			notices = append(notices, fmt.Sprintf("%s: %s is above the maximum; used %s", name, n, limit))
		}
	}
	return notices
}

// explain joins all problems in one error.
func explain(problems []problem) error {
	texts := make([]string, len(problems))
	for i, p := range problems {
		texts[i] = p.String()
	}
	return &fault.Report{Kind: fault.Invalid, Field: problems[0].field, Message: "arguments: " + strings.Join(texts, "; ")}
}

func describeJSON(v any) string {
	switch v := v.(type) {
	case nil:
		return "nothing"
	case string:
		return "text"
	case bool:
		return "true or false"
	case json.Number:
		return "the number " + v.String()
	case []any:
		return "a list"
	}
	return "an object"
}
