package tool_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"lore/internal/change"
	"lore/internal/machine/state"
	"lore/internal/tool"
	"lore/internal/tool/approval"
)

// TestWhoeverWaitsMayLeave: an approved change that a waiting caller carries out
// is made whole, also when the caller goes in the middle of it.
func TestWhoeverWaitsMayLeave(t *testing.T) {
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	b := open(t, func(d *tool.Deps) {
		apply := d.Apply
		d.Apply = func(inner context.Context, op string, set change.Set) error {
			leave()
			return apply(inner, op, set)
		}
	})
	q := *b.call(t, agent, "jot", `{"path":"a.md","line":"two"}`).Question
	// Another process takes the answer, and leaves it to whoever holds the vault.
	q.State, q.Answer = tool.Approved, &tool.Answer{Approve: true, By: person}
	if ok, err := b.at.Questions.Update(t.Context(), q, tool.Pending, q.Revision); err != nil || !ok {
		t.Fatal(ok, err)
	}
	res, err := b.reg.Await(ctx, q.ID, q.Revision)
	if err != nil || !res.Success || b.read(t, "a.md") != "one\ntwo\n" {
		t.Errorf("%+v, %v, %q", res, err, b.read(t, "a.md"))
	}
}

// counting counts how often questions are looked at.
type counting struct {
	tool.Questions
	looks atomic.Int64
}

func (c *counting) Get(ctx context.Context, id string) (tool.Question, error) {
	c.looks.Add(1)
	return c.Questions.Get(ctx, id)
}

func (c *counting) List(ctx context.Context, states ...tool.State) ([]tool.Question, error) {
	c.looks.Add(1)
	return c.Questions.List(ctx, states...)
}

// TestWaitingCostsNothing: whoever waits for a person hears of the answer of
// another process, and looks at nothing before.
func TestWaitingCostsNothing(t *testing.T) {
	var c *counting
	b := open(t, func(d *tool.Deps) {
		c = &counting{Questions: d.Questions}
		d.Questions = c
	})
	q := *b.call(t, agent, "jot", `{"path":"a.md","line":"two"}`).Question
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var wg sync.WaitGroup
	defer wg.Wait()
	wg.Go(func() { b.reg.CarryOutApprovals(ctx) })
	done := make(chan error, 1)
	go func() {
		_, err := b.reg.Await(ctx, q.ID, q.Revision)
		done <- err
	}()
	time.Sleep(100 * time.Millisecond) // both have looked, and wait
	before := c.looks.Load()
	time.Sleep(time.Second)
	if n := c.looks.Load() - before; n > 1 {
		t.Errorf("%d looks in a second", n)
	}
	other := state.In(b.at.State.Dir()) // another process
	defer func() { _ = other.Close() }()
	q.State, q.Answer = tool.Denied, &tool.Answer{By: person}
	if ok, err := approval.New(other, nil).Update(t.Context(), q, tool.Pending, q.Revision); err != nil || !ok {
		t.Fatal(ok, err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	stop()
}
