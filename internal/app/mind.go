package app

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"time"

	"lore/internal/access"
	"lore/internal/agent"
	"lore/internal/approval"
	"lore/internal/chat"
	"lore/internal/history"
	"lore/internal/judge"
	"lore/internal/keys"
	"lore/internal/llm/retry"
	"lore/internal/minds"
	"lore/internal/state"
	"lore/internal/surface/draw"
	"lore/internal/surface/talk"
	"lore/internal/tool"
)

// mind makes an agent that works through a door and keeps its state in a file.
func (a *app) mind(file *state.File, left traces, door tool.Door, log *slog.Logger) *agent.Agent {
	return &agent.Agent{
		Store: chat.New(file, a.now), Door: door, Now: a.now, Log: log, Model: a.minds().Finder(), Made: left.made,
		ID:     func(word string) string { return word + "-" + strings.ToLower(rand.Text()) },
		Holder: fmt.Sprintf("%d-%s", os.Getpid(), rand.Text()), Gone: gone,
		// Everything but what belongs to persons: policy asks about the rest.
		Scopes: []access.Scope{access.Read, access.Write, access.Destroy, access.Egress, access.Exec},
	}
}

// mind is the agent of a session.
func (s *session) mind(door tool.Door) *agent.Agent {
	return s.app.mind(s.state, traces{s.history, s.asked}, door, s.log)
}

// talk is a session for somebody who talks with a mind.
func (s *session) talk(door tool.Door, attend func(context.Context), done func() error) *talk.Session {
	return &talk.Session{Agent: s.mind(door), Door: door, Allow: s.asked.AddRule, Attend: attend, Close: done}
}

// mind is the agent of a process that stays, whatever stands behind its door.
func (r *resident) mind(file *state.File) *agent.Agent {
	left := traces{history.New(file, history.Options{Now: r.app.now}), approval.New(file, r.app.now)}
	return r.app.mind(file, left, r.door, r.log)
}

// minds are the models that can be talked with.
func (a *app) minds() *minds.Minds {
	dir, err := a.home().Config()
	kept := keys.Store{Dir: dir, Ring: keys.System{}}
	if err != nil || a.env("LORE_KEYRING") == "off" {
		kept.Ring = nil
	}
	return &minds.Minds{
		Settings: a.config(), Env: a.env, Keys: kept, Now: a.now,
		Told: func(w retry.Wait) {
			fmt.Fprintf(a.errOut, "the model is asked again in %s (%d of %d): %v\n", w.For.Round(time.Second/10), w.Next, w.Of, draw.OneLine(w.Err.Error()))
		},
	}
}

// judge judges with the model that the settings name, if it is one.
func (s *session) judge() judge.Judge {
	j := judge.Judge{Log: s.log, Memory: &judge.Memory{}}
	if m := s.app.minds().Late(); m != nil {
		j.Model = m
	}
	return j
}

// traces are where calls leave something behind.
type traces struct {
	history *history.Store
	asked   *approval.Store
}

// made finds what a call of a run left behind. A run makes one change at a time,
// so the newest record of the tool since then is of that call.
func (s traces) made(ctx context.Context, run, name string, _ json.RawMessage, since time.Time) (agent.Trace, error) {
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
