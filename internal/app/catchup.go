package app

import (
	"context"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"lore/internal/db"
	"lore/internal/embed/builtin"
	"lore/internal/fault"
	"lore/internal/index"
	"lore/internal/surface/cli"
	"lore/internal/tool"
	"lore/internal/vault"
	"lore/internal/vault/watch"
)

// catchUp compares the index with the vault. A new index is waited for; one
// that exists answers soon, and says when it is behind.
func (s *session) catchUp(ctx context.Context, o cli.OpenOptions) error {
	if !s.writes {
		return s.awaitFirst(ctx)
	}
	// Without a glance the last comparison was broken off: what is there may be
	// a beginning, and an answer from it would deny what is there.
	whole := o.Wait || s.opening.Rebuilt || s.adopted || s.glance().Read(s.app.now()).Began.IsZero()
	if o.Wait || s.opening.Rebuilt { // a glance says nothing about an index that is empty
		if err := s.glance().Remove(); err != nil {
			return err
		}
	}
	if done, err := s.gate.Open(ctx, whole, !o.Stay); err != nil || !done {
		return err
	}
	if o.TextOnly || o.Embed || s.model == nil {
		return nil // for good, or until others can ask: see finish
	}
	return s.embedFew(ctx)
}

// finish gives every passage its vector, where that is wanted. It takes minutes,
// so other processes are answered meanwhile.
func (s *session) finish(ctx context.Context, o cli.OpenOptions) error {
	if !o.Embed || o.TextOnly || !s.writes || s.model == nil {
		return nil
	}
	if o.Progress != nil {
		defer o.Progress(s.bus)()
	}
	return s.embedAll(ctx, runtime.GOMAXPROCS(0))
}

func (s *session) glance() vault.GlanceFile {
	return vault.GlanceFile(filepath.Join(s.dir, "glance.json"))
}

func (s *session) sync(ctx context.Context) (index.Summary, error) {
	if err := s.glance().Remove(); err != nil {
		return index.Summary{}, err
	}
	sum, err := s.indexer.Sync(ctx)
	if err == nil && sum.State.Believed() && sum.Doubted == 0 {
		s.glance().Write(sum.Glance())
	}
	s.mu.Lock()
	s.sum = sum
	s.mu.Unlock()
	return sum, db.Explain(err, s.dir)
}

func (s *session) embedder(threads int) *index.Embedder {
	return &index.Embedder{Store: s.store, Model: s.model, Threads: func() int { return threads }, Bus: s.bus, Log: s.log, Now: s.app.now}
}

func (s *session) embedAll(ctx context.Context, threads int) error {
	n, err := s.embedder(threads).Run(ctx)
	if err == nil && n > 0 {
		err = s.store.Settle(ctx)
	}
	return err
}

// few is how many passages are embedded on the way to an answer: a second's
// work at the most.
const few = 16

// embedFew keeps the vectors of a vault that has them up to date with small
// changes. A vault without any is left to lore index: it takes minutes.
func (s *session) embedFew(ctx context.Context) error {
	s.mu.Lock()
	wrote := s.sum.Wrote() > 0 || s.changed
	s.changed = false
	s.mu.Unlock()
	if _, ok := s.model.(*builtin.Model); !ok || !wrote {
		return nil
	}
	st, err := s.store.Stats(ctx, s.model.ID())
	if err != nil {
		return err
	}
	missing := st.Passages - st.Embedded
	if missing == 0 || missing > few || st.Embedded == 0 && st.Passages > few {
		return nil
	}
	return s.embedAll(ctx, 1)
}

// embedChanged gives what a tool wrote its vectors, after the answer was shown.
// Nothing depends on it: what is left out is embedded later.
func (s *session) embedChanged() {
	s.mu.Lock()
	changed := s.changed
	s.mu.Unlock()
	if !changed || s.store == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	if err := s.embedFew(ctx); err != nil {
		s.log.Warn("passages could not be embedded", "error", err)
	}
	s.prune(ctx)
}

// lookAgain compares the index with the vault, where this process may. A vault
// without its folder is no error: its state tells.
func (s *session) lookAgain(ctx context.Context) error {
	if !s.writes {
		return nil
	}
	_, _, err := s.look(ctx)
	if fault.Of(err) == fault.Offline {
		return nil
	}
	return err
}

// accept takes the notes that the vault misses for deleted.
func (s *session) accept(ctx context.Context) error {
	if !s.writes {
		return fault.Fix(fault.Busy, "stop it first", "another lore process keeps the index up to date")
	}
	if err := s.glance().Remove(); err != nil {
		return err
	}
	_, err := s.indexer.Accept(ctx)
	return err
}

// lost reports whether the vault is offline because notes are missing.
func (s *session) lost() bool { return s.vault.State().Mode == vault.Offline }

// follow keeps the index and the vectors up to date until ctx ends.
func (s *session) follow(ctx context.Context, reg *tool.Registry) error {
	if !s.writes {
		return fault.Fix(fault.Busy, "stop it first", "another lore process keeps the index up to date")
	}
	w := watch.Start(ctx, s.vault, watch.Options{Marks: filepath.Join(s.dir, "watch"), Log: s.log, Now: s.app.now})
	defer w.Wait()
	s.watcher.Store(w)
	defer s.watcher.Store(nil)
	var wg sync.WaitGroup
	defer wg.Wait()
	wg.Go(func() { s.attend(ctx, reg) })
	wg.Go(func() { s.hub.Run(ctx) })
	if s.model != nil {
		s.stir() // what was indexed before has to be understood, too
		wg.Go(func() { s.embedOnWake(ctx) })
	}
	return s.indexer.Serve(ctx, w, s.stir)
}

// stir wakes who embeds. What a tool wrote is indexed before the system tells of
// it, so that the one who hears of it finds nothing new.
func (s *session) stir() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// calm is how long nothing was embedded before the index is put in order: that
// keeps writers waiting, and agents write many notes one after the other.
const calm = 2 * time.Second

// embedOnWake embeds what is new, on half the cores: someone is working here.
func (s *session) embedOnWake(ctx context.Context) {
	var rest <-chan time.Time
	for {
		var err error
		select {
		case <-ctx.Done():
			return
		case <-s.wake:
			var n int
			if n, err = s.embedder(max(1, runtime.GOMAXPROCS(0)/2)).Run(ctx); n > 0 {
				rest = time.After(calm)
			}
		case <-rest:
			rest, err = nil, s.store.Settle(ctx)
		}
		if err != nil && ctx.Err() == nil {
			s.log.Warn("passages could not be embedded", "error", err)
		}
	}
}
