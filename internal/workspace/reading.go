package workspace

import (
	"context"
	"errors"
	"os"

	"lore/internal/fault"
	"lore/internal/machine/home"
	"lore/internal/workspace/settings"
)

// A readingCopy stands in for a data folder that cannot be written: a copy of
// what is there, in a temporary folder, so that reading and searching go on.
// Nothing in it outlives the session, so changes are refused.
type readingCopy struct {
	dir   string
	data  string // the data folder
	cause error  // why it cannot be written
}

// openReading opens the vault for reading where its data folder cannot be
// written. Cause is why it could not be opened; it is returned when there is
// another reason, or no room anywhere.
func (op *Opener) openReading(ctx context.Context, f settings.Flags, o Options, cause error) (*Session, error) {
	_, log, dir, err := op.begin(f)
	if err != nil || ctx.Err() != nil || o.Rebuild {
		return nil, cause
	}
	data, err := op.home().Data()
	if err != nil {
		return nil, cause
	}
	from := data
	if found, err := op.home().VaultData(ctx, dir); err == nil {
		from = found.Dir
	}
	problem := home.Unwritable(from)
	if problem == nil {
		return nil, cause
	}
	for _, base := range []string{os.TempDir(), op.Env("XDG_RUNTIME_DIR"), "/dev/shm"} {
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
			var s *Session
			if s, err = op.openFresh(ctx, f, o, &readingCopy{to, from, problem}); err == nil {
				log.Warn("the data folder cannot be written: changes are refused, and calls are not recorded", "error", problem)
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

// enter lets a session use the copy.
func (rc *readingCopy) enter(s *Session) {
	s.Dir, s.holds, s.copied = rc.dir, true, rc
	s.closers = append(s.closers, func() error { return os.RemoveAll(rc.dir) })
	s.recoverErr = rc.refusal()
}

// refusal is what a call hears that would change something.
func (rc *readingCopy) refusal() error {
	var r *fault.Report
	if errors.As(rc.cause, &r) {
		return fault.Fix(r.Kind, r.Fix, "changes are refused because they cannot be recorded: %s", r.Message)
	}
	return rc.cause
}
