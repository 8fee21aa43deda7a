package app

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"lore/internal/access"
	"lore/internal/agent"
	"lore/internal/agent/traces"
	"lore/internal/approval"
	"lore/internal/chat"
	"lore/internal/history"
	"lore/internal/judge"
	"lore/internal/keys"
	"lore/internal/llm/retry"
	"lore/internal/minds"
	"lore/internal/peer"
	"lore/internal/state"
	"lore/internal/surface/cli"
	"lore/internal/surface/draw"
	"lore/internal/surface/talk"
	"lore/internal/tool"
)

// mind makes an agent that works through a door. What it keeps lies in a file of
// its own, whatever comes to stand behind the door.
func (a *app) mind(file *state.File, door tool.Door, log *slog.Logger) *agent.Agent {
	left := traces.Traces{History: history.New(file, history.Options{Now: a.now}), Asked: approval.New(file, a.now)}
	return &agent.Agent{
		Store: chat.New(file, a.now), Door: door, Now: a.now, Log: log, Model: a.minds().Finder(), Made: left.Made, Prefs: a.minds().Prefs,
		ID:     func(word string) string { return word + "-" + strings.ToLower(rand.Text()) },
		Holder: traces.Holder(), Gone: traces.Gone,
		// Everything but what belongs to persons: policy asks about the rest.
		Scopes: []access.Scope{access.Read, access.Write, access.Destroy, access.Model, access.Egress, access.Exec},
	}
}

// talk is a session for somebody who talks with a mind.
func (s *session) talk(ctx context.Context, face *cli.Session) (*talk.Session, error) {
	if s.link != nil { // a mind has to know the tools before it calls one
		s.taught = true
		err := s.link.Learn(ctx)
		if peer.Gone(err) { // the door finds who comes next, and learns from it
			_, err = face.Door.Questions(ctx, tool.Pending)
		}
		if err != nil {
			return nil, err
		}
	}
	file, _ := s.app.records(s.dir, s.log)
	door := cli.BesideScreen(face)
	t := &talk.Session{
		Agent: s.app.mind(file, door, s.log), Door: door, Allow: approval.New(file, s.app.now).AddRule, Attend: face.Attend,
		Close: func() error { return errors.Join(face.Close(), file.Close()) },
	}
	if v, ok := s.app.errOut.(*draw.Voice); ok {
		t.Hear = v.Hear
	}
	return t, nil
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
		j.Model, j.MaySend = m, s.app.minds().Gate(tool.MaySend)
	}
	return j
}
