package vault

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"lore/internal/machine/home"
)

// A SnapshotFile keeps the snapshot of the last whole comparison for the next
// process, at that path.
type SnapshotFile string

// Read returns the snapshot, or an empty one when there is none that can be used.
func (f SnapshotFile) Read(now time.Time) Snapshot {
	var g Snapshot
	b, err := os.ReadFile(string(f))
	if err != nil || json.Unmarshal(b, &g) != nil || g.Began.After(now) {
		return Snapshot{}
	}
	return g
}

// Write keeps a snapshot. Without it the next start compares again, and that is
// all.
func (f SnapshotFile) Write(g Snapshot) {
	if b, err := json.Marshal(g); err == nil {
		_ = home.Replace(string(f), b)
	}
}

// Remove forgets the snapshot: while the index changes, and when that is
// interrupted, nothing is believed.
func (f SnapshotFile) Remove() error {
	if err := os.Remove(string(f)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("begin to index: %w", err)
	}
	return nil
}
