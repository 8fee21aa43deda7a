package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"

	"lore/internal/db"
	"lore/internal/embed"
	"lore/internal/event"
	"lore/internal/fresh"
	"lore/internal/index"
	"lore/internal/index/sqlite"
	"lore/internal/note"
	"lore/internal/search"
	"lore/internal/settings"
	"lore/internal/surface/cli"
	"lore/internal/tools/external"
	"lore/internal/vault"
	"lore/internal/vault/watch"
)

// A session is one open vault with everything derived from it.
type session struct {
	app     *app
	log     *slog.Logger
	vault   *vault.Vault
	dir     string // of the derived data
	store   *sqlite.Store
	asks    index.Store // store, as tools see it: it waits for the index to be up to date
	gate    *fresh.Gate
	watcher atomic.Pointer[watch.Watcher] // while the vault is followed
	opening sqlite.Opening
	indexer *index.Indexer
	model   embed.Model // nil when meaning is switched off
	bus     *event.Bus
	search  *search.Searcher
	writes  bool          // this process holds the vault: it writes the index and the notes
	adopted bool          // the data was made for a vault at another path
	seen    string        // the mark of the settings that were last compared with the rules
	rules   string        // the settings that decide about calls
	renew   chan struct{} // asks to be opened again with other settings
	mark    string        // of the settings that it was opened with, when it stays and is opened again for others
	scratch *scratch      // stands in for a data folder that cannot be written; else nil
	hands
	shared
	hub *external.Hub // the tools of other servers

	closers []func() error

	mu      sync.Mutex
	sum     index.Summary
	changed bool          // a tool changed notes, whose passages may lack vectors
	wake    chan struct{} // there are passages without vectors, for who follows the vault
}

// open opens the vault that the flags name.
func (a *app) open(ctx context.Context, g cli.Globals, o cli.OpenOptions) (*cli.Session, error) {
	s, face, err := a.openFace(ctx, g, o)
	if err != nil {
		return face, err
	}
	if s.link != nil {
		face = a.lean(s, face, g, o)
	}
	return cli.AtTerminal(face), nil
}

func (a *app) openFace(ctx context.Context, g cli.Globals, o cli.OpenOptions) (*session, *cli.Session, error) {
	s, err := a.openFresh(ctx, g, o)
	if sqlite.Damaged(err) && !o.Rebuild {
		// Damage that opening did not see. What is derived comes back by itself.
		o.Rebuild = true
		if s, err = a.openFresh(ctx, g, o); err == nil {
			s.opening.Reason = "damaged"
		}
	}
	if err != nil {
		if s, err = a.openReading(ctx, g, o, err); err != nil {
			return nil, nil, err
		}
	}
	face, err := s.face(ctx)
	if err == nil {
		err = s.finish(ctx, o)
	}
	if err != nil {
		return nil, nil, errors.Join(err, s.close())
	}
	return s, face, nil
}

// openFresh opens a session and lets it catch up with the vault.
func (a *app) openFresh(ctx context.Context, g cli.Globals, o cli.OpenOptions) (*session, error) {
	return a.openFreshIn(ctx, g, o, nil)
}

// openFreshIn is openFresh with a folder that stands in for the data folder, or
// nil.
func (a *app) openFreshIn(ctx context.Context, g cli.Globals, o cli.OpenOptions, sc *scratch) (*session, error) {
	s, err := a.openSessionIn(ctx, g, o, sc)
	if err != nil {
		return nil, err
	}
	if s.link != nil {
		return s, nil // the process that holds the vault catches up
	}
	stop := func() {}
	if o.Progress != nil {
		stop = o.Progress(s.bus)
	}
	err = s.catchUp(ctx, o)
	stop()
	if err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

func (a *app) openSession(ctx context.Context, g cli.Globals, o cli.OpenOptions) (*session, error) {
	return a.openSessionIn(ctx, g, o, nil)
}

func (a *app) openSessionIn(ctx context.Context, g cli.Globals, o cli.OpenOptions, sc *scratch) (_ *session, err error) {
	mark := a.config().Mark()
	c, log, dir, err := a.begin(g)
	if err != nil {
		return nil, err
	}
	s := &session{app: a, log: log, bus: o.Bus, wake: make(chan struct{}, 1), seen: mark, renew: make(chan struct{}, 1)}
	if o.Stay {
		s.mark = mark
	}
	if s.bus == nil {
		s.bus = event.NewBus()
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close())
		}
	}()
	if err := s.openVault(&c, dir); err != nil {
		return nil, err
	}
	if s.rules, err = a.rules(&c, s.vault.Dir()); err != nil {
		return nil, err
	}
	if sc != nil {
		sc.enter(s)
	} else if err := s.enter(ctx, o); err != nil {
		return nil, err
	}
	if s.link != nil {
		return s, s.openHands(&c)
	}
	if err := s.openStore(ctx, o); err != nil {
		return nil, err
	}
	if s.adopted && !o.Rebuild { // never in a scratch folder
		again, err := s.settleIdentity(ctx)
		if err == nil && again {
			err = s.close()
		}
		if err != nil {
			return nil, err
		}
		if again {
			return a.openSession(ctx, g, o)
		}
	}
	if s.model, err = a.model(&c, log); err != nil {
		return nil, err
	}
	s.indexer = index.New(s.vault, s.store, index.Options{Bus: s.bus, Log: s.log, Now: a.now, Parse: s.dialect(ctx)})
	s.openGate(ctx)
	s.search = &search.Searcher{Store: s.asks, Model: s.model, Now: a.now}
	if err := s.openHands(&c); err != nil || sc != nil {
		return s, err
	}
	return s, s.tryRecover(ctx)
}

// openVault opens the folder of notes.
func (s *session) openVault(c *settings.File, dir string) error {
	links, err := s.app.config().Get(c, "files.hard_links")
	if err != nil {
		return err
	}
	s.vault, err = vault.Open(dir, vault.Options{Exclude: c.Excluded(dir), AllowLinked: links == "allow", Changed: s.announceState, Log: s.log, Now: s.app.now})
	if err == nil {
		s.closers = append(s.closers, s.vault.Close)
	}
	return err
}

// enter finds the data folder of the vault and who writes there.
func (s *session) enter(ctx context.Context, o cli.OpenOptions) error {
	data, err := s.app.home().VaultData(ctx, s.vault.Dir())
	if err != nil {
		return err
	}
	s.dir, s.adopted = data.Dir, data.Adopted
	for _, text := range data.Damage {
		s.log.Warn("stored data was damaged", "detail", text)
	}
	return s.hold(ctx, o)
}

// tryRecover settles what a crash left. Where there is no room or no right to
// do it, nothing is changed until it is; reading goes on.
func (s *session) tryRecover(ctx context.Context) error {
	if s.unsettled = s.recover(ctx); s.unsettled == nil {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	s.log.Warn("what was interrupted cannot be settled now", "error", s.unsettled)
	return nil
}

// openStore opens the index, to write it or only to read.
func (s *session) openStore(ctx context.Context, o cli.OpenOptions) error {
	// Two processes that open at once would both make the tables of a new index.
	release, err := s.opens(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = release() }() // what was opened is what matters
	if o.Rebuild {
		if err := errors.Join(db.Remove(sqlite.Path(s.dir)), s.glance().Remove()); err != nil {
			return fmt.Errorf("remove the index: %w", err)
		}
	}
	if s.writes {
		s.store, s.opening, err = sqlite.Open(ctx, s.dir, s.app.now)
	} else {
		s.store, err = sqlite.Join(ctx, s.dir)
	}
	if err != nil {
		return fmt.Errorf("open the index: %w", err)
	}
	s.closers = append(s.closers, s.store.Close)
	return nil
}

// dialect looks for what tells how links in this vault are meant.
func (s *session) dialect(ctx context.Context) note.Options {
	_, err := s.vault.Stat(ctx, "dendron.yml")
	return note.Options{DendronAlias: err == nil}
}

// settleIdentity decides whether a folder is the vault whose path or identity it
// has. It is another one when it holds hardly any of the notes that the vault
// had; then it gets data of its own, and again is true.
func (s *session) settleIdentity(ctx context.Context) (again bool, err error) {
	known, there := 0, 0
	err = s.store.Files(ctx, func(f index.File) error {
		known++
		if _, err := s.vault.Stat(ctx, f.Path); err == nil {
			there++
		}
		return nil
	})
	switch {
	case err != nil:
		return false, err
	case known == 0 || there*10 >= known:
		return false, s.app.home().Confirm(ctx, s.vault.Dir())
	}
	return true, s.app.home().Part(ctx, s.vault.Dir())
}

// close ends what runs and lets everything go, last opened first.
func (s *session) close() error {
	err := s.part()
	s.embedChanged()
	if s.gate != nil {
		s.gate.Close()
	}
	errs := []error{err}
	for i := len(s.closers) - 1; i >= 0; i-- {
		errs = append(errs, s.closers[i]())
	}
	s.closers = nil // what is closed twice is closed once
	return errors.Join(errs...)
}

// rest gives back memory that only makes the next question faster.
func (s *session) rest(ctx context.Context) error {
	if s.store == nil { // another process holds the vault
		return nil
	}
	return errors.Join(s.store.Rest(ctx), s.state.Rest(ctx))
}
