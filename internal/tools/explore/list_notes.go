package explore

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"lore/internal/index"
	"lore/internal/search"
	"lore/internal/tool"
	"lore/internal/tool/paging"
	"lore/internal/tools/explore/property"
	"lore/internal/tools/toolkit"
)

// ListNotes: List notes by folder, type and tags.
type ListNotes struct {
	// In this folder, at any depth.
	Folder string `json:"folder,omitempty"`
	// Of this type.
	Type string `json:"type,omitempty"`
	// With all of these tags.
	Tags []string `json:"tags,omitempty"`
	// With problems.
	Problems bool `json:"problems,omitempty"`
	// Count their properties too.
	Properties bool `json:"properties,omitempty"`
	// Order.
	Sort string `json:"sort,omitempty" default:"path" enum:"path,title,modified,size"`
	// Max notes.
	Limit int `json:"limit,omitempty" default:"50" min:"1" max:"5000"`
	// Notes to skip.
	Offset int `json:"offset,omitempty" min:"0"`
}

// Help is the text for people.
func (ListNotes) Help() tool.Help {
	return tool.Help{
		Short: "List notes by folder, type or tag",
		Flags: map[string]string{
			"folder":     "only notes in this folder, at any depth",
			"type":       "only notes of this type",
			"tags":       "only notes with all of these tags",
			"problems":   "only notes with problems, such as unreadable properties",
			"properties": "also list the properties that the notes use, with counts",
			"sort":       "order of the list",
		},
		Examples: []string{
			"",
			"--folder Notes --sort modified",
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
	total, err := toolkit.CountNotes(ctx, env.Store, filter)
	if err != nil {
		return NoteList{}, err
	}
	types, err := env.Store.Facets(ctx, index.FacetType, filter)
	if err != nil {
		return NoteList{}, err
	}
	order := index.Order(in.Sort)
	if in.Sort == "path" {
		order = index.ByPath
	}
	rows, err := env.Store.Notes(ctx, index.Select{Filter: filter, Order: order, Limit: in.Limit, Offset: in.Offset})
	if err != nil {
		return NoteList{}, err
	}
	unknown, err := search.Unknowns(ctx, env.Store, filter)
	if err != nil {
		return NoteList{}, err
	}
	out := NoteList{Unknown: unknown, Notes: []NoteRef{}, Total: total, Types: []TypeCount{}, More: paging.More(in.Offset, len(rows), total), Index: env.Fresh(ctx)}
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
		out.Notes = append(out.Notes, ref)
	}
	return out, nil
}

// View is a table of the notes.
func (l NoteList) View() tool.View {
	v := tool.View{Head: []string{"path", "title", "type", "words", "modified"}}
	for _, n := range l.Notes {
		v.Rows = append(v.Rows, []string{n.Path, n.Title, n.Type, strconv.Itoa(n.Words), n.Modified[:10]})
	}
	var types []string
	for _, t := range l.Types {
		types = append(types, fmt.Sprintf("%d %s", t.Notes, t.Type))
	}
	v.Foot = toolkit.Foot(l.Index, append([]string{toolkit.Count(l.Total, "note"), strings.Join(types, ", "), l.More}, search.Hints(l.Unknown)...)...)
	return v
}
