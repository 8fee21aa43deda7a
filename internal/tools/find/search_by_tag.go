package find

import (
	"context"
	"fmt"
	"strings"

	"lore/internal/fault"
	"lore/internal/index"
	"lore/internal/paging"
	"lore/internal/schema"
	"lore/internal/tool"
)

// SearchByTag lists the notes that have tags, newest first. A tag counts for
// its parents: #tea/green is also #tea.
type SearchByTag struct {
	// Tags, with or without "#".
	Tags []string `json:"tags"`
	// Whether a note needs all of them or any.
	Match string `json:"match,omitempty" default:"all" enum:"all,any"`
	// Most notes.
	Limit int `json:"limit,omitempty" default:"20" min:"1" max:"200"`
	// Notes to skip.
	Offset int `json:"offset,omitempty" min:"0"`
}

// TaggedNotes are the notes that have some tags.
type TaggedNotes struct {
	Notes []NoteRef `json:"notes"`
	// Total number of notes, shown or not.
	Total int `json:"total"`
	// More tells how to read on when there are further notes.
	More string `json:"more,omitempty"`
	// Hint names tags that exist when one of those asked for does not.
	Hint  string          `json:"hint,omitempty"`
	Index index.Freshness `json:"index"`
}

// Run lists the notes.
func (in SearchByTag) Run(ctx context.Context, env Env) (TaggedNotes, error) {
	tags := tagNames(in.Tags)
	if len(tags) == 0 {
		return TaggedNotes{}, fault.Field("tags", `name at least one, for example ["tea"]`, "no tag is given")
	}
	filter := index.Filter{Tags: tags, AnyTag: in.Match == "any"}
	total, err := env.count(ctx, filter)
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
	out.Hint, err = env.tagHint(ctx, tags)
	return out, err
}

// tagHint tells which of the tags no note has, with the nearest that exist.
func (env Env) tagHint(ctx context.Context, tags []string) (string, error) {
	known, err := env.Store.Facets(ctx, index.FacetTag, index.Filter{})
	if err != nil {
		return "", err
	}
	var names []string
	for _, c := range known {
		names = append(names, c.Value)
	}
	var hints []string
	for _, t := range tags {
		t = strings.ToLower(t)
		exists := false
		for _, n := range names {
			exists = exists || n == t || strings.HasPrefix(n, t+"/")
		}
		if exists {
			continue
		}
		hint := fmt.Sprintf("no note has #%s", t)
		if near := schema.Nearest(t, names, 3); len(near) > 0 {
			hint += "; there is #" + strings.Join(near, ", #")
		}
		hints = append(hints, hint)
	}
	return strings.Join(hints, "; "), nil
}

// View lists the notes.
func (t TaggedNotes) View() tool.View {
	var v tool.View
	for i := range t.Notes {
		v.Items = append(v.Items, t.Notes[i].item())
	}
	v.Foot = foot(t.Index, many(t.Total, "note"), t.More, t.Hint)
	return v
}
