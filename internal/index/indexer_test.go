package index_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"lore/internal/event"
	"lore/internal/fault"
	"lore/internal/index"
	"lore/internal/index/sqlite"
	"lore/internal/vault"
	"lore/internal/vault/watch"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// A bench is a vault with an index, and a clock that stands still.
type bench struct {
	t     *testing.T
	dir   string
	vault *vault.Vault
	store *sqlite.Store
	ix    *index.Indexer
	bus   *event.Bus

	mu    sync.Mutex
	now   time.Time
	ahead time.Duration // of the vault's clock
}

func newBench(t *testing.T, wrap func(index.Store) index.Store) *bench {
	t.Helper()
	return newBenchIn(t, vault.Options{}, wrap)
}

func newBenchIn(t *testing.T, o vault.Options, wrap func(index.Store) index.Store) *bench {
	t.Helper()
	b := &bench{t: t, dir: filepath.Join(t.TempDir(), "vault"), bus: event.NewBus(), now: time.Now()}
	must(t, os.Mkdir(b.dir, 0o755))
	var err error
	o.Now = b.vaultClock
	b.vault, err = vault.Open(b.dir, o)
	must(t, err)
	b.store, _, err = sqlite.Open(t.Context(), t.TempDir(), time.Now)
	must(t, err)
	t.Cleanup(func() { must(t, b.store.Close()) })
	var s index.Store = b.store
	if wrap != nil {
		s = wrap(s)
	}
	b.ix = index.New(b.vault, s, index.Options{Bus: b.bus, Now: b.clock})
	return b
}

func (b *bench) clock() time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.now
}

func (b *bench) vaultClock() time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	return time.Now().Add(b.ahead)
}

func (b *bench) advance(d time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.now = b.now.Add(d)
}

func (b *bench) write(p, text string) {
	b.t.Helper()
	full := filepath.Join(b.dir, p)
	must(b.t, os.MkdirAll(filepath.Dir(full), 0o755))
	must(b.t, os.WriteFile(full, []byte(text), 0o644))
}

func (b *bench) sync() index.Summary {
	b.t.Helper()
	sum, err := b.ix.Sync(b.t.Context())
	must(b.t, err)
	return sum
}

// found lists the notes that have a word.
func (b *bench) found(word string) string {
	hits, err := b.store.Match(b.t.Context(), index.Match{Any: []index.Term{{Words: []string{word}}}, Weights: [index.Columns]float64{1, 1, 1, 1, 1}, Limit: 1000})
	must(b.t, err)
	var out []string
	for _, h := range hits {
		out = append(out, h.Path)
	}
	return strings.Join(out, " ")
}

// eventually looks again whenever the indexer has finished a run, and now and
// then in case the news came before the question.
func (b *bench) eventually(what string, ok func() bool) {
	b.t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	late := time.NewTimer(30 * time.Second)
	defer late.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-late.C:
			b.t.Fatalf("never came true: %s; %+v, vault %+v", what, b.ix.Freshness(), b.vault.State())
		}
	}
}

// serve follows the vault until the test ends.
func (b *bench) serve() {
	ctx, cancel := context.WithCancel(b.t.Context())
	w := watch.Start(ctx, b.vault, watch.Options{Quiet: 20 * time.Millisecond, Ceiling: 200 * time.Millisecond, Check: 50 * time.Millisecond, Poll: 100 * time.Millisecond})
	done := make(chan error, 1)
	go func() { done <- b.ix.Serve(ctx, w, nil) }()
	b.t.Cleanup(func() {
		cancel()
		w.Wait()
		must(b.t, <-done)
	})
}

func TestServe(t *testing.T) {
	b := newBench(t, nil)
	b.write("a.md", "alpha")
	b.serve()
	b.eventually("the first look", func() bool { return b.found("alpha") == "a.md" && b.ix.Freshness().Fresh })
	b.write("b.md", "beta")
	b.eventually("a new note", func() bool { return b.found("beta") == "b.md" })
	b.write("b.md", "gamma")
	b.eventually("an edit", func() bool { return b.found("gamma") == "b.md" && b.found("beta") == "" })
	must(t, os.Rename(filepath.Join(b.dir, "b.md"), filepath.Join(b.dir, "c.md")))
	b.eventually("a rename", func() bool { return b.found("gamma") == "c.md" })
	b.write("x/y/z/deep.md", "delta")
	b.eventually("folders in folders", func() bool { return b.found("delta") == "x/y/z/deep.md" })
	b.write("x/y/z/deep.md", "epsilon")
	b.eventually("an edit deep down", func() bool { return b.found("epsilon") == "x/y/z/deep.md" })
	must(t, os.Rename(filepath.Join(b.dir, "x/y"), filepath.Join(b.dir, "w")))
	b.eventually("a folder moved", func() bool { return b.found("epsilon") == "w/z/deep.md" })
	b.write("w/z/after.md", "zeta")
	b.eventually("a note in the moved folder", func() bool { return b.found("zeta") == "w/z/after.md" })
	must(t, os.Remove(filepath.Join(b.dir, "a.md")))
	b.eventually("a deletion", func() bool { return b.found("alpha") == "" })
	must(t, os.RemoveAll(filepath.Join(b.dir, "w")))
	b.eventually("a folder deleted", func() bool { return b.found("zeta") == "" && b.found("epsilon") == "" })
	b.write(".tmp-save", "eta")
	must(t, os.Rename(filepath.Join(b.dir, ".tmp-save"), filepath.Join(b.dir, "c.md")))
	b.eventually("a save by rename", func() bool { return b.found("eta") == "c.md" && b.found("gamma") == "" })
}

// TestVaultGoesAway moves the folder away and back: nothing is forgotten, and
// the index says that it cannot know.
func TestVaultGoesAway(t *testing.T) {
	b := newBench(t, nil)
	for i := range 30 {
		b.write(fmt.Sprintf("n%d.md", i), fmt.Sprintf("tea n%dx", i))
	}
	b.serve()
	b.eventually("indexed", func() bool { return b.ix.Freshness().Fresh && b.found("n29x") != "" })
	away := b.dir + "-away"
	must(t, os.Rename(b.dir, away))
	b.eventually("offline", func() bool {
		f := b.ix.Freshness()
		return !f.Fresh && strings.Contains(f.Reason, "offline")
	})
	if n := len(strings.Fields(b.found("tea"))); n != 30 {
		t.Errorf("%d of 30 notes are left", n)
	}
	must(t, os.Rename(away, b.dir))
	b.eventually("back", func() bool { return b.ix.Freshness().Fresh })
	must(t, os.Remove(filepath.Join(b.dir, "n3.md")))
	b.eventually("a deletion after it came back", func() bool { return b.found("n3x") == "" })
}

func TestManyVanish(t *testing.T) {
	b := newBench(t, nil)
	for i := range 60 {
		b.write(fmt.Sprintf("n%d.md", i), "tea")
		if i < 40 {
			b.write(fmt.Sprintf("disk/n%d.md", i), "tea")
		}
	}
	b.sync()
	for i := range 40 { // the folder is left, as a mount point is
		must(t, os.Remove(filepath.Join(b.dir, fmt.Sprintf("disk/n%d.md", i))))
	}
	sum := b.sync()
	if sum.Dropped != 0 || sum.State.Mode != vault.Offline || b.ix.Freshness().Fresh {
		t.Fatalf("notes were forgotten: %+v %+v", sum, b.ix.Freshness())
	}
	// One file that changes meanwhile makes the whole no fresher.
	b.write("n50.md", "coffee")
	_, err := b.ix.Update(t.Context(), []string{"n50.md"})
	must(t, err)
	if f := b.ix.Freshness(); f.Fresh || !strings.Contains(f.Reason, "offline") || b.found("coffee") != "n50.md" {
		t.Errorf("%+v, found %q", f, b.found("coffee"))
	}
	if sum := b.sync(); sum.Dropped != 0 || len(strings.Fields(b.found("tea"))) != 99 {
		t.Errorf("the second look forgot notes: %+v", sum)
	}
	sum, err = b.ix.Accept(t.Context())
	must(t, err)
	if sum.Dropped != 40 || sum.State.Mode != vault.Online || !b.ix.Freshness().Fresh {
		t.Errorf("a person's word did not count: %+v", sum)
	}
	if sum := b.sync(); sum.Wrote() != 0 || !b.ix.Freshness().Fresh {
		t.Errorf("%+v", sum)
	}
}

// TestVaultGoesAwayDuringARun: a file that cannot be read because the folder is
// gone keeps its rows.
func TestVaultGoesAwayDuringARun(t *testing.T) {
	b := newBench(t, nil)
	for i := range 30 {
		b.write(fmt.Sprintf("n%d.md", i), "tea")
	}
	b.sync()
	for i := range 30 {
		b.write(fmt.Sprintf("n%d.md", i), "coffee and more")
	}
	// The indexer asks the clock before it opens each file, after the walk.
	var once sync.Once
	var calls atomic.Int32
	ix := index.New(b.vault, b.store, index.Options{Workers: 1, Now: func() time.Time {
		if calls.Add(1) > 5 {
			once.Do(func() { must(t, os.Rename(b.dir, b.dir+"-away")) })
		}
		return b.clock()
	}})
	_, err := ix.Sync(t.Context())
	if fault.Of(err) != fault.Offline {
		t.Errorf("the run ended with %v", err)
	}
	if n := len(strings.Fields(b.found("tea") + " " + b.found("coffee"))); n != 30 {
		t.Errorf("%d of 30 notes are left", n)
	}
	if f := ix.Freshness(); f.Fresh || !strings.Contains(f.Reason, "offline") {
		t.Errorf("%+v", f)
	}
}

func TestEmptiedNote(t *testing.T) {
	for _, when := range []struct {
		name  string
		mtime func(now time.Time) time.Time
		doubt bool
	}{
		{"just now", func(now time.Time) time.Time { return now }, true},
		{"a clock a little ahead", func(now time.Time) time.Time { return now.Add(10 * time.Second) }, true},
		{"a time in 2100", func(time.Time) time.Time { return time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC) }, false},
		{"long ago", func(now time.Time) time.Time { return now.Add(-time.Hour) }, false},
	} {
		t.Run(when.name, func(t *testing.T) {
			b := newBench(t, nil)
			b.write("big.md", strings.Repeat("tea leaves ", 200))
			b.write("small.md", "tea")
			b.sync()
			b.write("big.md", "")
			b.write("small.md", "")
			at := when.mtime(b.clock())
			must(t, os.Chtimes(filepath.Join(b.dir, "big.md"), at, at))
			sum := b.sync()
			if (sum.Doubted == 1) != when.doubt || (b.found("tea") == "big.md") != when.doubt {
				t.Fatalf("%+v, found %q", sum, b.found("tea"))
			}
			if f := b.ix.Freshness(); f.Fresh == when.doubt {
				t.Errorf("%+v", f)
			}
			b.advance(2 * time.Minute)
			if b.sync(); b.found("tea") != "" || !b.ix.Freshness().Fresh {
				t.Errorf("an empty note is still found, %+v", b.ix.Freshness())
			}
		})
	}
}

// TestUnreadableIsTriedAgain: a right that is given changes neither size nor
// time of a file.
func TestUnreadableIsTriedAgain(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root may read everything")
	}
	b := newBench(t, nil)
	b.write("a.md", "alpha")
	old := time.Now().Add(-time.Hour)
	must(t, os.Chtimes(filepath.Join(b.dir, "a.md"), old, old))
	must(t, os.Chmod(filepath.Join(b.dir, "a.md"), 0))
	if sum := b.sync(); sum.Failed != 1 {
		t.Fatalf("%+v", sum)
	}
	must(t, os.Chmod(filepath.Join(b.dir, "a.md"), 0o644))
	if b.sync(); b.found("alpha") != "a.md" {
		t.Error("the note was not read again")
	}
}

// gate lets a test look while a run stands still between two commits.
type gate struct {
	index.Store
	arrived, leave chan struct{}
}

func (g *gate) Apply(ctx context.Context, b index.Batch) error {
	half := len(b.Put) / 2
	if err := g.Store.Apply(ctx, index.Batch{Put: b.Put[:half]}); err != nil {
		return err
	}
	if half > 0 {
		g.arrived <- struct{}{}
		<-g.leave
	}
	b.Put = b.Put[half:]
	return g.Store.Apply(ctx, b)
}

func TestAnswersWhileBuilding(t *testing.T) {
	g := &gate{arrived: make(chan struct{}), leave: make(chan struct{})}
	b := newBench(t, func(s index.Store) index.Store { g.Store = s; return g })
	for i := range 100 {
		b.write(fmt.Sprintf("n%d.md", i), "tea")
	}
	if f := b.ix.Freshness(); f.Fresh || f.Reason == "" {
		t.Errorf("before the first look: %+v", f)
	}
	done := make(chan error, 1)
	go func() {
		_, err := b.ix.Sync(t.Context())
		done <- err
	}()
	<-g.arrived
	if n := len(strings.Fields(b.found("tea"))); n != 50 {
		t.Errorf("%d notes are found while half is there", n)
	}
	if f := b.ix.Freshness(); f.Fresh || f.Pending == 0 || f.Reason == "" {
		t.Errorf("while building: %+v", f)
	}
	close(g.leave)
	must(t, <-done)
	if n := len(strings.Fields(b.found("tea"))); n != 100 {
		t.Errorf("%d notes are found", n)
	}
	if f := b.ix.Freshness(); !f.Fresh || f.Pending != 0 || f.Reason != "" || f.Synced.IsZero() {
		t.Errorf("at the end: %+v", f)
	}
}

// TestUpdateManyPaths names more files than one statement of SQL takes values.
func TestUpdateManyPaths(t *testing.T) {
	b := newBench(t, nil)
	b.write("a.md", "alpha")
	b.sync()
	paths := []string{"a.md", "a.md"}
	for i := range 40000 {
		paths = append(paths, fmt.Sprintf("missing/%d.md", i))
	}
	b.write("a.md", "beta")
	sum, err := b.ix.Update(t.Context(), paths)
	must(t, err)
	if sum.Changed != 1 || b.found("beta") != "a.md" {
		t.Errorf("%+v", sum)
	}
}
