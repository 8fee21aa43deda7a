package explore

import (
	"context"
	"strings"

	"lore/internal/fault"
	"lore/internal/index"
	"lore/internal/search"
	"lore/internal/tool"
	"lore/internal/tool/paging"
	"lore/internal/tools/toolkit"
)

// SearchByTag: List notes by tag, newest first. A nested tag counts for its
// parents: #tea/green is also #tea.
type SearchByTag struct {
	// Tags, with or without "#".
	Tags []string `json:"tags"`
	// Whether a note needs all tags or any.
	Match string `json:"match,omitempty" default:"all" enum:"all,any"`
	// Max notes.
	Limit int `json:"limit,omitempty" default:"20" min:"1" max:"200"`
	// Notes to skip.
	Offset int `json:"offset,omitempty" min:"0"`
}

// Help is the text for people.
func (SearchByTag) Help() tool.Help {
	return tool.Help{
		Short: "List notes by tag",
		Long:  "A nested tag also counts as its parents: #tea/green is also #tea.",
		Flags: map[string]string{
			"match": "match notes with all of the tags, or with any of them",
		},
		Examples: []string{
			"brewing",
			"japan teaware --match any",
		},
	}
}

// TaggedNotes are the notes that have some tags.
type TaggedNotes struct {
	Notes []NoteRef `json:"notes"`
	// Total number of notes, including those not shown.
	Total int `json:"total"`
	// More says how to get the next notes.
	More string `json:"more,omitempty"`
	// Unknown are names in the filter that no note has.
	Unknown []search.Unknown `json:"unknown,omitempty"`
	// Hint suggests existing tags when one that was asked for does not exist.
	Hint  string          `json:"hint,omitempty"`
	Index index.Freshness `json:"index"`
}

// Run lists the notes.
func (in SearchByTag) Run(ctx context.Context, env Env) (TaggedNotes, error) {
	tags := tagNames(in.Tags)
	if len(tags) == 0 {
		return TaggedNotes{}, fault.Field("tags", `name at least one, for example ["tea"]`, "is empty")
	}
	filter := index.Filter{Tags: tags, AnyTag: in.Match == "any"}
	total, err := toolkit.CountNotes(ctx, env.Store, filter)
	if err != nil {
		return TaggedNotes{}, err
	}
	rows, err := env.Store.Notes(ctx, index.Select{Filter: filter, Order: index.ByModified, Limit: in.Limit, Offset: in.Offset})
	if err != nil {
		return TaggedNotes{}, err
	}
	out := TaggedNotes{Notes: []NoteRef{}, Total: total, More: paging.More(in.Offset, len(rows), total), Index: env.Fresh(ctx)}
	for i := range rows {
		out.Notes = append(out.Notes, refOf(&rows[i]))
	}
	if out.Unknown, err = search.Unknowns(ctx, env.Store, filter); err != nil {
		return TaggedNotes{}, err
	}
	out.Hint = strings.Join(search.Hints(out.Unknown), "; ")
	return out, nil
}

// View lists the notes.
func (t TaggedNotes) View() tool.View {
	var v tool.View
	for i := range t.Notes {
		v.Items = append(v.Items, t.Notes[i].item())
	}
	v.Foot = toolkit.Foot(t.Index, toolkit.Count(t.Total, "note"), t.More, t.Hint)
	return v
}
