package runner

import (
	"context"
	"testing"
	"time"
)

// TestJoinAtTheEnd: who joins a work in the moment in which it ends gets a channel
// on which nothing is told any more, and must not wait for it.
func TestJoinAtTheEnd(t *testing.T) {
	ended := &work{done: make(chan struct{}), changed: make(chan struct{})}
	w := &watcher{a: &Runner{works: map[string]*work{"run-1": ended}}, run: "run-1"}
	close(ended.done)
	ended.notify()
	changed := w.join()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := w.wait(ctx, changed); err != nil {
		t.Errorf("it waits for what never comes: %v", err)
	}
}
