package property

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"lore/internal/index"
	"lore/internal/tools/toolkit"
)

// Group is the notes of one type or folder.
type Group struct {
	// Name of the type or folder; empty for notes without a type.
	Name  string `json:"name"`
	Notes int    `json:"notes"`
	// Properties, most used first.
	Properties []Property `json:"properties"`
}

// Property is a property that notes of a group have.
type Property struct {
	Name string `json:"name"`
	// Kind is what most of its values are: text, number, date, checkbox or list.
	Kind  string `json:"kind"`
	Notes int    `json:"notes"`
	// Expected says that nearly all notes of the group have it.
	Expected bool `json:"expected,omitempty"`

	sure bool // nearly all values are of this kind
}

// Deviation is what one note lacks or has differently.
type Deviation struct {
	Path     string `json:"path"`
	Group    string `json:"group"`
	Property string `json:"property"`
	Problem  string `json:"problem"`
}

// Limits of a group.
const (
	maxGroupProps  = 30
	minComparable  = 4  // notes that make a group comparable
	expectedShares = 80 // percent of the notes
)

// Schema groups notes by their type, or by their folder, largest group first, and
// finds the notes that deviate from their group, by path.
func Schema(rows []index.Row, byFolder bool) ([]Group, []Deviation) {
	members := map[string][]*index.Row{}
	for i := range rows {
		key := rows[i].Type
		if byFolder {
			key = path.Dir(rows[i].File.Path)
		}
		members[key] = append(members[key], &rows[i])
	}
	groups := []Group{}
	var deviations []Deviation
	for name, list := range members {
		g := schemaOf(name, list)
		deviations = append(deviations, g.deviations(list)...)
		g.Properties = g.Properties[:min(len(g.Properties), maxGroupProps)]
		groups = append(groups, g)
	}
	slices.SortFunc(groups, func(a, b Group) int { return cmp.Or(b.Notes-a.Notes, strings.Compare(a.Name, b.Name)) })
	slices.SortFunc(deviations, func(a, b Deviation) int {
		return cmp.Or(strings.Compare(a.Path, b.Path), strings.Compare(a.Property, b.Property))
	})
	return groups, deviations
}

// schemaOf counts the properties of a group.
func schemaOf(name string, rows []*index.Row) Group {
	found := map[string]*property{}
	for _, r := range rows {
		count(found, r.Props)
	}
	g := Group{Name: name, Notes: len(rows), Properties: []Property{}}
	for _, p := range found {
		kind := mostOf(p.kinds)[0]
		g.Properties = append(g.Properties, Property{
			Name: p.name, Kind: kind, Notes: p.notes,
			Expected: len(rows) >= minComparable && p.notes*100 >= len(rows)*expectedShares,
			sure:     p.notes >= minComparable && p.kinds[kind]*100 >= p.notes*expectedShares,
		})
	}
	slices.SortFunc(g.Properties, func(a, b Property) int { return cmp.Or(b.Notes-a.Notes, strings.Compare(a.Name, b.Name)) })
	return g
}

// deviations are the notes of a group that differ from the others.
func (g *Group) deviations(rows []*index.Row) []Deviation {
	var out []Deviation
	for _, r := range rows {
		own := map[string]*property{}
		count(own, r.Props)
		for _, p := range g.Properties {
			problem := ""
			switch have := own[strings.ToLower(p.Name)]; {
			case have == nil && p.Expected:
				problem = fmt.Sprintf("missing; %d of %d notes have it", p.Notes, g.Notes)
			case have != nil && p.sure && len(have.values) > 0 && have.kinds[p.Kind] == 0 && p.Kind != "list":
				problem = fmt.Sprintf("%s, where others have a %s", mostOf(have.kinds)[0], p.Kind)
			}
			if problem != "" {
				out = append(out, Deviation{Path: r.File.Path, Group: g.Name, Property: p.Name, Problem: problem})
			}
		}
	}
	return out
}

// Text lists the groups, and below them the deviations.
func Text(groups []Group, deviations []Deviation) string {
	var b strings.Builder
	for _, g := range groups {
		fmt.Fprintf(&b, "%s (%s)\n", cmp.Or(g.Name, "no type"), toolkit.Count(g.Notes, "note"))
		for _, p := range g.Properties {
			mark := ""
			if p.Expected {
				mark = ", expected"
			}
			fmt.Fprintf(&b, "  %s: %s, %s%s\n", p.Name, p.Kind, toolkit.Count(p.Notes, "note"), mark)
		}
	}
	if len(deviations) > 0 {
		b.WriteString("\nDeviations\n")
	}
	for _, d := range deviations {
		fmt.Fprintf(&b, "  %s: %s: %s\n", d.Path, d.Property, d.Problem)
	}
	return b.String()
}
