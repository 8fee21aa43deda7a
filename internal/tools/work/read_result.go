package work

import (
	"context"

	"lore/internal/fault"
	"lore/internal/paging"
	"lore/internal/tool"
)

// ReadResult reads on in a result that was too long to be given in one piece.
type ReadResult struct {
	// Id of the result, as the place where it was cut names it.
	ID string `json:"id"`
	// Characters to skip.
	Offset int `json:"offset,omitempty" min:"0"`
	// Most characters.
	Limit int `json:"limit,omitempty" default:"4000" min:"100" max:"40000"`
}

// ResultPart is a part of a result.
type ResultPart struct {
	ID   string `json:"id"`
	Text string `json:"text"`
	More string `json:"more,omitempty"`
}

// Run cuts the part out of the whole.
func (in ReadResult) Run(ctx context.Context, env Env) (ResultPart, error) {
	text, err := env.Chats.Result(ctx, in.ID)
	if err != nil {
		return ResultPart{}, fault.Rename(err, "", "id")
	}
	part, more := paging.Cut([]rune(text), in.Offset, in.Limit)
	return ResultPart{ID: in.ID, Text: string(part), More: more}, nil
}

// View is the text.
func (r ResultPart) View() tool.View { return tool.View{Text: r.Text, Foot: r.More} }
