package writer

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"

	"lore/internal/change"
	"lore/internal/fault"
	"lore/internal/vault"
	"lore/internal/vault/disk"
	"lore/internal/vault/journal"
)

// DefaultTrashDays is how long a deleted file stays in the trash.
const DefaultTrashDays = 30

// Options says how a vault is written. The zero value is right.
type Options struct {
	Log *slog.Logger
	Now func() time.Time
	// Random makes the unguessable part of a temporary name, of letters and
	// digits. Nil means [rand.Text].
	Random    func() string
	TrashDays int
}

// A Writer changes the files of one vault. Its methods may be called from
// several goroutines; they take turns.
type Writer struct {
	v         *vault.Vault
	log       *slog.Logger
	now       func() time.Time
	random    func() string
	trashDays int
	sys       disk.System

	mu        sync.Mutex
	lock      *os.File  // of the vault, from the first write on
	locked    disk.Stat // which file it is
	can       Capabilities
	probed    bool
	disk      disk.Disk   // where it was probed
	unsettled bool        // the journal holds an operation that broke off
	settled   []Recovered // what was recovered on the way, until Recover tells it
	trashed   map[string][]string
	warned    bool
}

// Open makes a writer for a vault. It touches nothing: the first write makes
// Lore's folder in the vault.
func Open(v *vault.Vault, o Options) *Writer {
	w := &Writer{v: v, log: o.Log, now: o.Now, random: o.Random, trashDays: o.TrashDays}
	if w.log == nil {
		w.log = slog.New(slog.DiscardHandler)
	}
	if w.now == nil {
		w.now = time.Now
	}
	if w.random == nil {
		w.random = func() string { return strings.ToLower(rand.Text()) }
	}
	if w.trashDays <= 0 {
		w.trashDays = DefaultTrashDays
	}
	return w
}

// Close gives the vault's lock back.
func (w *Writer) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.unlock(!w.unsettled)
}

// A Receipt says what stands after a set was applied.
type Receipt struct {
	Files    []Written
	Warnings []string
}

// A Written is one path of an applied set. Hash is zero for a file that moved
// and is too large to be read.
type Written struct {
	Path    string
	Hash    vault.Hash
	Size    int64
	ModTime time.Time
	Gone    bool // nothing has this path now
}

// Apply makes all edits of the set, or none, under the operation id op. An error
// means that nothing was changed, unless it is an [*Interrupted]. A file that is
// not what its edit was made for gives a [*Stale]. What the set replaced is kept
// until [Writer.Sweep] lets it go. The context is heeded until the set is
// committed.
func (w *Writer) Apply(ctx context.Context, op string, set change.Set) (Receipt, error) {
	return w.apply(ctx, op, set, false)
}

// Restore is [Writer.Apply] for a set that brings back what was there before:
// files get back names that no new file would be given, such as one that only
// its case tells from another.
func (w *Writer) Restore(ctx context.Context, op string, set change.Set) (Receipt, error) {
	return w.apply(ctx, op, set, true)
}

func (w *Writer) apply(ctx context.Context, op string, set change.Set, restores bool) (Receipt, error) {
	if len(set) == 0 {
		return Receipt{}, nil
	}
	if err := checkOp(op); err != nil {
		return Receipt{}, err
	}
	if err := set.Validate(); err != nil {
		return Receipt{}, fault.New(fault.Invalid, "%v", err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	t, err := w.begin(ctx)
	if err != nil {
		return Receipt{}, err
	}
	defer t.Close()
	t.ID, t.restores = op, restores
	if err := t.plan(ctx, set); err != nil {
		return Receipt{}, err
	}
	tidy, err := t.Op.Apply(ctx)
	var unsettled *Interrupted
	if disk.IsOtherDisk(err) && !errors.As(err, &unsettled) && t.prepareRetry() {
		// Some folders look as if they were on one disk and are not.
		if err := t.plan(ctx, set); err != nil {
			return Receipt{}, err
		}
		tidy, err = t.Op.Apply(ctx)
	}
	if !tidy || errors.As(err, &unsettled) {
		w.unsettled = true
	}
	if err != nil {
		w.forgetTrash()
		return Receipt{}, err
	}
	t.warn()
	return t.receipt(set), nil
}

// prepareRetry makes a task ready to be planned once more, with every content staged
// beside its place. It is false when that would change nothing.
func (t *task) prepareRetry() bool {
	if t.stagesBeside || t.Plan.Single || len(t.Staged) == 0 {
		return false
	}
	t.Forget()
	t.w.forgetTrash()
	t.stagesBeside, t.carried = true, nil
	op := t.ID
	t.Reset()
	t.ID, t.Warnings = op, nil
	return true
}

func checkOp(op string) error {
	ok := op != "" && len(op) <= 100
	for _, r := range op {
		ok = ok && (r == '-' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z')
	}
	if !ok {
		return fault.New(fault.Invalid, "operation ID %q may contain only letters, digits and dashes", op)
	}
	return nil
}

// begin opens the vault for writing: the lock is held, the abilities of the
// file system are known, and nothing is left of an earlier crash.
func (w *Writer) begin(ctx context.Context) (*task, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("change to the vault: %w", err)
	}
	if s := w.v.State(); s.Mode == vault.Offline {
		return nil, fault.New(fault.Offline, "changes are refused while the vault is offline (%s)", s.Reason)
	}
	root, err := w.v.Handle()
	if err != nil {
		return nil, err
	}
	t := w.newTask(root)
	if err := t.prepare(); err != nil {
		t.Close()
		return nil, err
	}
	return t, nil
}

// receipt tells what stands.
func (t *task) receipt(set change.Set) Receipt {
	r := Receipt{Warnings: t.Warnings}
	told := map[string]int{}
	tell := func(f Written) {
		if i, ok := told[f.Path]; ok {
			r.Files[i] = f
			return
		}
		told[f.Path] = len(r.Files)
		r.Files = append(r.Files, f)
	}
	steps := t.Plan.Steps
	for _, key := range t.carried { // with their folder
		steps = append([]journal.Step{{N: -1, Key: key.key, Path: key.disk}}, steps...)
	}
	for i := range steps {
		s := &steps[i]
		if s.Dir {
			continue
		}
		if s.Gone {
			t.w.addTrash(s.From, t.ID)
			tell(Written{Path: s.Key, Gone: true})
			continue
		}
		f := Written{Path: s.Key}
		if st, ok := t.Staged[s.N]; ok {
			f.Hash, f.Size, f.ModTime = *s.Post, st.Made.Size, st.Made.ModTime
			tell(f)
			continue
		}
		if st, err := t.Stat(s.Path); err == nil {
			f.Size, f.ModTime = st.Size, st.ModTime
		}
		if s.Post != nil {
			f.Hash = *s.Post
		} else if f.Size <= vault.DefaultMaxRead {
			f.Hash, _, _ = t.Hash(s.Path) // a link, or gone again: then there is none
		}
		tell(f)
	}
	for _, e := range set {
		if key, err := vault.Clean(e.From); e.From != "" && err == nil {
			tell(Written{Path: key, Gone: true})
		}
	}
	return r
}
