package app

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"iter"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"lore/internal/access"
	"lore/internal/agent"
	"lore/internal/chat"
	"lore/internal/history"
	"lore/internal/judge"
	"lore/internal/llm"
	"lore/internal/llm/catalog"
	"lore/internal/llm/quote"
	"lore/internal/llm/retry"
	"lore/internal/surface/draw"
	"lore/internal/surface/talk"
	"lore/internal/tool"
)

// mind makes the agent of a session that works through a door.
func (s *session) mind(door tool.Door) *agent.Agent {
	return &agent.Agent{
		Store: chat.New(s.state, s.app.now), Door: door, Now: s.app.now, Log: s.log, Model: s.app.finder(), Made: s.made,
		ID:     func(word string) string { return word + "-" + strings.ToLower(rand.Text()) },
		Holder: fmt.Sprintf("%d-%s", os.Getpid(), rand.Text()), Gone: gone,
		// Everything but what belongs to persons: policy asks about the rest.
		Scopes: []access.Scope{access.Read, access.Write, access.Destroy, access.Egress, access.Exec},
	}
}

// talk is a session for somebody who talks with a mind.
func (s *session) talk(door tool.Door, attend func(context.Context), done func() error) *talk.Session {
	t := &talk.Session{Agent: s.mind(door), Door: door, Allow: s.asked.AddRule, Attend: attend, Close: done}
	if v, ok := s.app.errOut.(*draw.Voice); ok {
		t.Hear = v.Hear
	}
	return t
}

// minds is the catalogue of models as the settings have it.
func (a *app) minds() (*catalog.Catalog, error) {
	c, err := a.config().Read()
	if err != nil {
		return nil, err
	}
	places := map[string]catalog.Place{}
	for name, p := range c.Providers {
		n, _ := strconv.Atoi(p.Context) // checked when it was set; what is no number is none
		places[name] = catalog.Place{Kind: p.Kind, BaseURL: p.BaseURL, KeyEnv: p.KeyEnv, API: p.API, Context: n}
	}
	told := func(w retry.Wait) {
		fmt.Fprintf(a.errOut, "the model is asked again in %s (%d of %d): %v\n", w.For.Round(time.Second/10), w.Next, w.Of, draw.OneLine(w.Err.Error()))
	}
	return &catalog.Catalog{Places: places, Env: a.env, Now: a.now, Told: told}, nil
}

// finder finds models for one session: "" is the one that the settings name. What
// was learnt of a model is kept.
func (a *app) finder() func(context.Context, string) (llm.Model, llm.Info, error) {
	all := sync.OnceValues(a.minds)
	return func(ctx context.Context, id string) (llm.Model, llm.Info, error) {
		if id == "" {
			c, err := a.config().Read()
			if err != nil {
				return nil, llm.Info{}, err
			}
			if id, err = a.config().Get(&c, "model"); err != nil {
				return nil, llm.Info{}, err
			}
		}
		c, err := all()
		if err != nil {
			return nil, llm.Info{}, err
		}
		return c.Model(ctx, id)
	}
}

// judge judges with the model that the settings name, if it is one.
func (s *session) judge() judge.Judge {
	j := judge.Judge{Log: s.log, Memory: &judge.Memory{}}
	if c, err := s.app.config().Read(); err == nil {
		if id, err := s.app.config().Get(&c, "model"); err == nil && id != quote.ID {
			j.Model = &late{id: id, find: s.app.finder()}
		}
	}
	return j
}

// late is a model that is looked for when it is asked: a mistake in the settings
// is then the model's, and everything else works.
type late struct {
	id   string
	find func(context.Context, string) (llm.Model, llm.Info, error)
}

// ID is the model's.
func (l *late) ID() string { return l.id }

// Stream asks the model.
func (l *late) Stream(ctx context.Context, r llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		m, _, err := l.find(ctx, l.id)
		if err != nil {
			yield(llm.Event{}, err)
			return
		}
		m.Stream(ctx, r)(yield)
	}
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

// gone reports that the process that a holder's name begins with is no more.
func gone(holder string) bool {
	pid, err := strconv.Atoi(strings.SplitN(holder, "-", 2)[0])
	if err != nil || pid <= 0 || pid == os.Getpid() {
		return false
	}
	return !alive(pid)
}
