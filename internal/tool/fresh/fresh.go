// Package fresh keeps answers true to the vault. A call that reads the index
// waits until the index shows everything that was saved before the call: for a
// moment when it only reads, and then it says that it is behind; as long as it
// takes when it plans a change, and then it is refused. An index whose first build
// has not ended lacks notes: only calls that can say so are answered from it, the
// others wait for its end.
//
// The package knows when to look and who waits for it. How the index is compared
// with the vault it is told.
package fresh

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"lore/internal/fault"
	"lore/internal/index"
	"lore/internal/tool"
	"lore/internal/vault"
)

// Patience is how long a question waits for the index to catch up with the
// vault, unless it is told otherwise. Comparing ten thousand notes takes a thirtieth of it; the rest is for
// slow disks and busy machines.
const Patience = time.Second

// pace is how often who waits for a plan hears of it.
const pace = 300 * time.Millisecond

// Options say how a [Gate] looks at the vault.
type Options struct {
	// Look brings the index up to date with everything that was saved before the
	// call. whole says that it looked at the whole vault. Nil where another
	// process keeps the index: then answers are as State says, and nothing waits.
	Look func(ctx context.Context) (f index.Freshness, whole bool, err error)
	// State tells how far the index can be believed, as far as is known without
	// looking.
	State func() index.Freshness
	// Vault tells whether it is settling.
	Vault *vault.Vault
	// Fatal reports errors of Look that end a call, whatever it is about. Any
	// other leaves an index that answers and says that it is behind.
	Fatal func(error) bool
	// Patience is how long a question waits; 0 is [Patience].
	Patience time.Duration
	// Limit is how long a plan waits; 0 is [tool.PlanWait].
	Limit time.Duration
}

// A Gate is what calls of tools wait at. Its methods may be called from several
// goroutines.
type Gate struct {
	o      Options
	looks  comparisons
	cancel context.CancelFunc
	slow   atomic.Bool // a whole look took longer than a question waits, and none was quick since

	mu       sync.Mutex
	opened   *comparison // of the opening, until the first call uses it
	openedAt time.Time
}

// New makes a gate. ctx gives values only: looks outlive whoever asked for them,
// until [Gate.Close].
func New(ctx context.Context, o Options) *Gate {
	if o.Limit == 0 {
		o.Limit = tool.PlanWait
	}
	if o.Patience == 0 {
		o.Patience = Patience
	}
	g := &Gate{o: o}
	ctx, g.cancel = context.WithCancel(context.WithoutCancel(ctx))
	g.looks.run = func(c *comparison) {
		began := time.Now()
		var whole bool
		if c.fresh, whole, c.err = o.Look(ctx); errors.Is(c.err, context.Canceled) {
			c.err = errClosing // who asked did not cancel it
		}
		if slow := time.Since(began) > o.Patience; c.err == nil && (whole || !slow) {
			g.slow.Store(slow)
		}
	}
	return g
}

// Close stops the look that is under way and lets no other begin.
func (g *Gate) Close() {
	g.cancel()
	g.looks.close()
}

// Open begins the first look and waits for its end: for a moment only, unless
// whole is set. first says that a call follows at once, which then needs no look
// of its own.
func (g *Gate) Open(ctx context.Context, whole, first bool) (done bool, err error) {
	c := g.looks.join()
	if first {
		defer g.keepOpening(c)
	}
	var timeout <-chan time.Time
	if !whole {
		t := time.NewTimer(g.o.Patience)
		defer t.Stop()
		timeout = t.C
	}
	select {
	case <-c.done:
		return true, c.err
	case <-timeout:
		return false, nil
	case <-ctx.Done():
		return false, ctx.Err()
	}
}

// asked is what one call knows of the index.
type asked struct {
	need  tool.IndexNeed
	once  sync.Once
	fresh index.Freshness
	err   error
}

type askedKey struct{}

type otherKey struct{}

// FromOther marks the calls of another process. It may have begun after the
// opening of this one, so that a look of the opening says nothing to it.
func FromOther(ctx context.Context) context.Context { return context.WithValue(ctx, otherKey{}, true) }

// Prepare returns the context of a call, in which [Gate.Await] waits.
func (g *Gate) Prepare(ctx context.Context, n tool.IndexNeed) context.Context {
	return context.WithValue(ctx, askedKey{}, &asked{need: n})
}

// Await waits, in the context of a call, until the index is up to date: once
// for each call, and only when it needs the index.
func (g *Gate) Await(ctx context.Context) error {
	a, ok := ctx.Value(askedKey{}).(*asked)
	if !ok {
		return nil
	}
	a.once.Do(func() {
		switch {
		case g.o.Look == nil:
			a.fresh = g.o.State()
		case a.need == tool.CurrentIndex:
			a.fresh, a.err = g.awaitPlan(ctx)
		default:
			a.fresh, a.err = g.awaitAnswer(ctx, a.need)
		}
	})
	return a.err
}

// Fresh tells whether what a call was answered is the vault as it was when the
// call began; outside of a call, how far the index can be believed now.
func (g *Gate) Fresh(ctx context.Context) index.Freshness {
	if a, ok := ctx.Value(askedKey{}).(*asked); ok && g.Await(ctx) == nil {
		f := a.fresh
		if f.Fresh {
			// It is of now. Saying when would make equal answers differ, by which
			// an agent that goes round in circles is recognized.
			f.Synced = time.Time{}
		}
		return f
	}
	return g.o.State()
}

// CatchingUp is the reason of an answer that did not wait for a look to end.
const CatchingUp = "the index is catching up with changes in the vault"

// awaitAnswer waits a moment. An index that is behind answers all the same, and
// says so; one that lacks notes only when the call needs no whole one.
func (g *Gate) awaitAnswer(ctx context.Context, need tool.IndexNeed) (index.Freshness, error) {
	c, wait := g.takeOpening(ctx), time.Duration(0) // the opening has waited already
	if c == nil {
		// A look that takes longer than that already is not waited for again.
		if c = g.looks.join(); !g.slow.Load() && g.looks.runs() < g.o.Patience {
			wait = g.o.Patience
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
			f := g.o.State()
			switch {
			case !f.Partial:
				return index.Freshness{Pending: f.Pending, Synced: f.Synced, Reason: CatchingUp}, nil
			case need == tool.PartialIndex:
				f.Fresh = false
				return f, nil
			}
			if err := g.awaitBuild(ctx, c); err != nil {
				return index.Freshness{}, err
			}
		}
	}
	switch {
	case c.err == nil:
		return c.fresh, nil
	case g.o.Fatal(c.err):
		return index.Freshness{}, c.err
	}
	f := g.o.State()
	f.Fresh = false
	return f, nil
}

// awaitPlan waits until the index is true, and refuses when it does not become
// so: a plan that misses a link breaks it.
func (g *Gate) awaitPlan(ctx context.Context) (index.Freshness, error) {
	limit := time.NewTimer(g.o.Limit)
	defer limit.Stop()
	c := g.takeOpening(ctx)
	if c == nil {
		c = g.looks.join()
	}
	for {
		if err := g.awaitComparison(ctx, c, limit.C); err != nil {
			return index.Freshness{}, err
		}
		if c.err != nil || c.fresh.Fresh || g.o.Vault.State().Mode != vault.Settling {
			break
		}
		if err := pause(ctx, vault.Quiet); err != nil {
			return index.Freshness{}, err
		}
		c = g.looks.join()
	}
	switch {
	case c.err != nil:
		return index.Freshness{}, c.err
	case c.fresh.Fresh:
		return c.fresh, nil
	case g.o.Vault.State().Mode == vault.Offline:
		return index.Freshness{}, fault.New(fault.Offline, "%s", c.fresh.Reason)
	}
	return index.Freshness{}, fault.Fix(fault.Busy, "try again in a minute",
		"nothing was changed: the index is not up to date (%s)", c.fresh.Reason)
}

// awaitBuild waits for the first build of the index, as long as the call may take.
func (g *Gate) awaitBuild(ctx context.Context, c *comparison) error {
	err := g.awaitComparison(ctx, c, nil)
	if errors.Is(err, context.DeadlineExceeded) {
		return fault.Fix(fault.Busy, "try again in a minute", "this needs the whole index: %s", g.o.State().Reason)
	}
	return err
}

// awaitComparison waits for the end of a comparison and tells how far it is.
func (g *Gate) awaitComparison(ctx context.Context, c *comparison, limit <-chan time.Time) error {
	tick := time.NewTicker(pace)
	defer tick.Stop()
	for {
		select {
		case <-c.done:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
			tool.Progress(ctx, 0, g.o.State().Pending, "waiting for the index")
		case <-limit:
			return fault.Fix(fault.Busy, "run lore index, then try again",
				"nothing was changed: the index did not catch up with the vault in time")
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

// keepOpening lets the first call use the look that the opening began: what was
// saved before the command started is in it.
func (g *Gate) keepOpening(c *comparison) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.opened, g.openedAt = c, time.Now()
}

// takeOpening returns that look, once, unless time has passed or somebody else
// asks.
func (g *Gate) takeOpening(ctx context.Context) *comparison {
	if ctx.Value(otherKey{}) != nil {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	c := g.opened
	if g.opened = nil; time.Since(g.openedAt) > just {
		return nil
	}
	return c
}
