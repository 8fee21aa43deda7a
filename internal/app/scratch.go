package app

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

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

// biggestCopy is the largest state.db that is copied; a larger one is used where
// it is, as far as that works.
const biggestCopy = 64 << 20

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
		if err = copyData(from, to, from != data); err == nil {
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

// copyData copies what belongs to one vault, with the times that seals compare.
func copyData(from, to string, there bool) error {
	if !there {
		return nil
	}
	list, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	for _, entry := range list {
		name := entry.Name()
		info, err := entry.Info()
		if err != nil || !info.Mode().IsRegular() || !isCopied(name) {
			continue
		}
		if name == "state.db" && info.Size() > biggestCopy {
			if err := os.Symlink(filepath.Join(from, name), filepath.Join(to, name)); err != nil {
				return err
			}
			continue
		}
		if err := copyFile(filepath.Join(from, name), filepath.Join(to, name), info); err != nil {
			return err
		}
	}
	return nil
}

// isCopied leaves out locks, sockets and what was set aside.
func isCopied(name string) bool {
	for _, prefix := range []string{"index.db", "index.seal", "glance.json", "vectors-", "state.db", "state.seal", "audit.jsonl", "audit.key", "reads.jsonl"} {
		if strings.HasPrefix(name, prefix) {
			return !strings.HasSuffix(name, "-shm") && !strings.HasSuffix(name, ".tmp")
		}
	}
	return false
}

func copyFile(from, to string, info fs.FileInfo) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if err = errors.Join(err, out.Close()); err != nil {
		return err
	}
	return os.Chtimes(to, info.ModTime(), info.ModTime())
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
