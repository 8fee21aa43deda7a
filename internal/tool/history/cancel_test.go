package history_test

import (
	"context"
	"crypto/rand"
	"testing"
	"time"

	"lore/internal/machine/state"
	"lore/internal/tool"
	"lore/internal/tool/access"
	"lore/internal/tool/history"
)

// A cancelling source of random bytes ends the caller's context while the
// transaction of a recorded call is open: the audit log asks it for a key there.
type cancelling struct{ cancel context.CancelFunc }

func (c cancelling) Read(p []byte) (int, error) {
	c.cancel()
	return rand.Read(p)
}

// TestCancelledRecordsLeaveTheConnectionSafe: whatever ends a call that records
// without waiting for the disk, the next change waits for it again.
func TestCancelledRecordsLeaveTheConnectionSafe(t *testing.T) {
	unsafe := 0
	for range 50 {
		f := state.In(t.TempDir())
		d, err := f.DB(t.Context())
		must(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		s := history.New(f, history.Options{Rand: cancelling{cancel}, Wait: time.Hour})
		if _, err := s.Unresolved(ctx); err != nil { // the store uses the database from here on
			t.Fatal(err)
		}
		must(t, s.Record(ctx, tool.CallRecord{ID: "call-1", Time: time.Now(), Who: access.Terminal(), Tool: "read_note", Status: tool.CallDone}))
		if err := s.Flush(ctx); err == nil {
			t.Fatal("the call was not cancelled")
		}
		var level int
		must(t, d.Write.QueryRowContext(t.Context(), `PRAGMA synchronous`).Scan(&level))
		if level != 2 {
			unsafe++
		}
		cancel()
		must(t, f.Close())
	}
	if unsafe > 0 {
		t.Errorf("%d of 50 cancelled calls left the connection without FULL", unsafe)
	}
}
