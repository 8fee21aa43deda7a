package configfile

import (
	"errors"
	"reflect"
	"strings"

	"lore/internal/change"
	"lore/internal/fault"
)

// A field is one name of the entry that is written, in the order in which it is
// written. The value is a string, a []string or, in a new entry alone, a
// map[string]string.
type field struct {
	key   string
	value any
}

// errSplice says that a text cannot be changed by adding or removing one entry.
var errSplice = errors.New("the entry cannot be edited separately")

// putJSON sets the fields of root[group][name] and leaves every other byte as
// it is. What stands in the entry beside the fields stays, unless the entry is
// of another sort altogether: then its value is replaced.
//
// Where nothing of the entry was there, what is added is written so that
// [removeJSON] can tell it from what the person wrote: into an empty object the
// entry goes without a space after the brace, and an object that is made for it
// has one.
func putJSON(text, group, name string, fields []field) (string, error) {
	d, err := parse(text)
	if err != nil {
		return "", err
	}
	if d.blank {
		return d.putRoot(group, name, fields), nil
	}
	if err := mustBeObject(d.root, "the whole text"); err != nil {
		return "", err
	}
	at, err := d.root.find(group)
	if err != nil {
		return "", err
	}
	if at < 0 {
		return d.insert(d.root, group, func(w writing) string { return w.group(name, fields) })
	}
	box := d.root.members[at].value
	if err := mustBeObject(box, quote(group)); err != nil {
		return "", err
	}
	at, err = box.find(name)
	if err != nil {
		return "", err
	}
	if at < 0 {
		return d.insert(box, name, func(w writing) string { return w.entry(fields) })
	}
	entry := box.members[at]
	if entry.value.kind != '{' || entry.value.remote() {
		w := d.writing(d.indentAt(entry.keyStart), strings.ContainsAny(d.text[box.start:box.end], "\r\n"))
		return change.Splice(d.text, change.Patch{Start: entry.value.start, End: entry.value.end, Text: w.entry(fields)})
	}
	return d.putFields(entry.value, group, name, fields)
}

func mustBeObject(n node, what string) error {
	if n.kind != '{' {
		return fault.New(fault.Invalid, "%s is not an object", what)
	}
	return nil
}

// remote reports whether an entry names a server by its address.
func (n node) remote() bool {
	for _, m := range n.members {
		if m.key == "url" || m.key == "httpUrl" || m.key == "serverUrl" {
			return true
		}
	}
	return false
}

// putFields sets the first field that differs, and then the others.
func (d *doc) putFields(entry node, group, name string, fields []field) (string, error) {
	for _, f := range fields {
		at, err := entry.find(f.key)
		if err != nil {
			return "", err
		}
		var out string
		switch {
		case at < 0:
			out, err = d.insert(entry, f.key, func(writing) string { return f.json() })
		case reflect.DeepEqual(d.plain(entry.members[at].value), f.plain()):
			continue
		default:
			v := entry.members[at].value
			out, err = change.Splice(d.text, change.Patch{Start: v.start, End: v.end, Text: f.json()})
		}
		if err != nil {
			return "", err
		}
		return putJSON(out, group, name, fields)
	}
	return d.text, nil
}

func (f field) json() string {
	if m, ok := f.value.(map[string]string); ok {
		return jsonTable(m)
	}
	list, ok := f.value.([]string)
	if !ok {
		return quote(f.value.(string))
	}
	parts := make([]string, len(list))
	for i, s := range list {
		parts[i] = quote(s)
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// plain is the value as [doc.plain] gives it.
func (f field) plain() any {
	list, ok := f.value.([]string)
	if !ok {
		return f.value
	}
	out := make([]any, len(list))
	for i, s := range list {
		out[i] = s
	}
	return out
}

// A writing is how new text is laid out at one place.
type writing struct {
	eol, unit string
	indent    string // of the line that the value begins in
	lines     bool   // one member a line
}

// writing takes the manners of the text around.
func (d *doc) writing(indent string, lines bool) writing {
	return writing{eol: eol(d.text), unit: d.unit(), indent: indent, lines: lines}
}

func eol(text string) string {
	if strings.Contains(text, "\r\n") {
		return "\r\n"
	}
	return "\n"
}

// entry writes the object that describes a server.
func (w writing) entry(fields []field) string {
	parts := make([]string, len(fields))
	for i, f := range fields {
		parts[i] = quote(f.key) + ": " + f.json()
	}
	if !w.lines {
		return "{" + strings.Join(parts, ", ") + "}"
	}
	in := w.eol + w.indent + w.unit
	return "{" + in + strings.Join(parts, ","+in) + w.eol + w.indent + "}"
}

// group writes an object that holds one server.
func (w writing) group(name string, fields []field) string {
	if !w.lines {
		return "{ " + quote(name) + ": " + w.entry(fields) + " }"
	}
	inner := w
	inner.indent += w.unit
	return "{" + w.eol + inner.indent + quote(name) + ": " + inner.entry(fields) + w.eol + w.indent + "}"
}

// putRoot writes a text that has no value yet. A comment without a line end is
// given one, and the text then ends without one, as it did.
func (d *doc) putRoot(group, name string, fields []field) string {
	w := d.writing(d.unit(), true)
	root := "{" + w.eol + w.indent + quote(group) + ": " + w.group(name, fields) + w.eol + "}"
	if d.openComment(len(d.text)) {
		return d.text + w.eol + root
	}
	return d.text + root + w.eol
}

// openComment reports whether the text up to end ends in a comment that only a
// line end would close. Only space and comments may stand there.
func (d *doc) openComment(end int) bool {
	from := 0
	if strings.HasPrefix(d.text, bom) {
		from = len(bom)
	}
	at, line := d.lastComment(from, end)
	return line && at == end
}

// insert adds a member at the end of an object.
func (d *doc) insert(obj node, key string, value func(writing) string) (string, error) {
	lines := strings.ContainsAny(d.text[obj.start:obj.end], "\r\n")
	if len(obj.members) == 0 {
		return d.insertFirst(obj, key, value)
	}
	last := obj.members[len(obj.members)-1]
	w := d.writing(d.memberIndent(obj, last), lines)
	from, tail := last.value.end, ""
	var patches []change.Patch
	if last.comma >= 0 {
		from, tail = last.comma+1, ","
	} else {
		patches = append(patches, change.Patch{Start: from, End: from, Text: ","})
	}
	sep := " "
	if lines {
		sep = w.eol + w.indent
	}
	at := d.trail(from)
	patches = append(patches, change.Patch{Start: at, End: at, Text: sep + quote(key) + ": " + value(w) + tail})
	return change.Splice(d.text, patches...)
}

// insertFirst adds the first member of an object that may hold comments.
func (d *doc) insertFirst(obj node, key string, value func(writing) string) (string, error) {
	at, line := d.lastComment(obj.start+1, obj.end-1)
	root := d.text[d.root.start:d.root.end]
	lines := line || strings.ContainsAny(root, "\r\n") || len(d.root.members) == 0
	w := d.writing(d.indentAt(obj.start), lines)
	sep := ""
	switch {
	case at == obj.start+1: // no comment: see putJSON
	case lines:
		w.indent += w.unit
		sep = w.eol + w.indent
	default:
		sep = " "
	}
	return change.Splice(d.text, change.Patch{Start: at, End: at, Text: sep + quote(key) + ": " + value(w)})
}

// trail is the end of the comments that stand on the same line after from.
func (d *doc) trail(from int) int {
	end := from
	for at := from; at < len(d.text); {
		switch c := d.text[at]; {
		case c == ' ' || c == '\t':
			at++
		case c == '/':
			at, _ = comment(d.text, at) // the text was parsed: it is one
			end = at
		default:
			return end
		}
	}
	return end
}

// lastComment returns where the last comment in a stretch of space and comments
// ends, and whether it reaches to the end of its line; from when there is none.
func (d *doc) lastComment(from, to int) (end int, line bool) {
	end = from
	for at := from; at < to; {
		if d.text[at] != '/' {
			at++
			continue
		}
		at, line = comment(d.text, at)
		end = at
	}
	return end, line
}

// indentAt is the space that the line around pos begins with.
func (d *doc) indentAt(pos int) string {
	line := strings.TrimPrefix(d.text[strings.LastIndexAny(d.text[:pos], "\r\n")+1:pos], bom)
	return line[:len(line)-len(strings.TrimLeft(line, " \t"))]
}

// memberIndent is the indentation for a member after last.
func (d *doc) memberIndent(obj node, last member) string {
	indent := d.indentAt(last.keyStart)
	before := d.text[:last.keyStart]
	if strings.HasSuffix(before, indent) && strings.LastIndexAny(before, "\r\n") == len(before)-len(indent)-1 {
		return indent
	}
	return d.indentAt(obj.start) + d.unit()
}

// unit is one step of indentation: what the first member of the text has.
func (d *doc) unit() string {
	if !d.blank && len(d.root.members) > 0 {
		if in := d.indentAt(d.root.members[0].keyStart); in != "" {
			return in
		}
	}
	return "  "
}

// removeJSON takes root[group][name] out of a text. What [putJSON] added is gone
// again to the last byte; where the entry was not there, nothing changes.
func removeJSON(text, group, name string) (string, error) {
	d, err := parse(text)
	if err != nil || d.blank {
		return text, err
	}
	g, err := d.root.find(group)
	if err != nil || g < 0 {
		return text, err
	}
	box := d.root.members[g].value
	at, err := box.find(name)
	if err != nil || at < 0 {
		return text, err
	}
	if !d.madeFor(box) {
		return d.remove(box, at)
	}
	if !d.madeFor(d.root) {
		return d.remove(d.root, g)
	}
	head, tail := d.text[:d.root.start], d.text[d.root.end:]
	end := eol(text)
	switch {
	case tail == end:
		tail = ""
	case tail == "" && strings.HasSuffix(head, end) && d.openComment(len(head)-len(end)):
		head = strings.TrimSuffix(head, end)
	}
	return head + tail, nil
}

// madeFor reports whether an object was made for the one member it has.
func (d *doc) madeFor(obj node) bool {
	if len(obj.members) != 1 || !isSpace(d.text[obj.start+1]) || obj.members[0].comma >= 0 {
		return false
	}
	first, _ := d.lastComment(obj.start+1, obj.members[0].keyStart)
	end := obj.members[0].value.end
	last, _ := d.lastComment(end, obj.end-1)
	return first == obj.start+1 && last == end
}

// remove takes one member out of an object. Comments around it stay.
func (d *doc) remove(obj node, i int) (string, error) {
	m := obj.members[i]
	from := obj.start + 1
	if i > 0 {
		from = obj.members[i-1].comma + 1
	}
	start, line := d.lastComment(from, m.keyStart)
	end := m.value.end
	var patches []change.Patch
	switch {
	case m.comma >= 0:
		end = m.comma + 1
	case i > 0:
		c := obj.members[i-1].comma
		patches = append(patches, change.Patch{Start: c, End: c + 1})
	}
	if rest := strings.TrimLeft(d.text[end:], " \t"); line && rest != "" && rest[0] != '\n' && rest[0] != '\r' {
		start = m.keyStart // or the comment would swallow what follows
	}
	return change.Splice(d.text, append(patches, change.Patch{Start: start, End: end})...)
}

// checkJSON makes sure that two texts differ in root[group][name] alone.
func checkJSON(before, after, group, name string) error {
	a, errA := parse(before)
	b, errB := parse(after)
	if err := errors.Join(errA, errB); err != nil {
		return errors.Join(errSplice, err)
	}
	if !reflect.DeepEqual(a.without(group, name), b.without(group, name)) {
		return errSplice
	}
	return nil
}

// without gives the meaning of a text without one entry. A group that is empty
// is the same as none.
func (d *doc) without(group, name string) any {
	if d.blank {
		return nil
	}
	var out []any
	for _, m := range d.root.members {
		if m.key != group || m.value.kind != '{' {
			out = append(out, m.key, d.plain(m.value))
			continue
		}
		var rest []any
		for _, s := range m.value.members {
			if s.key != name {
				rest = append(rest, s.key, d.plain(s.value))
			}
		}
		if rest != nil {
			out = append(out, m.key, rest)
		}
	}
	if out == nil {
		return nil
	}
	return out
}
