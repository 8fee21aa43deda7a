package workflow

import (
	"encoding/json"
	"fmt"
	"strings"
)

// A template is a text with expressions in it. One that is nothing but an
// expression keeps the type of its value.
type template struct {
	source string
	parts  []part
}

// A part is a text, or an expression.
type part struct {
	text string
	expr *Expression
}

// parseTemplate reads a text; without expressions it has no parts.
func parseTemplate(text string) (*template, error) {
	t := &template{source: text}
	for rest := text; rest != ""; {
		before, after, ok := strings.Cut(rest, "{{")
		if !ok {
			if len(t.parts) > 0 {
				t.parts = append(t.parts, part{text: rest})
			}
			return t, nil
		}
		inner, next, closed := strings.Cut(after, "}}")
		if !closed {
			return nil, fmt.Errorf("}} is missing after {{%s", after)
		}
		e, err := ParseExpression(inner)
		if err != nil {
			return nil, err
		}
		if before != "" {
			t.parts = append(t.parts, part{text: before})
		}
		t.parts = append(t.parts, part{expr: e})
		rest = next
	}
	return t, nil
}

func (t *template) expressions() []*Expression {
	var out []*Expression
	for _, p := range t.parts {
		if p.expr != nil {
			out = append(out, p.expr)
		}
	}
	return out
}

// MarshalJSON writes a template as it stands in the file.
func (t *template) MarshalJSON() ([]byte, error) { return json.Marshal(t.source) }

func (t *template) fill(scope map[string]any) (any, error) {
	if len(t.parts) == 1 && t.parts[0].expr != nil {
		return t.parts[0].expr.Eval(scope)
	}
	var b strings.Builder
	for _, p := range t.parts {
		if p.expr == nil {
			b.WriteString(p.text)
			continue
		}
		v, err := p.expr.Eval(scope)
		if err != nil {
			return nil, err
		}
		b.WriteString(Text(v))
	}
	return b.String(), nil
}

// fill is a value with its templates filled in.
func fill(v any, scope map[string]any) (any, error) {
	switch v := v.(type) {
	case *template:
		return v.fill(scope)
	case map[string]any:
		out := map[string]any{}
		for k, e := range v {
			f, err := fill(e, scope)
			if err != nil {
				return nil, err
			}
			out[k] = f
		}
		return out, nil
	case []any:
		out := []any{}
		for _, e := range v {
			f, err := fill(e, scope)
			if err != nil {
				return nil, err
			}
			out = append(out, f)
		}
		return out, nil
	}
	return v, nil
}
