package schema

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// A problem is one thing that is wrong with the arguments.
type problem struct {
	field string // "filter.tags"; "" for the object itself
	text  string
}

func (p problem) String() string {
	if p.field == "" {
		return p.text
	}
	return p.field + ": " + p.text
}

// check compares a value with a schema and reports everything that is wrong, so
// that a caller can mend its call in one go. It knows what schemas of structs
// have: types, required and unknown fields, enumerations and limits. (A general
// validator costs six milliseconds at every start of the program, more than
// most answers.)
func (z sizes) check(s *jsonschema.Schema, v any, at string) []problem {
	switch s.Type {
	case "object":
		return z.checkObject(s, v, at)
	case "array":
		list, ok := v.([]any)
		if !ok {
			return wrongType(s, v, at)
		}
		if len(list) > MaxItems {
			return []problem{{at, fmt.Sprintf("has %s items, the limit is %s", grouped(len(list)), grouped(MaxItems))}}
		}
		var out []problem
		for i, e := range list {
			if len(out) > mostProblems {
				break // enough is known
			}
			if s.Items != nil {
				out = append(out, z.check(s.Items, e, fmt.Sprintf("%s[%d]", at, i))...)
			}
		}
		return out
	case "string":
		text, ok := v.(string)
		if !ok {
			return wrongType(s, v, at)
		}
		if p := z.tooLong(s, text, at); p != nil {
			return p
		}
		if len(s.Enum) > 0 && !slices.Contains(s.Enum, any(text)) {
			var allowed []string
			for _, e := range s.Enum {
				allowed = append(allowed, fmt.Sprint(e))
			}
			return []problem{{at, fmt.Sprintf("%q is not one of %s", cutText(text), strings.Join(allowed, ", "))}}
		}
	case "integer", "number":
		return checkNumber(s, v, at)
	case "boolean":
		if _, ok := v.(bool); !ok {
			return wrongType(s, v, at)
		}
	}
	return nil
}

func (z sizes) checkObject(s *jsonschema.Schema, v any, at string) []problem {
	m, ok := v.(map[string]any)
	if !ok {
		return wrongType(s, v, at)
	}
	inside := func(name string) string {
		if at == "" {
			return name
		}
		return at + "." + name
	}
	var out []problem
	for _, name := range s.Required {
		if _, have := m[name]; !have {
			out = append(out, problem{inside(name), "is missing"})
		}
	}
	for name, value := range m {
		p := s.Properties[name]
		switch {
		case p != nil:
			out = append(out, z.check(p, value, inside(name))...)
		case len(s.Properties) == 0 && s.AdditionalProperties != nil:
			out = append(out, z.check(s.AdditionalProperties, value, inside(name))...)
		default:
			out = append(out, problem{at, unknown(s, name)})
		}
	}
	slices.SortFunc(out, func(a, b problem) int { return cmp.Or(cmp.Compare(a.field, b.field), cmp.Compare(a.text, b.text)) })
	return out
}

func checkNumber(s *jsonschema.Schema, v any, at string) []problem {
	n, ok := v.(json.Number)
	if !ok {
		return wrongType(s, v, at)
	}
	f, err := n.Float64()
	if err != nil {
		return []problem{{at, fmt.Sprintf("%s is not a usable number", cutNumber(n))}}
	}
	if s.Type == "integer" {
		if _, err := n.Int64(); err != nil {
			return []problem{{at, fmt.Sprintf("must be a whole number, got %s", cutNumber(n))}}
		}
	}
	if s.Minimum != nil && f < *s.Minimum {
		return []problem{{at, fmt.Sprintf("must be at least %g, got %s", *s.Minimum, cutNumber(n))}}
	}
	if s.Maximum != nil && f > *s.Maximum {
		return []problem{{at, fmt.Sprintf("must be at most %g, got %s", *s.Maximum, cutNumber(n))}}
	}
	return nil
}

var typeWords = map[string]string{
	"object": "an object", "array": "a list", "string": "text", "integer": "a whole number", "number": "a number", "boolean": "true or false",
}

func wrongType(s *jsonschema.Schema, v any, at string) []problem {
	return []problem{{at, fmt.Sprintf("must be %s, got %s", typeWords[s.Type], describeJSON(v))}}
}

func unknown(s *jsonschema.Schema, name string) string {
	known := Arguments(s)
	const most = 80
	if len(name) > most {
		return fmt.Sprintf("unknown field of %d characters (known: %s)", len(name), strings.Join(known, ", "))
	}
	text := fmt.Sprintf("unknown field %q", name)
	if near := Nearest(name, known, 1); len(near) > 0 {
		text += fmt.Sprintf(", did you mean %q?", near[0])
	}
	return text + " (known: " + strings.Join(known, ", ") + ")"
}
