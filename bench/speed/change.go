package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"lore/internal/change"
	"lore/internal/index"
	"lore/internal/index/sqlite"
	"lore/internal/machine/state"
	"lore/internal/search"
	"lore/internal/tool"
	"lore/internal/tool/access"
	"lore/internal/tool/approval"
	"lore/internal/tool/history"
	"lore/internal/tools/notes"
	"lore/internal/vault"
	"lore/internal/vault/writer"
)

// compareChange measures what a change costs: one save against the least that
// is safe, the whole call with its record, and renames with many links.
func compareChange(dir string) error {
	if err := compareSave(filepath.Join(dir, "save")); err != nil {
		return err
	}
	for _, n := range []int{1000, 10000} {
		if err := measureRename(filepath.Join(dir, fmt.Sprint(n)), n); err != nil {
			return err
		}
	}
	return nil
}

// bareSave writes beside the file, syncs, renames and syncs the folder.
func bareSave(path, text string) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".bare-*")
	if err != nil {
		return err
	}
	if _, err := f.WriteString(text); err != nil {
		return err
	}
	if err := errors.Join(f.Sync(), f.Close(), os.Rename(f.Name(), path)); err != nil {
		return err
	}
	d, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

func compareSave(dir string) error {
	const rounds = 300
	w, err := newWorld(dir, map[string]string{"a.md": "0\n", "b.md": "0\n", "c.md": "0\n"})
	if err != nil {
		return err
	}
	var bare, save, call []time.Duration
	body := strings.Repeat("Tea is a leaf, and water, and time.\n", 100)
	took := func(list *[]time.Duration, f func() error) error {
		start := time.Now()
		err := f()
		*list = append(*list, time.Since(start))
		return err
	}
	old := "0\n"
	person := access.Terminal()
	person.Explicit = true
	for i := range rounds {
		text := fmt.Sprintf("%d\n%s", i+1, body)
		err := errors.Join(
			took(&bare, func() error { return bareSave(filepath.Join(w.dir, "a.md"), text) }),
			took(&save, func() error {
				_, err := w.writer.Apply(context.Background(), fmt.Sprintf("save-%d", i), change.Set{change.Replace("b.md", old, text)})
				return err
			}),
			took(&call, func() error {
				args, err := json.Marshal(map[string]string{"path": "c.md", "content": text})
				if err != nil {
					return err
				}
				_, err = w.registry.Call(context.Background(), person, "write_note", args)
				return err
			}),
		)
		if err != nil {
			return err
		}
		old = text
	}
	b, s, c := middle(bare), middle(save), middle(call)
	row("a safe save, median ms (floor: write, fsync, rename, fsync of the folder)", ms(s), ms(b))
	row("the whole call: plan, record, save, index, median ms (same floor)", ms(c), ms(b))
	w.close() // empties the write-ahead log
	info, err := os.Stat(filepath.Join(w.data, "state.db"))
	if err != nil {
		return err
	}
	fmt.Printf("| history, bytes for each change of a note of %d bytes | %d | | |\n", len(body), info.Size()/rounds)
	return nil
}

func row(what string, have, floor float64) {
	fmt.Printf("| %s | %.2f | %.2f | %.2f |\n", what, have, floor, have/floor)
}

func middle(list []time.Duration) time.Duration {
	slices.Sort(list)
	return list[len(list)/2]
}

// measureRename renames a note that n others link to.
func measureRename(dir string, n int) error {
	files := map[string]string{"Hub.md": "# Hub\n"}
	for i := range n {
		files[fmt.Sprintf("notes/%03d/%d.md", i%100, i)] = fmt.Sprintf("# %d\n\nA line before.\n\nSee [[Hub]] for more.\n", i)
	}
	w, err := newWorld(dir, files)
	if err != nil {
		return err
	}
	defer w.close()
	args := json.RawMessage(`{"path": "Hub.md", "new_path": "Centre.md"}`)
	start := time.Now()
	if _, err := w.registry.Call(context.Background(), access.Terminal(), "rename_note", json.RawMessage(`{"path":"Hub.md","new_path":"Centre.md","dry_run":true}`)); err != nil {
		return err
	}
	planned := time.Since(start)
	start = time.Now()
	res, err := w.registry.Call(context.Background(), access.Terminal(), "rename_note", args)
	if err != nil {
		return err
	}
	asked := time.Since(start)
	start = time.Now()
	res, err = w.registry.Answer(context.Background(), access.Terminal(), res.Question.ID, tool.Answer{Approve: true})
	if err != nil {
		return err
	}
	if len(res.Changes) != n+1 {
		return fmt.Errorf("%d files changed, not %d", len(res.Changes), n+1)
	}
	fmt.Printf("| rename with %d links: plan, ms | %.0f | | |\n", n, ms(planned))
	fmt.Printf("| rename with %d links: until the question is on disk, ms | %.0f | | |\n", n, ms(asked))
	fmt.Printf("| rename with %d links: from the answer until all is done and indexed, ms | %.0f | | |\n", n, ms(time.Since(start)))
	fmt.Printf("| rename with %d links: of this, the writer, ms | %.0f | | |\n", n, ms(w.applied))
	return nil
}

// A world is a vault with everything that a call needs.
type world struct {
	dir, data string
	writer    *writer.Writer
	registry  *tool.Registry
	applied   time.Duration
	closers   []func() error
}

func newWorld(dir string, files map[string]string) (*world, error) {
	w := &world{dir: filepath.Join(dir, "vault"), data: filepath.Join(dir, "data")}
	if err := os.MkdirAll(w.data, 0o700); err != nil {
		return nil, err
	}
	for name, text := range files {
		p := filepath.Join(w.dir, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			return nil, err
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			return nil, err
		}
	}
	v, err := vault.Open(w.dir, vault.Options{})
	if err != nil {
		return nil, err
	}
	store, _, err := sqlite.Open(context.Background(), w.data, time.Now)
	if err != nil {
		return nil, err
	}
	ix := index.New(v, store, index.Options{Now: time.Now})
	if _, err := ix.Sync(context.Background()); err != nil {
		return nil, err
	}
	file := state.In(w.data)
	h := history.New(file, history.Options{})
	w.writer = writer.Open(v, writer.Options{})
	w.closers = []func() error{w.writer.Close, h.Close, file.Close, store.Close, v.Close}
	w.registry = tool.NewRegistry(tool.Deps{
		Questions: approval.New(file, time.Now), Ledger: h,
		Apply: func(ctx context.Context, op string, set change.Set) error {
			start := time.Now()
			_, err := w.writer.Apply(ctx, op, set)
			w.applied = time.Since(start)
			return err
		},
		Reindex: func(ctx context.Context, paths []string) error { _, err := ix.Update(ctx, paths); return err },
	}, notes.Tools(notes.Env{
		Vault: v, Store: store, Search: &search.Searcher{Store: store, Now: time.Now}, Fresh: func(context.Context) index.Freshness { return ix.Freshness() }, Now: time.Now,
	}))
	return w, nil
}

func (w *world) close() {
	for _, f := range w.closers {
		if err := f(); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}
}
