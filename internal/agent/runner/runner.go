// Package runner looks after runs in a process that stays: it works on what is
// asked for, goes on with runs when a person has answered or a process has died,
// and tells whoever watches what is said while it is said.
package runner

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"lore/internal/agent"
	"lore/internal/agent/chat"
	"lore/internal/event"
	"lore/internal/fault"
	"lore/internal/tool"
)

// A Runner works on the runs of one vault.
type Runner struct {
	agent *agent.Agent
	bus   *event.Bus // tells of answers; nil does not
	log   *slog.Logger

	mu    sync.Mutex
	works map[string]*work
	tired map[string]tries // runs whose work failed, and whose end could not be kept
	ctx   context.Context  // of the work; nil before Run and after its end
	wg    sync.WaitGroup
}

// New makes an attendant. It does nothing before it runs.
func New(a *agent.Agent, bus *event.Bus, log *slog.Logger) *Runner {
	return &Runner{agent: a, bus: bus, log: log, works: map[string]*work{}, tired: map[string]tries{}}
}

// tries are how often work on a run failed without an end, and until when it is
// let alone: every try asks a model, which may cost money.
type tries struct {
	count int
	until time.Time
}

// mostRest is the longest that a run is let alone.
const mostRest = time.Hour

// every is how often runs are looked at that wait for something which another
// process may do.
const every = 2 * time.Second

// Run attends until ctx ends. What is under way then is left as it is, for the
// next process.
func (a *Runner) Run(ctx context.Context) {
	a.mu.Lock()
	a.ctx = ctx
	a.mu.Unlock()
	defer func() {
		a.mu.Lock()
		a.ctx = nil
		a.mu.Unlock()
		a.wg.Wait()
	}()
	answered, stop := a.answers()
	defer stop()
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		a.resume(ctx)
		select {
		case <-ctx.Done():
			return
		case <-answered:
		case <-tick.C:
		}
	}
}

// answers tells when a question was answered.
func (a *Runner) answers() (<-chan struct{}, func()) {
	out := make(chan struct{}, 1)
	if a.bus == nil {
		return out, func() {}
	}
	sub := a.bus.Subscribe()
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			e, ok := sub.Next(nil)
			if !ok {
				return
			}
			if e.Topic == tool.TopicOver || e.Topic == tool.TopicAnswered || e.Topic == tool.TopicMissed {
				select {
				case out <- struct{}{}:
				default:
				}
			}
		}
	})
	return out, func() { sub.Close(); wg.Wait() }
}

// resume goes on with every run that is not over.
func (a *Runner) resume(ctx context.Context) {
	runs, err := a.agent.Store.Runs(ctx, "")
	if err != nil {
		if ctx.Err() == nil {
			a.log.Warn("unfinished runs cannot be read", "error", err)
		}
		return
	}
	a.mu.Lock()
	maps.DeleteFunc(a.tired, func(id string, _ tries) bool {
		return !slices.ContainsFunc(runs, func(r chat.Run) bool { return r.ID == id })
	})
	tired := maps.Clone(a.tired)
	a.mu.Unlock()
	for _, r := range runs {
		if a.keeps(&r) && !a.agent.Now().Before(tired[r.ID].until) && (r.Status == chat.Running || a.ready(ctx, r.ID)) {
			a.begin(r.ID)
		}
	}
}

// backOff lets a run alone for a while, every time twice as long.
func (a *Runner) backOff(run string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	n := a.tired[run].count
	a.tired[run] = tries{n + 1, a.agent.Now().Add(min(time.Minute<<min(n, 10), mostRest))}
}

// keeps reports whether a run is looked after here: it was begun here, or its
// process is no more. Somebody at a terminal goes on with their own.
func (a *Runner) keeps(r *chat.Run) bool {
	return r.Keeper == a.agent.Holder || r.Keeper == "" || a.agent.Gone != nil && a.agent.Gone(r.Keeper)
}

// ready reports whether a question of a run that waits is answered, or there is
// none any more: its process may have died when it had heard the answer.
func (a *Runner) ready(ctx context.Context, run string) bool {
	calls, err := a.agent.Store.Calls(ctx, run)
	if err != nil {
		return false
	}
	waits := false
	for _, c := range calls {
		if c.State != chat.Asked {
			continue
		}
		waits = true
		q, err := a.agent.Door.Question(ctx, c.Question)
		if fault.Of(err) == fault.NotFound || err == nil && (q.State.Over() || q.Revision != c.Revision) {
			return true
		}
	}
	return !waits
}

// begin works on a run, unless somebody here does.
func (a *Runner) begin(run string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.works[run] != nil || a.ctx == nil || a.ctx.Err() != nil {
		return
	}
	ctx, cancel := context.WithCancelCause(a.ctx)
	w := newWork(cancel)
	a.works[run] = w
	a.wg.Go(func() {
		defer cancel(nil)
		_, err := a.agent.Work(ctx, run, w.tell)
		if err != nil && ctx.Err() == nil && !errors.Is(err, chat.ErrTaken) {
			a.log.Info("a run failed", "run", run, "kind", string(fault.Of(err)))
			a.backOff(run)
		}
		a.over(run, w)
	})
}

func (a *Runner) work(run string) *work {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.works[run]
}

// Send puts a request into a chat and begins to work on it.
func (a *Runner) Send(ctx context.Context, chatID string, q agent.Request) (chat.Run, error) {
	r, err := a.agent.Start(ctx, chatID, q)
	if err == nil {
		a.begin(r.ID)
	}
	return r, err
}

// Stop ends a run. What it did stays done.
func (a *Runner) Stop(ctx context.Context, run string) error {
	w, err := a.clear(ctx, run)
	if err != nil {
		return err
	}
	defer a.over(run, w)
	return a.agent.Cancel(ctx, run)
}

// clear ends the work on a run and takes its place, so that nobody here goes on
// with the run while it is being ended: that its questions are over is news.
func (a *Runner) clear(ctx context.Context, run string) (*work, error) {
	for {
		a.mu.Lock()
		w := a.works[run]
		if w == nil {
			w = newWork(func(error) {})
			a.works[run] = w
			a.mu.Unlock()
			return w, nil
		}
		a.mu.Unlock()
		w.cancel(agent.ErrStopped)
		select {
		case <-w.done:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// over tells that nobody here works on a run any more.
func (a *Runner) over(run string, w *work) {
	a.mu.Lock()
	delete(a.works, run)
	a.mu.Unlock()
	close(w.done)
	w.notify()
}
