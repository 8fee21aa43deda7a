package schema

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"
)

// How long one string argument may be, in characters, by what it is for. A
// field says it with the tag size:"query"; without one it is a name.
const (
	MaxID    = 200
	MaxName  = 1_000 // paths, titles, tags, types, dates
	MaxQuery = 2_000
	MaxProse = 20_000
	// MaxText is as long as the largest note.
	MaxText = 10 << 20
	// MaxItems is how many items a list or an object may have, at any depth.
	MaxItems = 1_000
)

var kinds = map[string]int{"id": MaxID, "name": MaxName, "query": MaxQuery, "prose": MaxProse, "text": MaxText}

// sizeNames are fields whose name says what they are for, in whichever tool.
var sizeNames = map[string]string{
	"query": "query", "question": "query", "content": "text", "text": "query", "notes": "prose", "reason": "prose", "summary": "prose", "instructions": "prose",
}

// sizes are how long texts may be that are no names. They are not written into
// the schema: each client would read them at every argument, again and again,
// and the refusal says the same.
type sizes map[*jsonschema.Schema]int

// bound sets how long the text of a field may be.
func (z sizes) bound(p *jsonschema.Schema, f reflect.StructField) {
	key, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	kind, ok := f.Tag.Lookup("size")
	if !ok {
		kind = sizeNames[key]
	}
	if kind == "" {
		kind = "name"
		if key == "operation" || key == "pending_operation_id" || strings.HasSuffix(key, "hash") {
			kind = "id"
		}
	}
	most, known := kinds[kind]
	if !known {
		panic(fmt.Sprintf("%s: there is no size %q", f.Name, kind))
	}
	target := p
	for target.Type == "array" && target.Items != nil {
		target = target.Items
	}
	if target.Type == "object" && target.AdditionalProperties != nil && target.AdditionalProperties.Type == "string" {
		target, most = target.AdditionalProperties, MaxProse
	}
	if target.Type == "string" && most != MaxName {
		z[target] = most
	}
}

// tooLong says that a text passes the limit of its field.
func (z sizes) tooLong(s *jsonschema.Schema, text, at string) []problem {
	most, ok := z[s]
	if !ok {
		most = MaxName
	}
	if len(text) <= most {
		return nil // no character is smaller than a byte
	}
	n := utf8.RuneCountInString(text)
	if n <= most {
		return nil
	}
	return []problem{{at, fmt.Sprintf("has %s characters, the limit is %s", grouped(n), grouped(most))}}
}

// bounded says what of an argument is too large whatever it is for: values that
// no field of a struct names, such as the properties of a note, are bounded by
// this alone.
func bounded(v any, at string) []problem {
	switch v := v.(type) {
	case string:
		if len(v) > MaxText {
			return []problem{{at, fmt.Sprintf("has %s bytes, the limit is %s", grouped(len(v)), grouped(MaxText))}}
		}
	case []any:
		if len(v) > 10*MaxItems {
			return []problem{{at, fmt.Sprintf("has %s items, the limit is %s", grouped(len(v)), grouped(10*MaxItems))}}
		}
		for i, e := range v {
			if p := bounded(e, fmt.Sprintf("%s[%d]", at, i)); p != nil {
				return p
			}
		}
	case map[string]any:
		if len(v) > MaxItems {
			return []problem{{at, fmt.Sprintf("has %s fields, the limit is %s", grouped(len(v)), grouped(MaxItems))}}
		}
		for _, k := range slices.Sorted(maps.Keys(v)) {
			inside := k
			if at != "" {
				inside = at + "." + k
			}
			if len(k) > MaxName {
				return []problem{{at, fmt.Sprintf("a field name has %s bytes, the limit is %s", grouped(len(k)), grouped(MaxName))}}
			}
			if p := bounded(v[k], inside); p != nil {
				return p
			}
		}
	}
	return nil
}

// grouped writes a number with commas between thousands.
func grouped(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
