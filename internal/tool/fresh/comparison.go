package fresh

import (
	"sync"
	"time"

	"lore/internal/fault"
	"lore/internal/index"
)

// errClosing is what a call gets that is still there when the vault is closed.
var errClosing = fault.Fix(fault.Unavailable, "try again", "Lore is closing the vault")

// A comparison is one look at the vault that brings the index up to date.
type comparison struct {
	done  chan struct{}
	fresh index.Freshness // when it is done
	err   error
}

// comparisons runs one comparison at a time, and lets everybody wait for one
// that begins after they asked.
type comparisons struct {
	run func(*comparison)

	mu        sync.Mutex
	now, next *comparison
	began     time.Time // when now did
	closed    bool
	wg        sync.WaitGroup
}

// join returns a comparison that begins after the call.
func (c *comparisons) join() *comparison {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.next == nil {
		c.next = &comparison{done: make(chan struct{})}
	}
	mine := c.next
	if c.now == nil {
		c.begin()
	}
	return mine
}

// begin starts the next comparison. The caller holds c.mu.
func (c *comparisons) begin() {
	one := c.next
	c.next = nil
	if c.closed {
		one.err = errClosing
		close(one.done)
		return
	}
	c.now, c.began = one, time.Now()
	c.wg.Go(func() {
		c.run(one)
		close(one.done)
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.now = nil; c.next != nil {
			c.begin()
		}
	})
}

// runs is how long the comparison that is under way has taken so far; 0 when none
// is.
func (c *comparisons) runs() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.now == nil {
		return 0
	}
	return time.Since(c.began)
}

// close waits for what runs, and lets nothing begin.
func (c *comparisons) close() {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.wg.Wait()
}
