package app

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"lore/internal/fault"
	"lore/internal/index"
	"lore/internal/index/sqlite"
	"lore/internal/tool"
	"lore/internal/vault"
)

// patience is how long a question waits for the index to catch up with the
// vault. Comparing ten thousand notes takes a tenth of it.
const patience = 300 * time.Millisecond

// freshness is how a session knows that its index shows the vault as it is.
type freshness struct {
	life    context.Context // of the session; comparisons outlive whoever asked for them
	compare comparisons
	watcher atomic.Pointer[vault.Watcher] // while the vault is followed
	slow    atomic.Bool                   // the last whole comparison took longer than a question waits
	limit   time.Duration                 // how long a plan waits; tests shorten it

	mu       sync.Mutex
	opened   *comparison // of the opening, until the first call uses it
	openedAt time.Time
}

// A comparison is one look at the vault that brings the index up to date.
type comparison struct {
	done  chan struct{}
	fresh index.Freshness // when it is done
	err   error
}

// comparisons runs one comparison at a time, and lets everybody wait for one
// that begins after they asked.
type comparisons struct {
	mu        sync.Mutex
	now, next *comparison
	ended     bool
	wg        sync.WaitGroup
}

// join returns a comparison that begins after the call.
func (c *comparisons) join(run func(*comparison)) *comparison {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.next == nil {
		c.next = &comparison{done: make(chan struct{})}
	}
	mine := c.next
	if c.now == nil {
		c.begin(run)
	}
	return mine
}

// begin starts the next comparison. The caller holds c.mu.
func (c *comparisons) begin(run func(*comparison)) {
	one := c.next
	c.now, c.next = one, nil
	if c.ended {
		one.err = fault.New(fault.Unavailable, "the vault is being closed")
		close(one.done)
		return
	}
	c.wg.Go(func() {
		run(one)
		close(one.done)
		c.mu.Lock()
		defer c.mu.Unlock()
		c.now = nil
		if c.next != nil {
			c.begin(run)
		}
	})
}

// end waits for what runs, and lets nothing begin.
func (c *comparisons) end() {
	c.mu.Lock()
	c.ended = true
	c.mu.Unlock()
	c.wg.Wait()
}

// comparison starts a comparison, or joins one that has not begun.
func (s *session) comparison() *comparison {
	return s.compare.join(func(c *comparison) {
		began := time.Now()
		var whole bool
		if c.fresh, whole, c.err = s.catchUpNow(s.life); c.err == nil && whole {
			s.slow.Store(time.Since(began) > patience)
		}
	})
}

// catchUpNow brings the index up to date with everything that was saved before
// it was called. whole says that it had to look at the whole vault.
func (s *session) catchUpNow(ctx context.Context) (f index.Freshness, whole bool, err error) {
	if w := s.watcher.Load(); w != nil {
		sum, err := s.indexer.Flush(ctx, w)
		if sum.Wrote() > 0 {
			s.stir()
		}
		return sum.Fresh, sum.Glance != nil, err
	}
	if g := s.lastGlance(); !g.Began.IsZero() {
		now := s.app.now()
		same, err := s.indexer.Unchanged(ctx, g)
		if same || sqlite.Damaged(err) {
			return index.Freshness{Fresh: same, Synced: now}, true, err
		}
	}
	sum, err := s.sync(ctx)
	return sum.Fresh, true, err
}

// asked is what one call knows of the index.
type asked struct {
	plans bool
	once  sync.Once
	fresh index.Freshness
	err   error
}

type askedKey struct{}

// prepare returns the context of a call, in which the store waits.
func (s *session) prepare(ctx context.Context, plans bool) context.Context {
	return context.WithValue(ctx, askedKey{}, &asked{plans: plans})
}

// await waits, in the context of a call, until the index is up to date: once
// for each call, and only when it needs the index.
func (s *session) await(ctx context.Context) error {
	a, ok := ctx.Value(askedKey{}).(*asked)
	if !ok {
		return nil
	}
	a.once.Do(func() {
		if a.plans {
			a.fresh, a.err = s.awaitPlan(ctx)
		} else {
			a.fresh, a.err = s.awaitAnswer(ctx)
		}
	})
	return a.err
}

// fresh tells whether what a call was answered is the vault as it was when the
// call began.
func (s *session) fresh(ctx context.Context) index.Freshness {
	if a, ok := ctx.Value(askedKey{}).(*asked); ok && s.await(ctx) == nil {
		return s.explained(a.fresh)
	}
	return s.indexState()
}

// indexState tells how far the index can be believed, as far as is known.
func (s *session) indexState() index.Freshness {
	if !s.writes {
		return index.Freshness{Reason: "another lore process keeps the index up to date"}
	}
	f := s.indexer.Freshness()
	if w := s.watcher.Load(); w != nil && f.Fresh && w.Behind() {
		f.Fresh, f.Reason = false, catchingUp
	}
	return s.explained(f)
}

const catchingUp = "the index is catching up with changes in the vault"

// explained adds what to do about it.
func (s *session) explained(f index.Freshness) index.Freshness {
	if !f.Fresh && s.lost() {
		f.Reason += "; if you removed them: lore index --rebuild"
	}
	return f
}

// awaitAnswer waits a moment. An index that is behind answers all the same, and
// says so.
func (s *session) awaitAnswer(ctx context.Context) (index.Freshness, error) {
	if !s.writes {
		return s.indexState(), nil
	}
	c, wait := s.takeOpening(), time.Duration(0) // the opening has waited already
	if c == nil {
		if c = s.comparison(); !s.slow.Load() {
			wait = patience
		}
	}
	t := time.NewTimer(wait)
	defer t.Stop()
	select {
	case <-c.done:
	case <-ctx.Done():
		return index.Freshness{}, ctx.Err()
	case <-t.C:
		select {
		case <-c.done:
		default:
			f := s.indexer.Freshness()
			return index.Freshness{Pending: f.Pending, Synced: f.Synced, Reason: catchingUp}, nil
		}
	}
	if sqlite.Damaged(c.err) {
		return index.Freshness{}, c.err
	}
	return c.fresh, nil
}

// awaitPlan waits until the index is true, and refuses when it does not become
// so: a plan that misses a link breaks it.
func (s *session) awaitPlan(ctx context.Context) (index.Freshness, error) {
	if !s.writes {
		return s.indexState(), nil // nothing is changed here anyway
	}
	limit := time.NewTimer(s.limit)
	defer limit.Stop()
	c := s.takeOpening()
	if c == nil {
		c = s.comparison()
	}
	for {
		if err := s.awaitComparison(ctx, c, limit.C); err != nil {
			return index.Freshness{}, err
		}
		if c.err != nil || c.fresh.Fresh || s.vault.State().Mode != vault.Settling {
			break
		}
		if err := pause(ctx, vault.Quiet); err != nil {
			return index.Freshness{}, err
		}
		c = s.comparison()
	}
	switch {
	case c.err != nil:
		return index.Freshness{}, c.err
	case c.fresh.Fresh:
		return c.fresh, nil
	case s.lost():
		return index.Freshness{}, fault.New(fault.Offline, "%s", s.explained(c.fresh).Reason)
	}
	return index.Freshness{}, fault.Fix(fault.Busy, "try again in a minute", "nothing was changed, because the index does not show the vault as it is: %s", c.fresh.Reason)
}

// awaitComparison waits for the end of a comparison and tells how far it is.
func (s *session) awaitComparison(ctx context.Context, c *comparison, limit <-chan time.Time) error {
	tick := time.NewTicker(patience)
	defer tick.Stop()
	for {
		select {
		case <-c.done:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
			tool.Progress(ctx, 0, s.indexer.Freshness().Pending, "waiting for the index")
		case <-limit:
			return fault.Fix(fault.Busy, "run lore index, then try again", "nothing was changed, because the index has not caught up with the vault after %s", s.limit)
		}
	}
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// just is how soon after the opening a command makes its first call.
const just = 100 * time.Millisecond

// keepOpening lets the first call use the comparison that the opening began:
// what was saved before the command started is in it.
func (s *session) keepOpening(c *comparison) {
	s.freshness.mu.Lock()
	defer s.freshness.mu.Unlock()
	s.opened, s.openedAt = c, time.Now()
}

// takeOpening returns that comparison, once, unless time has passed: the call of
// somebody else may come first, and later.
func (s *session) takeOpening() *comparison {
	s.freshness.mu.Lock()
	defer s.freshness.mu.Unlock()
	c := s.opened
	if s.opened = nil; time.Since(s.openedAt) > just {
		return nil
	}
	return c
}
