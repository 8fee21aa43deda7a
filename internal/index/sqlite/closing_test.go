package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"lore/internal/index"
	"lore/internal/vault"
)

// An index that one process closes while another opens it is not taken for one
// that something else wrote.
func TestOpenedWhileItIsClosed(t *testing.T) {
	always := func() bool { return true }
	notes, dir := t.TempDir(), t.TempDir()
	turns := func(ctx context.Context, i int) error {
		must(t, os.WriteFile(filepath.Join(notes, "n.md"), fmt.Appendf(nil, "# Turn %d\n", i), 0o644))
		release, err := AwaitLock(ctx, dir, always)
		if err != nil {
			return err
		}
		s, o, err := Open(ctx, dir, time.Now)
		if err := errors.Join(err, release()); err != nil {
			return err
		}
		if i > 0 && o.Rebuilt {
			return fmt.Errorf("turn %d: rebuilt: %s", i, o.Reason)
		}
		if _, err := index.New(openVault(t, notes, vault.Options{}), s, index.Options{}).Sync(ctx); err != nil {
			return err
		}
		return s.Close()
	}
	must(t, turns(t.Context(), 0))
	done := make(chan error, 1)
	go func() {
		var err error
		for i := 1; i <= 40 && err == nil; i++ {
			err = turns(t.Context(), i)
		}
		done <- err
	}()
	for {
		select {
		case err := <-done:
			must(t, err)
			return
		default:
		}
		release, err := AwaitLock(t.Context(), dir, always)
		must(t, err)
		s, err := Join(t.Context(), dir)
		must(t, release())
		if err != nil {
			t.Errorf("join: %v", err)
			must(t, <-done)
			return
		}
		must(t, s.Close())
		time.Sleep(time.Millisecond) // or the other hardly has its turn
	}
}
