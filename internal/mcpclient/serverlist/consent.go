package serverlist

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"lore/internal/fault"
	"lore/internal/machine/home"
)

// A consent is what a person decided about one server.
type consent struct {
	Name   string    `json:"name"`
	File   string    `json:"file"`
	Digest string    `json:"digest,omitempty"`
	Denied bool      `json:"denied,omitempty"`
	At     time.Time `json:"at"`
}

func (r *List) consentFile() string { return filepath.Join(r.Dir, "consents.json") }

func (r *List) consents() (map[string]consent, error) {
	out := map[string]consent{}
	return out, readJSON(r.consentFile(), &out)
}

// Allow remembers that a person agreed to exactly this entry.
func (r *List) Allow(ctx context.Context, e Entry) error {
	if e.State == Broken {
		return fault.New(fault.Invalid, "%s", e.Why)
	}
	return r.decide(ctx, e, consent{Name: e.Name, File: e.File, Digest: e.Digest, At: r.Now()})
}

// Deny remembers that a person said no.
func (r *List) Deny(ctx context.Context, e Entry) error {
	return r.decide(ctx, e, consent{Name: e.Name, File: e.File, Denied: true, At: r.Now()})
}

func (r *List) decide(ctx context.Context, e Entry, c consent) error {
	return r.locked(ctx, func() error {
		all, err := r.consents()
		if err != nil {
			return err
		}
		// The file may have changed since the person saw it.
		if now, err := r.Find(e.Name); err != nil || now.Key != e.Key || now.Digest != e.Digest {
			return fault.Fix(fault.Conflict, "review it again", "the server %q changed in the meantime", e.Name)
		}
		all[e.Key] = c
		return writeJSON(r.consentFile(), all)
	})
}

// locked does something to the kept decisions, one process at a time.
func (r *List) locked(ctx context.Context, f func() error) error {
	if err := os.MkdirAll(r.Dir, 0o700); err != nil {
		return fmt.Errorf("make the folder for servers: %w", err)
	}
	release, err := home.AwaitLock(ctx, filepath.Join(r.Dir, "lock"), func() bool { return true })
	if err != nil {
		return err
	}
	return errors.Join(f(), release())
}

// readJSON reads a file; one that is not there leaves v as it is. A damaged one
// is an error: what a person decided must not be forgotten in silence.
func readJSON(path string, v any) error {
	b, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	}
	if err := json.Unmarshal(b, v); err != nil {
		return fault.Fix(fault.Invalid, "delete it, then allow your servers again", "%s is damaged", path)
	}
	return nil
}

// writeJSON writes a file that nobody else can read.
func writeJSON(path string, v any) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return home.Replace(path, append(b, '\n'))
}

// Kept lists the files and folders whose change means that a person decided
// something.
func (r *List) Kept() []string { return []string{r.consentFile(), filepath.Join(r.Dir, "pins")} }
