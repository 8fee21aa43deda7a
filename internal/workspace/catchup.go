package workspace

import (
	"context"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"lore/internal/embed/builtin"
	"lore/internal/fault"
	"lore/internal/index"
	"lore/internal/machine/db"
	"lore/internal/vault"
	"lore/internal/vault/watch"
)

// catchUp compares the index with the vault. A new index is waited for, unless
// the process stays and can finish it after the first answers; one that exists
// answers soon, and says when it is behind.
func (s *Session) catchUp(ctx context.Context, o Options) error {
	if !s.holds {
		return s.awaitFirst(ctx)
	}
	// Without a snapshot the last comparison was broken off: what is there may be
	// a beginning, and an answer from it would deny what is there.
	s.building = s.opening.Rebuilt || s.snapshotFile().Read(s.opener.Now()).Began.IsZero()
	whole := o.UpToDate || s.adopted || s.building && o.Mode != Stay
	if o.UpToDate || s.opening.Rebuilt { // a snapshot says nothing about an index that is empty
		if err := s.snapshotFile().Remove(); err != nil {
			return err
		}
	}
	if done, err := s.Gate.Open(ctx, whole, o.Mode != Stay); err != nil || !done {
		return err
	}
	if o.Vectors != NewVectors || s.Model == nil {
		return nil // for good, or until others can ask: see finish
	}
	return s.embedFew(ctx)
}

// finish gives every passage its vector, where that is wanted. It takes minutes,
// so other processes are answered meanwhile.
func (s *Session) finish(ctx context.Context, o Options) error {
	if o.Vectors != AllVectors || !s.holds || s.Model == nil {
		return nil
	}
	if o.Progress != nil {
		defer o.Progress(s.Bus)()
	}
	return s.embedAll(ctx, runtime.GOMAXPROCS(0))
}

func (s *Session) snapshotFile() vault.SnapshotFile {
	return vault.SnapshotFile(filepath.Join(s.Dir, "glance.json"))
}

func (s *Session) sync(ctx context.Context) (index.Summary, error) {
	if err := s.snapshotFile().Remove(); err != nil {
		return index.Summary{}, err
	}
	sum, err := s.Indexer.Sync(ctx)
	if err == nil && sum.State.Believed() && sum.Doubted == 0 {
		s.snapshotFile().Write(sum.Snapshot())
	}
	s.mu.Lock()
	s.sum = sum
	s.mu.Unlock()
	return sum, db.Explain(err, s.Dir)
}

func (s *Session) embedder(threads int) *index.Embedder {
	return &index.Embedder{Store: s.Store, Model: s.Model, Threads: func() int { return threads }, Bus: s.Bus, Log: s.Log, Now: s.opener.Now}
}

func (s *Session) embedAll(ctx context.Context, threads int) error {
	n, err := s.embedder(threads).Run(ctx)
	if err == nil && n > 0 {
		err = s.Store.Optimize(ctx)
	}
	return err
}

// few is how many passages are embedded on the way to an answer: a second's
// work at the most.
const few = 16

// embedFew keeps the vectors of a vault that has them up to date with small
// changes. A vault without any is left to lore index: it takes minutes.
func (s *Session) embedFew(ctx context.Context) error {
	s.mu.Lock()
	wrote := s.sum.Wrote() > 0 || s.changed
	s.changed = false
	s.mu.Unlock()
	if _, ok := s.Model.(*builtin.Model); !ok || !wrote {
		return nil
	}
	st, err := s.Store.Stats(ctx, s.Model.ID())
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
func (s *Session) embedChanged() {
	s.mu.Lock()
	changed := s.changed
	s.mu.Unlock()
	if !changed || s.Store == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	if err := s.embedFew(ctx); err != nil {
		s.Log.Warn("passages could not be embedded", "error", err)
	}
	s.prune(ctx)
}

// CompareIndex compares the index with the vault, where this process may. A vault
// without its folder is no error: its state tells.
func (s *Session) CompareIndex(ctx context.Context) error {
	if !s.holds {
		return nil
	}
	_, _, err := s.look(ctx)
	if fault.Of(err) == fault.Offline {
		return nil
	}
	return err
}

// Accept records that the notes which the vault lacks were deleted.
func (s *Session) Accept(ctx context.Context) error {
	if !s.holds {
		return fault.Fix(fault.Busy, "stop it first", "another lore process keeps the index up to date")
	}
	if err := s.snapshotFile().Remove(); err != nil {
		return err
	}
	_, err := s.Indexer.Accept(ctx)
	return err
}

// lost reports whether the vault is offline because notes are missing.
func (s *Session) lost() bool { return s.Vault.State().Mode == vault.Offline }

// Follow keeps the index and the vectors up to date until ctx ends.
func (s *Session) Follow(ctx context.Context) error {
	if !s.holds {
		return fault.Fix(fault.Busy, "stop it first", "another lore process keeps the index up to date")
	}
	w := watch.Start(ctx, s.Vault, watch.Options{Marks: filepath.Join(s.Dir, "watch"), Log: s.Log, Now: s.opener.Now})
	defer w.Wait()
	s.watcher.Store(w)
	defer s.watcher.Store(nil)
	var wg sync.WaitGroup
	defer wg.Wait()
	wg.Go(func() { s.maintain(ctx) })
	if s.servers != nil {
		wg.Go(func() { s.servers.Run(ctx) })
	}
	if s.Model != nil {
		s.wakeEmbedder() // what was indexed before has to be understood, too
		wg.Go(func() {
			if s.building { // words first: embedding would take half of the cores from them
				_, _ = s.Gate.Open(ctx, true, false) // what is wrong shows at the next call
			}
			s.embedOnWake(ctx)
		})
	}
	return s.Indexer.Serve(ctx, w, s.wakeEmbedder)
}

// wakeEmbedder wakes who embeds. What a tool wrote is indexed before the system tells of
// it, so that the one who hears of it finds nothing new.
func (s *Session) wakeEmbedder() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// calm is how long nothing was embedded before the index is put in order: that
// keeps writers waiting, and agents write many notes one after the other.
const calm = 2 * time.Second

// embedOnWake embeds what is new, on half the cores: someone is working here.
func (s *Session) embedOnWake(ctx context.Context) {
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
			rest, err = nil, s.Store.Optimize(ctx)
		}
		if err != nil && ctx.Err() == nil {
			s.Log.Warn("passages could not be embedded", "error", err)
		}
	}
}
