package note

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v4"
)

const (
	maxFront  = 1 << 20 // bytes of YAML that are read
	maxValues = 100_000 // values after aliases are expanded
	maxLevels = 100     // lists and maps inside each other
	fewProps  = 16
)

const bom = "\ufeff"

// front reads the YAML block at the top and returns where the body begins. A
// block that is not closed is no front matter, but text.
func (p *parser) front() (body int) {
	n, text := p.note, p.text
	start := 0
	if strings.HasPrefix(text, bom) {
		start = len(bom)
	}
	if !strings.HasPrefix(text[start:], "---") {
		return start
	}
	loneCR := hasLoneCR(text)
	eol, pos := lineEnd(text, start, loneCR)
	if !isFence(text[start:eol], "---") {
		return start
	}
	yamlStart := pos
	starts := make([]int, 1, 2*fewProps)
	for pos < len(text) {
		end, next := lineEnd(text, pos, loneCR)
		starts = append(starts, pos)
		if l := text[pos:end]; isFence(l, "---") || isFence(l, "...") {
			n.Front.Span = Span{start, next}
			n.Front.YAML = Span{yamlStart, pos}
			n.starts = append(n.starts, starts...)
			p.properties(starts[1 : len(starts)-1])
			return next
		}
		pos = next
	}
	return start
}

func isFence(l, mark string) bool {
	return strings.HasPrefix(l, mark) && strings.TrimRight(l[3:], " \t") == ""
}

// properties reads the keys and what the note takes from them. lines are the
// beginnings of the lines between the fences.
func (p *parser) properties(lines []int) {
	n := p.note
	f := &n.Front
	src := p.text[f.YAML.Start:f.YAML.End]
	if len(src) > maxFront {
		f.Broken, f.BrokenLine = "the front matter is larger than 1 MB", 1
	} else if !p.simpleFront(lines) {
		f.Props = nil
		p.yamlFront(src, lines)
	}
	if f.Broken != "" {
		f.Props = nil
		n.problem("broken_yaml", f.Broken, f.BrokenLine)
		return
	}
	var seen map[string]bool
	if len(f.Props) > fewProps {
		seen = make(map[string]bool, len(f.Props))
	}
	for i := range f.Props {
		prop := &f.Props[i]
		if f.repeats(i, seen) {
			n.problem("duplicate_key", fmt.Sprintf("the property %q is set twice", prop.Key), n.line(prop.Name.Start))
		}
		p.use(prop)
		p.propertyLinks(prop)
	}
}

// repeats reports whether the key of property i stands before it already. Few
// properties are compared one by one, which needs no map.
func (f *Front) repeats(i int, seen map[string]bool) bool {
	key := f.Props[i].Key
	if seen != nil {
		again := seen[key]
		seen[key] = true
		return again
	}
	for _, p := range f.Props[:i] {
		if p.Key == key {
			return true
		}
	}
	return false
}

// use takes tags and aliases from a property.
func (p *parser) use(prop *Property) {
	n := p.note
	switch strings.ToLower(prop.Key) {
	case "tags", "tag":
		at := prop.Val.Start
		for _, name := range words(prop.Value, func(r rune) bool { return r == ',' || unicode.IsSpace(r) }) {
			name = strings.Trim(strings.TrimPrefix(name, "#"), "/")
			if !validTag(name) {
				continue
			}
			t := Tag{Name: name, Front: true}
			if i := strings.Index(p.text[at:prop.Val.End], name); i >= 0 {
				t.Span = Span{at + i, at + i + len(name)}
				at = t.Span.End
			}
			n.addTag(t)
		}
	case "aliases", "alias":
		for _, a := range words(prop.Value, func(r rune) bool { return r == ',' }) {
			n.addAlias(a)
		}
	}
}

// words lists the texts of a value: of a list its items, of a text its parts.
func words(v any, sep func(rune) bool) []string {
	switch v := v.(type) {
	case []any:
		var out []string
		for _, e := range v {
			if s := strings.TrimSpace(scalarText(e)); s != "" {
				out = append(out, s)
			}
		}
		return out
	case string:
		return strings.FieldsFunc(v, sep)
	case nil:
		return nil
	}
	return []string{scalarText(v)}
}

// scalarText is a scalar value as text; "" for lists and maps.
func scalarText(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case bool:
		return strconv.FormatBool(v)
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	return ""
}

// yamlFront reads the properties with the YAML library.
func (p *parser) yamlFront(src string, lines []int) {
	f := &p.note.Front
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(src), &doc); err != nil {
		f.Broken, f.BrokenLine = err.Error(), 2
		var le *yaml.LoadError
		if errors.As(err, &le) {
			f.Broken = le.Message
			f.BrokenLine = 1 + max(1, le.Mark.Line)
		}
		return
	}
	if doc.Kind == 0 || len(doc.Content) == 0 {
		return
	}
	root := doc.Content[0]
	if root.Kind == yaml.ScalarNode && root.ShortTag() == "!!null" {
		return
	}
	if root.Kind != yaml.MappingNode {
		f.Broken, f.BrokenLine = "the front matter is not a list of keys", 1+max(1, root.Line)
		return
	}
	c := converter{left: maxValues}
	for i := 0; i+1 < len(root.Content); i += 2 {
		k, v := root.Content[i], root.Content[i+1]
		f.Props = append(f.Props, Property{Key: c.key(k), Value: c.value(v, 0)})
	}
	switch {
	case c.left < 0:
		f.Broken, f.BrokenLine = "the values are nested too deeply, or aliases expand to too many of them", 2
		return
	case c.odd > 0:
		f.Broken, f.BrokenLine = "a key is itself a list or a map; a template like {{date}} needs quotes", 1+c.odd
		return
	}
	if root.Style&yaml.FlowStyle == 0 {
		p.place(root, lines)
	}
}

// A converter turns YAML nodes into values. It counts what it makes, so that a
// few aliases cannot become a billion values.
type converter struct {
	left int
	odd  int // the line of a key that is itself a list or a map, as in {{date}}
}

func (c *converter) key(k *yaml.Node) string {
	if k.Kind == yaml.AliasNode && k.Alias != nil {
		k = k.Alias
	}
	if k.Kind != yaml.ScalarNode && c.odd == 0 {
		c.odd = max(1, k.Line)
	}
	return k.Value
}

func (c *converter) value(v *yaml.Node, depth int) any {
	if c.left--; c.left < 0 {
		return nil
	}
	if depth > maxLevels {
		c.left = -1
		return nil
	}
	switch v.Kind {
	case yaml.AliasNode:
		if v.Alias == nil {
			return nil
		}
		return c.value(v.Alias, depth+1)
	case yaml.SequenceNode:
		list := make([]any, 0, min(len(v.Content), c.left+1))
		for _, e := range v.Content {
			list = append(list, c.value(e, depth+1))
			if c.left < 0 {
				return nil
			}
		}
		return list
	case yaml.MappingNode:
		m := make(map[string]any)
		for i := 0; i+1 < len(v.Content); i += 2 {
			key, val := c.key(v.Content[i]), c.value(v.Content[i+1], depth+1)
			if c.left < 0 {
				return nil
			}
			m[key] = val
		}
		return m
	}
	return scalar(v)
}

// scalar decides as the library does, except that dates and numbers that do
// not fit stay the text they are.
func scalar(v *yaml.Node) any {
	switch v.ShortTag() {
	case "!!null":
		return nil
	case "!!bool":
		var b bool
		if v.Decode(&b) == nil {
			return b
		}
	case "!!int":
		var i int64
		if v.Decode(&i) == nil {
			return i
		}
	case "!!float":
		var f float64
		if v.Decode(&f) == nil {
			return f
		}
	}
	return v.Value
}
