package work

import (
	"context"
	"fmt"
	"time"

	"lore/internal/access"
	"lore/internal/paging"
	"lore/internal/tool"
)

// ListPending lists the operations that wait for a person's answer. Only a
// person can answer them, in Lore itself.
type ListPending struct {
	// Most of them.
	Limit int `json:"limit,omitempty" default:"20" min:"1" max:"200"`
	// How many to skip.
	Offset int `json:"offset,omitempty" min:"0"`
}

// PendingList is what waits, oldest first.
type PendingList struct {
	Pending []Pending `json:"pending"`
	More    string    `json:"more,omitempty"`
}

// Pending is one operation that waits.
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
	waiting := []Pending{}
	for _, q := range list {
		if !now.Before(q.Expires) || !tool.Sees(tool.Caller(ctx), q.Who) || q.Consent != "" && !tool.SeesAll(tool.Caller(ctx)) {
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
	}
	page, more := paging.Cut(waiting, in.Offset, in.Limit)
	return PendingList{Pending: page, More: more}, nil
}

// View is a table.
func (l PendingList) View() tool.View {
	if len(l.Pending) == 0 {
		return tool.View{Text: "Nothing waits for an answer.\n", Foot: l.More}
	}
	v := tool.View{Head: []string{"id", "asked", "by", "what", "why"}, Foot: l.More}
	for _, p := range l.Pending {
		v.Rows = append(v.Rows, []string{p.ID, at(p.Asked), by(access.Principal{Kind: access.Kind(p.InitiatedBy), ID: p.Run}), p.Summary, p.Reason})
	}
	return v
}
