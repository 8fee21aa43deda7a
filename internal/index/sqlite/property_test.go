package sqlite

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/text/unicode/norm"

	"lore/internal/index"
	"lore/internal/vault"
)

// TestIncrementalEqualsFresh does a thousand random things to the files of a
// vault, follows them as a running program would, and compares the index with
// one that is built from the files: row for row, word for word.
func TestIncrementalEqualsFresh(t *testing.T) {
	for _, seed := range []uint64{1, 2} {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			d := newDriver(t, seed)
			for i := range many(1000) {
				d.step()
				if i%8 == 7 {
					d.follow()
				}
				if i%50 == 49 {
					d.compare(i)
				}
			}
		})
	}
}

// TestAroundTheLimit: of a file beyond the limit only the beginning is hashed,
// and what is behind it still tells in its size and its problem.
func TestAroundTheLimit(t *testing.T) {
	d := newDriver(t, 1)
	for i, size := range []int{maxNote, maxNote + 1, maxNote + 500, maxNote + 1, maxNote, maxNote - 1, maxNote} {
		d.write("a.md", strings.Repeat("x", size))
		if i%2 == 0 {
			d.sync()
		} else {
			d.update([]string{"a.md"})
		}
		if diff := difference(dump(t, d.store), fresh(t, d.dir, vault.Options{MaxNote: maxNote}, d.options())); diff != "" {
			t.Errorf("at %d bytes:\n%s", size, diff)
		}
	}
}

// maxNote is small, so that files beyond it are common.
const maxNote = 4000

type driver struct {
	t       *testing.T
	dir     string
	random  *rand.Rand
	now     time.Time
	vault   *vault.Vault
	store   *Store
	indexer *index.Indexer
	hints   map[string]bool // what a watcher would name
	rescan  bool
	log     []string
}

func newDriver(t *testing.T, seed uint64) *driver {
	d := &driver{t: t, dir: t.TempDir(), random: rand.New(rand.NewPCG(seed, 7)), now: time.Now(), hints: map[string]bool{}}
	d.vault = openVault(t, d.dir, vault.Options{MaxNote: maxNote})
	d.store = openTemp(t)
	d.indexer = index.New(d.vault, d.store, d.options())
	return d
}

func (d *driver) options() index.Options {
	return index.Options{Now: func() time.Time { return d.now }, Workers: 2}
}

var (
	driverFolders = []string{"", "tea", "tea/green", "Übung", "Tea", "日本", "e\u0301te\u0301"}
	driverNames   = []string{"a.md", "A.md", "b.md", "index.md", "README.md", "Größe.md", "cafe\u0301.md", "茶.md", "long name, with things.md",
		"photo.png", "Paper.PDF", "board.canvas", "a.sync-conflict-20260101-120000-ABCDEFG.md", "b (conflicted copy 2026-01-01).md", ".hidden.md",
		"c.markdown", "x 2.md", "x.md", "half.md.part", "d.MD"}
	driverWords = strings.Fields("tea leaf water kettle Zürich Straße 茶 お茶を飲む 한국어 running runs ran 42 3.14 naïve cafe\u0301 don't e-mail [[a]] [[tea/a|b]] #tag #tag/nested #TAG ![[photo.png]] [x](b.md) [y](../a.md)")
)

func (d *driver) pick(list []string) string { return list[d.random.IntN(len(list))] }

func (d *driver) path() string { return path.Join(d.pick(driverFolders), d.pick(driverNames)) }

func (d *driver) existing() string {
	var all []string
	_ = filepath.WalkDir(d.dir, func(p string, e os.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			rel, _ := filepath.Rel(d.dir, p)
			all = append(all, filepath.ToSlash(rel))
		}
		return nil
	})
	if len(all) == 0 {
		return d.path()
	}
	return d.pick(all)
}

func (d *driver) text() string {
	var b strings.Builder
	switch d.random.IntN(12) {
	case 0:
		return ""
	case 1:
		b.WriteString("---\ntitle: {{date}}\ntags: [x, : broken\n---\n")
	case 2:
		return "text \x00 with \x00 zero \xff\xfe bytes\n# Head\x00ing\n"
	case 3:
		return strings.Repeat("big tea file ", 400)
	case 4:
		return strings.Repeat("x", maxNote-1+d.random.IntN(3))
	case 5:
		return "{\"nodes\":[{\"id\":\"1\",\"type\":\"text\",\"text\":\"tea [[a]]\"},{\"id\":\"2\",\"type\":\"file\",\"file\":\"b.md\"}],\"edges\":[]}"
	case 6, 7, 8:
		fmt.Fprintf(&b, "---\ntitle: %s\naliases: [%s, \"%s\"]\ntags: [%s, Tea]\ntype: T%d\nrating: %d\nauthor: {name: %s}\ndate: 2026-01-0%d\n---\n",
			d.pick(driverNames), d.pick(driverWords[:3]), d.pick(driverNames), d.pick(driverWords[:3]), d.random.IntN(5), d.random.IntN(9), d.pick(driverWords[:3]), 1+d.random.IntN(9))
	case 9:
		b.WriteString("\uFEFF")
	}
	for range 1 + d.random.IntN(60) {
		b.WriteString(d.pick(driverWords))
		b.WriteString(d.pick([]string{" ", " ", " ", "\n", "\r\n", "\n\n", "\n## ", "\n- [ ] ", "\n- [x] ", "\nkey:: "}))
	}
	return b.String()
}

func (d *driver) full(p string) string { return filepath.Join(d.dir, filepath.FromSlash(p)) }

func (d *driver) hint(p string) { d.hints[vault.Key(p)] = true }

func (d *driver) write(p, text string) {
	if err := os.MkdirAll(filepath.Dir(d.full(p)), 0o755); err != nil {
		d.t.Fatal(err)
	}
	if err := os.WriteFile(d.full(p), []byte(text), 0o644); err != nil {
		d.t.Fatal(err)
	}
	d.hint(p)
}

func (d *driver) step() {
	p := d.existing()
	switch n := d.random.IntN(20); n {
	case 0, 1, 2, 3, 4, 5:
		p = d.path()
		d.note("write", p)
		d.write(p, d.text())
	case 6, 7:
		d.note("append", p)
		old, _ := os.ReadFile(d.full(p))
		d.write(p, string(old)+" more "+d.pick(driverWords))
	case 8, 9:
		d.note("delete", p)
		_ = os.Remove(d.full(p)) // there may be none yet
		d.hint(p)
	case 10, 11:
		to := d.path()
		d.note("rename", p, to)
		if err := os.MkdirAll(filepath.Dir(d.full(to)), 0o755); err != nil {
			d.t.Fatal(err)
		}
		_ = os.Rename(d.full(p), d.full(to))
		d.hint(p)
		d.hint(to)
	case 12:
		from, to := d.pick(driverFolders[1:]), d.pick(driverFolders[1:])+"/"+d.pick([]string{"in", "moved"})
		d.note("rename folder", from, to)
		_ = os.MkdirAll(filepath.Dir(d.full(to)), 0o755)
		_ = os.Rename(d.full(from), d.full(to)) // into itself, or over one that is not empty: no harm
		d.rescan = true
	case 13, 14:
		d.note("replace", p)
		temp := d.full(path.Join(path.Dir(p), ".save.tmp"))
		_ = os.MkdirAll(filepath.Dir(temp), 0o755)
		if err := os.WriteFile(temp, []byte(d.text()), 0o644); err != nil {
			d.t.Fatal(err)
		}
		if err := os.Rename(temp, d.full(p)); err != nil {
			d.t.Fatal(err)
		}
		d.hint(p)
	case 15, 16:
		d.sameSize(p)
	case 17:
		when := time.Date([]int{1970, 2100, 1901, 2020}[d.random.IntN(4)], 1, 2, 3, 4, 5, 0, time.UTC)
		d.note("time", p, when.String())
		_ = os.Chtimes(d.full(p), when, when)
		d.hint(p)
	case 18:
		d.note("cut", p)
		_ = os.Truncate(d.full(p), int64(d.random.IntN(30)))
		d.hint(p)
	case 19:
		d.now = d.now.Add(time.Duration(d.random.IntN(5)) * time.Second)
		d.note("wait")
	}
}

// sameSize changes a file a moment after it was indexed, so that neither its
// size nor its time tell, and no event comes: only the rule for files that
// were read too soon can find it.
func (d *driver) sameSize(p string) {
	old, err := os.ReadFile(d.full(p))
	if err != nil || len(old) == 0 {
		return
	}
	d.note("same size", p)
	if err := os.Chtimes(d.full(p), d.now, d.now); err != nil {
		d.t.Fatal(err)
	}
	d.update([]string{vault.Key(p)})
	old[d.random.IntN(len(old))] = 'a' + byte(d.random.IntN(26))
	d.write(p, string(old))
	if err := os.Chtimes(d.full(p), d.now, d.now); err != nil {
		d.t.Fatal(err)
	}
	delete(d.hints, vault.Key(p))
	d.rescan = true
}

func (d *driver) note(parts ...string) { d.log = append(d.log, strings.Join(parts, " ")) }

// follow brings the index up to date, by hints or by a comparison of all.
func (d *driver) follow() {
	d.t.Helper()
	if d.rescan || d.random.IntN(4) == 0 {
		d.sync()
		return
	}
	var paths []string
	for p := range d.hints {
		paths = append(paths, p)
		if d.random.IntN(4) == 0 {
			paths = append(paths, p) // a hint may come twice
		}
	}
	clear(d.hints)
	d.update(paths)
}

func (d *driver) update(paths []string) {
	d.t.Helper()
	d.note("update")
	sum, err := d.indexer.Update(d.t.Context(), paths)
	if err != nil {
		d.t.Fatal(err)
	}
	d.rescan = d.rescan || sum.Doubted > 0 // no event will come when the doubt ends
}

func (d *driver) sync() {
	d.t.Helper()
	clear(d.hints)
	d.note("sync")
	sum, err := d.indexer.Sync(d.t.Context())
	if err != nil {
		d.t.Fatal(err)
	}
	d.rescan = sum.Doubted > 0
	if sum.State.Mode == vault.Offline {
		d.t.Fatalf("the vault went offline: %s", sum.State.Reason)
	}
}

func (d *driver) compare(step int) {
	d.t.Helper()
	d.now = d.now.Add(2 * time.Minute) // no emptied note is doubted any longer
	d.follow()
	got, want := dump(d.t, d.store), fresh(d.t, d.dir, vault.Options{MaxNote: maxNote}, d.options())
	if diff := difference(got, want); diff != "" {
		d.t.Fatalf("after step %d the index is not what the files say:\n%s\nlast steps:\n%s", step, diff, strings.Join(d.log[max(0, len(d.log)-40):], "\n"))
	}
	if !norm.NFC.IsNormalString(strings.Join(got["names"], "")) {
		d.t.Fatal("a path is not in NFC")
	}
}
