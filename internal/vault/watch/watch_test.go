package watch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"

	"lore/internal/vault"
	"lore/internal/vault/syncname"
)

// generous is how long a test waits for something that must come.
const generous = 30 * time.Second

// quick makes a watcher that settles fast, so that tests are.
var quick = Options{Quiet: 5 * time.Millisecond, Ceiling: 50 * time.Millisecond, Check: 10 * time.Millisecond}

func put(t *testing.T, dir, name string) {
	t.Helper()
	p := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(p, []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
}

// watch starts a watcher and takes its first batch.
func watch(t *testing.T, dir string, opt Options) *Watcher {
	t.Helper()
	v, err := vault.Open(dir, vault.Options{Exclude: []string{"Private"}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	w := Start(ctx, v, opt)
	t.Cleanup(func() {
		cancel()
		w.Wait()
		v.Close()
	})
	if b := next(t, w); !b.Rescan || b.Reason != AtStart {
		t.Fatalf("the first batch is %+v", b)
	}
	return w
}

func next(t *testing.T, w *Watcher) Batch {
	t.Helper()
	late := time.After(generous)
	for {
		select {
		case <-w.Ready():
			b, _, err := w.Take(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if b.Rescan || len(b.Paths) > 0 {
				return b
			}
		case <-late:
			t.Fatal("no batch came")
		}
	}
}

// heard waits until every path has been named, or a rescan was asked for.
func heard(t *testing.T, w *Watcher, paths ...string) {
	t.Helper()
	missing := map[string]bool{}
	for _, p := range paths {
		missing[p] = true
	}
	for len(missing) > 0 {
		b := next(t, w)
		if b.Rescan {
			return
		}
		for _, p := range b.Paths {
			if vault.Hidden(p) || strings.HasPrefix(p, "Private") || syncname.Partial(filepath.Base(p)) {
				t.Errorf("nobody wants to hear of %q", p)
			}
			delete(missing, p)
		}
	}
}

// rescan waits for a rescan with that reason.
func rescan(t *testing.T, w *Watcher, reason Reason) {
	t.Helper()
	for {
		if b := next(t, w); b.Rescan && b.Reason == reason {
			return
		}
	}
}

// hears proves that a file made now is noticed by itself. A rescan that was
// still on its way speaks for the file too and names no path, so the file is
// written again after it.
func hears(t *testing.T, w *Watcher, dir, name string) {
	t.Helper()
	put(t, dir, name)
	for {
		b := next(t, w)
		if slices.Contains(b.Paths, name) {
			return
		}
		if b.Rescan {
			put(t, dir, name)
		}
	}
}

func needEvents(t *testing.T) {
	if reason := noEvents(); reason != "" {
		t.Skip(reason)
	}
}

func TestWatchFiles(t *testing.T) {
	t.Parallel()
	needEvents(t)
	dir := t.TempDir()
	put(t, dir, "a.md")
	put(t, dir, "sub/b.md")
	put(t, dir, ".obsidian/app.json")
	put(t, dir, "Private/x.md")
	w := watch(t, dir, quick)
	if s := w.Status(); s.Mode != Events || s.Watched != 2 {
		t.Errorf("%+v", s)
	}
	put(t, dir, ".obsidian/workspace.json")
	put(t, dir, "Private/y.md")
	put(t, dir, "sub/.lore-123.tmp")
	put(t, dir, "sub/x.part")
	hears(t, w, dir, "sub/b.md")
	hears(t, w, dir, "new.md")
	if err := os.Remove(filepath.Join(dir, "a.md")); err != nil {
		t.Fatal(err)
	}
	heard(t, w, "a.md")
	// Saved as editors do: another file takes the name.
	put(t, dir, "sub/b.md~")
	if err := os.Rename(filepath.Join(dir, "sub/b.md~"), filepath.Join(dir, "sub/b.md")); err != nil {
		t.Fatal(err)
	}
	heard(t, w, "sub/b.md")
}

func TestWatchNewFolders(t *testing.T) {
	t.Parallel()
	needEvents(t)
	dir := t.TempDir()
	w := watch(t, dir, quick)
	for i := range 20 {
		deep := fmt.Sprintf("new%d/a/b/c/d.md", i)
		put(t, dir, deep) // faster than any watch can be set
		heard(t, w, deep)
		hears(t, w, dir, fmt.Sprintf("new%d/a/b/later.md", i))
	}
}

func TestWatchFolderMoves(t *testing.T) {
	t.Parallel()
	needEvents(t)
	parent := t.TempDir()
	dir := filepath.Join(parent, "vault")
	put(t, dir, "a/x/one.md")
	put(t, parent, "outside/y/two.md")
	w := watch(t, dir, quick)
	mv := func(from, to string) {
		t.Helper()
		if err := os.Rename(filepath.Join(parent, from), filepath.Join(parent, to)); err != nil {
			t.Fatal(err)
		}
	}
	mv("vault/a", "vault/b")
	rescan(t, w, FolderMoved)
	hears(t, w, dir, "b/top.md")
	hears(t, w, dir, "b/x/under.md") // under its new name
	mv("outside", "vault/in")
	heard(t, w, "in/y/two.md")
	hears(t, w, dir, "in/y/three.md")
	mv("vault/in", "away")
	rescan(t, w, FolderMoved)
	put(t, dir, "a/x/one.md") // the old name, a new folder
	heard(t, w, "a/x/one.md")
	hears(t, w, dir, "a/x/two.md")
	if err := os.RemoveAll(filepath.Join(dir, "b")); err != nil {
		t.Fatal(err)
	}
	rescan(t, w, FolderMoved)
	hears(t, w, dir, "last.md")
}

func TestWatchRootGoesAndReturns(t *testing.T) {
	t.Parallel()
	needEvents(t)
	parent := t.TempDir()
	dir := filepath.Join(parent, "vault")
	put(t, dir, "a.md")
	w := watch(t, dir, quick)
	if err := os.Rename(dir, dir+"2"); err != nil {
		t.Skip("an open folder cannot be moved here:", err)
	}
	rescan(t, w, RootChanged)
	if err := os.Rename(dir+"2", dir); err != nil {
		t.Fatal(err)
	}
	for b := next(t, w); b.Reason != Returned; b = next(t, w) {
		if b.Reason != RootChanged { // it may have been away too shortly to be missed
			t.Fatalf("%+v", b)
		}
	}
	hears(t, w, dir, "b.md")
}

// fake is a source whose events the test makes.
type fake struct {
	events chan fsnotify.Event
	errors chan error
	limit  int

	mu    sync.Mutex
	added []string
}

func newFake(limit int) *fake {
	return &fake{events: make(chan fsnotify.Event), errors: make(chan error), limit: limit}
}

func (f *fake) Add(dir string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.added) >= f.limit {
		return fmt.Errorf("inotify: %w", syscall.ENOSPC)
	}
	f.added = append(f.added, dir)
	return nil
}
func (f *fake) Remove(string) error           { return nil }
func (f *fake) Events() <-chan fsnotify.Event { return f.events }
func (f *fake) Errors() <-chan error          { return f.errors }
func (f *fake) Close() error                  { return nil }

// with makes a watcher use the fakes, one after the other.
func with(opt Options, fakes ...*fake) Options {
	opt.open = func() (source, error) {
		if len(fakes) == 0 {
			return nil, errors.New("no more instances")
		}
		f := fakes[0]
		fakes = fakes[1:]
		return f, nil
	}
	return opt
}

func send[T any](t *testing.T, c chan<- T, value T) {
	t.Helper()
	select {
	case c <- value:
	case <-time.After(generous):
		t.Fatal("the watcher does not listen")
	}
}

func TestWatchOverflow(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put(t, dir, "a/b.md")
	first, second := newFake(100), newFake(100)
	w := watch(t, dir, with(quick, first, second))
	put(t, dir, "unheard/c.md")
	send(t, first.errors, fsnotify.ErrEventOverflow)
	rescan(t, w, Overflow)
	second.mu.Lock()
	added := len(second.added)
	second.mu.Unlock()
	if added != 3 || w.Status().Watched != 3 {
		t.Errorf("%d folders are watched after the overflow, want 3", added)
	}
	send(t, second.events, fsnotify.Event{Name: filepath.Join(dir, "a", "b.md"), Op: fsnotify.Write})
	heard(t, w, "a/b.md")
}

func TestWatchSourceEnds(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first, second := newFake(100), newFake(100)
	w := watch(t, dir, with(quick, first, second))
	close(first.events)
	rescan(t, w, Overflow)
	send(t, second.events, fsnotify.Event{Name: filepath.Join(dir, "b.md"), Op: fsnotify.Write})
	heard(t, w, "b.md")
}

func TestWatchLimitReached(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for i := range 10 {
		put(t, dir, fmt.Sprintf("f%d/n.md", i))
	}
	opt := with(quick, newFake(4))
	opt.Poll = time.Millisecond
	w := watch(t, dir, opt)
	if s := w.Status(); s.Mode != Polling || !strings.Contains(s.Reason, "no more than 4 watches") {
		t.Errorf("%+v", s)
	}
	rescan(t, w, Interval)
}

func TestWatchLimitReachedLater(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f := newFake(1)
	opt := with(quick, f)
	opt.Poll = time.Hour
	w := watch(t, dir, opt)
	put(t, dir, "new/n.md")
	send(t, f.events, fsnotify.Event{Name: filepath.Join(dir, "new"), Op: fsnotify.Create})
	rescan(t, w, WatchLimit)
	if s := w.Status(); s.Mode != Polling {
		t.Errorf("%+v", s)
	}
}

func TestWatchWithoutInstances(t *testing.T) {
	t.Parallel()
	opt := with(quick)
	opt.Poll = time.Millisecond
	w := watch(t, t.TempDir(), opt)
	if s := w.Status(); s.Mode != Polling || !strings.Contains(s.Reason, "no more instances") {
		t.Errorf("%+v", s)
	}
	rescan(t, w, Interval)
}

func TestWatchReconciles(t *testing.T) {
	t.Parallel()
	opt := with(quick, newFake(9), newFake(9), newFake(9), newFake(9))
	opt.Reconcile = time.Millisecond
	w := watch(t, t.TempDir(), opt)
	rescan(t, w, Interval)
	rescan(t, w, Interval)
}

func TestWatchNoticesSleep(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var mu sync.Mutex
	now := time.Now()
	v, err := vault.Open(dir, vault.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	ctx, cancel := context.WithCancel(t.Context())
	opt := with(quick, newFake(9), newFake(9))
	opt.Now = func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		return now
	}
	w := Start(ctx, v, opt)
	defer w.Wait()
	defer cancel()
	next(t, w)
	mu.Lock()
	now = now.Add(2 * time.Minute)
	mu.Unlock()
	rescan(t, w, Wake)
}

// A reader that does not come must not stop the watcher from listening, and
// loses nothing.
func TestWatchSlowReader(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f := newFake(9)
	w := watch(t, dir, with(quick, f))
	var want []string
	for i := range 500 {
		name := fmt.Sprintf("n%03d.md", i)
		want = append(want, name)
		send(t, f.events, fsnotify.Event{Name: filepath.Join(dir, name), Op: fsnotify.Write})
	}
	heard(t, w, want...)
}
