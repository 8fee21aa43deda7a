package work

import (
	"context"
	"fmt"
	"time"

	"lore/internal/tool"
	"lore/internal/tool/access"
	"lore/internal/tool/paging"
)

// ListPending: List operations that wait for approval. Only a person can
// answer them.
type ListPending struct {
	// Max operations.
	Limit int `json:"limit,omitempty" default:"20" min:"1" max:"200"`
	// Operations to skip.
	Offset int `json:"offset,omitempty" min:"0"`
}

// Help is the text for people.
func (ListPending) Help() tool.Help {
	return tool.Help{
		Short: "List changes that wait for approval",
		Long:  "lore approvals lists them and lets you answer.",
		Examples: []string{
			"",
		},
		Hidden: true,
	}
}

// PendingList are the operations that wait for approval, oldest first.
type PendingList struct {
	Pending []Pending `json:"pending"`
	More    string    `json:"more,omitempty"`

	outside bool
}

// ShowsOutside reports whether one of them was asked for by a caller who had read
// text from outside, or shows some.
func (l PendingList) ShowsOutside() bool { return l.outside }

// Pending is one operation that waits for approval.
type Pending struct {
	ID          string    `json:"pending_operation_id"`
	Asked       time.Time `json:"asked"`
	Expires     time.Time `json:"expires"`
	InitiatedBy string    `json:"initiated_by"`
	Run         string    `json:"run"`
	Tool        string    `json:"tool"`
	Summary     string    `json:"summary"`
	Risk        string    `json:"risk"`
	Reason      string    `json:"reason"`
	Warnings    []string  `json:"warnings,omitempty"`
	// Files that would change.
	Files []string `json:"files,omitempty"`
}

// Run reads the list.
func (in ListPending) Run(ctx context.Context, env Env) (PendingList, error) {
	list, err := env.Questions.List(ctx, tool.Pending)
	if err != nil {
		return PendingList{}, err
	}
	now := env.Now()
	waiting, outside := []Pending{}, false
	for _, q := range list {
		if !now.Before(q.Expires) || !sees(ctx, q.Who) || q.Consent != "" && !seesAll(ctx) {
			continue
		}
		p := Pending{
			ID: q.ID, Asked: q.Asked, Expires: q.Expires, InitiatedBy: string(q.Who.Kind), Run: q.Who.ID, Tool: q.Tool,
			Summary: q.Preview.Summary, Risk: string(q.Risk), Reason: q.Reason, Warnings: q.Preview.Warnings,
		}
		if hides(ctx, paths(q.Changes)...) {
			continue
		}
		for i, c := range q.Changes {
			if i == 20 {
				p.Files = append(p.Files, fmt.Sprintf("and %d more", len(q.Changes)-i))
				break
			}
			p.Files = append(p.Files, c.Path)
		}
		waiting = append(waiting, p)
		outside = outside || q.Untrusted || q.Who.Tainted
	}
	page, more := paging.Cut(waiting, in.Offset, in.Limit)
	return PendingList{Pending: page, More: more, outside: outside}, nil
}

// View is a table.
func (l PendingList) View() tool.View {
	if len(l.Pending) == 0 {
		return tool.View{Text: "No approvals are pending.\n", Foot: l.More}
	}
	v := tool.View{Head: []string{"id", "asked", "by", "what", "why"}, Foot: l.More}
	for _, p := range l.Pending {
		v.Rows = append(v.Rows, []string{p.ID, at(p.Asked), by(access.Principal{Kind: access.Kind(p.InitiatedBy), ID: p.Run}), p.Summary, p.Reason})
	}
	return v
}
