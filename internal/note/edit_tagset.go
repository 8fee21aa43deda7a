package note

import (
	"slices"
	"strings"

	"lore/internal/change"
	"lore/internal/fault"
)

// AddTag adds a tag to the property tags, in the style that the property has: a
// list stays a list, a text stays a text. A note that has the tag, in a property
// or in the body, needs no patch; a tag nested below it is another one.
func AddTag(n *Note, tag string) ([]change.Patch, error) {
	if !IsTag(tag) {
		return nil, fault.Field("tag", "use letters, digits, _, - and /, and not only digits", "%q cannot be a tag", tag)
	}
	if slices.ContainsFunc(n.Tags, func(t Tag) bool { return strings.EqualFold(t.Name, tag) }) {
		return nil, nil
	}
	prop := n.tagProperty()
	if prop == nil {
		return SetProperty(n, "tags", []any{tag})
	}
	var value any
	switch v := prop.Value.(type) {
	case nil:
		value = []any{tag}
	case []any:
		value = append(slices.Clone(v), tag)
	case string:
		value = tag
		if v = strings.TrimSpace(v); v != "" {
			sep := ", "
			if strings.ContainsAny(v, " \t") && !strings.Contains(v, ",") {
				sep = " "
			}
			value = v + sep + tag
		}
	default:
		value = []any{v, tag}
	}
	if patches := n.appendItem(prop, tag); patches != nil && n.setsOnly(prop.Key, patches, value) {
		return patches, nil
	}
	return SetProperty(n, prop.Key, value)
}

// RemoveTag takes a tag out of the properties, and with inline also out of the
// body. Tags nested below it stay. It removes one use; the caller repeats it on
// the new text until there is no patch.
func RemoveTag(n *Note, tag string, inline bool) ([]change.Patch, error) {
	for i, t := range n.Tags {
		if !strings.EqualFold(t.Name, tag) || !t.Front && !inline {
			continue
		}
		if err := n.editable(); err != nil {
			return nil, err
		}
		at := strings.Index(n.text[t.Span.Start:t.Span.End], t.Name)
		if t.Span.Len() == 0 || at < 0 {
			return nil, fault.New(fault.Invalid, "the tag %q in %s is written in a way that cannot be edited safely", t.Name, n.Path)
		}
		at += t.Span.Start
		var patch change.Patch
		if t.Front || n.text[t.Span.Start] != '#' { // also Logseq's "tags:: a, b"
			patch = n.dropItem(Span{at, at + len(t.Name)})
		} else {
			patch = n.dropInline(t.Span)
		}
		want := make([]string, 0, len(n.Tags))
		for j, o := range n.Tags {
			if j != i {
				want = append(want, o.Name)
			}
		}
		if patches := []change.Patch{patch}; n.verifyTags(patches, want) {
			return patches, nil
		}
		if t.Front {
			return n.dropFromProperty(tag)
		}
		return nil, fault.Fix(fault.Invalid, "edit the note by hand", "the tag %q in %s cannot be removed without changing other text", tag, n.Path)
	}
	return nil, nil
}

// tagProperty is the property that holds the tags; nil when there is none.
func (n *Note) tagProperty() *Property {
	var found *Property
	for i := range n.Front.Props {
		switch p := &n.Front.Props[i]; strings.ToLower(p.Key) {
		case "tags":
			return p
		case "tag":
			found = p
		}
	}
	return found
}

// appendItem adds an item at the end of a list as it is written, so that
// comments between the items stay; nil when it is not written as one.
func (n *Note) appendItem(prop *Property, item string) []change.Patch {
	list, ok := prop.Value.([]any)
	if !ok || len(list) == 0 || prop.Val.Len() == 0 {
		return nil
	}
	val := n.text[prop.Val.Start:prop.Val.End]
	item = flowText(item, listQuote(val), true)
	if strings.HasPrefix(val, "[") && strings.HasSuffix(val, "]") {
		inner := strings.TrimRight(val[:len(val)-1], " \t\r\n")
		at := prop.Val.Start + len(inner)
		if strings.HasSuffix(inner, ",") {
			return []change.Patch{{Start: at, End: at, Text: " " + item}}
		}
		return []change.Patch{{Start: at, End: at, Text: ", " + item}}
	}
	if !strings.HasPrefix(val, "-") {
		return nil
	}
	line := n.starts[n.line(prop.Val.Start)-1]
	indent := n.text[line:prop.Val.Start]
	end := prop.Val.End // the end of its line: a comment stays beside its item
	for end < prop.Span.End && n.text[end] != '\n' && n.text[end] != '\r' {
		end++
	}
	return []change.Patch{{Start: end, End: end, Text: n.eol() + indent + "- " + item}}
}

// setsOnly reports whether the patches give a property the value and change
// nothing else.
func (n *Note) setsOnly(key string, patches []change.Patch, value any) bool {
	want := slices.Clone(n.Front.Props)
	for i := range want {
		if want[i].Key == key {
			want[i].Value = value
		}
	}
	return n.frontEditable(key) == nil && n.verifyFront(key, patches, want) == nil
}

// dropFromProperty writes the property that has a tag again, without it.
func (n *Note) dropFromProperty(tag string) ([]change.Patch, error) {
	isTag := func(s string) bool {
		return strings.EqualFold(strings.Trim(strings.TrimPrefix(strings.TrimSpace(s), "#"), "/"), tag)
	}
	for _, p := range n.Front.Props {
		if k := strings.ToLower(p.Key); k != "tags" && k != "tag" {
			continue
		}
		switch v := p.Value.(type) {
		case []any:
			rest := slices.DeleteFunc(slices.Clone(v), func(e any) bool { return isTag(scalarText(e)) })
			if len(rest) < len(v) {
				return SetProperty(n, p.Key, rest)
			}
		case string:
			sep := ", "
			if !strings.Contains(v, ",") {
				sep = " "
			}
			all := strings.FieldsFunc(v, func(r rune) bool { return strings.ContainsRune(", \t\n\r", r) })
			rest := slices.DeleteFunc(slices.Clone(all), isTag)
			if len(rest) < len(all) {
				return SetProperty(n, p.Key, strings.Join(rest, sep))
			}
		}
	}
	return nil, fault.New(fault.Invalid, "the tag %q in %s is written in a way that cannot be edited safely", tag, n.Path)
}

// dropInline takes a tag out of a line with the blank beside it, and the line
// with it when nothing else stands on it.
func (n *Note) dropInline(s Span) change.Patch {
	text := n.text
	line := n.line(s.Start)
	start, end := n.starts[line-1], len(text)
	if line < len(n.starts) {
		end = n.starts[line]
	}
	isBlank := func(i int) bool { return text[i] == ' ' || text[i] == '\t' }
	if strings.TrimSpace(text[start:s.Start]+text[s.End:end]) == "" {
		return change.Patch{Start: start, End: end}
	}
	switch {
	case s.Start > start && isBlank(s.Start-1) && (s.End == end || strings.IndexByte(" \t\r\n.,;:!?)", text[s.End]) >= 0) && strings.TrimSpace(text[start:s.Start]) != "":
		s.Start--
	case s.End < end && isBlank(s.End):
		s.End++
	}
	return change.Patch{Start: s.Start, End: s.End}
}
