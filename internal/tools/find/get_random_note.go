package find

import (
	"context"

	"lore/internal/fault"
	"lore/internal/index"
	"lore/internal/note"
	"lore/internal/search"
	"lore/internal/tool"
)

// GetRandomNote returns a note by chance, to meet old thoughts again.
type GetRandomNote struct {
	// Only notes in this folder.
	Folder string `json:"folder,omitempty"`
	// Only notes of this type.
	Type string `json:"type,omitempty"`
	// Only notes with all of these tags.
	Tags []string `json:"tags,omitempty"`
}

// RandomNote is the note that chance chose.
type RandomNote struct {
	Note NoteRef `json:"note"`
	// Excerpt is how the note begins.
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
	total, err := env.count(ctx, filter)
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
		return RandomNote{}, fault.Fix(fault.NotFound, "ask for less: fewer tags, another folder or type", "no note fits the filter")
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
	return tool.View{Items: []tool.Item{item}, Foot: foot(r.Index, "chosen from "+many(r.Of, "note"))}
}
