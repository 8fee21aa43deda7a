package writer

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"lore/internal/fault"
	"lore/internal/vault"
	"lore/internal/vault/disk"
	"lore/internal/vault/journal"
)

// late is how long a program may still write into a file that was displaced
// while it had it open.
const late = 2 * time.Second

// Held lists the operations whose displaced files are still kept, sorted. All
// of them were applied.
func (w *Writer) Held(ctx context.Context) ([]string, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	t, err := w.look(ctx)
	if err != nil {
		return nil, err
	}
	defer t.Close()
	shelves, err := t.Shelves(journal.DisplacedFolder)
	var out []string
	for _, s := range shelves {
		out = append(out, s.Op)
	}
	return out, err
}

// look opens the vault to read what the writer keeps in it.
func (w *Writer) look(ctx context.Context) (*task, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("check the vault: %w", err)
	}
	root, err := w.v.Handle()
	if err != nil {
		return nil, err
	}
	return w.newTask(root), nil
}

// Sweep lets displaced files go. A file is looked at again two seconds or more
// after it was displaced, when synced says that history holds its copy: if a
// program that had it open wrote into it meanwhile, that text becomes a conflict
// copy beside its note and is reported. Sweep also empties the trash of what is
// older than the options say. It does nothing in a vault that was never written.
func (w *Writer) Sweep(ctx context.Context, synced func(op string) bool) ([]Conflict, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	t, err := w.look(ctx)
	if err != nil {
		return nil, err
	}
	defer t.Close()
	ops, err := t.Shelves(journal.DisplacedFolder)
	if err != nil {
		return nil, err
	}
	dropped, err := t.Shelves(journal.DiscardedFolder)
	if err != nil {
		return nil, err
	}
	trash, err := t.List(journal.TrashFolder)
	if err != nil || len(ops)+len(dropped)+len(trash) == 0 {
		return nil, disk.Explain(own, err)
	}
	if err := t.prepare(); err != nil {
		return nil, err
	}
	before := func(s *journal.Step) vault.Hash { return *s.Pre }
	out, err := t.sweepAll(ctx, ops, synced, before)
	if err != nil {
		return out, err
	}
	after := func(s *journal.Step) vault.Hash { return *s.Post }
	more, err := t.sweepAll(ctx, dropped, func(string) bool { return true }, after)
	out = append(out, more...)
	if err != nil {
		return out, err
	}
	return out, t.emptyTrash(trash)
}

// sweepAll lets the files of operations go that are old enough and may go. want
// tells what a file held when it was put there.
func (t *task) sweepAll(ctx context.Context, shelves []journal.Shelf, may func(op string) bool, want func(*journal.Step) vault.Hash) ([]Conflict, error) {
	var out []Conflict
	for _, shelf := range shelves {
		if ctx.Err() != nil {
			return out, fmt.Errorf("check displaced files: %w", ctx.Err())
		}
		t.Forget()
		since, err := t.Since(shelf)
		if err != nil {
			return out, err
		}
		if t.w.now().Sub(since) < late || !may(shelf.Op) {
			continue
		}
		found, err := t.sweep(shelf, want)
		out = append(out, found...)
		if err != nil {
			return out, err
		}
	}
	return out, nil
}

// sweep lets the files of one operation go.
func (t *task) sweep(shelf journal.Shelf, want func(*journal.Step) vault.Hash) ([]Conflict, error) {
	m, ok, err := t.Record(shelf)
	if err != nil {
		return nil, err
	}
	names, err := t.Files(shelf)
	if err != nil {
		return nil, err
	}
	var out []Conflict
	for _, name := range names {
		n, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		at := shelf.File(name)
		var c []Conflict
		if ok && n < len(m.Steps) {
			c, err = t.release(&m.Steps[n], at, want(&m.Steps[n]))
		} else { // the record was lost
			c, err = t.Rescue(at, at)
		}
		out = append(out, c...)
		if err != nil {
			return out, err
		}
	}
	for i := range m.Steps {
		s := &m.Steps[i]
		if s.Kind != journal.Swaps || strings.HasPrefix(s.Stage, own+"/") {
			continue
		}
		c, err := t.release(s, s.Stage, want(s)) // on another disk
		out = append(out, c...)
		if err != nil {
			return out, err
		}
	}
	return out, t.Clear(shelf)
}

// release lets one file go that was in its place and is no longer, or makes it
// a conflict copy when it is not what it was. It is held open while its name goes, so that even a last write
// is seen.
func (t *task) release(s *journal.Step, at string, want vault.Hash) ([]Conflict, error) {
	f, name, err := t.At(at)
	if disk.Absent(err) {
		return nil, nil
	}
	if err != nil {
		return nil, disk.Explain(s.Key, err)
	}
	open, err := t.Sys.Reopen(f, name)
	if disk.Absent(err) {
		return nil, nil
	}
	if err != nil { // one that may only be read cannot be written by others either
		open = nil
	} else {
		defer open.Close()
	}
	have, _, err := t.Hash(at)
	if err != nil {
		return nil, disk.Explain(s.Key, err)
	}
	if have != want {
		return t.conflictCopy(s, at)
	}
	if err := t.Remove(at); err != nil || open == nil {
		return nil, disk.Explain(s.Key, err)
	}
	data, err := readAll(open)
	if err != nil || vault.Sum(data) == want {
		return nil, disk.Explain(s.Key, err)
	}
	to, err := t.beside(s)
	if err == nil {
		err = t.Put(to, data, true)
	}
	return []Conflict{{Path: s.Key, Copy: to, Reason: wroteLate}}, disk.Explain(s.Key, err)
}

func readAll(f *os.File) ([]byte, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	data := make([]byte, info.Size())
	n, err := f.ReadAt(data, 0)
	if n == len(data) {
		err = nil
	}
	return data[:n], err
}

const wroteLate = "a program that had the note open wrote to the replaced version"

// conflictCopy gives a displaced text a name beside its note.
func (t *task) conflictCopy(s *journal.Step, at string) ([]Conflict, error) {
	to, err := t.beside(s)
	if err == nil {
		err = t.Transfer(at, to)
	}
	if err == nil {
		err = t.SyncFolders(to)
	}
	if err != nil {
		return nil, disk.Explain(s.Key, err)
	}
	return []Conflict{{Path: s.Key, Copy: to, Reason: wroteLate}}, nil
}

// beside finds a name for a conflict copy, in the words that sync tools use, so
// that it is listed as one. A note that moved away since has its copy kept with
// the recovered ones.
func (t *task) beside(s *journal.Step) (string, error) {
	dir, base := path.Split(s.Path)
	ext := path.Ext(base)
	stem := journal.Short(strings.TrimSuffix(base, ext))
	if _, err := t.Folder(path.Clean(dir)); err != nil {
		return t.Free(s.Key)
	}
	stamp := t.w.now().Format("2006-01-02 150405")
	for i := range 1000 {
		more := ""
		if i > 0 {
			more = " " + strconv.Itoa(i)
		}
		to := path.Join(dir, fmt.Sprintf("%s (conflicted copy %s%s)%s", stem, stamp, more, ext))
		if there, err := t.Exists(to); err != nil || !there {
			return to, err
		}
	}
	return "", fault.New(fault.Internal, "no unused name was found for a conflict copy of %q", s.Key)
}

// A Trashed is one deleted file.
type Trashed struct {
	Op   string    // that deleted it
	Path string    // where it was, on disk
	Copy string    // where it lies
	Size int64     // in bytes
	When time.Time // it was deleted, or another file of its operation was
}

// Trash lists the deleted files, the latest first.
func (w *Writer) Trash(ctx context.Context) ([]Trashed, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	t, err := w.look(ctx)
	if err != nil {
		return nil, err
	}
	defer t.Close()
	list, err := t.listTrash()
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return list, disk.Explain(own, err)
}

func (t *task) listTrash() ([]Trashed, error) {
	var out []Trashed
	times := map[string]time.Time{}
	err := fs.WalkDir(t.Root.FS(), journal.TrashFolder, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		op, rest, inside := strings.Cut(strings.TrimPrefix(p, journal.TrashFolder+"/"), "/")
		switch {
		case !inside:
			times[op] = info.ModTime()
		case !d.IsDir():
			out = append(out, Trashed{Op: op, Path: rest, Copy: p, Size: info.Size(), When: times[op]})
		}
		return nil
	})
	slices.SortStableFunc(out, func(a, b Trashed) int { return b.When.Compare(a.When) })
	return out, err
}

// emptyTrash removes what was deleted long ago.
func (t *task) emptyTrash(ops []string) error {
	for _, op := range ops {
		dir := path.Join(journal.TrashFolder, op)
		st, err := t.Stat(dir)
		if err != nil {
			return disk.Explain(own, err)
		}
		if t.w.now().Sub(st.ModTime) < time.Duration(t.w.trashDays)*24*time.Hour {
			continue
		}
		t.Forget()
		t.w.forgetTrash()
		if err := t.Root.RemoveAll(dir); err != nil {
			return disk.Explain(own, err)
		}
	}
	return nil
}

// forgetTrash makes the next create look into the trash again.
func (w *Writer) forgetTrash() { w.trashed = nil }

// addTrash remembers a file that was just deleted.
func (w *Writer) addTrash(disk, op string) {
	if w.trashed != nil {
		w.trashed[disk] = append([]string{op}, w.trashed[disk]...)
	}
}
