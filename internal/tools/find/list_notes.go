package find

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"lore/internal/index"
	"lore/internal/paging"
	"lore/internal/search"
	"lore/internal/tool"
)

// ListNotes lists notes by folder, type and tags, with counts.
type ListNotes struct {
	// Only notes in this folder, at any depth.
	Folder string `json:"folder,omitempty"`
	// Only notes of this type.
	Type string `json:"type,omitempty"`
	// Only notes with all of these tags.
	Tags []string `json:"tags,omitempty"`
	// Only notes that have problems, such as YAML that cannot be read.
	Problems bool `json:"problems,omitempty"`
	// Order of the list: newest or largest first, or by name.
	Sort string `json:"sort,omitempty" default:"path" enum:"path,title,modified,size"`
	// Most notes.
	Limit int `json:"limit,omitempty" default:"50" min:"1" max:"500"`
	// Notes to skip.
	Offset int `json:"offset,omitempty" min:"0"`
}

// NoteList is one page of notes.
type NoteList struct {
	Notes []NoteRef `json:"notes"`
	// Total number of notes, shown or not.
	Total int `json:"total"`
	// Types counts all of them by type; notes without one are not counted.
	Types []TypeCount `json:"types"`
	// Unknown are names in the filter that no note has.
	Unknown []search.Unknown `json:"unknown,omitempty"`
	// More tells how to read on when there are further notes.
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
	total, err := env.count(ctx, filter)
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
	for i := range rows {
		out.Notes = append(out.Notes, refOf(&rows[i]))
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
	v.Foot = foot(l.Index, append([]string{many(l.Total, "note"), strings.Join(types, ", "), l.More}, search.Hints(l.Unknown)...)...)
	return v
}
