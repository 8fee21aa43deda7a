package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/google/jsonschema-go/jsonschema"

	"lore/internal/fault"
)

// maxDepth bounds how deep arguments may be nested.
const maxDepth = 64

// Canonical turns what a caller sent into one object that fits the schema:
// validated, with defaults, keys sorted. Everything after it (preview, hash,
// record, run) sees only this form. The notices tell what was changed on the
// way. With lenient, what models get wrong in obvious ways is mended.
func (s *Schema) Canonical(raw json.RawMessage, lenient bool) (args json.RawMessage, notices []string, err error) {
	m, err := Object(raw)
	if err != nil {
		return nil, nil, err
	}
	if err := s.rename(s.In, m, ""); err != nil {
		return nil, nil, err
	}
	if lenient {
		notices = coerce(s.In, m, "", notices)
	}
	if notices, err = numbers(s.In, m, "", notices); err != nil {
		return nil, nil, err
	}
	for name, p := range s.In.Properties {
		if _, have := m[name]; !have && p.Default != nil {
			d, err := decodeStrict(p.Default)
			if err != nil {
				return nil, nil, fmt.Errorf("default of %s: %w", name, err)
			}
			m[name] = d
		}
	}
	if err := s.valid(m); err != nil {
		return nil, nil, err
	}
	out, err := Marshal(m)
	return out, notices, err
}

// Object decodes what a caller sent as arguments, in any of the forms that are
// taken, and refuses what two readers could understand differently. Numbers are
// of the type [json.Number].
func Object(raw json.RawMessage) (map[string]any, error) {
	obj, err := object(raw)
	if err != nil {
		return nil, err
	}
	v, err := decodeStrict(obj)
	if err != nil {
		return nil, err
	}
	m, ok := v.(map[string]any)
	if !ok {
		return nil, fault.New(fault.Invalid, "arguments must be an object, got %s", describeJSON(v))
	}
	return m, nil
}

// valid compares an object with the schema. A foreign schema may say things
// that only a general validator understands; it reports one problem at a time.
func (s *Schema) valid(m map[string]any) error {
	if problems := bounded(m, ""); len(problems) > 0 {
		return explain(problems)
	}
	if s.general == nil {
		if problems := s.most.check(s.In, m, ""); len(problems) > 0 {
			return explain(problems)
		}
		return nil
	}
	// The validator wants the types that json.Unmarshal gives.
	b, err := Marshal(m)
	if err != nil {
		return err
	}
	var plain any
	if err := json.Unmarshal(b, &plain); err != nil {
		return err
	}
	if err := s.general.Validate(plain); err != nil {
		return fault.New(fault.Invalid, "arguments: %s", cutError(err))
	}
	return nil
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
		return nil, fault.New(fault.Invalid, "arguments: there is extra text after the JSON object")
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
		plain := strings.Map(Folded, key)
		if twin, ok := seen[plain]; ok {
			return nil, fault.New(fault.Invalid, "arguments: %q and %q are the same key", cutText(twin), cutText(key))
		}
		seen[plain] = key
		if out[key], err = decodeValue(d, depth+1); err != nil {
			return nil, err
		}
	}
	_, err := d.Token()
	return out, err
}

// Folded is one letter for all that the decoder of the standard library takes
// for the same: K and the Kelvin sign, s and the long one.
func Folded(r rune) rune {
	least := r
	for n := unicode.SimpleFold(r); n != r; n = unicode.SimpleFold(n) {
		least = min(least, n)
	}
	return least
}

// cutText keeps an error short, whatever it quotes.
func cutText(s string) string {
	const most = 80
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}

// rename gives fields that came under another name their own.
func (s *Schema) rename(in *jsonschema.Schema, m map[string]any, at string) error {
	for _, alias := range slices.Sorted(maps.Keys(s.aliases[in])) {
		name := s.aliases[in][alias]
		v, have := m[alias]
		if !have {
			continue
		}
		if _, twice := m[name]; twice {
			return fault.Field(at+name, "give one of them", "%q is another name for it, and both were given", alias)
		}
		delete(m, alias)
		m[name] = v
	}
	for _, name := range Arguments(in) {
		if inner, ok := m[name].(map[string]any); ok {
			p := in.Properties[name]
			if err := s.rename(p, inner, at+name+"."); err != nil {
				return err
			}
		}
	}
	return nil
}

// coerce mends "5" for 5, "true" for true, one value for a list of one, and a
// list or object written as a string.
func coerce(s *jsonschema.Schema, m map[string]any, at string, notices []string) []string {
	for _, name := range Arguments(s) {
		v, have := m[name]
		if !have {
			continue
		}
		if v == nil {
			delete(m, name) // an optional field that was not given
			continue
		}
		p := s.Properties[name]
		if fixed, ok := coerceValue(p, v); ok {
			notices = append(notices, fmt.Sprintf("%s: read %s as %s", at+name, describeJSON(v), p.Type))
			m[name] = fixed
		}
		if inner, ok := m[name].(map[string]any); ok && len(p.Properties) > 0 {
			notices = coerce(p, inner, at+name+".", notices)
		}
	}
	return notices
}

func coerceValue(p *jsonschema.Schema, v any) (any, bool) {
	str, isString := v.(string)
	switch p.Type {
	case "integer", "number":
		str = strings.TrimSpace(str)
		if !isString || str == "" || !strings.ContainsRune("-0123456789", rune(str[0])) || !json.Valid([]byte(str)) {
			return nil, false
		}
		return json.Number(str), true
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

// numbers brings a number that is too large down to its maximum: a caller that
// asks for too much is given what there is, and told. Whole numbers get their
// plain form: JSON calls 5.0 and 5e0 integers, Go does not.
func numbers(s *jsonschema.Schema, m map[string]any, at string, notices []string) ([]string, error) {
	for _, name := range Arguments(s) {
		p := s.Properties[name]
		if inner, ok := m[name].(map[string]any); ok {
			var err error
			if notices, err = numbers(p, inner, at+name+".", notices); err != nil {
				return nil, err
			}
			continue
		}
		n, ok := m[name].(json.Number)
		if !ok || p.Type != "integer" && p.Type != "number" {
			continue
		}
		f, err := n.Float64()
		if err != nil && p.Maximum == nil || f < -maxNumber || f > maxNumber && p.Maximum == nil {
			return nil, fault.Field(at+name, "give a smaller one", "the number %s is out of range", cutNumber(n))
		}
		if p.Maximum != nil && f > *p.Maximum {
			limit := strconv.FormatFloat(*p.Maximum, 'f', -1, 64)
			notices = append(notices, fmt.Sprintf("%s: %s is above the maximum; used %s", at+name, cutNumber(n), limit))
			f = *p.Maximum
			m[name] = json.Number(limit)
		}
		if p.Type == "integer" && f == math.Trunc(f) {
			m[name] = json.Number(strconv.FormatInt(int64(f), 10))
		}
	}
	return notices, nil
}

// maxNumber is the largest number that every reader of JSON keeps exactly.
const maxNumber = 1 << 53

// cutError keeps what a general validator says short: it repeats values.
func cutError(err error) string {
	const most = 2000
	text := err.Error()
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}

func cutNumber(n json.Number) string {
	if len(n) > 24 {
		return string(n[:24]) + "…"
	}
	return string(n)
}

// mostProblems is how many problems an error lists one by one.
const mostProblems = 20

// explain joins the problems in one error.
func explain(problems []problem) error {
	var texts []string
	for i, p := range problems {
		if i == mostProblems {
			texts = append(texts, fmt.Sprintf("and %d more", len(problems)-i))
			break
		}
		texts = append(texts, p.String())
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
		return "the number " + cutNumber(v)
	case []any:
		return "a list"
	}
	return "an object"
}

// Marshal writes JSON with <, > and & as they are: whoever puts JSON into HTML
// escapes it there, and everyone else wants to read it.
func Marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimRight(b.Bytes(), "\n"), err
}
