package dataview

import (
	"slices"
	"strings"
)

// A Record is one note, one task, or one group, with its fields.
type Record struct {
	Path string
	Line int // of a task
	Tags []string
	// Untrusted says that the note is marked as untrusted.
	Untrusted bool
	Tasks     []*Record

	fields map[string]Value
	parent *Record // has the fields that this one does not have
}

// NewRecord makes the record of a note.
func NewRecord(path string) *Record { return &Record{Path: path, fields: map[string]Value{}} }

// Set gives a field its value. A field that is set twice becomes a list.
func (r *Record) Set(name string, v Value) {
	key := Key(name)
	old, ok := r.fields[key]
	if !ok {
		r.fields[key] = v
		return
	}
	list, isList := old.([]Value)
	if !isList {
		list = []Value{old}
	}
	r.fields[key] = append(slices.Clone(list), v)
}

// AddTask adds a task, which has the fields of its note as well.
func (r *Record) AddTask(line int) *Record {
	t := &Record{Path: r.Path, Line: line, Untrusted: r.Untrusted, fields: map[string]Value{}, parent: r}
	r.Tasks = append(r.Tasks, t)
	return t
}

// Get is a field; nil when there is none.
func (r *Record) Get(name string) Value {
	key := Key(name)
	for at := r; at != nil; at = at.parent {
		if v, ok := at.fields[key]; ok {
			return v
		}
	}
	return nil
}

// with is the record with one more field.
func (r *Record) with(name string, v Value) *Record {
	return &Record{Path: r.Path, Line: r.Line, Untrusted: r.Untrusted, fields: map[string]Value{Key(name): v}, parent: r}
}

// text writes an object.
func (r *Record) text() string {
	var out []string
	for k, v := range r.fields {
		out = append(out, k+": "+Text(v))
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}
