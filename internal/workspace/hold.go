package workspace

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"lore/internal/fault"
	"lore/internal/index/sqlite"
	"lore/internal/machine/home"
	"lore/internal/tool"
	"lore/internal/workspace/peer"
	"lore/internal/workspace/settings"
)

// shared is how a session lives with other processes on the same vault: it
// holds the vault and answers them, leans on the one that does, or only reads.
type shared struct {
	door *peer.Deferred // of a session that holds the vault; open when it is ready
	link *peer.Client   // to the process that holds it
	// taught says that the link knows the tools as they are, as minds need it.
	taught bool

	listening sync.Mutex
	timer     *time.Timer
	server    *peer.Server
	closed    bool
}

// soon is how long a process holds the vault before others can reach it: most
// commands are over by then.
const soon = 300 * time.Millisecond

// takeOrFind takes the right to write the index and the notes, when it is free
// and wanted. Else another process has it, which may answer for us.
func (s *Session) takeOrFind(ctx context.Context, o Options) error {
	if _, err := os.Stat(sqlite.Path(s.Dir)); o.Mode == Observe && err == nil {
		return nil // there is an index to read
	}
	// Somebody may have deleted what is derived.
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return fmt.Errorf("make the data folder: %w", err)
	}
	lock := filepath.Join(s.Dir, "index.lock")
	var until time.Time // when the patience with the present holder ends
	var taken time.Time // when that one took the vault
	for {
		release, ok, err := home.Lock(lock)
		if err != nil {
			return fmt.Errorf("lock the index: %w", err)
		}
		if ok {
			_ = os.Chtimes(lock, time.Time{}, time.Now()) // who waits then waits less long
			s.holds = true
			s.closers = append(s.closers, release)
			s.beReached(o.Mode == Stay)
			return nil
		}
		if o.Rebuild {
			return fault.Fix(fault.Busy, "stop it first", "another lore process is using the index")
		}
		if o.Mode.shares() {
			if s.link = peer.Visit(ctx, s.Dir); s.link != nil {
				s.closers = append(s.closers, s.link.Close)
				return nil
			}
		}
		// Others may have been faster, one after another; one that is stopped lets
		// every visitor wait, so that steps say nothing.
		if at := modified(lock); until.IsZero() || !at.Equal(taken) {
			taken, until = at, time.Now().Add(home.Patience)
		}
		if !o.Mode.waits() || time.Now().After(until) || home.Pause(ctx) != nil {
			return ctx.Err() // whoever has it does not answer: what is there can be read
		}
	}
}

// modified is when a file was last written, as far as one can see.
func modified(path string) time.Time {
	info, err := os.Stat(path)
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// HolderAnswers reports whether commands can work through the process that holds
// the vault.
func (s *Session) HolderAnswers(ctx context.Context) bool {
	link := peer.Visit(ctx, s.Dir)
	return link != nil && link.Close() == nil
}

// vacant reports whether another try to hold the vault, or to find its holder,
// is worth to leave what can be read.
func (s *Session) vacant(ctx context.Context) bool {
	release, ok, err := home.Lock(filepath.Join(s.Dir, "index.lock"))
	if err == nil && ok {
		return release() == nil
	}
	return s.HolderAnswers(ctx)
}

// Holds reports whether this process holds the vault.
func (s *Session) Holds() bool { return s.holds }

// UsesOtherProcess reports whether another process holds the vault and answers for us.
func (s *Session) UsesOtherProcess() bool { return s.link != nil }

// Learn asks the process that holds the vault which tools it has: a model has to
// know them before it calls one. Where nobody else answers, it does nothing.
func (s *Session) Learn(ctx context.Context) error {
	if s.link == nil {
		return nil
	}
	s.taught = true
	return s.link.Learn(ctx)
}

// Reconnect lets a command go on when the process that it works through goes: the
// command takes over, or finds the next one. It returns a door and a way to close
// whatever is behind it then.
func (op *Opener) Reconnect(s *Session, f settings.Flags, o Options) (door tool.Door, closeAll func() error) {
	s.link.Expect(op.Catalog())
	door = peer.NewReconnecting(s.link, func(ctx context.Context) (tool.Door, error) {
		if err := s.Close(); err != nil {
			return nil, err
		}
		next, err := op.Open(ctx, f, o)
		if err != nil {
			return nil, err
		}
		taught := s.taught
		if s = next; s.link != nil {
			s.link.Expect(op.Catalog())
			if taught {
				err = s.Learn(ctx)
			}
		}
		return s.Door, err
	})
	return door, func() error { return s.Close() }
}

// beReached lets other processes use the vault through this one.
func (s *Session) beReached(now bool) {
	s.door = peer.NewDeferred(nil)
	if now {
		s.listen()
		return
	}
	s.timer = time.AfterFunc(soon, s.listen)
}

func (s *Session) listen() {
	s.listening.Lock()
	defer s.listening.Unlock()
	if s.closed {
		return
	}
	var err error
	s.server, err = peer.Listen(peer.Options{Dir: s.Dir, Spare: s.opener.home().RuntimeDir, Door: s.door, Bus: s.Bus, Log: s.Log})
	if err != nil {
		s.Log.Warn("other processes cannot use the vault through this one", "error", err)
	}
}

// stopListening sends the other processes away, before the vault is released.
func (s *Session) stopListening() error {
	if s.timer != nil {
		s.timer.Stop()
	}
	s.listening.Lock()
	s.closed = true
	server := s.server
	s.listening.Unlock()
	if server == nil {
		return nil
	}
	return server.Close()
}

// awaitIndexLock waits for its turn to open the index. A process that may not write it
// waits also until it is there.
func (s *Session) awaitIndexLock(ctx context.Context) (release func() error, err error) {
	return sqlite.AwaitLock(ctx, s.Dir, func() bool {
		_, err := os.Stat(sqlite.Path(s.Dir))
		return s.holds || err == nil
	})
}

// awaitFirst waits until another process has put the first notes into an index
// that it has just made: an empty one would deny what is there.
func (s *Session) awaitFirst(ctx context.Context) error {
	for i := range home.Steps {
		st, err := s.Store.Stats(ctx, "")
		if err != nil || st.Notes > 0 {
			return err
		}
		if i == 0 {
			list, err := s.Vault.Walk(ctx)
			if err != nil {
				return err
			}
			if len(list.Entries) == 0 {
				return nil
			}
		}
		if err := home.Pause(ctx); err != nil {
			return err
		}
	}
	return nil // the answer says that the index is not fresh
}
