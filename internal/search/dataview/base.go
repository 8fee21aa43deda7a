package dataview

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"lore/internal/fault"
)

// A Base is one view of a .base file, as a query.
type Base struct {
	*Query
	View  string
	Views []string // the names of all views
}

// baseFile is what is read of a .base file.
type baseFile struct {
	Filters    any                       `yaml:"filters"`
	Formulas   map[string]any            `yaml:"formulas"`
	Properties map[string]map[string]any `yaml:"properties"`
	Views      []baseView                `yaml:"views"`
}

type baseView struct {
	Type    string     `yaml:"type"`
	Name    string     `yaml:"name"`
	Filters any        `yaml:"filters"`
	Order   []string   `yaml:"order"`
	Limit   int        `yaml:"limit"`
	GroupBy any        `yaml:"groupBy"`
	Sort    []baseSort `yaml:"sort"`
}

type baseSort struct {
	Property  string `yaml:"property"`
	Column    string `yaml:"column"` // an older name
	Direction string `yaml:"direction"`
}

// ParseBase reads one view of a .base file: the one that is named, else the first.
// How a view looks (cards, a map) does not matter: all are tables.
func ParseBase(data []byte, view string) (*Base, error) {
	if len(data) > 1<<20 {
		return nil, fault.Field("base", "use a smaller file", "has %d bytes; the limit is 1 MB", len(data))
	}
	var f baseFile
	if err := yaml.Unmarshal(data, &f); err != nil {
		return nil, fault.Field("base", "fix it in Obsidian", "cannot be read: %v", err)
	}
	out := &Base{Query: &Query{Kind: Table, formulas: map[string]*expr{}}}
	if len(f.Views) == 0 {
		f.Views = []baseView{{Type: "table", Name: "Table"}}
	}
	var v *baseView
	for i := range f.Views {
		if f.Views[i].Name == "" {
			f.Views[i].Name = fmt.Sprintf("View %d", i+1)
		}
		out.Views = append(out.Views, f.Views[i].Name)
		if v == nil && (view == "" || strings.EqualFold(view, f.Views[i].Name)) {
			v = &f.Views[i]
		}
	}
	if v == nil {
		return nil, &fault.Report{Kind: fault.NotFound, Field: "view", Message: fmt.Sprintf("there is no view %q", view), Fix: "views: " + strings.Join(out.Views, ", ")}
	}
	out.View = v.Name
	for name, text := range f.Formulas {
		e, err := parseExpr(fmt.Sprint(text))
		if err != nil {
			return nil, within("formula "+name, err)
		}
		out.formulas[Key(name)] = e
	}
	return out, out.build(&f, v)
}

// build turns a view into clauses.
func (b *Base) build(f *baseFile, v *baseView) error {
	for _, filters := range []any{f.Filters, v.Filters} {
		e, err := filter(filters, 0)
		if err != nil {
			return within("filters", err)
		}
		if e != nil {
			b.steps = append(b.steps, step{kind: "where", expr: e})
		}
	}
	if v.GroupBy != nil { // groups are shown as an order
		if m, ok := v.GroupBy.(map[string]any); ok {
			v.Sort = slices.Insert(v.Sort, 0, baseSort{Property: fmt.Sprint(m["property"]), Direction: fmt.Sprint(m["direction"])})
		} else {
			v.Sort = slices.Insert(v.Sort, 0, baseSort{Property: fmt.Sprint(v.GroupBy)})
		}
	}
	sort := step{kind: "sort"}
	for _, s := range v.Sort {
		if s.Property == "" {
			s.Property = s.Column
		}
		sort.keys = append(sort.keys, sortKey{expr: property(s.Property), desc: strings.EqualFold(s.Direction, "desc")})
	}
	if len(sort.keys) > 0 {
		b.steps = append(b.steps, sort)
	}
	if v.Limit > 0 {
		b.steps = append(b.steps, step{kind: "limit", n: v.Limit})
	}
	for _, name := range v.Order {
		if name == "file.name" || name == "file.file" {
			continue // every row names its note
		}
		title := strings.TrimPrefix(strings.TrimPrefix(name, "note."), "formula.")
		for _, key := range []string{name, title} {
			if d, ok := f.Properties[key]["displayName"].(string); ok && d != "" {
				title = d
				break
			}
		}
		b.Columns = append(b.Columns, Column{Name: title, expr: property(name)})
	}
	if len(b.Columns) > 50 {
		return fault.Field("base", "show fewer properties", "the view has %d columns; the limit is 50", len(b.Columns))
	}
	return nil
}

// filter reads and, or, not and texts that are expressions.
func filter(v any, depth int) (*expr, error) {
	if depth > maxDepth {
		return nil, fault.Field("base", "simplify it", "the filters are nested too deeply")
	}
	switch v := v.(type) {
	case nil:
		return nil, nil
	case string:
		return parseExpr(v)
	case map[string]any:
		var all *expr
		for _, op := range []string{"and", "or", "not"} {
			list, ok := v[op]
			if !ok {
				continue
			}
			items, isList := list.([]any)
			if !isList {
				items = []any{list}
			}
			e, err := joined(op, items, depth)
			if err != nil {
				return nil, err
			}
			all = and(all, e)
		}
		if all == nil && len(v) > 0 {
			return nil, fault.Field("base", "use and, or and not", "a filter has other keys than and, or and not")
		}
		return all, nil
	}
	return nil, fault.Field("base", "write filters as text, or under and, or or not", "a filter is neither a text nor a list")
}

// joined is all, one or none of the filters.
func joined(op string, items []any, depth int) (*expr, error) {
	var out *expr
	for _, i := range items {
		e, err := filter(i, depth+1)
		if err != nil {
			return nil, err
		}
		switch {
		case e == nil:
		case out == nil:
			out = e
		case op == "and":
			out = and(out, e)
		default:
			out = &expr{op: "or", args: []*expr{out, e}}
		}
	}
	if op == "not" && out != nil {
		out = &expr{op: "not", args: []*expr{out}}
	}
	return out, nil
}

func and(a, b *expr) *expr {
	if a == nil {
		return b
	}
	if b == nil {
		return a
	}
	return &expr{op: "and", args: []*expr{a, b}}
}

// property is the expression for a name in a view, which may have blanks.
func property(name string) *expr {
	for _, space := range []string{"note", "file", "formula"} {
		if rest, ok := strings.CutPrefix(name, space+"."); ok {
			return &expr{op: ".", name: rest, src: name, args: []*expr{{op: "name", name: space, src: name}}}
		}
	}
	return &expr{op: "name", name: name, src: name}
}

// within says in which part of a base an expression is wrong.
func within(where string, err error) error {
	return fault.Field("base", "see docs/queries.md for what is supported", "%s: %s", where, strings.TrimPrefix(err.Error(), "query: "))
}
