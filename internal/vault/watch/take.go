package watch

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// A take is one request for everything that was heard.
type take struct {
	number int
	reply  chan taken
}

type taken struct {
	batch Batch
	sure  bool
}

// Take returns everything that was heard and not taken yet, settled or not.
// When sure is true, that is everything that was changed in the vault before the
// call: the system queues events in order, so the watcher makes a file of its
// own and reads until it hears of it. It is not sure where events come from
// elsewhere, are lost, or do not come at all; then only a walk can tell.
func (w *Watcher) Take(ctx context.Context) (b Batch, sure bool, err error) {
	t := &take{reply: make(chan taken, 1)}
	select {
	case w.takes <- t:
	case <-w.done:
		return Batch{}, false, context.Canceled
	case <-ctx.Done():
		return Batch{}, false, ctx.Err()
	}
	// From here on it always comes: hints that were taken must not get lost.
	got := <-t.reply
	return got.batch, got.sure, nil
}

// offer puts a batch where it waits to be taken, and says so.
func (w *Watcher) offer(b Batch) {
	w.now, w.waits = w.now.merge(b), true
	select {
	case w.ready <- struct{}{}:
	default:
	}
}

// answer gives a request everything that was heard so far.
func (w *Watcher) answer(ts []*take, sure bool) {
	for _, t := range ts {
		b := w.now.merge(w.settle.take())
		w.now, w.waits = Batch{}, false
		w.behind.Store(false)
		t.reply <- taken{b, sure}
	}
}

// mark begins a request: it is answered when the mark is heard of.
func (w *Watcher) mark(ctx context.Context, t *take) {
	if w.mountsChanged() {
		w.rearm(ctx)
		w.settle.all(Mounted, w.opt.Now())
	}
	if w.src == nil || !w.ordered() || !w.taking.make(t) {
		w.answer([]*take{t}, false)
	}
}

// ordered reports whether events tell of every change, in order.
func (w *Watcher) ordered() bool {
	return w.taking.watched && eventsInOrder && !w.elsewhere
}

// mountsChanged looks at what is mounted in the vault, and reports whether that
// is something else than before.
func (w *Watcher) mountsChanged() bool {
	before := w.mounted
	w.mounted, w.elsewhere = mounts(w.v.Dir())
	return w.mounted != before
}

// overdue answers the requests whose marks were not heard of since the last
// check: events were lost without a word.
func (w *Watcher) overdue() {
	w.answer(w.taking.upTo(w.taking.checked), false)
	w.taking.checked = w.taking.last
}

// watchMarks asks for the events of the folder of marks.
func (w *Watcher) watchMarks() {
	w.taking.watched = w.taking.dir != "" && os.MkdirAll(w.taking.dir, 0o700) == nil && w.src.Add(w.taking.dir) == nil
}

// marks are the files that requests wait to hear of.
type marks struct {
	dir     string
	prefix  string // of this watcher's marks: another process may make its own beside them
	watched bool
	last    int
	checked int     // the last one at the last check
	open    []*take // by number
}

// make makes the mark of a request. It is removed at once: that it came is all
// that matters.
func (m *marks) make(t *take) bool {
	m.last++
	t.number = m.last
	name := filepath.Join(m.dir, m.prefix+strconv.Itoa(t.number))
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return false
	}
	_ = f.Close()
	_ = os.Remove(name)
	m.open = append(m.open, t)
	return true
}

// number reads the number of a mark off the name in an event.
func (m *marks) number(name string) (n int, ours bool) {
	if m.dir == "" || !strings.HasPrefix(name, m.dir) || filepath.Dir(name) != m.dir {
		return 0, false
	}
	digits, ours := strings.CutPrefix(filepath.Base(name), m.prefix)
	if n, err := strconv.Atoi(digits); ours && err == nil {
		return n, true
	}
	return 0, true // of another process: it answers nothing, and is no note
}

// upTo takes out the requests up to a number.
func (m *marks) upTo(n int) []*take {
	i := slices.IndexFunc(m.open, func(t *take) bool { return t.number > n })
	if i < 0 {
		i = len(m.open)
	}
	out := m.open[:i:i]
	m.open = m.open[i:]
	return out
}

// all takes out every request.
func (m *marks) all() []*take { return m.upTo(m.last) }
