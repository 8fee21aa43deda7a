package index

import (
	"cmp"
	"context"
	"log/slog"
	"runtime"
	"slices"
	"sync"
	"time"

	"lore/internal/event"
	"lore/internal/fault"
	"lore/internal/note"
	"lore/internal/vault"
)

// Topics of the events that an [Indexer] and an [Embedder] publish. The data is
// a [Progress]; the last one of a run is final.
const (
	TopicIndex = "index.progress"
	TopicEmbed = "embed.progress"
)

// A Progress tells how far a run is.
type Progress struct {
	Done  int           `json:"done"`
	Total int           `json:"total"`
	Rate  float64       `json:"per_second"`
	Left  time.Duration `json:"left"` // an estimate; 0 when it is not known yet
}

// Steps is how a surface draws a run without knowing what it does.
func (p Progress) Steps() (done, total int, left time.Duration) { return p.Done, p.Total, p.Left }

// A Freshness tells whether answers from the index can be believed to show the
// vault as it is.
type Freshness struct {
	Fresh   bool      `json:"fresh"`            // everything that was seen on disk is indexed
	Pending int       `json:"pending"`          // files that were seen and are not indexed yet
	Synced  time.Time `json:"synced,omitzero"`  // when the vault was last compared with the index
	Reason  string    `json:"reason,omitempty"` // why it is not fresh
	Files   int       `json:"-"`                // files in the vault, while a whole comparison is under way
	Partial bool      `json:"-"`                // the first build has not ended: notes are missing
}

// A Summary tells what one run did.
type Summary struct {
	Files    int // files in the vault
	Added    int
	Changed  int
	Touched  int // new stat, old content
	Dropped  int
	Failed   int // files that could not be read; their rows say why
	Doubted  int // files that became empty a moment ago, kept as they were
	Bytes    int64
	State    vault.State
	Snapshot func() vault.Snapshot // where a change since would show; nil after Update
	Fresh    Freshness             // how the run left the index
	Took     time.Duration
}

// Wrote reports whether the run changed any row that is searched.
func (s *Summary) Wrote() int { return s.Added + s.Changed + s.Dropped }

// Options of an [Indexer]. The zero value is right.
type Options struct {
	Bus     *event.Bus
	Log     *slog.Logger
	Now     func() time.Time
	Workers int // how many files are parsed at once; 0 is one for each core
	Parse   note.Options
}

// An Indexer keeps a store true to a vault.
type Indexer struct {
	vault   *vault.Vault
	store   Store
	bus     *event.Bus
	log     *slog.Logger
	now     func() time.Time
	workers int
	parse   note.Options

	missing chan struct{} // a comparison found that notes are missing, whoever asked for it

	running  sync.Mutex     // one run at a time; it guards what follows
	snapshot vault.Snapshot // of the last whole comparison, when it left nothing open
	missed   bool           // a run failed: only a whole comparison finds what it left

	mu    sync.Mutex
	state Freshness
}

// New makes an indexer. It does nothing until it is asked.
func New(v *vault.Vault, s Store, o Options) *Indexer {
	ix := &Indexer{vault: v, store: s, bus: o.Bus, log: o.Log, now: o.Now, workers: o.Workers, parse: o.Parse, missing: make(chan struct{}, 1)}
	if ix.log == nil {
		ix.log = slog.New(slog.DiscardHandler)
	}
	if ix.now == nil {
		ix.now = time.Now
	}
	ix.parse.Most = maxParts
	ix.workers = cmp.Or(ix.workers, runtime.GOMAXPROCS(0))
	ix.state.Reason = "not compared with the vault yet"
	return ix
}

// Freshness tells how far answers can be believed now.
func (ix *Indexer) Freshness() Freshness {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	return ix.state
}

func (ix *Indexer) setFreshness(f func(*Freshness)) {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	f(&ix.state)
}

// Unchanged reports whether the vault is still as a walk saw it that Sync
// followed to its end, and takes the index for fresh if so. It costs a fraction
// of Sync, and says no in doubt.
func (ix *Indexer) Unchanged(ctx context.Context, g vault.Snapshot) (bool, error) {
	ix.running.Lock()
	defer ix.running.Unlock()
	return ix.unchanged(ctx, g)
}

func (ix *Indexer) unchanged(ctx context.Context, g vault.Snapshot) (bool, error) {
	now := ix.now()
	sure := true
	var known []vault.Known
	err := ix.store.Files(ctx, func(f File) error {
		sure = sure && trusted(f, vault.KindOf(f.Path))
		known = append(known, vault.Known{Path: f.Path, Size: f.Size, ModTime: f.ModTime, ChangeTime: f.ChangeTime, Inode: f.Inode})
		return nil
	})
	if err != nil || !sure || !ix.vault.Unchanged(g, known) {
		return false, err
	}
	ix.snapshot = g
	ix.setFreshness(func(f *Freshness) { *f = Freshness{Fresh: true, Synced: now} })
	return true, nil
}

// Sync compares the whole vault with the index and mends the index. It may be
// stopped at any moment: what was done stays done, and the next Sync goes on.
func (ix *Indexer) Sync(ctx context.Context) (Summary, error) {
	ix.running.Lock()
	defer ix.running.Unlock()
	sum, err := ix.sync(ctx, false)
	sum.Fresh = ix.Freshness()
	return sum, err
}

// Accept is [Indexer.Sync] with a person's word that the notes an offline vault
// lacks are really gone: their rows are dropped. A vault whose folder is
// missing stays offline.
func (ix *Indexer) Accept(ctx context.Context) (Summary, error) {
	ix.running.Lock()
	defer ix.running.Unlock()
	ix.vault.Accept()
	return ix.sync(ctx, true)
}

// sync compares. What the index knows is what the vault can miss, unless a
// person has just said that it shall not be missed. The caller holds ix.running.
func (ix *Indexer) sync(ctx context.Context, accepted bool) (Summary, error) {
	ix.snapshot, ix.missed = vault.Snapshot{}, true // until it has ended well
	defer ix.noteMissing()
	start := ix.now()
	var known []File
	err := ix.store.Files(ctx, func(f File) error {
		known = append(known, f)
		return nil
	})
	if err != nil {
		ix.setFreshness(func(f *Freshness) { f.Fresh, f.Reason = false, "the index cannot be read" })
		return Summary{}, err
	}
	if !accepted {
		ix.vault.Remember(noteKeys(known))
	}
	list, err := ix.vault.Walk(ctx)
	if err != nil {
		ix.setFreshness(func(f *Freshness) { f.Fresh, f.Reason = false, err.Error() })
		return Summary{State: ix.vault.State()}, err
	}
	w := compare(known, list)
	w.files = len(list.Entries)
	sum, err := ix.work(ctx, w)
	sum.Files, sum.State, sum.Snapshot, sum.Took = len(list.Entries), list.State, list.Snapshot, ix.now().Sub(start)
	ix.finish(&sum, start, err)
	return sum, err
}

// noteMissing lets Serve compare again while notes are missing.
func (ix *Indexer) noteMissing() {
	if ix.vault.State().Believed() {
		return
	}
	select {
	case ix.missing <- struct{}{}:
	default:
	}
}

// finish records what a whole comparison left behind.
func (ix *Indexer) finish(sum *Summary, start time.Time, err error) {
	ix.setFreshness(func(f *Freshness) {
		switch {
		case fault.Of(err) == fault.Offline:
			f.Fresh, f.Reason = false, err.Error()
		case err != nil:
			f.Fresh, f.Reason = false, "the last comparison was interrupted"
		case !sum.State.Believed():
			f.Fresh, f.Reason, f.Synced = false, sum.State.Trouble(), start
		case sum.Doubted > 0:
			*f = Freshness{Pending: sum.Doubted, Synced: start, Reason: doubtReason}
		default:
			*f = Freshness{Fresh: true, Synced: start}
		}
	})
	if err == nil && sum.State.Believed() && sum.Doubted == 0 {
		ix.snapshot = sum.Snapshot()
	}
	if ix.missed = err != nil || sum.Doubted > 0; err == nil {
		ix.log.Info("vault indexed", "files", sum.Files, "added", sum.Added, "changed", sum.Changed,
			"dropped", sum.Dropped, "failed", sum.Failed, "duration_ms", sum.Took.Milliseconds())
	}
}

// Update looks at paths again that Lore itself has written, so that the next
// question sees it.
func (ix *Indexer) Update(ctx context.Context, paths []string) (Summary, error) {
	ix.running.Lock()
	defer ix.running.Unlock()
	return ix.update(ctx, paths, true)
}

func (ix *Indexer) update(ctx context.Context, paths []string, own bool) (sum Summary, err error) {
	defer func() { ix.leave(&sum, err) }()
	paths = slices.Compact(slices.Sorted(slices.Values(ix.vault.WithLinks(paths)))) // a hint may come twice
	rows, err := ix.store.Notes(ctx, Select{Paths: nonNil(paths)})
	if err != nil {
		return Summary{}, err
	}
	known := make(map[string]File, len(rows))
	for _, r := range rows {
		known[r.File.Path] = r.File
	}
	var w work
	unclear := false
	for _, p := range paths {
		old, had := known[p]
		e, err := ix.vault.Stat(ctx, p)
		switch {
		case err == nil:
			w.read = append(w.read, job{entry: e, old: old, had: had, own: own})
		case fault.Of(err) == fault.NotFound && had && ix.vault.State().Believed():
			w.drop = append(w.drop, p)
		case ctx.Err() != nil:
			return Summary{}, ctx.Err()
		case had:
			unclear = true
		}
	}
	if unclear { // something else lies there, or it cannot be looked at: a walk tells which
		return ix.sync(ctx, false)
	}
	sum, err = ix.work(ctx, w)
	if err != nil || ix.vault.ReadsLinked() || !ix.vault.Shared() {
		return sum, err
	}
	// A name that comes or goes decides whether the other names of the file are
	// read, and no event tells which they are.
	return ix.sync(ctx, false)
}

// leave records what an update left open: the next look compares everything.
func (ix *Indexer) leave(sum *Summary, err error) {
	ix.missed = ix.missed || err != nil || sum.Doubted > 0
	if sum.Doubted > 0 {
		ix.setFreshness(func(f *Freshness) { f.Fresh, f.Pending, f.Reason = false, sum.Doubted, doubtReason })
	}
}

// doubtReason tells of notes whose new content is not believed yet.
const doubtReason = "some notes became empty or are being written; their previous text is shown"

func nonNil(s []string) []string {
	if s == nil {
		return []string{}
	}
	return s
}

func noteKeys(files []File) []string {
	out := make([]string, 0, len(files))
	for _, f := range files {
		if k := vault.KindOf(f.Path); k == vault.Note || k == vault.Canvas {
			out = append(out, f.Path)
		}
	}
	return out
}
