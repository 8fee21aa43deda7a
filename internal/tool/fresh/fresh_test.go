package fresh_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"lore/internal/fault"
	"lore/internal/index"
	"lore/internal/tool"
	"lore/internal/tool/fresh"
	"lore/internal/vault"
)

// A disk is a vault on which a look takes its time. version counts what was
// saved, seen what the last look found.
type disk struct {
	gate          *fresh.Gate
	takes         time.Duration
	version, seen atomic.Int64
	looks         atomic.Int64
	err           error
}

func open(t *testing.T, takes, limit time.Duration) *disk {
	t.Helper()
	v, err := vault.Open(t.TempDir(), vault.Options{})
	if err != nil {
		t.Fatal(err)
	}
	d := &disk{takes: takes}
	d.gate = fresh.New(t.Context(), fresh.Options{
		Vault: v, Limit: limit,
		State: func() index.Freshness { return index.Freshness{Fresh: true} },
		Fatal: func(err error) bool { return errors.Is(err, errDamaged) },
		Look: func(ctx context.Context) (index.Freshness, bool, error) {
			d.looks.Add(1)
			saved := d.version.Load()
			select {
			case <-time.After(d.takes):
			case <-ctx.Done():
				return index.Freshness{}, true, ctx.Err()
			}
			d.seen.Store(saved)
			return index.Freshness{Fresh: d.err == nil, Synced: time.Now()}, true, d.err
		},
	})
	t.Cleanup(d.gate.Close)
	return d
}

var errDamaged = errors.New("damaged")

// call is what a tool does: it reads the index, and says how fresh that was.
func (d *disk) call(t *testing.T, plans bool) (seen int64, f index.Freshness, err error) {
	t.Helper()
	ctx := d.gate.Prepare(t.Context(), need(plans))
	if err := d.gate.Await(ctx); err != nil {
		return 0, index.Freshness{}, err
	}
	return d.seen.Load(), d.gate.Fresh(ctx), nil
}

func need(plans bool) tool.IndexNeed {
	if plans {
		return tool.CurrentIndex
	}
	return tool.WholeIndex
}

func TestAnswers(t *testing.T) {
	for _, c := range []struct {
		name  string
		takes time.Duration
		fresh bool
	}{
		{"a quick disk", 10 * time.Millisecond, true},
		{"a slow disk", time.Minute, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := open(t, c.takes, 0)
				defer d.gate.Close()
				for i := range int64(5) {
					d.version.Store(i + 1)
					seen, f, err := d.call(t, false)
					if err != nil || f.Fresh != c.fresh || f.Fresh && (seen != i+1 || !f.Synced.IsZero()) {
						t.Errorf("saved %d, seen %d, %+v, %v", i+1, seen, f, err)
					}
				}
			})
		})
	}
}

// An answer that did not wait for the look is never called fresh, however soon
// the look ends after it.
func TestLateLookMakesNoAnswerFresh(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := open(t, fresh.Patience+time.Millisecond, 0)
		defer d.gate.Close()
		d.version.Store(1)
		ctx := d.gate.Prepare(t.Context(), tool.WholeIndex)
		if err := d.gate.Await(ctx); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		if f := d.gate.Fresh(ctx); f.Fresh || f.Reason == "" {
			t.Errorf("%+v", f)
		}
	})
}

func TestPlansWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := open(t, time.Minute, 5*time.Minute)
		defer d.gate.Close()
		told := 0
		for i := range int64(3) {
			d.version.Store(i + 1)
			ctx := tool.WithProgress(t.Context(), func(int, int, string) { told++ })
			ctx = d.gate.Prepare(ctx, tool.CurrentIndex)
			if err := d.gate.Await(ctx); err != nil || d.seen.Load() != i+1 || !d.gate.Fresh(ctx).Fresh {
				t.Errorf("saved %d, seen %d, %v", i+1, d.seen.Load(), err)
			}
		}
		if told == 0 {
			t.Error("nobody was told how far it is")
		}
	})
}

func TestPlansAreRefused(t *testing.T) {
	for _, c := range []struct {
		name  string
		takes time.Duration
		err   error
		kind  fault.Kind
	}{
		{"a look without end", time.Hour, nil, fault.Busy},
		{"a look that fails", time.Second, fault.New(fault.Offline, "no disk"), fault.Offline},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := open(t, c.takes, time.Minute)
				defer d.gate.Close()
				d.err = c.err
				if _, _, err := d.call(t, true); fault.Of(err) != c.kind {
					t.Errorf("%v", err)
				}
			})
		})
	}
}

// A look that fails leaves an index that can be read, unless it is damaged.
func TestAnswersAfterAFailedLook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := open(t, time.Millisecond, 0)
		defer d.gate.Close()
		d.err = fault.New(fault.Offline, "no disk")
		if _, f, err := d.call(t, false); err != nil || f.Fresh {
			t.Errorf("%+v, %v", f, err)
		}
		d.err = errDamaged
		if _, _, err := d.call(t, false); !errors.Is(err, errDamaged) {
			t.Errorf("%v", err)
		}
	})
}

// Many who ask at once share looks, and nobody is given one that began before.
func TestLooksAreShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := open(t, 100*time.Millisecond, 0)
		defer d.gate.Close()
		for range 100 {
			go func() {
				want := d.version.Add(1)
				if seen, f, err := d.call(t, true); err != nil || !f.Fresh || seen < want {
					t.Errorf("saved %d, seen %d, %+v, %v", want, seen, f, err)
				}
			}()
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if n := d.looks.Load(); n > 3 {
			t.Errorf("%d looks for a hundred questions at once", n)
		}
	})
}

// The first call of a command needs no look beside that of the opening; any
// later one does.
func TestOpening(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := open(t, 10*time.Millisecond, 0)
		defer d.gate.Close()
		if done, err := d.gate.Open(t.Context(), false, true); !done || err != nil {
			t.Fatal(done, err)
		}
		if _, f, err := d.call(t, false); err != nil || !f.Fresh || d.looks.Load() != 1 {
			t.Errorf("%+v, %v, %d looks", f, err, d.looks.Load())
		}
		if _, _, err := d.call(t, true); err != nil || d.looks.Load() != 2 {
			t.Errorf("%v, %d looks", err, d.looks.Load())
		}
		if _, err := d.gate.Open(t.Context(), false, true); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		d.version.Store(7)
		if seen, _, err := d.call(t, false); err != nil || seen != 7 {
			t.Errorf("a call long after the opening has seen %d, %v", seen, err)
		}
	})
}

// The look of the opening began before another process asks, and is none for it.
func TestOpeningIsNotForOtherProcesses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := open(t, 10*time.Millisecond, 0)
		defer d.gate.Close()
		if _, err := d.gate.Open(t.Context(), true, true); err != nil {
			t.Fatal(err)
		}
		d.version.Store(1)
		ctx := d.gate.Prepare(fresh.FromOther(t.Context()), tool.WholeIndex)
		if err := d.gate.Await(ctx); err != nil || !d.gate.Fresh(ctx).Fresh || d.seen.Load() != 1 {
			t.Errorf("saved 1, seen %d, %+v, %v", d.seen.Load(), d.gate.Fresh(ctx), err)
		}
		if _, _, err := d.call(t, false); err != nil || d.looks.Load() != 2 {
			t.Errorf("the own call made a look of its own: %d looks, %v", d.looks.Load(), err)
		}
	})
}

// A first look at everything may take long; the looks that follow events do not,
// and answers wait for them again.
func TestQuickLooksAfterASlowOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v, err := vault.Open(t.TempDir(), vault.Options{})
		if err != nil {
			t.Fatal(err)
		}
		whole, takes := true, time.Minute
		g := fresh.New(t.Context(), fresh.Options{
			Vault: v,
			State: func() index.Freshness { return index.Freshness{Fresh: true} },
			Fatal: func(error) bool { return false },
			Look: func(context.Context) (index.Freshness, bool, error) {
				time.Sleep(takes)
				return index.Freshness{Fresh: true}, whole, nil
			},
		})
		defer g.Close()
		if _, err := g.Open(t.Context(), true, false); err != nil {
			t.Fatal(err)
		}
		whole, takes = false, time.Millisecond
		var last index.Freshness
		for range 2 {
			ctx := g.Prepare(t.Context(), tool.WholeIndex)
			if err := g.Await(ctx); err != nil {
				t.Fatal(err)
			}
			last = g.Fresh(ctx)
			time.Sleep(time.Second)
		}
		if !last.Fresh {
			t.Errorf("the second answer after a slow look did not wait for a quick one: %+v", last)
		}
	})
}

// While an index is built for the first time, only a call that can say so is
// answered from it. Whatever needs every note waits for the end, and so does a plan.
func TestFirstBuild(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v, err := vault.Open(t.TempDir(), vault.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var built atomic.Bool
		g := fresh.New(t.Context(), fresh.Options{
			Vault: v,
			State: func() index.Freshness {
				if built.Load() {
					return index.Freshness{Fresh: true}
				}
				return index.Freshness{Partial: true, Pending: 7, Reason: "3 of 10"}
			},
			Fatal: func(error) bool { return false },
			Look: func(context.Context) (index.Freshness, bool, error) {
				if !built.Load() {
					time.Sleep(20 * time.Second)
					built.Store(true)
				}
				return index.Freshness{Fresh: true}, true, nil
			},
		})
		defer g.Close()
		start := time.Now()
		if done, err := g.Open(t.Context(), false, false); done || err != nil {
			t.Fatal(done, err)
		}
		call := func(n tool.IndexNeed, within time.Duration) (index.Freshness, time.Duration, error) {
			ctx, cancel := context.WithTimeout(t.Context(), within)
			defer cancel()
			ctx = g.Prepare(ctx, n)
			err := g.Await(ctx)
			return g.Fresh(ctx), time.Since(start), err
		}
		for range 2 {
			f, at, err := call(tool.PartialIndex, time.Minute)
			if want := (index.Freshness{Partial: true, Pending: 7, Reason: "3 of 10"}); err != nil || f != want || at != fresh.Patience {
				t.Errorf("after %s: %+v, %v", at, f, err)
			}
		}
		if _, _, err := call(tool.WholeIndex, 5*time.Second); fault.Of(err) != fault.Busy {
			t.Errorf("a call without enough time for the build: %v", err)
		}
		for _, n := range []tool.IndexNeed{tool.WholeIndex, tool.CurrentIndex} {
			if f, at, err := call(n, time.Minute); err != nil || !f.Fresh || at != 20*time.Second {
				t.Errorf("need %d, after %s: %+v, %v", n, at, f, err)
			}
		}
	})
}
