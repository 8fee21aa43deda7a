package app

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"lore/internal/change"
	"lore/internal/event"
	"lore/internal/machine/home"
	"lore/internal/machine/state"
	"lore/internal/outside/egress"
	"lore/internal/surface/cli/draw"
	"lore/internal/tool"
	"lore/internal/tool/access"
	"lore/internal/tool/history"
	"lore/internal/tools/automation"
	"lore/internal/tools/clock"
	"lore/internal/tools/files"
	"lore/internal/workspace"
	"lore/internal/workspace/settings"
)

// maxAnswer is how much of an answer a tool that a person wrote gets.
const maxAnswer = 1 << 20

// automation is what the tools that make other calls may touch.
func (a *app) automation(s *workspace.Session) automation.Env {
	return automation.Env{
		Vault: s.Vault, Folder: s.WorkflowFolder, ToolFolder: s.ToolFolder, Off: s.Off,
		Now: a.now, Jobs: automation.Jobs{File: filepath.Join(s.Dir, "schedule.json")},
		Registry: func() *tool.Registry { return s.Registry },
		Command: func(ctx context.Context, argv []string, seconds int) (any, change.Set, error) {
			return files.RunCommand{Argv: argv, Timeout: seconds}.Run(ctx, files.Env{Vault: s.Vault, Store: s.Index, Folder: s.FilesFolder})
		},
		Client: func() (*egress.Client, error) {
			c, err := a.config().Read()
			if err != nil {
				return nil, err
			}
			hosts, err := a.config().Get(&c, "automation.hosts")
			if err != nil {
				return nil, err
			}
			return egress.New(egress.Options{Allow: settings.Patterns(hosts), Timeout: 30 * time.Second, MaxBody: maxAnswer, Cut: true})
		},
	}
}

// ownTools keeps the tools that a person wrote in step with their files, beside the
// tools of other servers.
type ownTools struct {
	workspace.Servers
	s       *workspace.Session
	refresh func(ctx context.Context)
	timer   *clock.Timer
	now     func() time.Time
}

// timerOf is the work timer of a vault.
func timerOf(s *workspace.Session) *clock.Timer {
	return clock.TimerIn(filepath.Join(s.Dir, "timer.json"))
}

// withOwnTools registers the tools that a person wrote. A mistake in them stops
// nothing else.
func (a *app) withOwnTools(s *workspace.Session, r *tool.Registry, hub workspace.Servers) workspace.Servers {
	env := a.automation(s)
	o := &ownTools{Servers: hub, s: s, timer: timerOf(s), now: a.now}
	o.refresh = func(ctx context.Context) {
		if err := env.RefreshOwn(ctx, r, s.Off); err != nil {
			s.Log.Warn("own tools cannot be read", "error", err)
		}
	}
	o.refresh(context.Background())
	return o
}

// Run follows the files until ctx ends.
func (o *ownTools) Run(ctx context.Context) {
	var wg sync.WaitGroup
	wg.Go(func() { o.Servers.Run(ctx) })
	wg.Go(func() { o.timer.Follow(ctx, o.now, o.s.Bus) })
	news := o.s.Bus.Subscribe(change.TopicFiles)
	defer news.Close()
	for e, ok := news.Next(ctx.Done()); ok; e, ok = news.Next(ctx.Done()) {
		if o.concerns(e) {
			o.refresh(ctx)
		}
	}
	wg.Wait()
}

// concerns reports whether files of tools changed.
func (o *ownTools) concerns(e event.Event) bool {
	f, ok := e.Data.(change.Files)
	if !ok || f.Many {
		return true
	}
	return slices.ContainsFunc(slices.Concat(f.Added, f.Changed, f.Removed), func(p string) bool { return strings.HasPrefix(p, o.s.ToolFolder+"/") })
}

// How often due workflows are looked for, and how often the lease is tried.
const scheduleEvery = 20 * time.Second

// runSchedules runs workflows by themselves until ctx ends, in the one server that
// has the lease of the vault's data folder.
func (s *server) runSchedules(ctx context.Context, db *state.File) {
	lease := filepath.Join(db.Dir(), "schedule.lock")
	for {
		release, ok, err := home.Lock(lease)
		if err == nil && ok {
			s.scheduler(db).Follow(ctx)
			if err := release(); err != nil {
				s.Log.Warn("the lease of schedules could not be released", "error", err)
			}
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(scheduleEvery):
		}
	}
}

func (s *server) scheduler(db *state.File) *automation.Scheduler {
	past := history.New(db, history.Options{Now: s.app.now})
	return &automation.Scheduler{
		Door: s.Door, Bus: s.Bus, Log: s.Log, Now: s.app.now, Every: scheduleEvery,
		Open: func(ctx context.Context) (automation.Env, func(), error) {
			open, release, err := s.Hold(ctx)
			if err != nil {
				return automation.Env{}, nil, err
			}
			return s.app.automation(open), release, nil
		},
		Changed: func(ctx context.Context, job, path string, since time.Time) (bool, error) {
			list, err := past.Operations(ctx, history.Filter{Run: job, Kind: access.Schedule, Path: path, Since: since, Status: string(tool.Applied), Limit: 1})
			return len(list) > 0, err
		},
	}
}

// printNotices shows what tools have to say later, in the terminal of the server.
func (s *server) printNotices(ctx context.Context) {
	news := s.Bus.Subscribe(tool.TopicNotice)
	defer news.Close()
	for e, ok := news.Next(ctx.Done()); ok; e, ok = news.Next(ctx.Done()) {
		if n, is := e.Data.(tool.Notice); is {
			_, _ = fmt.Fprintln(s.app.errOut, draw.OneLine(n.Text)) // nobody may be there
		}
	}
}
