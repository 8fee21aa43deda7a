package note

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v4"

	"lore/internal/fault"
)

// canonical turns a value into what [Property.Value] would be after reading it
// back. A whole number is an int64, however it came.
func canonical(v any) (any, error) {
	switch v := v.(type) {
	case nil, bool, string, int64:
		return v, nil
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fault.Field("value", "", "%v is not a number that a note can store", v)
		}
		if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
			return int64(v), nil
		}
		return v, nil
	case json.Number:
		if i, err := v.Int64(); err == nil {
			return i, nil
		}
		if !strings.ContainsAny(v.String(), ".eE") {
			return nil, fault.Field("value", "write it as text", "%s has too many digits for a number", v)
		}
		f, err := v.Float64()
		if err != nil {
			return nil, fault.Field("value", "", "%q is not a number", v)
		}
		return canonical(f)
	}
	rv := reflect.ValueOf(v)
	switch rv.Kind() {
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32:
		return rv.Int(), nil
	case reflect.Float32:
		return canonical(rv.Float())
	case reflect.String:
		return rv.String(), nil
	case reflect.Slice:
		list := make([]any, rv.Len())
		for i := range list {
			e, err := canonical(rv.Index(i).Interface())
			if err != nil {
				return nil, err
			}
			list[i] = e
		}
		return list, nil
	case reflect.Map:
		m := make(map[string]any, rv.Len())
		for _, k := range rv.MapKeys() {
			if k.Kind() != reflect.String {
				return nil, fault.Field("value", "", "the keys of a map must be text")
			}
			e, err := canonical(rv.MapIndex(k).Interface())
			if err != nil {
				return nil, err
			}
			m[k.String()] = e
		}
		return m, nil
	}
	return nil, fault.Field("value", "use text, a number, a bool, a list or a map", "a value of type %T cannot be stored in front matter", v)
}

// flowText encodes a canonical value on one line. quote is the mark to use for
// a text that had one before.
func flowText(v any, quote byte, inFlow bool) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return strconv.FormatBool(v)
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		s := strconv.FormatFloat(v, 'g', -1, 64)
		if !strings.ContainsAny(s, ".e") {
			s += ".0"
		}
		return s
	case string:
		return quoteText(v, quote, inFlow)
	case []any:
		parts := make([]string, len(v))
		for i, e := range v {
			parts[i] = flowText(e, quote, true)
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case map[string]any:
		var parts []string
		for _, k := range slices.Sorted(maps.Keys(v)) {
			parts = append(parts, quoteText(k, 0, true)+": "+flowText(v[k], quote, true))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
	return fmt.Sprint(v)
}

// quoteText writes a text plain where YAML reads it back as the same text, else
// quoted.
func quoteText(s string, quote byte, inFlow bool) string {
	if quote == 0 && plainSafe(s, inFlow) {
		return s
	}
	if quote == '\'' && !strings.ContainsFunc(s, unsafeRune) {
		return "'" + strings.ReplaceAll(s, "'", "''") + "'"
	}
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\r':
			b.WriteString(`\r`)
		case unsafeRune(r):
			if r > 0xFFFF {
				fmt.Fprintf(&b, `\U%08x`, r)
			} else {
				fmt.Fprintf(&b, `\u%04x`, r)
			}
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// unsafeRune reports characters that must be escaped: those YAML or an editor
// would take for a line end or for nothing.
func unsafeRune(r rune) bool {
	return unicode.IsControl(r) || r == 0x2028 || r == 0x2029 || r == 0xFEFF || !unicode.IsGraphic(r) && r != '\u200d' && r != '\ufe0f'
}

func plainSafe(s string, inFlow bool) bool {
	if s == "" || strings.ContainsFunc(s, unsafeRune) || strings.ContainsAny(s, "\"'\\`") && !isLetter(s[0]) {
		return false
	}
	if inFlow && strings.ContainsAny(s, ",[]{}:#?&*!|>%@") {
		return false
	}
	if v, ok := plainValue(s); ok && !strings.Contains(s, " #") && strings.TrimSpace(s) == s {
		return v == s
	}
	var doc yaml.Node
	if yaml.Unmarshal([]byte("k: "+s+"\n"), &doc) != nil || len(doc.Content) != 1 || len(doc.Content[0].Content) != 2 {
		return false
	}
	v := doc.Content[0].Content[1]
	return v.Kind == yaml.ScalarNode && v.Style == 0 && v.Anchor == "" && scalar(v) == s
}

// literal writes a text of several lines as a block scalar below its key, or ""
// where that would not give the same text.
func literal(s string) string {
	head := "|-"
	body := s
	if strings.HasSuffix(s, "\n") {
		head, body = "|", s[:len(s)-1]
	}
	if body == "" || body[0] == ' ' || body[0] == '\n' || strings.HasSuffix(body, "\n") {
		return ""
	}
	for _, r := range body {
		if r != '\n' && r != '\t' && unsafeRune(r) {
			return ""
		}
	}
	lines := strings.Split(body, "\n")
	for i, l := range lines {
		if l != "" {
			if strings.TrimSpace(l) == "" || l[0] == '\t' {
				return ""
			}
			lines[i] = "  " + l
		}
	}
	return head + "\n" + strings.Join(lines, "\n")
}
