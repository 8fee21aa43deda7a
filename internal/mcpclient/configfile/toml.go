package configfile

import (
	"errors"
	"reflect"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"

	"lore/internal/change"
	"lore/internal/fault"
)

// readTOML parses a text, whatever mark it begins with.
func readTOML(text string) (map[string]any, error) {
	out := map[string]any{}
	err := toml.Unmarshal([]byte(strings.TrimPrefix(text, bom)), &out)
	if bad := (*toml.DecodeError)(nil); errors.As(err, &bad) {
		row, _ := bad.Position()
		return nil, fault.New(fault.Invalid, "line %d: %s", row, strings.TrimPrefix(bad.Error(), "toml: "))
	}
	return out, err
}

// findTOML returns the table [group.name], nil when there is none.
func findTOML(text, group, name string) (map[string]any, error) {
	all, err := readTOML(text)
	if err != nil {
		return nil, err
	}
	box, ok := all[group].(map[string]any)
	if !ok && all[group] != nil {
		return nil, fault.New(fault.Invalid, "%s is not a table", group)
	}
	entry, ok := box[name].(map[string]any)
	if !ok && box[name] != nil {
		return nil, fault.New(fault.Invalid, "%s.%s is not a table", group, name)
	}
	return entry, nil
}

// putTOML sets the fields of the table [group.name] and leaves every other byte
// as it is.
func putTOML(text, group, name string, fields []field) (string, error) {
	entry, err := findTOML(text, group, name)
	if err != nil {
		return "", err
	}
	if entry == nil {
		return appendTOML(text, group, name, fields), nil
	}
	table, ok := tableOf(text, group, name)
	if !ok || entry["url"] != nil {
		return "", errSplice
	}
	var patches []change.Patch
	for _, f := range fields {
		if reflect.DeepEqual(entry[f.key], f.plain()) {
			continue
		}
		line := f.key + " = " + f.json()
		if at, ok := table.keys[f.key]; ok {
			patches = append(patches, change.Patch{Start: at[0], End: at[1], Text: line})
		} else {
			patches = append(patches, change.Patch{Start: table.own, End: table.own, Text: eol(text) + line})
		}
	}
	return change.Splice(text, patches...)
}

// appendTOML writes a new table at the end. A text that had no line end there
// has none afterwards either.
func appendTOML(text, group, name string, fields []field) string {
	end := eol(text)
	lines := []string{"[" + group + "." + bareKey(name) + "]"}
	for _, f := range fields {
		lines = append(lines, f.key+" = "+f.json())
	}
	table := strings.Join(lines, end)
	switch {
	case strings.TrimPrefix(text, bom) == "":
		return text + table + end
	case strings.HasSuffix(text, "\n"):
		return text + end + table + end
	}
	return text + end + end + table
}

// bareKey quotes a name where TOML asks for it.
func bareKey(name string) string {
	bare := func(r rune) bool {
		return r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z'
	}
	if name != "" && !strings.ContainsFunc(name, func(r rune) bool { return !bare(r) }) {
		return name
	}
	return quote(name)
}

// A table is a heading of a TOML text with the lines under it.
type table struct {
	start int               // of the heading's line
	own   int               // the end of its last line, without the line end
	end   int               // the same, with the tables inside it
	keys  map[string][2]int // where each of its lines "key = value" stands
}

// tableOf finds the table [group.name] and those inside it, which must follow
// it. ok is false when the entry is written in any other way.
func tableOf(text, group, name string) (t table, ok bool) {
	shift := 0
	if strings.HasPrefix(text, bom) {
		shift = len(bom)
	}
	p := &unstable.Parser{}
	p.Reset([]byte(text[shift:]))
	inside, own, left := false, false, false
	for p.NextExpression() {
		e := p.Expression()
		switch e.Kind {
		case unstable.Table, unstable.ArrayTable:
			path, from, to := keysOf(e)
			inside = len(path) >= 2 && path[0] == group && path[1] == name
			own = inside && len(path) == 2
			if inside && (left || e.Kind == unstable.ArrayTable && own || own == ok) {
				return t, false
			}
			from, to = from+shift, lineStop(text, to+shift)
			if own {
				ok = true
				t.start, t.own, t.keys = strings.LastIndexByte(text[:from], '\n')+1, to, map[string][2]int{}
			}
			if inside {
				t.end = to
			}
			left = ok && !inside
		case unstable.KeyValue:
			if !inside {
				continue
			}
			from := int(e.Raw.Offset) + shift
			to := from + int(e.Raw.Length)
			t.end = lineStop(text, to)
			if own {
				t.own = t.end
				if path, _, _ := keysOf(e); len(path) == 1 {
					t.keys[path[0]] = [2]int{from, to}
				}
			}
		}
	}
	return t, ok && p.Error() == nil
}

// keysOf gives the names of a heading or a line, and where they stand.
func keysOf(e *unstable.Node) (path []string, from, to int) {
	for it := e.Key(); it.Next(); {
		n := it.Node()
		if path == nil {
			from = int(n.Raw.Offset)
		}
		to = int(n.Raw.Offset + n.Raw.Length)
		path = append(path, string(n.Data))
	}
	return path, from, to
}

// lineStop is where the line around at ends, before its line end.
func lineStop(text string, at int) int {
	i := strings.IndexByte(text[at:], '\n')
	if i < 0 {
		return len(text)
	}
	if i > 0 && text[at+i-1] == '\r' {
		i--
	}
	return at + i
}

// removeTOML takes the table [group.name] out of a text, with the empty line
// above it.
func removeTOML(text, group, name string) (string, error) {
	entry, err := findTOML(text, group, name)
	if err != nil || entry == nil {
		return text, err
	}
	t, ok := tableOf(text, group, name)
	if !ok {
		return "", errSplice
	}
	if t.start < len(bom) && strings.HasPrefix(text, bom) {
		t.start = len(bom)
	}
	end := eol(text)
	head, tail := text[:t.start], text[t.end:]
	switch {
	case tail == "" && strings.HasSuffix(head, end+end):
		head = strings.TrimSuffix(head, end+end)
	case strings.HasPrefix(tail, end):
		tail = tail[len(end):]
		rest := strings.TrimSuffix(head, end)
		if rest != head && strings.HasSuffix(rest, "\n") {
			head = rest
		}
	}
	return head + tail, nil
}

// checkTOML makes sure that two texts differ in the table [group.name] alone.
func checkTOML(before, after, group, name string) error {
	a, errA := readTOML(before)
	b, errB := readTOML(after)
	if err := errors.Join(errA, errB); err != nil {
		return errors.Join(errSplice, err)
	}
	for _, m := range []map[string]any{a, b} {
		if box, ok := m[group].(map[string]any); ok {
			delete(box, name)
			if len(box) == 0 {
				delete(m, group)
			}
		}
	}
	if !reflect.DeepEqual(a, b) {
		return errSplice
	}
	return nil
}

// tomlStrings reads a list of strings.
func tomlStrings(v any) []string {
	list, _ := v.([]any)
	var out []string
	for _, item := range list {
		s, _ := item.(string)
		out = append(out, s)
	}
	return slices.Clip(out)
}
