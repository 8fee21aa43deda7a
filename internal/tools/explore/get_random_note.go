package explore

import (
	"context"

	"lore/internal/fault"
	"lore/internal/index"
	"lore/internal/note"
	"lore/internal/search"
	"lore/internal/tool"
	"lore/internal/tools/toolkit"
)

// GetRandomNote: Pick a random note, or one that fits the filters.
type GetRandomNote struct {
	// Only notes in this folder.
	Folder string `json:"folder,omitempty"`
	// Only notes of this type.
	Type string `json:"type,omitempty"`
	// Only notes with all of these tags.
	Tags []string `json:"tags,omitempty"`
}

// Help is the text for people.
func (GetRandomNote) Help() tool.Help {
	return tool.Help{
		Short: "Show a random note",
		Examples: []string{
			"",
			"--folder Notes",
		},
	}
}

// RandomNote is a randomly chosen note.
type RandomNote struct {
	Note NoteRef `json:"note"`
	// Excerpt is the start of the note.
	Excerpt string `json:"excerpt"`
	// Of is the number of notes it was chosen from.
	Of    int             `json:"of"`
	Index index.Freshness `json:"index"`
}

// Run draws the note.
func (in GetRandomNote) Run(ctx context.Context, env Env) (RandomNote, error) {
	filter, err := env.filter(ctx, in.Folder, in.Type, in.Tags)
	if err != nil {
		return RandomNote{}, err
	}
	filter.Kinds = []index.Kind{index.KindNote}
	total, err := toolkit.CountNotes(ctx, env.Store, filter)
	if err != nil {
		return RandomNote{}, err
	}
	rows, err := env.Store.Notes(ctx, index.Select{Filter: filter, Order: index.ByRandom, Limit: 1})
	if err != nil {
		return RandomNote{}, err
	}
	if len(rows) == 0 {
		unknown, err := search.Unknowns(ctx, env.Store, filter)
		if err != nil {
			return RandomNote{}, err
		}
		if len(unknown) > 0 {
			return RandomNote{}, unknown[0].Fault(unknown[0].Kind)
		}
		return RandomNote{}, fault.Fix(fault.NotFound, "use fewer tags, or another folder or type", "no note matches the filter")
	}
	out := RandomNote{Note: refOf(&rows[0]), Of: total, Index: env.Fresh(ctx)}
	passages, err := env.Store.Passages(ctx, index.PassageQuery{IDs: []int64{rows[0].ID}})
	if err != nil || len(passages) == 0 {
		return out, err
	}
	out.Excerpt = search.Around(note.Plain(passages[0].Text), 0, 0, 240)
	return out, nil
}

// View shows the note.
func (r RandomNote) View() tool.View {
	item := r.Note.item()
	item.Text = r.Excerpt
	return tool.View{Items: []tool.Item{item}, Foot: toolkit.Foot(r.Index, "chosen from "+toolkit.Count(r.Of, "note"))}
}
