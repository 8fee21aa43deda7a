package note

import (
	"reflect"
	"strings"

	"lore/internal/change"
	"lore/internal/fault"
)

// SetProperty gives a property of the front matter a value: nil, a bool, a
// number, a text, a list or a map. Only the bytes of that value change; a new
// property goes last, and front matter is made where there is none. A value
// that is there already needs no patch. Broken YAML, a key that is set twice,
// or a place where the new value would change anything else is refused.
func SetProperty(n *Note, key string, value any) ([]change.Patch, error) {
	if err := n.frontEditable(key); err != nil {
		return nil, err
	}
	v, err := canonical(value)
	if err != nil {
		return nil, err
	}
	prop, err := n.property(key)
	if err != nil {
		return nil, err
	}
	var patches []change.Patch
	switch {
	case prop == nil:
		patches = n.addProperty(key, v)
	case reflect.DeepEqual(prop.Value, v):
		return nil, nil
	case prop.Span.Len() == 0:
		return nil, fault.New(fault.Invalid, "the property %q in %s is written in a way that cannot be edited safely", key, n.Path)
	default:
		patches = n.changeProperty(prop, v)
	}
	eol := n.eol()
	for i := range patches {
		patches[i].Text = strings.ReplaceAll(patches[i].Text, "\n", eol)
	}
	want := make([]Property, 0, len(n.Front.Props)+1)
	want = append(want, n.Front.Props...)
	for i := range want {
		if want[i].Key == key {
			want[i].Value = v
		}
	}
	if prop == nil {
		want = append(want, Property{Key: key, Value: v})
	}
	return patches, n.verifyFront(key, patches, want)
}

// RemoveProperty takes a property with all of its lines out of the front
// matter. The fences stay, also around nothing.
func RemoveProperty(n *Note, key string) ([]change.Patch, error) {
	if err := n.frontEditable(key); err != nil {
		return nil, err
	}
	prop, err := n.property(key)
	if err != nil {
		return nil, err
	}
	if prop == nil {
		return nil, fault.New(fault.NotFound, "there is no property %q in %s", key, n.Path)
	}
	if prop.Span.Len() == 0 {
		return nil, fault.New(fault.Invalid, "the property %q in %s is written in a way that cannot be edited safely", key, n.Path)
	}
	patches := []change.Patch{{Start: prop.Span.Start, End: prop.Span.End}}
	var want []Property
	for _, p := range n.Front.Props {
		if p.Key != key {
			want = append(want, p)
		}
	}
	return patches, n.verifyFront(key, patches, want)
}

func (n *Note) frontEditable(key string) error {
	if err := n.editable(); err != nil {
		return err
	}
	if f := &n.Front; f.Broken != "" {
		return fault.Fix(fault.Invalid, "fix the YAML by hand first", "the front matter of %s cannot be read, line %d: %s", n.Path, f.BrokenLine, f.Broken)
	}
	if key == "" || key == "<<" || strings.ContainsAny(key, "\n\r") || len(key) > 200 {
		return fault.Field("key", "give a name on one line", "%q is not a valid property name", key)
	}
	return nil
}

// property finds the one property called key; nil when there is none.
func (n *Note) property(key string) (*Property, error) {
	var found *Property
	for i := range n.Front.Props {
		p := &n.Front.Props[i]
		if p.Key != key {
			continue
		}
		if found != nil {
			return nil, fault.Fix(fault.Invalid, "remove one of them by hand", "the property %q is set on line %d and again on line %d of %s",
				key, n.line(found.Span.Start), n.line(p.Span.Start), n.Path)
		}
		found = p
	}
	return found, nil
}

// addProperty writes a new last property, with fences where there are none.
func (n *Note) addProperty(key string, v any) []change.Patch {
	entry := quoteText(key, 0, true) + ":" + blockText(v, "  ") + "\n"
	if n.Front.Span.Len() > 0 {
		at := n.Front.YAML.End
		return []change.Patch{{Start: at, End: at, Text: entry}}
	}
	at := 0
	if strings.HasPrefix(n.text, bom) {
		at = len(bom)
	}
	return []change.Patch{{Start: at, End: at, Text: "---\n" + entry + "---\n"}}
}

// blockText is a value as it follows the colon of a new or bare key.
func blockText(v any, indent string) string {
	switch v := v.(type) {
	case nil:
		return ""
	case []any:
		if len(v) > 0 {
			return "\n" + indent + blockItems(v, indent, 0)
		}
	case string:
		if strings.Contains(v, "\n") {
			if l := literal(v); l != "" {
				return " " + l
			}
		}
	}
	return " " + flowText(v, 0, false)
}

// blockItems writes a list as lines; the indent of the first is there already.
func blockItems(list []any, indent string, quote byte) string {
	var b strings.Builder
	for i, e := range list {
		if i > 0 {
			b.WriteString("\n" + indent)
		}
		b.WriteString("- " + flowText(e, quote, false))
	}
	return b.String()
}

// changeProperty replaces the value of a property and keeps its style and the
// comments beside it.
func (n *Note) changeProperty(prop *Property, v any) []change.Patch {
	text, val := n.text, prop.Val
	colon := prop.Name.End + strings.IndexByte(text[prop.Name.End:], ':') + 1
	eol := val.End
	for eol < prop.Span.End && text[eol] != '\n' && text[eol] != '\r' {
		eol++
	}
	below := strings.ContainsAny(text[colon:val.Start], "\r\n")
	quote := byte(0)
	if val.Len() > 0 && (text[val.Start] == '"' || text[val.Start] == '\'') {
		quote = text[val.Start]
	}
	list, isList := v.([]any)
	isList = isList && len(list) > 0
	switch {
	case isList && below && text[val.Start] == '-':
		line := n.starts[n.line(val.Start)-1]
		return []change.Patch{{Start: val.Start, End: val.End, Text: blockItems(list, text[line:val.Start], listQuote(text[val.Start:val.End]))}}
	case isList && !below && val.Len() > 0 && text[val.Start] == '[':
		return []change.Patch{{Start: val.Start, End: val.End, Text: flowText(v, listQuote(text[val.Start:val.End]), false)}}
	case isList && !below:
		// The list goes below the line, so that a comment on it stays.
		return joinPatches(change.Patch{Start: colon, End: val.End}, change.Patch{Start: eol, End: eol, Text: blockText(v, "  ")})
	}
	now := blockText(v, "  ")
	if s, ok := v.(string); ok && (quote != 0 && !strings.Contains(s, "\n") || strings.TrimSpace(text[val.End:eol]) != "") {
		now = " " + flowText(v, quote, false)
	}
	switch {
	case below:
		cut := n.starts[n.line(val.Start)-1]
		for cut > colon && (text[cut-1] == '\n' || text[cut-1] == '\r') {
			cut--
		}
		return joinPatches(change.Patch{Start: colon, End: colon, Text: now}, change.Patch{Start: cut, End: val.End})
	case val.Len() == 0 || v == nil:
		return []change.Patch{{Start: colon, End: val.End, Text: now}}
	}
	return []change.Patch{{Start: val.Start, End: val.End, Text: strings.TrimPrefix(now, " ")}}
}

// joinPatches makes one patch of two that touch.
func joinPatches(a, b change.Patch) []change.Patch {
	if a.End == b.Start {
		return []change.Patch{{Start: a.Start, End: b.End, Text: a.Text + b.Text}}
	}
	return []change.Patch{a, b}
}

// listQuote is the mark around the first item of a list.
func listQuote(s string) byte {
	if s = strings.TrimLeft(s, "-[ \t\r\n"); s != "" && (s[0] == '"' || s[0] == '\'') {
		return s[0]
	}
	return 0
}

// verifyFront reads the front matter again with the patches: it must hold
// exactly the properties in want, and the body must be what it was.
func (n *Note) verifyFront(key string, patches []change.Patch, want []Property) error {
	text, err := change.Splice(n.text, patches...)
	if err != nil {
		return fault.New(fault.Internal, "%v", err)
	}
	again := &Note{text: text, end: min(len(text), MaxText)}
	p := &parser{note: again, text: text[:again.end]}
	body := p.front()
	ok := again.Front.Broken == "" && len(again.Front.Props) == len(want) && again.Front.Span.Len() > 0 &&
		strings.HasSuffix(n.text, text[body:])
	for i := 0; ok && i < len(want); i++ {
		got := again.Front.Props[i]
		ok = got.Key == want[i].Key && reflect.DeepEqual(got.Value, want[i].Value)
	}
	if !ok {
		return fault.Fix(fault.Invalid, "edit the front matter by hand", "the property %q in %s cannot be changed without changing other text", key, n.Path)
	}
	return nil
}
