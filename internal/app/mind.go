package app

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"

	"lore/internal/access"
	"lore/internal/agent"
	"lore/internal/chat"
	"lore/internal/history"
	"lore/internal/llm"
	"lore/internal/llm/quote"
	"lore/internal/settings"
	"lore/internal/surface/talk"
	"lore/internal/tool"
)

// mind makes the agent of a session that works through a door.
func (s *session) mind(door tool.Door) *agent.Agent {
	return &agent.Agent{
		Store: chat.New(s.state, s.app.now), Door: door, Now: s.app.now, Log: s.log, Model: s.app.llm, Made: s.made,
		ID:     func(word string) string { return word + "-" + strings.ToLower(rand.Text()) },
		Holder: fmt.Sprintf("%d-%s", os.Getpid(), rand.Text()),
		// Everything but what belongs to persons: policy asks about the rest.
		Scopes: []access.Scope{access.Read, access.Write, access.Destroy, access.Egress, access.Exec},
	}
}

// talk is a session for somebody who talks with a mind.
func (s *session) talk(door tool.Door, attend func(context.Context), done func() error) *talk.Session {
	return &talk.Session{Agent: s.mind(door), Door: door, Allow: s.asked.AddRule, Attend: attend, Close: done}
}

// llm finds a model by its id: "" is the one that the settings name, and quote
// the one that is always there.
func (a *app) llm(_ context.Context, id string) (llm.Model, llm.Info, error) {
	if id == "" {
		c, err := a.config().Read()
		if err != nil {
			return nil, llm.Info{}, err
		}
		if id, err = a.config().Get(&c, "model"); err != nil {
			return nil, llm.Info{}, err
		}
	}
	if id == quote.ID {
		return quote.Model{}, quote.Info(), nil
	}
	return nil, llm.Info{}, settings.CheckMind(id)
}

// made finds what a call of a run left behind. A run makes one change at a time,
// so the newest record of the tool since then is of that call.
func (s *session) made(ctx context.Context, run, name string, _ json.RawMessage, since time.Time) (agent.Trace, error) {
	calls, err := s.history.Calls(ctx, history.Filter{Run: run, Kind: access.Agent, Tool: name, Since: since.Add(-time.Second), Limit: 1})
	if err != nil {
		return agent.Trace{}, err
	}
	for _, c := range calls {
		if c.Operation != "" {
			return agent.Trace{Operation: c.Operation}, nil
		}
	}
	asked, err := s.asked.List(ctx)
	if err != nil {
		return agent.Trace{}, err
	}
	for _, q := range asked {
		if q.Who.Kind == access.Agent && q.Who.ID == run && q.Tool == name && !q.Asked.Before(since.Add(-time.Second)) {
			return agent.Trace{Question: q.ID}, nil
		}
	}
	return agent.Trace{}, nil
}
