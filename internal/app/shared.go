package app

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"lore/internal/fault"
	"lore/internal/home"
	"lore/internal/index/sqlite"
	"lore/internal/peer"
	"lore/internal/surface/cli"
	"lore/internal/tool"
)

// shared is how a session lives with other processes on the same vault: it
// holds the vault and answers them, leans on the one that does, or only reads.
type shared struct {
	door *peer.Later  // of a session that holds the vault; open when it is ready
	link *peer.Client // to the process that holds it
	// taught says that the link knows the tools as they are, as minds need it.
	taught bool

	listening sync.Mutex
	timer     *time.Timer
	server    *peer.Server
	parted    bool
}

// soon is how long a process holds the vault before others can reach it: most
// commands are over by then.
const soon = 300 * time.Millisecond

// hold takes the right to write the index and the notes, when it is free and
// wanted. Else another process has it, which may answer for us.
func (s *session) hold(ctx context.Context, o cli.OpenOptions) error {
	if _, err := os.Stat(sqlite.Path(s.dir)); o.Aside && err == nil {
		return nil // there is an index to read
	}
	// Somebody may have deleted what is derived.
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return fmt.Errorf("make the data folder: %w", err)
	}
	// One that is stopped lets every visitor wait, so that steps say nothing.
	enough, cancel := context.WithTimeout(ctx, home.Patience)
	defer cancel()
	for {
		release, ok, err := home.Lock(filepath.Join(s.dir, "index.lock"))
		if err != nil {
			return fmt.Errorf("lock the index: %w", err)
		}
		if ok {
			s.writes = true
			s.closers = append(s.closers, release)
			s.beReached(o.Stay)
			return nil
		}
		if o.Rebuild {
			return fault.Fix(fault.Busy, "stop it first", "another lore process is using the index")
		}
		if o.Share || o.Stay {
			if s.link = peer.Visit(ctx, s.dir); s.link != nil {
				s.closers = append(s.closers, s.link.Close)
				return nil
			}
		}
		if !o.Patient && !o.Stay || home.Pause(enough) != nil {
			return ctx.Err() // whoever has it does not answer: what is there can be read
		}
	}
}

// holderAnswers reports whether commands can work through the process that holds
// the vault.
func (s *session) holderAnswers(ctx context.Context) bool {
	link := peer.Visit(ctx, s.dir)
	return link != nil && link.Close() == nil
}

// vacant reports whether another try to hold the vault, or to find its holder,
// is worth to leave what can be read.
func (s *session) vacant(ctx context.Context) bool {
	release, ok, err := home.Lock(filepath.Join(s.dir, "index.lock"))
	if err == nil && ok {
		return release() == nil
	}
	return s.holderAnswers(ctx)
}

// lean lets a command go on when the process that it leans on goes: it takes
// over, or finds the next one.
func (a *app) lean(s *session, face *cli.Session, g cli.Globals, o cli.OpenOptions) *cli.Session {
	s.link.Expect(catalogue())
	face.Door = peer.Leaning(s.link, func(ctx context.Context) (tool.Door, error) {
		if err := s.close(); err != nil {
			return nil, err
		}
		next, door, err := a.openFace(ctx, g, o)
		if err != nil {
			return nil, err
		}
		taught := s.taught
		if s = next; s.link != nil {
			s.link.Expect(catalogue())
			if s.taught = taught; taught {
				err = s.link.Learn(ctx)
			}
		}
		return door.Door, err
	})
	face.Close = func() error { return s.close() }
	return face
}

// beReached lets other processes use the vault through this one.
func (s *session) beReached(now bool) {
	s.door = peer.NewLater(nil)
	if now {
		s.listen()
		return
	}
	s.timer = time.AfterFunc(soon, s.listen)
}

func (s *session) listen() {
	s.listening.Lock()
	defer s.listening.Unlock()
	if s.parted {
		return
	}
	var err error
	s.server, err = peer.Listen(peer.Options{Dir: s.dir, Spare: s.app.home().Spare, Door: s.door, Bus: s.bus, Log: s.log})
	if err != nil {
		s.log.Warn("other processes cannot use the vault through this one", "error", err)
	}
}

// part sends the other processes away, before the vault is let go.
func (s *session) part() error {
	if s.timer != nil {
		s.timer.Stop()
	}
	s.listening.Lock()
	s.parted = true
	server := s.server
	s.listening.Unlock()
	if server == nil {
		return nil
	}
	return server.Close()
}
