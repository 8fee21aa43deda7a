package vault

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"lore/internal/home"
)

// A GlanceFile keeps the glance of the last whole comparison for the next
// process, at that path.
type GlanceFile string

// Read returns the glance, or an empty one when there is none that can be used.
func (f GlanceFile) Read(now time.Time) Glance {
	var g Glance
	b, err := os.ReadFile(string(f))
	if err != nil || json.Unmarshal(b, &g) != nil || g.Began.After(now) {
		return Glance{}
	}
	return g
}

// Write keeps a glance. Without it the next start compares again, and that is
// all.
func (f GlanceFile) Write(g Glance) {
	if b, err := json.Marshal(g); err == nil {
		_ = home.Replace(string(f), b)
	}
}

// Remove forgets the glance: while the index changes, and when that is
// interrupted, nothing is believed.
func (f GlanceFile) Remove() error {
	if err := os.Remove(string(f)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("begin to index: %w", err)
	}
	return nil
}
