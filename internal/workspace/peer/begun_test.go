package peer_test

import (
	"context"
	"encoding/json"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"lore/internal/tool"
	"lore/internal/tool/access"
	"lore/internal/workspace/peer"
)

// watched is a door that tells whether a call that began was sent away.
type watched struct {
	tool.Door
	cut *atomic.Int32
}

func (d watched) Call(ctx context.Context, _ access.Principal, _ string, _ json.RawMessage) (tool.Result, error) {
	for range 2000 {
		runtime.Gosched()
	}
	if ctx.Err() != nil {
		d.cut.Add(1)
	}
	return tool.Result{Success: true}, nil
}

// TestWhatBeganIsNotSentAway closes a holder at the very moment in which calls
// begin: each is sent away before, or comes to its end.
func TestWhatBeganIsNotSentAway(t *testing.T) {
	var cut atomic.Int32
	for range 20 {
		w := open(t)
		w.door.Open(watched{w.reg, &cut}, nil)
		c := w.visit(t)
		var wg sync.WaitGroup
		for range 16 {
			wg.Go(func() {
				for range 4 {
					_, err := c.Call(t.Context(), client, "read_note", nil)
					if err != nil && !peer.IsGone(err) {
						return
					}
				}
			})
		}
		for range 50 {
			runtime.Gosched()
		}
		_ = w.host.Close()
		wg.Wait()
	}
	if n := cut.Load(); n > 0 {
		t.Errorf("%d calls were cut off in the middle", n)
	}
}
