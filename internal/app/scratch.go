package app

import (
	"context"
	"errors"
	"os"

	"lore/internal/fault"
	"lore/internal/home"
	"lore/internal/surface/cli"
)

// A scratch folder stands in for a data folder that cannot be written: a copy of
// what is there, in a temporary folder, so that reading and searching go on.
// Nothing in it outlives the session, so nothing is changed.
type scratch struct {
	dir   string
	data  string // the data folder
	cause error  // why it cannot be written
}

// openReading opens the vault for reading where its data folder cannot be
// written. Cause is why it could not be opened; it is returned when there is
// another reason, or no room anywhere.
func (a *app) openReading(ctx context.Context, g cli.Globals, o cli.OpenOptions, cause error) (*session, error) {
	_, log, dir, err := a.begin(g)
	if err != nil || ctx.Err() != nil || o.Rebuild {
		return nil, cause
	}
	data, err := a.home().Data()
	if err != nil {
		return nil, cause
	}
	from := data
	if f, err := a.home().VaultData(ctx, dir); err == nil {
		from = f.Dir
	}
	problem := home.Unwritable(from)
	if problem == nil {
		return nil, cause
	}
	for _, base := range []string{os.TempDir(), a.env("XDG_RUNTIME_DIR"), "/dev/shm"} {
		if base == "" {
			continue
		}
		to, err := os.MkdirTemp(base, "lore-reading-")
		if err != nil {
			continue
		}
		if from != data {
			err = home.CopyData(from, to)
		}
		if err == nil {
			var s *session
			if s, err = a.openFreshIn(ctx, g, o, &scratch{to, from, problem}); err == nil {
				log.Warn("the data folder cannot be written: nothing is changed, and calls are not recorded", "error", problem)
				return s, nil
			}
		}
		_ = os.RemoveAll(to) // err is the news
		if home.Unwritable(base) == nil {
			return nil, errors.Join(cause, err)
		}
	}
	return nil, cause
}

// enter lets a session live in the scratch folder.
func (sc *scratch) enter(s *session) {
	s.dir, s.writes, s.scratch = sc.dir, true, sc
	s.closers = append(s.closers, func() error { return os.RemoveAll(sc.dir) })
	s.unsettled = sc.refusal()
}

// refusal is what a call hears that would change something.
func (sc *scratch) refusal() error {
	var r *fault.Report
	if errors.As(sc.cause, &r) {
		return fault.Fix(r.Kind, r.Fix, "nothing is changed, because changes cannot be recorded: %s", r.Message)
	}
	return sc.cause
}
