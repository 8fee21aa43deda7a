// Package tomledit changes one value of a TOML text and leaves every other byte
// as it is. It reads and writes no file.
package tomledit

import (
	"bytes"
	"errors"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// errSplice says that a text cannot be changed by replacing one value.
var errSplice = errors.New("the value cannot be edited separately")

// Set sets "key" or "table.key" to a string in a TOML text and leaves
// every other byte as it is. What it made is read again: when anything but that
// one value differs, nothing is returned.
func Set(text []byte, key, val string) ([]byte, error) {
	quoted, err := quote(val)
	if err != nil {
		return nil, err
	}
	return splice(text, strings.Split(key, "."), quoted, val)
}

// SetList is [Set] for a list of strings, at a path whose names may hold dots.
func SetList(text []byte, path []string, list []string) ([]byte, error) {
	words, vals := make([]string, len(list)), make([]any, len(list))
	for i, s := range list {
		var err error
		if words[i], err = quote(s); err != nil {
			return nil, err
		}
		vals[i] = s
	}
	return splice(text, path, "["+strings.Join(words, ", ")+"]", vals)
}

// splice puts a value, as it is written, at a path.
func splice(text []byte, path []string, written string, val any) ([]byte, error) {
	before := map[string]any{}
	if err := toml.Unmarshal(text, &before); err != nil {
		return nil, err
	}
	at, err := find(text, path, val)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(path))
	for i, name := range path {
		if names[i] = name; !bare.MatchString(name) {
			if names[i], err = quote(name); err != nil {
				return nil, err
			}
		}
	}
	out := at.put(text, names, written)
	after := map[string]any{}
	if err := toml.Unmarshal(out, &after); err != nil {
		return nil, errors.Join(errSplice, err)
	}
	if !setPath(before, path, val) || !reflect.DeepEqual(before, after) {
		return nil, errSplice
	}
	return out, nil
}

// bare are names that need no quotes.
var bare = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// quote writes a string as TOML does, in one line.
func quote(val string) (string, error) {
	line, err := toml.Marshal(map[string]string{"v": val})
	if err != nil {
		return "", err
	}
	return strings.TrimSpace(strings.TrimPrefix(string(line), "v = ")), nil
}

// setPath sets a value in nested tables, which it makes.
func setPath(m map[string]any, path []string, val any) bool {
	for _, k := range path[:len(path)-1] {
		inner, ok := m[k].(map[string]any)
		if !ok {
			if m[k] != nil {
				return false
			}
			inner = map[string]any{}
			m[k] = inner
		}
		m = inner
	}
	m[path[len(path)-1]] = val
	return true
}

// A place is where a value stands, or where it can be put.
type place struct {
	start, end int // the value, when there is one
	found      bool
	after      int  // the end of the last line of its table
	table      bool // the table has a heading of its own
	dotted     bool // the table is written as "table.key = value"
}

// find looks for the value at path, which is to be of the same kind as val.
func find(text []byte, path []string, val any) (place, error) {
	var at place
	var table []string
	inList := false
	p := &unstable.Parser{}
	p.Reset(text)
	for p.NextExpression() {
		e := p.Expression()
		switch e.Kind {
		case unstable.Table, unstable.ArrayTable:
			table, inList = keyOf(e.Key()), e.Kind == unstable.ArrayTable
			if !inList && len(path) > 1 && slices.Equal(table, path[:len(path)-1]) {
				at.table = true
				at.after = lineEnd(text, keyEnd(e))
			}
		case unstable.KeyValue:
			if inList {
				continue
			}
			full := slices.Concat(table, keyOf(e.Key()))
			end := lineEnd(text, int(e.Raw.Offset+e.Raw.Length))
			switch {
			case slices.Equal(table, path[:len(path)-1]):
				at.after = max(at.after, end)
			case len(table) == 0 && len(full) == len(path) && slices.Equal(full[:len(full)-1], path[:len(path)-1]):
				at.after, at.dotted = end, true
			}
			if slices.Equal(full, path) {
				return at.value(text, e, val)
			}
		}
	}
	return at, p.Error()
}

// value is where the value of an expression stands.
func (at place) value(text []byte, e *unstable.Node, val any) (place, error) {
	v := e.Value()
	at.found = true
	switch _, list := val.([]any); {
	case !list && v.Kind == unstable.String && v.Raw.Length > 0:
		at.start = int(v.Raw.Offset)
		at.end = at.start + int(v.Raw.Length)
	case list && v.Kind == unstable.Array:
		// A list has no place of its own: it is what follows the sign after its name.
		from := keyEnd(e)
		gap := bytes.IndexByte(text[from:], '[')
		if gap < 0 {
			return at, errSplice
		}
		at.start, at.end = from+gap, int(e.Raw.Offset+e.Raw.Length)
	default:
		return at, errSplice
	}
	return at, nil
}

func keyOf(it unstable.Iterator) []string {
	var out []string
	for it.Next() {
		out = append(out, string(it.Node().Data))
	}
	return out
}

// keyEnd is where the name in a heading ends.
func keyEnd(e *unstable.Node) int {
	end := 0
	for it := e.Key(); it.Next(); {
		r := it.Node().Raw
		end = max(end, int(r.Offset+r.Length))
	}
	return end
}

// lineEnd is the first byte after the line that at stands in.
func lineEnd(text []byte, at int) int {
	if i := bytes.IndexByte(text[min(at, len(text)):], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(text)
}

// put writes the value at its place, or a new line for it.
func (at place) put(text []byte, path []string, quoted string) []byte {
	if at.found {
		return slices.Concat(text[:at.start], []byte(quoted), text[at.end:])
	}
	eol := "\n"
	if bytes.Contains(text, []byte("\r\n")) {
		eol = "\r\n"
	}
	line := path[len(path)-1] + " = " + quoted + eol
	if at.dotted && !at.table {
		line = strings.Join(path, ".") + " = " + quoted + eol
	}
	switch {
	case at.table, at.dotted, len(path) == 1 && at.after > 0:
		if at.after == len(text) && !bytes.HasSuffix(text, []byte("\n")) {
			line = eol + line
		}
		return slices.Concat(text[:at.after], []byte(line), text[at.after:])
	case len(path) == 1:
		return slices.Concat([]byte(line), text)
	}
	head := "[" + strings.Join(path[:len(path)-1], ".") + "]" + eol
	switch {
	case len(text) == 0:
	case bytes.HasSuffix(text, []byte("\n")):
		head = eol + head
	default:
		head = eol + eol + head
	}
	return slices.Concat(text, []byte(head), []byte(line))
}
