package work

import (
	"cmp"
	"context"
	"strings"

	"lore/internal/fault"
	"lore/internal/tool"
	"lore/internal/tool/access"
	"lore/internal/tool/paging"
	"lore/internal/vault/visibility"
)

// ReadResult: Read more of a result that was too long to return whole.
type ReadResult struct {
	// Id of the result, named where it was cut.
	ID string `json:"id"`
	// Characters to skip.
	Offset int `json:"offset,omitempty" min:"0"`
	// Max characters.
	Limit int `json:"limit,omitempty" default:"4000" min:"100" max:"40000"`
}

// Help is the text for people.
func (ReadResult) Help() tool.Help {
	return tool.Help{
		Short: "Show more of a long result from a chat",
		Flags: map[string]string{
			"id": "ID of the result",
		},
		Hidden: true,
	}
}

// ResultPart is a part of a result.
type ResultPart struct {
	ID   string `json:"id"`
	Text string `json:"text"`
	More string `json:"more,omitempty"`
}

// Run cuts the part out of the whole.
func (in ReadResult) Run(ctx context.Context, env Env) (ResultPart, error) {
	if err := env.ownResult(ctx, in.ID); err != nil {
		return ResultPart{}, err
	}
	c, err := env.Chats.Result(ctx, in.ID)
	if err != nil {
		return ResultPart{}, fault.Rename(err, "", "id")
	}
	if limit := visibility.From(ctx); !limit.Everything() && !c.IsShared(limit) {
		return ResultPart{}, fault.Fix(fault.Denied, "call the tool again", "the result %q can contain notes that are no longer shared", in.ID)
	}
	part, more := paging.Cut([]rune(cmp.Or(c.Uncut, c.Result)), in.Offset, in.Limit)
	return ResultPart{ID: in.ID, Text: string(part), More: more}, nil
}

// ownResult refuses an agent the results of other conversations, and those that
// another recipient got: its model may not know what they show.
func (env Env) ownResult(ctx context.Context, id string) error {
	unknown := fault.New(fault.NotFound, "unknown result %q", id)
	who := tool.Caller(ctx)
	if who.Kind != access.Agent {
		if isLimited(ctx) {
			return unknown
		}
		return nil
	}
	name, _, _ := strings.Cut(id, "/")
	own, err := env.Chats.Run(ctx, who.ID)
	if err != nil {
		return err
	}
	run, err := env.Chats.Run(ctx, name)
	if err != nil || run.Chat != own.Chat || who.Sends != "" && access.ModelRecipient(run.Model) != access.ModelRecipient(own.Model) {
		return unknown
	}
	return nil
}

// View is the text.
func (r ResultPart) View() tool.View { return tool.View{Text: r.Text, Foot: r.More} }
