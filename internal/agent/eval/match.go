package eval

import (
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"reflect"
	"regexp"
	"strconv"
	"strings"
)

// A Match says what one argument must be: a value that it equals, or an object
// with one of
//
//	equals    the same value; the way to ask for an object
//	in        one of these values
//	contains  a part of the text, whatever its case, or an element of the list
//	regex     a pattern in the text
//	note      a note, however its path is written
//	any       true: it is given, false: it is not
type Match struct {
	op    string
	value any
	regex *regexp.Regexp
}

// UnmarshalJSON reads one.
func (m *Match) UnmarshalJSON(b []byte) error {
	var v any
	if err := json.Unmarshal(b, &v); err != nil {
		return err
	}
	o, ok := v.(map[string]any)
	if !ok {
		m.op, m.value = "equals", v
		return nil
	}
	if len(o) != 1 {
		return errors.New("a match has one of equals, in, contains, regex, note, any")
	}
	for m.op, m.value = range o { // the only one
	}
	text, isText := m.value.(string)
	switch m.op {
	case "equals":
	case "in":
		if _, ok := m.value.([]any); !ok {
			return errors.New("in: needs a list")
		}
	case "any":
		if _, ok := m.value.(bool); !ok {
			return errors.New("any: needs true or false")
		}
	case "contains", "note", "regex":
		if !isText || text == "" {
			return fmt.Errorf("%s: needs a text", m.op)
		}
		if m.op == "regex" {
			var err error
			m.regex, err = regexp.Compile("(?i)" + text)
			return err
		}
	default:
		return fmt.Errorf("%q is not a match; use equals, in, contains, regex, note or any", m.op)
	}
	return nil
}

// String tells what is wanted.
func (m Match) String() string {
	b, err := json.Marshal(m.value)
	if err != nil {
		return m.op
	}
	if m.op == "equals" {
		return string(b)
	}
	return m.op + " " + string(b)
}

// fits reports whether a value is as wanted. given says that there is one.
func (m *Match) fits(v any, given bool) bool {
	if m.op == "any" {
		return m.value == given
	}
	if !given {
		return false
	}
	switch m.op {
	case "equals":
		return reflect.DeepEqual(v, m.value)
	case "in":
		for _, want := range m.value.([]any) {
			if reflect.DeepEqual(v, want) {
				return true
			}
		}
		return false
	}
	if list, ok := v.([]any); ok {
		for _, e := range list {
			if m.fits(e, true) {
				return true
			}
		}
		return false
	}
	text, ok := v.(string)
	if !ok {
		return false
	}
	want, _ := m.value.(string)
	switch m.op {
	case "contains":
		return has(text, want)
	case "note":
		return sameNote(text, want)
	}
	return m.regex.MatchString(text)
}

// has reports whether a text has a part, whatever its case.
func has(text, part string) bool {
	return strings.Contains(strings.ToLower(text), strings.ToLower(part))
}

// sameNote reports whether a model's word for a note means the one at a path.
func sameNote(said, at string) bool {
	plain := func(s string) string {
		s = strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(s), "[["), "]]")
		s = strings.TrimPrefix(strings.TrimPrefix(s, "./"), "/")
		return strings.TrimSuffix(strings.ToLower(s), ".md")
	}
	said, at = plain(said), plain(at)
	return said == at || said == path.Base(at)
}

// arguments decodes the arguments of a call, which may be JSON inside of a text.
func arguments(raw json.RawMessage) any {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return nil
	}
	if s, ok := v.(string); ok && json.Unmarshal([]byte(s), &v) != nil {
		return nil
	}
	return v
}

// at finds the value at a path of names and numbers.
func at(v any, where string) (any, bool) {
	for name := range strings.SplitSeq(where, ".") {
		switch x := v.(type) {
		case map[string]any:
			next, ok := x[name]
			if !ok {
				return nil, false
			}
			v = next
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i < 0 || i >= len(x) {
				return nil, false
			}
			v = x[i]
		default:
			return nil, false
		}
	}
	return v, true
}
