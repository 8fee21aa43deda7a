package home

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"lore/internal/fault"
)

// A process waits this long, in such steps, for another that makes the index.
const (
	step     = 10 * time.Millisecond
	Steps    = 500
	Patience = Steps * step
)

// Pause waits one step.
func Pause(ctx context.Context) error {
	t := time.NewTimer(step)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// AwaitLock takes the lock of a file as soon as it is free and ready says so.
func AwaitLock(ctx context.Context, path string, ready func() bool) (release func() error, err error) {
	for range Steps {
		release, ok, err := Lock(path)
		if err != nil {
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
		if ok && ready() {
			return release, nil
		}
		if ok {
			if err := release(); err != nil {
				return nil, err
			}
		}
		if err := Pause(ctx); err != nil {
			return nil, err
		}
	}
	return nil, fault.Fix(fault.Busy, "try again in a moment", "another lore process is working on this (%s)", filepath.Base(path))
}
