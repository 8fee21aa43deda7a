package explore

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"lore/internal/fault"
	"lore/internal/index"
	"lore/internal/search"
	"lore/internal/tool"
	"lore/internal/tool/paging"
	"lore/internal/tools/explore/property"
	"lore/internal/tools/toolkit"
)

// ListNotes: List notes by folder, type and tags.
type ListNotes struct {
	// In this folder.
	Folder string `json:"folder,omitempty"`
	// Of this type.
	Type string `json:"type,omitempty"`
	// With these tags.
	Tags []string `json:"tags,omitempty"`
	// With problems.
	Problems bool `json:"problems,omitempty"`
	// Count properties.
	Properties bool `json:"properties,omitempty"`
	// As rating>=4, !due.
	Where []string `json:"where,omitempty"`
	// Properties to show.
	Select []string `json:"select,omitempty"`
	// Or title, modified, size, property desc.
	Sort string `json:"sort,omitempty" default:"path"`
	// Max notes.
	Limit int `json:"limit,omitempty" default:"50" min:"1" max:"5000"`
	// Notes to skip.
	Offset int `json:"offset,omitempty" min:"0"`
}

// Help is the text for people.
func (ListNotes) Help() tool.Help {
	return tool.Help{
		Short: "List notes by folder, type, tag or property",
		Flags: map[string]string{
			"folder":     "only notes in this folder, at any depth",
			"type":       "only notes of this type",
			"tags":       "only notes with all of these tags",
			"problems":   "only notes with problems, such as unreadable properties",
			"properties": "also list the properties that the notes use, with counts",
			"where":      "only notes with this property: rating>=4, status=open, status!=done, topic~tea (contains), due (exists), !due (missing); repeatable",
			"select":     "properties to show beside each note",
			"sort":       "order: path, title, modified, created, size or a property; add asc or desc",
		},
		Examples: []string{
			"",
			"--folder Notes --sort modified",
			`--where "rating>=4" --select rating --sort "rating desc"`,
			"--type Hypothesis",
		},
	}
}

// NoteList is one page of notes.
type NoteList struct {
	Notes []NoteRef `json:"notes"`
	// Total number of notes, including those not shown.
	Total int `json:"total"`
	// Types counts all of them by type; notes without one are not counted.
	Types []TypeCount `json:"types"`
	// Properties of all of them, most used first, when asked.
	Properties []property.Count `json:"properties,omitempty"`
	// Unknown are names in the filter that no note has.
	Unknown []search.Unknown `json:"unknown,omitempty"`
	// More says how to get the next notes.
	More  string          `json:"more,omitempty"`
	Index index.Freshness `json:"index"`

	columns []string
}

// TypeCount is how many notes have a type.
type TypeCount struct {
	Type  string `json:"type"`
	Notes int    `json:"notes"`
}

// Run lists the notes.
func (in ListNotes) Run(ctx context.Context, env Env) (NoteList, error) {
	filter, err := env.filter(ctx, in.Folder, in.Type, in.Tags)
	if err != nil {
		return NoteList{}, err
	}
	filter.Problems = in.Problems
	for _, w := range in.Where {
		c, err := search.Condition(w)
		if err != nil {
			return NoteList{}, fault.Rename(err, "properties", "where")
		}
		filter.Props = append(filter.Props, c)
	}
	order, err := parseOrder(in.Sort)
	if err != nil {
		return NoteList{}, err
	}
	total, err := toolkit.CountNotes(ctx, env.Store, filter)
	if err != nil {
		return NoteList{}, err
	}
	types, err := env.Store.Facets(ctx, index.FacetType, filter)
	if err != nil {
		return NoteList{}, err
	}
	rows, err := order.page(ctx, env.Store, filter, in.Limit, in.Offset)
	if err != nil {
		return NoteList{}, err
	}
	// Names that are only sorted by or shown are checked as well.
	named := filter
	for _, name := range append(order.properties(), in.Select...) {
		named.Props = append(named.Props, index.PropFilter{Key: name})
	}
	unknown, err := search.Unknowns(ctx, env.Store, named)
	if err != nil {
		return NoteList{}, err
	}
	out := NoteList{Unknown: unknown, Notes: []NoteRef{}, Total: total, Types: []TypeCount{}, More: paging.More(in.Offset, len(rows), total), Index: env.Fresh(ctx), columns: in.Select}
	for _, c := range types {
		out.Types = append(out.Types, TypeCount{c.Value, c.Notes})
	}
	if in.Properties {
		all, err := env.Store.Notes(ctx, index.Select{Filter: filter})
		if err != nil {
			return NoteList{}, err
		}
		out.Properties = property.Counts(all)
	}
	for i := range rows {
		ref := refOf(&rows[i])
		ref.Aliases = rows[i].Aliases
		ref.Properties = selected(&rows[i], in.Select)
		out.Notes = append(out.Notes, ref)
	}
	return out, nil
}

// View is a table of the notes.
func (l NoteList) View() tool.View {
	v := tool.View{Head: append([]string{"path", "title", "type", "words", "modified"}, l.columns...)}
	for _, n := range l.Notes {
		row := []string{n.Path, n.Title, n.Type, strconv.Itoa(n.Words), n.Modified[:10]}
		for _, c := range l.columns {
			row = append(row, strings.Join(n.Properties[c], ", "))
		}
		v.Rows = append(v.Rows, row)
	}
	var types []string
	for _, t := range l.Types {
		types = append(types, fmt.Sprintf("%d %s", t.Notes, t.Type))
	}
	v.Foot = toolkit.Foot(l.Index, append([]string{toolkit.Count(l.Total, "note"), strings.Join(types, ", "), l.More}, search.Hints(l.Unknown)...)...)
	return v
}
