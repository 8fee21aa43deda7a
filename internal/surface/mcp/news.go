package mcp

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"lore/internal/change"
	"lore/internal/event"
	"lore/internal/surface/mcp/noteuri"
	"lore/internal/tool"
)

// How long news is collected before clients are told: an editor saves often,
// and a list that changes all the time is not worth being read all the time.
const (
	soonAfter = 200 * time.Millisecond
	listAfter = time.Second
)

// Follow tells the client what changes, until ctx ends: the tools, the notes
// that it subscribed to, the list of notes, and the prompts.
func (s *Server) Follow(ctx context.Context, bus *event.Bus) {
	follow(ctx, bus, s.opts.After, func(f func(*Server)) { f(s) })
}

// follow hears the news of a bus and tells it to every server.
func follow(ctx context.Context, bus *event.Bus, after func(time.Duration) <-chan time.Time, every func(func(*Server))) {
	if bus == nil {
		return
	}
	sub := bus.Subscribe(tool.TopicTools, change.TopicFiles, tool.TopicMissed)
	events := make(chan event.Event)
	var wg sync.WaitGroup
	wg.Go(func() {
		defer close(events)
		for {
			e, ok := sub.Next(ctx.Done())
			if !ok {
				return
			}
			select {
			case events <- e:
			case <-ctx.Done():
				return
			}
		}
	})
	defer wg.Wait()
	defer sub.Close()
	every((*Server).refresh) // for what changed before we listened
	wg.Go(func() {
		every(func(s *Server) {
			// A vault that is still being opened has no prompts yet.
			if _, err := s.door().Questions(ctx, tool.Pending); err == nil {
				s.refreshPrompts(ctx)
			}
		})
	})
	var f follower
	for {
		select {
		case e, ok := <-events:
			if !ok {
				return
			}
			f.hear(e, after, every)
		case <-f.soon:
			f.tellSoon(ctx, every)
		case <-f.later:
			f.tellLater(ctx, every)
		}
	}
}

// A follower holds news that was heard and not yet told.
type follower struct {
	soon, later <-chan time.Time
	paths       map[string]bool
	prompts     bool
	listed      map[string]bool // notes that came or went
	many        bool            // more came or went than are named
}

func (f *follower) hear(e event.Event, after func(time.Duration) <-chan time.Time, every func(func(*Server))) {
	news, ok := e.Data.(change.Files)
	if e.Topic == tool.TopicMissed {
		news, ok = change.Files{Many: true}, true // whatever it was, it may be all of them
	}
	if !ok {
		every((*Server).refresh)
		return
	}
	if f.soon == nil {
		f.soon, f.paths = after(soonAfter), map[string]bool{}
	}
	if news.Listed() && f.later == nil {
		f.later, f.listed = after(listAfter), map[string]bool{}
	}
	if f.later != nil {
		f.many = f.many || news.Many
		for _, p := range slices.Concat(news.Added, news.Removed) {
			f.listed[p] = true
		}
	}
	f.prompts = f.prompts || news.Many
	for _, list := range [][]string{news.Added, news.Changed, news.Removed} {
		for _, p := range list {
			f.paths[p] = true
			f.prompts = f.prompts || isPrompt(p)
		}
	}
}

func (f *follower) tellSoon(ctx context.Context, every func(func(*Server))) {
	paths, prompts := f.paths, f.prompts
	f.soon, f.paths, f.prompts = nil, nil, false
	every(func(s *Server) {
		if prompts {
			s.forgetPrompts(paths)
			s.refreshPrompts(ctx)
		}
		for _, p := range s.known(ctx, slices.Sorted(maps.Keys(paths))) {
			for _, uri := range noteuri.All(p) {
				_ = s.sdk.ResourceUpdated(ctx, &sdk.ResourceUpdatedNotificationParams{URI: uri}) // it never fails
			}
		}
	})
}

// tellLater tells the clients whose list of notes is another one now. That some note
// came or went which a client may not know of is not told to it; only where there are
// too many to be named, every client is told to look.
func (f *follower) tellLater(ctx context.Context, every func(func(*Server))) {
	listed, many := slices.Sorted(maps.Keys(f.listed)), f.many
	f.later, f.listed, f.many = nil, nil, false
	every(func(s *Server) {
		if many || len(s.known(ctx, listed)) > 0 {
			s.relisted()
		}
	})
}

// known are the paths that the client may hear of.
func (s *Server) known(ctx context.Context, paths []string) []string {
	if s.opts.Knows == nil || len(paths) == 0 {
		return paths
	}
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	return s.opts.Knows(ctx, s.caller(ctx, ""), paths)
}

// relisted tells that there are other notes now. The library says so whenever a
// resource is registered, also when it is the same one again.
func (s *Server) relisted() { s.addResources() }

// subscribe lets a client follow a note that it can read, under one of the
// addresses that the note is told by.
func (s *Server) subscribe(ctx context.Context, req *sdk.SubscribeRequest) error {
	at, ok := noteuri.Parse(req.Params.URI)
	if !ok || at.Section != "" || !at.IsKnown(req.Params.URI) {
		return sdk.ResourceNotFoundError(req.Params.URI)
	}
	var part struct{ Path string }
	err := s.use(ctx, tool.ReadsNote, map[string]any{"path": at.Path, "limit": 1}, &part)
	if err == nil && !noteuri.SamePath(part.Path, at.Path) {
		return sdk.ResourceNotFoundError(req.Params.URI)
	}
	return s.notThere(err, req.Params.URI)
}

// quiet lowers what the library logs: it names notes, which no line above debug
// does here.
func quiet(l *slog.Logger) *slog.Logger { return slog.New(lowered{l.Handler()}) }

type lowered struct{ slog.Handler }

// Enabled reports whether lines of a level are wanted, when they are debug.
func (h lowered) Enabled(ctx context.Context, _ slog.Level) bool {
	return h.Handler.Enabled(ctx, slog.LevelDebug)
}

// Handle writes a line as debug.
func (h lowered) Handle(ctx context.Context, r slog.Record) error {
	r.Level = slog.LevelDebug
	return h.Handler.Handle(ctx, r)
}

// WithAttrs and WithGroup stay lowered.
func (h lowered) WithAttrs(a []slog.Attr) slog.Handler { return lowered{h.Handler.WithAttrs(a)} }

// WithGroup begins a group.
func (h lowered) WithGroup(name string) slog.Handler { return lowered{h.Handler.WithGroup(name)} }
