// Package watch turns the system's events about a vault into hints: which paths
// settled, or that everything should be looked at again. It also tells how much
// of what was changed it has heard of. What the hints are for it does not know.
package watch

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/fsnotify/fsnotify"

	"lore/internal/vault"
	"lore/internal/vault/syncname"
)

// Options says how patient a [Watcher] is. The zero value is right.
type Options struct {
	Quiet     time.Duration // rest after the last event before a batch; 300 ms
	Ceiling   time.Duration // longest wait after the first event; 2 s
	Reconcile time.Duration // time between rescans while events come; 5 min
	Poll      time.Duration // time between rescans where no events come; 10 s
	Check     time.Duration // time between looks at the root folder and the clock; 5 s
	Polling   bool          // never ask for events
	// Marks is a folder outside the vault, made when it is needed, in which the
	// watcher makes empty files to see how far it has read the system's events.
	// Without it [Watcher.Take] is never sure.
	Marks string

	Log *slog.Logger
	Now func() time.Time

	open func() (source, error) // tests put their own events here
}

func (o Options) withDefaults() Options {
	or := func(d *time.Duration, value time.Duration) {
		if *d <= 0 {
			*d = value
		}
	}
	or(&o.Quiet, 300*time.Millisecond)
	or(&o.Ceiling, 2*time.Second)
	or(&o.Reconcile, 5*time.Minute)
	or(&o.Poll, 10*time.Second)
	or(&o.Check, 5*time.Second)
	if o.open == nil {
		o.open = openEvents
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}

// A Mode says where hints come from.
type Mode string

// Where hints come from.
const (
	Events  Mode = "events"
	Polling Mode = "polling"
)

// A Status describes a [Watcher].
type Status struct {
	Mode    Mode
	Watched int    // folders that are watched
	Limit   int    // how many the system allows in all; 0 when that is not known
	Reason  string // why it polls
}

// A source is what fsnotify gives: where events and its errors arrive.
type source interface {
	Add(dir string) error
	Remove(dir string) error
	Events() <-chan fsnotify.Event
	Errors() <-chan error
	Close() error
}

type events struct{ *fsnotify.Watcher }

func (e events) Events() <-chan fsnotify.Event { return e.Watcher.Events }
func (e events) Errors() <-chan error          { return e.Watcher.Errors }

func openEvents() (source, error) {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	return events{w}, nil
}

// A Watcher turns the system's events into [Batch]es.
type Watcher struct {
	v       *vault.Vault
	opt     Options
	ready   chan struct{}
	takes   chan *take
	done    chan struct{}
	src     source // nil while polling, and while the root is missing
	watched map[string]bool
	settle  debouncer
	now     Batch // what waits to be taken
	waits   bool  // there is such a batch
	taking  marks
	lost    bool // the root folder is missing
	other   bool // another folder is in its place, as when a disk is not mounted

	mounted   string // what is mounted in the vault
	elsewhere bool   // some of it can change without an event

	behind atomic.Bool // something was heard of that nobody has taken

	mu     sync.Mutex
	status Status
}

// Start begins to watch a vault. The first batch is a rescan. It ends with
// the context; then [Watcher.Wait] returns.
func Start(ctx context.Context, v *vault.Vault, opt Options) *Watcher {
	own := opt.open != nil
	opt = opt.withDefaults()
	w := &Watcher{
		v: v, opt: opt, ready: make(chan struct{}, 1), takes: make(chan *take), done: make(chan struct{}),
		settle: debouncer{quiet: opt.Quiet, ceiling: opt.Ceiling}, taking: marks{dir: opt.Marks, prefix: strings.ToLower(rand.Text()) + "-"},
		status: Status{Mode: Events, Limit: watchLimit()},
	}
	if opt.Polling {
		w.poll("the settings require it")
	} else if reason := noEvents(); reason != "" && !own {
		w.poll(reason)
	}
	go w.run(ctx)
	return w
}

// Ready tells that there is a batch to [Watcher.Take] whose files have settled.
// A slow reader makes batches larger, never loses one, and never holds up the
// system's queue.
func (w *Watcher) Ready() <-chan struct{} { return w.ready }

// Behind reports whether something was heard of that nobody has taken yet.
func (w *Watcher) Behind() bool { return w.behind.Load() }

// Wait returns when the watcher has ended and let everything go.
func (w *Watcher) Wait() { <-w.done }

// Status tells how the vault is being watched.
func (w *Watcher) Status() Status {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.status
}

// poll gives up on events, for the rest of this watcher's life.
func (w *Watcher) poll(reason string) {
	w.drop()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.status.Mode, w.status.Reason, w.status.Watched = Polling, reason, 0
}

func (w *Watcher) polling() bool { return w.Status().Mode == Polling }

func (w *Watcher) count() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.status.Watched = len(w.watched)
}

// drop closes the source of events.
func (w *Watcher) drop() {
	if w.src != nil {
		_ = w.src.Close() // nothing depends on it any more
	}
	w.src, w.watched = nil, nil
	w.answer(w.taking.all(), false)
}

// run is the only goroutine that touches the watcher's fields. It always
// listens for events, whether or not someone takes the batches.
func (w *Watcher) run(ctx context.Context) {
	defer close(w.done)
	defer w.drop()
	check := time.NewTicker(w.opt.Check)
	defer check.Stop()
	settled := time.NewTimer(time.Hour)
	defer settled.Stop()

	w.mountsChanged()
	w.rearm(ctx)
	w.offer(Batch{Rescan: true, Reason: AtStart})
	clock, scanned := w.opt.Now(), w.opt.Now()
	for {
		w.behind.Store(w.waits || !w.settle.empty())
		var evs <-chan fsnotify.Event
		var errs <-chan error
		if w.src != nil {
			evs, errs = w.src.Events(), w.src.Errors()
		}
		var rest <-chan time.Time
		if !w.settle.empty() {
			settled.Reset(w.settle.wait(w.opt.Now()))
			rest = settled.C
		}
		select {
		case <-ctx.Done():
			return
		case t := <-w.takes:
			w.mark(ctx, t)
		case ev, ok := <-evs:
			w.event(ctx, ev, ok)
		case err, ok := <-errs:
			w.trouble(ctx, err, ok)
		case <-rest:
			w.offer(w.settle.take())
		case <-check.C:
			now := w.opt.Now()
			w.overdue()
			if reason := w.look(ctx, clock, now, scanned); reason != "" {
				if reason != Interval {
					w.now = Batch{} // why one waits already says more only of the regular look
				}
				w.offer(Batch{Rescan: true, Reason: reason})
				scanned = now
			}
			clock = now
		}
	}
}

// look runs at every check: is the root folder still the same, did the clock
// jump, is it time for a rescan? It renews the watches before it says so,
// because what is found while they are set is found by the rescan.
func (w *Watcher) look(ctx context.Context, clock, now, scanned time.Time) Reason {
	same, there := w.v.SameFolder()
	every := w.opt.Reconcile
	if w.polling() {
		every = w.opt.Poll
	}
	var reason Reason
	switch {
	case !there && !w.lost:
		w.leave()
		return RootChanged
	case !there:
		return ""
	case !same && now.Sub(scanned) >= w.opt.Check:
		w.lost, w.other = false, true
		reason = RootChanged
	case w.lost, w.other && same:
		w.lost, w.other = false, !same
		reason = Returned
	case w.mountsChanged():
		reason = Mounted
	case jumped(clock, now, w.opt.Check):
		reason = Wake
	case now.Sub(scanned) >= every:
		reason = Interval
	default:
		return ""
	}
	w.rearm(ctx)
	return reason
}

// leave stops listening until the root folder is there again.
func (w *Watcher) leave() {
	w.lost = true
	w.drop()
	w.count()
}

// rearm sets all watches anew. That is cheaper than finding out which of them
// still stand on the folder whose name they carry.
func (w *Watcher) rearm(ctx context.Context) {
	if w.polling() {
		return
	}
	w.drop()
	src, err := w.opt.open()
	if err != nil {
		w.poll(fmt.Sprintf("the system provides no file events (%v)", err))
		return
	}
	w.src, w.watched = src, map[string]bool{}
	w.watchMarks()
	if _, err := w.tree(ctx, ""); err != nil && ctx.Err() == nil {
		w.limit(err)
	}
	w.count()
}

// limit falls back to polling when the system grants no more watches.
func (w *Watcher) limit(err error) {
	w.opt.Log.Warn("watch limit reached, polling instead", "vault", w.v.Dir(), "watched", len(w.watched), "error", err)
	reason := fmt.Sprintf("the system allows no more than %d watches (%v)", len(w.watched), err)
	if hint := limitHint; hint != "" {
		reason += "; " + hint
	}
	w.poll(reason)
	w.settle.all(WatchLimit, w.opt.Now())
}

// tree watches a folder and those in it, each before it is read, so that a
// file made meanwhile is either in the listing or in an event. It fails only
// when the system grants no more watches, or with the context.
func (w *Watcher) tree(ctx context.Context, disk string) (*vault.Listing, error) {
	return w.v.Below(ctx, disk, func(disk string) error {
		if w.watched[disk] {
			return nil
		}
		err := w.src.Add(filepath.Join(w.v.Dir(), filepath.FromSlash(disk)))
		switch {
		case err == nil:
			w.watched[disk] = true
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.ENOTDIR):
			return nil // it went away, or is a problem of the listing
		}
		return err
	})
}

// event takes in one event. Everything about it is a hint; the disk is asked.
func (w *Watcher) event(ctx context.Context, ev fsnotify.Event, ok bool) {
	now := w.opt.Now()
	if n, ours := w.taking.number(ev.Name); ours {
		w.answer(w.taking.upTo(n), true)
		return
	}
	if !ok {
		w.drop() // the source ended by itself
		w.trouble(ctx, errors.New("the source of file events ended"), true)
		return
	}
	rel, err := filepath.Rel(w.v.Dir(), ev.Name)
	if err != nil || ev.Name == "" {
		return
	}
	disk := filepath.ToSlash(rel)
	vanished := ev.Has(fsnotify.Remove) || ev.Has(fsnotify.Rename)
	if disk == "." {
		if vanished { // its watches are gone with it, even if it is back at once
			w.leave()
			w.settle.all(RootChanged, now)
		}
		return
	}
	key := vault.Key(disk)
	if w.ignored(key) {
		return
	}
	switch {
	case vanished && w.watched[disk]:
		w.forget(disk)
		w.settle.all(FolderMoved, now)
		if w.isFolder(disk) { // two folders changed places: the other one has this name by now
			w.folderCame(ctx, disk)
		}
	case (ev.Has(fsnotify.Create) || ev.Has(fsnotify.Chmod) && !w.watched[disk]) && w.isFolder(disk):
		w.folderCame(ctx, disk) // it is new, or can be read now
	case w.watched[disk]: // a folder's own times changed; its files speak for themselves
	default:
		w.settle.path(key, vanished, now)
	}
}

// ignored reports paths that nobody wants to hear of.
func (w *Watcher) ignored(key string) bool {
	return vault.Hidden(key) || syncname.Partial(key[strings.LastIndexByte(key, '/')+1:]) || w.v.Excludes(key)
}

func (w *Watcher) isFolder(disk string) bool {
	info, err := os.Lstat(filepath.Join(w.v.Dir(), filepath.FromSlash(disk)))
	return err == nil && info.IsDir()
}

// folderCame watches a new folder and speaks for the files that were in it
// before the watch was.
func (w *Watcher) folderCame(ctx context.Context, disk string) {
	w.forget(disk) // a folder that lost its name without an event left its watches here
	l, err := w.tree(ctx, disk)
	if err != nil {
		if ctx.Err() == nil {
			w.limit(err)
		}
		return
	}
	now := w.opt.Now()
	for _, e := range l.Entries {
		w.settle.path(e.Path, false, now)
	}
	w.count()
}

// forget takes the watches off a folder and those in it. It must happen before
// the folder's new name is watched: the system knows one watch per folder, and
// it would keep reporting under the old name.
func (w *Watcher) forget(disk string) {
	for d := range w.watched {
		if d == disk || strings.HasPrefix(d, disk+"/") {
			_ = w.src.Remove(filepath.Join(w.v.Dir(), filepath.FromSlash(d))) // it may be gone already
			delete(w.watched, d)
		}
	}
	w.count()
}

// trouble takes in an error of the source. Whatever it was, events may be lost,
// so the watches are set anew and everything is looked at again.
func (w *Watcher) trouble(ctx context.Context, err error, ok bool) {
	if !ok {
		err = errors.New("the source of file events ended")
	}
	if !errors.Is(err, fsnotify.ErrEventOverflow) {
		w.opt.Log.Warn("watching the vault failed", "vault", w.v.Dir(), "error", err)
	}
	w.rearm(ctx)
	w.settle.all(Overflow, w.opt.Now())
}
