package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"lore/internal/db"
	"lore/internal/embed"
	"lore/internal/embed/builtin"
	"lore/internal/embed/ollama"
	"lore/internal/embed/openai"
	"lore/internal/event"
	"lore/internal/fault"
	"lore/internal/home"
	"lore/internal/index"
	"lore/internal/index/sqlite"
	"lore/internal/note"
	"lore/internal/search"
	"lore/internal/surface/cli"
	"lore/internal/tool"
	"lore/internal/tools/external"
	"lore/internal/tools/find"
	"lore/internal/tools/notes"
	"lore/internal/tools/work"
	"lore/internal/vault"
)

// A session is one open vault with everything derived from it.
type session struct {
	app     *app
	log     *slog.Logger
	vault   *vault.Vault
	dir     string // of the derived data
	store   *sqlite.Store
	opening sqlite.Opening
	indexer *index.Indexer
	model   embed.Model // nil when meaning is switched off
	bus     *event.Bus
	search  *search.Searcher
	writes  bool // this process holds the vault: it writes the index and the notes
	adopted bool // the data was made for a vault at another path
	hands
	hub *external.Hub // the tools of other servers

	cancel  context.CancelFunc
	wg      sync.WaitGroup
	closers []func() error

	mu      sync.Mutex
	sum     index.Summary
	changed bool // a tool changed notes, whose passages may lack vectors
}

// patience is how long a question waits for the index to catch up with the
// vault. Comparing ten thousand notes takes a tenth of it.
const patience = 300 * time.Millisecond

// open opens the vault that the flags name.
func (a *app) open(ctx context.Context, g cli.Globals, o cli.OpenOptions) (*cli.Session, error) {
	s, err := a.openFresh(ctx, g, o)
	if sqlite.Damaged(err) && !o.Rebuild {
		// Damage that opening did not see. What is derived comes back by itself.
		o.Rebuild = true
		if s, err = a.openFresh(ctx, g, o); err == nil {
			s.opening.Reason = "damaged"
		}
	}
	if err != nil {
		return nil, err
	}
	face, err := s.face(ctx)
	if err != nil {
		return nil, errors.Join(err, s.close())
	}
	return face, nil
}

// openFresh opens a session and lets it catch up with the vault.
func (a *app) openFresh(ctx context.Context, g cli.Globals, o cli.OpenOptions) (*session, error) {
	s, err := a.openSession(ctx, g, o)
	if err != nil {
		return nil, err
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

func (a *app) openSession(ctx context.Context, g cli.Globals, o cli.OpenOptions) (_ *session, err error) {
	c, err := a.readConfig()
	if err != nil {
		return nil, err
	}
	level, _, err := a.force(&c, g, "log_level")
	if err != nil {
		return nil, err
	}
	s := &session{app: a, bus: event.NewBus()}
	if s.log, err = a.logger(level); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close())
		}
	}()
	dir, err := a.home().Vault(g.Vault, c.Vault)
	if err != nil {
		return nil, err
	}
	if s.vault, err = vault.Open(dir, vault.Options{Exclude: c.excluded(dir), Log: s.log, Now: a.now}); err != nil {
		return nil, err
	}
	s.closers = append(s.closers, s.vault.Close)
	if s.dir, s.adopted, err = a.home().VaultData(ctx, s.vault.Dir()); err != nil {
		return nil, err
	}
	if err := s.openStore(ctx, o); err != nil {
		return nil, err
	}
	if s.adopted && !o.Rebuild {
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
	if s.model, err = a.model(&c); err != nil {
		return nil, err
	}
	s.indexer = index.New(s.vault, s.store, index.Options{Bus: s.bus, Log: s.log, Now: a.now, Parse: s.dialect(ctx)})
	s.search = &search.Searcher{Store: s.store, Model: s.model, Now: a.now}
	if err := s.openHands(&c); err != nil {
		return nil, err
	}
	return s, s.tryRecover(ctx)
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

// excluded are the patterns that the settings keep out of the vault at dir.
func (c *config) excluded(dir string) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(c.Vaults)) {
		if home.SameFolder(home.Expand(name), dir) {
			out = append(out, c.Vaults[name].Exclude...)
		}
	}
	return out
}

// holdVault takes the right to write the index and the notes, when it is free
// and wanted.
func (s *session) holdVault(o cli.OpenOptions) error {
	if _, err := os.Stat(sqlite.Path(s.dir)); o.Aside && err == nil {
		return nil // there is an index to read
	}
	release, ok, err := home.Lock(filepath.Join(s.dir, "index.lock"))
	if err != nil {
		return fmt.Errorf("lock the index: %w", err)
	}
	s.writes = ok
	if ok {
		s.closers = append(s.closers, release)
	}
	if !ok && o.Rebuild {
		return fault.Fix(fault.Busy, "stop it first", "another lore process is using the index")
	}
	return nil
}

// openStore takes the right to write the index, when it is free, and opens it.
func (s *session) openStore(ctx context.Context, o cli.OpenOptions) error {
	if err := s.holdVault(o); err != nil {
		return err
	}
	// Two processes that open at once would both make the tables of a new index.
	release, err := s.opens(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = release() }() // what was opened is what matters
	if o.Rebuild {
		if err := errors.Join(db.Remove(sqlite.Path(s.dir)), os.RemoveAll(s.glancePath())); err != nil {
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

// model is the embedding model of the settings, or nil.
func (a *app) model(c *config) (embed.Model, error) {
	name, err := a.get(c, "embed.model")
	if err != nil {
		return nil, err
	}
	base, err := a.get(c, "embed.base_url")
	if err != nil {
		return nil, err
	}
	keyEnv, err := a.get(c, "embed.key_env")
	if err != nil {
		return nil, err
	}
	key := func() string {
		if keyEnv == "" {
			return ""
		}
		return a.env(keyEnv)
	}
	kind, model, _ := strings.Cut(name, ":")
	client := &http.Client{Timeout: 2 * time.Minute}
	switch kind {
	case "none":
		return nil, nil
	case "ollama":
		if base == "" {
			base = "http://localhost:11434"
		}
		return ollama.New(ollama.Config{URL: base, Model: model, Client: client, Key: key}), nil
	case "openai":
		if base == "" {
			return nil, fault.Field("embed.base_url", "set it to the address of the server, with its version: https://host/v1", "is needed for %s", name)
		}
		return openai.New(openai.Config{URL: base, Model: model, Client: client, Key: key}), nil
	}
	return builtin.New(), nil
}

// catchUp compares the index with the vault. A new index is waited for; one
// that exists answers soon, and says when it is behind.
func (s *session) catchUp(ctx context.Context, o cli.OpenOptions) error {
	if !s.writes {
		return s.awaitFirst(ctx)
	}
	g := s.lastGlance()
	if !o.Wait && !s.opening.Rebuilt && !g.Began.IsZero() {
		same, err := s.indexer.Unchanged(ctx, g)
		if same || sqlite.Damaged(err) {
			return err
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	s.cancel = cancel
	done := make(chan error, 1)
	s.wg.Go(func() { done <- s.sync(ctx) })
	var timeout <-chan time.Time
	// Without a glance the last comparison was broken off: what is there may be
	// a beginning, and an answer from it would deny what is there.
	if !o.Wait && !s.opening.Rebuilt && !s.adopted && !g.Began.IsZero() {
		t := time.NewTimer(patience)
		defer t.Stop()
		timeout = t.C
	}
	select {
	case err := <-done:
		if err != nil {
			return err
		}
	case <-timeout:
		return nil
	}
	switch {
	case o.TextOnly || s.model == nil:
		return nil
	case o.Embed:
		return s.embedAll(ctx, runtime.GOMAXPROCS(0))
	}
	return s.embedFew(ctx)
}

// lastGlance is what the last process that compared the whole vault left.
func (s *session) lastGlance() vault.Glance {
	var g vault.Glance
	b, err := os.ReadFile(s.glancePath())
	if err != nil || json.Unmarshal(b, &g) != nil || g.Began.After(s.app.now()) {
		return vault.Glance{}
	}
	return g
}

func (s *session) glancePath() string { return filepath.Join(s.dir, "glance.json") }

// keepGlance leaves word of a comparison. Without it the next start compares
// again, and that is all.
func (s *session) keepGlance(g vault.Glance) {
	if b, err := json.Marshal(g); err == nil {
		_ = home.Replace(s.glancePath(), b)
	}
}

func (s *session) sync(ctx context.Context) error {
	// While the index changes, and when that is broken off, nothing is believed.
	if err := os.Remove(s.glancePath()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("begin to index: %w", err)
	}
	sum, err := s.indexer.Sync(ctx)
	if err == nil && sum.State.Mode != vault.Offline && sum.Doubted == 0 {
		s.keepGlance(sum.Glance())
	}
	s.mu.Lock()
	s.sum = sum
	s.mu.Unlock()
	return db.Explain(err, s.dir)
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

// lost reports whether the comparison found that most notes are gone.
func (s *session) lost() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sum.State.Mode == vault.Offline
}

func (s *session) fresh() index.Freshness {
	if s.writes {
		f := s.indexer.Freshness()
		if !f.Fresh && s.lost() {
			f.Reason += "; if you removed them: lore index --rebuild"
		}
		return f
	}
	return index.Freshness{Reason: "another lore process keeps the index up to date"}
}

// face is what a surface sees of the session.
func (s *session) face(ctx context.Context) (*cli.Session, error) {
	version := func(ctx context.Context, hash string) (string, bool) { return s.history.Image(ctx, hash) }
	parse := s.dialect(ctx)
	reg, err := s.registry(
		notes.Tools(notes.Env{
			Vault: s.vault, Store: s.store, Search: s.search, Fresh: s.fresh, Now: s.app.now, Parse: parse, Version: version,
		}),
		find.Tools(find.Env{Vault: s.vault, Store: s.store, Search: s.search, Fresh: s.fresh, Parse: parse}),
		work.Tools(work.Env{History: s.history, Questions: s.asked, Vault: s.vault, Now: s.app.now}),
	)
	if err == nil {
		err = s.openHub(reg)
	}
	if err != nil {
		return nil, err
	}
	if s.writes && s.unsettled == nil {
		if err := reg.Recover(ctx); err != nil {
			return nil, err
		}
	}
	return &cli.Session{
		Dir: s.vault.Dir(), Registry: reg, Report: s.report, Doctor: s.doctor, Close: s.close,
		Follow: func(ctx context.Context) error { return s.follow(ctx, reg) },
		Serve:  func(ctx context.Context, o cli.ServeOptions) error { return s.serve(ctx, reg, o) },
		Tokens: s.tokens(),
		Verify: func(ctx context.Context) (int, error) {
			v, err := s.history.Verify(ctx)
			return v.Entries, err
		},
	}, nil
}

func (s *session) report(ctx context.Context) (cli.Report, error) {
	id := ""
	if s.model != nil {
		id = s.model.ID()
	}
	st, err := s.store.Stats(ctx, id)
	if err != nil {
		return cli.Report{}, err
	}
	s.mu.Lock()
	sum := s.sum
	s.mu.Unlock()
	f := s.fresh()
	r := cli.Report{
		Vault: s.vault.Dir(), Index: s.dir, Notes: st.Notes, Attachments: st.Attachments, Conflicts: st.Conflicts,
		Links: st.Links, Passages: st.Passages, Embedded: st.Embedded, Model: id, Problems: st.Problems,
		Added: sum.Added, Changed: sum.Changed, Dropped: sum.Dropped, Seconds: sum.Took.Seconds(), Fresh: f.Fresh, Reason: f.Reason,
	}
	if s.opening.Rebuilt && s.opening.Reason != "new" {
		r.Rebuilt = s.opening.Reason
	}
	return r, nil
}

// follow keeps the index and the vectors up to date until ctx ends.
func (s *session) follow(ctx context.Context, reg *tool.Registry) error {
	if !s.writes {
		return fault.Fix(fault.Busy, "stop it first", "another lore process keeps the index up to date")
	}
	w := s.vault.Watch(ctx, vault.WatchOptions{})
	defer w.Wait()
	wake := make(chan struct{}, 1)
	var wg sync.WaitGroup
	defer wg.Wait()
	wg.Go(func() { s.attend(ctx, reg) })
	wg.Go(func() { s.hub.Run(ctx) })
	if s.model != nil {
		wg.Go(func() { s.embedOnWake(ctx, wake) })
	}
	return s.indexer.Serve(ctx, w.Batches(), func() {
		select {
		case wake <- struct{}{}:
		default:
		}
	})
}

// embedOnWake embeds what is new, on half the cores: someone is working here.
func (s *session) embedOnWake(ctx context.Context, wake <-chan struct{}) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-wake:
			if err := s.embedAll(ctx, max(1, runtime.GOMAXPROCS(0)/2)); err != nil && ctx.Err() == nil {
				s.log.Warn("passages could not be embedded", "error", err)
			}
		}
	}
}

// close ends what runs and lets everything go, last opened first.
func (s *session) close() error {
	s.embedChanged()
	if s.cancel != nil {
		s.cancel()
	}
	s.wg.Wait()
	var errs []error
	for i := len(s.closers) - 1; i >= 0; i-- {
		errs = append(errs, s.closers[i]())
	}
	s.closers = nil // what is closed twice is closed once
	return errors.Join(errs...)
}
