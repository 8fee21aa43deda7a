package workspace

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"

	"lore/internal/embed"
	"lore/internal/event"
	"lore/internal/index"
	"lore/internal/index/sqlite"
	"lore/internal/machine/db"
	"lore/internal/note"
	"lore/internal/tool"
	"lore/internal/tool/fresh"
	"lore/internal/vault"
	"lore/internal/vault/watch"
	"lore/internal/workspace/settings"
)

// A Session is one open vault with everything derived from it.
type Session struct {
	Log   *slog.Logger
	Vault *vault.Vault
	Dir   string // of the derived data
	Bus   *event.Bus
	// Door is how tools are called: the registry of this process, or the process
	// that holds the vault.
	Door tool.Door
	// Registry is nil while another process holds the vault and answers.
	Registry *tool.Registry
	Store    *sqlite.Store
	Index    index.Store // Store as tools see it: it waits for the index to be up to date
	Gate     *fresh.Gate
	Indexer  *index.Indexer
	Model    embed.Model // nil when search by meaning is off
	Records

	opener  *Opener
	watcher atomic.Pointer[watch.Watcher] // while the vault is followed
	opening sqlite.Opening
	holds   bool          // this process holds the vault: it writes the index and the notes
	adopted bool          // the data was made for a vault at another path
	seen    string        // the mark of the settings that were last compared with the rules
	rules   string        // the settings that decide about calls
	renew   chan struct{} // asks to be opened again with other settings
	mark    string        // of the settings that it was opened with, when it stays and is opened again for others
	copied  *readingCopy  // stands in for a data folder that cannot be written; else nil
	shared
	servers Servers // other MCP servers; may be nil

	closers []func() error

	building bool // the index was opened without a first build that ended

	mu      sync.Mutex
	sum     index.Summary
	changed bool          // a tool changed notes, whose passages may lack vectors
	wake    chan struct{} // there are passages without vectors, for who follows the vault
}

// Open opens the vault that the flags name, with its tools.
func (op *Opener) Open(ctx context.Context, f settings.Flags, o Options) (*Session, error) {
	s, err := op.openFresh(ctx, f, o, nil)
	if sqlite.Damaged(err) && !o.Rebuild {
		// Damage that opening did not see. What is derived comes back by itself.
		o.Rebuild = true
		if s, err = op.openFresh(ctx, f, o, nil); err == nil {
			s.opening.Reason = "damaged"
		}
	}
	if err != nil {
		if s, err = op.openReading(ctx, f, o, err); err != nil {
			return nil, err
		}
	}
	if err = s.openTools(ctx); err == nil {
		err = s.finish(ctx, o)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// OpenIndex opens the vault without its tools, and leaves the index as it is.
func (op *Opener) OpenIndex(ctx context.Context, f settings.Flags) (*Session, error) {
	return op.openSession(ctx, f, Options{}, nil)
}

// openTools makes the tools callable: those of this process, or those of the
// process that holds the vault.
func (s *Session) openTools(ctx context.Context) error {
	if s.link != nil {
		s.Door = s.link
		return nil
	}
	if err := s.bind(ctx); err != nil {
		return err
	}
	if s.opener.Connect != nil {
		var err error
		if s.servers, err = s.opener.Connect(s, s.Registry); err != nil {
			return err
		}
		s.closers = append(s.closers, s.servers.Close)
	}
	if s.holds && s.recoverErr == nil {
		if err := s.Registry.Recover(ctx); err != nil {
			return err
		}
	}
	s.Door = &inForce{s.Registry, s}
	if s.door != nil {
		s.door.Open(otherProcesses{s.Door}, nil)
	}
	return nil
}

// openFresh opens a session and lets it catch up with the vault. A reading copy
// stands in for the data folder; it is nil where that can be written.
func (op *Opener) openFresh(ctx context.Context, f settings.Flags, o Options, c *readingCopy) (*Session, error) {
	s, err := op.openSession(ctx, f, o, c)
	if err != nil {
		return nil, err
	}
	if s.link != nil {
		return s, nil // the process that holds the vault catches up
	}
	stop := func() {}
	if o.Progress != nil {
		stop = o.Progress(s.Bus)
	}
	err = s.catchUp(ctx, o)
	stop()
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (op *Opener) openSession(ctx context.Context, f settings.Flags, o Options, copied *readingCopy) (_ *Session, err error) {
	mark := op.Config().Mark()
	c, log, dir, err := op.begin(f)
	if err != nil {
		return nil, err
	}
	s := &Session{opener: op, Log: log, Bus: o.Bus, wake: make(chan struct{}, 1), seen: mark, renew: make(chan struct{}, 1)}
	if o.Mode == Stay {
		s.mark = mark
	}
	if s.Bus == nil {
		s.Bus = event.NewBus()
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close())
		}
	}()
	if err := s.openVault(&c, dir); err != nil {
		return nil, err
	}
	if s.rules, err = op.rules(&c, s.Vault.Dir()); err != nil {
		return nil, err
	}
	if copied != nil {
		copied.enter(s)
	} else if err := s.enter(ctx, o); err != nil {
		return nil, err
	}
	if s.link != nil {
		return s, s.openRecords(&c)
	}
	if err := s.openStore(ctx, o); err != nil {
		return nil, err
	}
	if s.adopted && !o.Rebuild { // never in a reading copy
		again, err := s.confirmIdentity(ctx)
		if err == nil && again {
			err = s.Close()
		}
		if err != nil {
			return nil, err
		}
		if again {
			return op.openSession(ctx, f, o, nil)
		}
	}
	if s.Model, err = op.Model(&c, log); err != nil {
		return nil, err
	}
	s.Indexer = index.New(s.Vault, s.Store, index.Options{Bus: s.Bus, Log: s.Log, Now: op.Now, Parse: s.Dialect(ctx)})
	if err := s.openGate(ctx, &c); err != nil {
		return nil, err
	}
	if err := s.openRecords(&c); err != nil || copied != nil {
		return s, err
	}
	return s, s.tryRecover(ctx)
}

// openVault opens the folder of notes.
func (s *Session) openVault(c *settings.File, dir string) error {
	links, err := s.opener.Config().Get(c, "files.hard_links")
	if err != nil {
		return err
	}
	s.Vault, err = vault.Open(dir, vault.Options{Exclude: c.Excluded(dir), AllowLinked: links == "allow", Changed: s.announceState, Log: s.Log, Now: s.opener.Now})
	if err == nil {
		s.closers = append(s.closers, s.Vault.Close)
	}
	return err
}

// enter finds the data folder of the vault and who writes there.
func (s *Session) enter(ctx context.Context, o Options) error {
	data, err := s.opener.home().VaultData(ctx, s.Vault.Dir())
	if err != nil {
		return err
	}
	s.Dir, s.adopted = data.Dir, data.Adopted
	for _, text := range data.Damage {
		s.Log.Warn("stored data was damaged", "detail", text)
	}
	return s.takeOrFind(ctx, o)
}

// tryRecover completes or takes back what a crash left. Where there is no room or no right to
// do it, nothing is changed until it is; reading goes on.
func (s *Session) tryRecover(ctx context.Context) error {
	if s.recoverErr = s.recover(ctx); s.recoverErr == nil {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	s.Log.Warn("interrupted changes cannot be recovered now", "error", s.recoverErr)
	return nil
}

// openStore opens the index, to write it or only to read.
func (s *Session) openStore(ctx context.Context, o Options) error {
	release, err := s.awaitIndexLock(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = release() }() // what was opened is what matters
	if o.Rebuild {
		if err := errors.Join(db.Remove(sqlite.Path(s.Dir)), s.snapshotFile().Remove()); err != nil {
			return fmt.Errorf("remove the index: %w", err)
		}
	}
	if s.holds {
		s.Store, s.opening, err = sqlite.Open(ctx, s.Dir, s.opener.Now)
	} else {
		s.Store, err = sqlite.Join(ctx, s.Dir)
	}
	if err != nil {
		return fmt.Errorf("open the index: %w", err)
	}
	s.closers = append(s.closers, s.Store.Close)
	return nil
}

// Dialect looks for what tells how links in this vault are meant.
func (s *Session) Dialect(ctx context.Context) note.Options {
	_, err := s.Vault.Stat(ctx, "dendron.yml")
	return note.Options{DendronAlias: err == nil}
}

// confirmIdentity decides whether a folder is the vault whose path or identity it
// has. It is another one when it holds hardly any of the notes that the vault
// had; then it gets data of its own, and again is true.
func (s *Session) confirmIdentity(ctx context.Context) (again bool, err error) {
	known, there := 0, 0
	err = s.Store.Files(ctx, func(f index.File) error {
		known++
		if _, err := s.Vault.Stat(ctx, f.Path); err == nil {
			there++
		}
		return nil
	})
	switch {
	case err != nil:
		return false, err
	case known == 0 || there*10 >= known:
		return false, s.opener.home().Confirm(ctx, s.Vault.Dir())
	}
	return true, s.opener.home().Part(ctx, s.Vault.Dir())
}

// Close ends what runs and closes everything, last opened first.
func (s *Session) Close() error {
	err := s.stopListening()
	s.embedChanged()
	if s.Gate != nil {
		s.Gate.Close()
	}
	errs := []error{err}
	for i := len(s.closers) - 1; i >= 0; i-- {
		errs = append(errs, s.closers[i]())
	}
	s.closers = nil // Close is idempotent
	return errors.Join(errs...)
}

// releaseMemory gives back memory that only makes the next question faster.
func (s *Session) releaseMemory(ctx context.Context) error {
	if s.Store == nil { // another process holds the vault
		return nil
	}
	return errors.Join(s.Store.ReleaseMemory(ctx), s.State.ReleaseMemory(ctx))
}

// Status tells what opening the index did and how far it can be trusted.
type Status struct {
	Summary index.Summary
	Fresh   index.Freshness
	Rebuilt string // why the index was built anew; "" when it was not, or is the first one
}

// Status tells what is known now, without looking at the vault.
func (s *Session) Status() Status {
	s.mu.Lock()
	sum := s.sum
	s.mu.Unlock()
	out := Status{Summary: sum, Fresh: s.indexState()}
	if s.opening.Rebuilt && s.opening.Reason != "new" {
		out.Rebuilt = s.opening.Reason
	}
	return out
}

// Damage lists what was found damaged earlier and is still kept.
func (s *Session) Damage() []string {
	out := s.opener.home().Damage()
	for _, path := range s.State.Aside() {
		out = append(out, fmt.Sprintf("state.db was damaged and was replaced; %s is kept, and can be deleted", path))
	}
	for _, path := range s.History.BrokenLogs() {
		out = append(out, fmt.Sprintf("%s is kept: its key was damaged or missing, so its entries cannot be verified", path))
	}
	return out
}
