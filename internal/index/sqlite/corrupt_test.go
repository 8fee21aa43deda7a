package sqlite

import (
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lore/internal/fault"
	"lore/internal/index"
	"lore/internal/index/seal"
	"lore/internal/search"
	"lore/internal/vault"
)

// A specimen is a vault with its index, closed or left behind by a program that
// was killed, which a test may copy and damage.
type specimen struct {
	notes, index string
	want         map[string][]string
}

func newSpecimen(t *testing.T, killed bool) *specimen {
	t.Helper()
	sp := &specimen{notes: t.TempDir(), index: t.TempDir()}
	for i := range 40 {
		text := fmt.Sprintf("---\ntags: [tea, t%d]\naliases: [Alias %d]\nrating: %d\n---\n# Note %d\n\nGreen tea number %d. See [[n%d]] and [x](n%d.md).\n\n## Part\n\n%s\n",
			i%7, i, i%5, i, i, (i*7)%40, (i+1)%40, strings.Repeat(fmt.Sprintf("word%d kettle water ", i), 8))
		must(t, os.WriteFile(filepath.Join(sp.notes, fmt.Sprintf("n%d.md", i)), []byte(text), 0o644))
	}
	old := time.Now().Add(-time.Hour)
	must(t, filepath.WalkDir(sp.notes, func(p string, d fs.DirEntry, err error) error { return os.Chtimes(p, old, old) }))
	sp.want = fresh(t, sp.notes, vault.Options{}, index.Options{})
	dir := t.TempDir()
	s, _ := openAt(t, dir)
	ix := index.New(openVault(t, sp.notes, vault.Options{}), s, index.Options{})
	if killed {
		// Several commits, so that the log can lose some of them.
		for i := range 20 {
			_, err := ix.Update(t.Context(), []string{fmt.Sprintf("n%d.md", i)})
			must(t, err)
		}
	}
	_, err := ix.Sync(t.Context())
	must(t, err)
	if killed {
		must(t, copyFolder(dir, sp.index, "index.db-shm"))
		must(t, s.Close())
	} else {
		must(t, s.Close())
		must(t, copyFolder(dir, sp.index, ""))
	}
	return sp
}

// many is how often something random is tried: a tenth of it in short tests.
func many(n int) int {
	if testing.Short() {
		return n / 10
	}
	return n
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// copyFolder copies files with their times.
func copyFolder(from, to, without string) error {
	entries, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Name() == without {
			continue
		}
		data, err := os.ReadFile(filepath.Join(from, e.Name()))
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		p := filepath.Join(to, e.Name())
		if err := os.WriteFile(p, data, 0o600); err != nil {
			return err
		}
		if err := os.Chtimes(p, info.ModTime(), info.ModTime()); err != nil {
			return err
		}
	}
	return nil
}

// use opens an index as a program does, brings it up to date and asks it.
func (sp *specimen) use(t *testing.T, dir string) (Opening, map[string][]string, error) {
	t.Helper()
	s, o, err := Open(t.Context(), dir, time.Now)
	if err != nil {
		return o, nil, err
	}
	defer s.Close()
	ix := index.New(openVault(t, sp.notes, vault.Options{}), s, index.Options{})
	if _, err := ix.Sync(t.Context()); err != nil {
		return o, nil, err
	}
	a, err := (&search.Searcher{Store: s}).Find(t.Context(), `"green tea" word17 tag:tea`, search.Options{})
	if err != nil {
		return o, nil, err
	}
	if len(a.Hits) != 10 || a.Hits[0].Path != "n17.md" {
		return o, nil, fmt.Errorf("%w: a wrong answer: %d hits, %+v", errUnseen, len(a.Hits), a.Hits[:min(1, len(a.Hits))])
	}
	if err := s.Check(t.Context()); err != nil {
		return o, nil, err
	}
	got, err := tryDump(t.Context(), s)
	if err != nil {
		err = fmt.Errorf("%w: %w", errUnseen, err)
	}
	return o, got, err
}

// errUnseen is damage that only looking at every byte shows.
var errUnseen = errors.New("damage that was not asked about")

func (sp *specimen) copy(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	must(t, copyFolder(sp.index, dir, ""))
	return dir
}

// same fails when an index is not what the files say.
func (sp *specimen) same(t *testing.T, got map[string][]string) {
	t.Helper()
	if d := difference(got, sp.want); d != "" {
		t.Fatalf("a wrong index was used:\n%s", d)
	}
}

func flip(t *testing.T, path string, r *rand.Rand) {
	t.Helper()
	data, err := os.ReadFile(path)
	must(t, err)
	for range 1 + r.IntN(3) {
		data[r.IntN(len(data))] ^= byte(1 + r.IntN(255))
	}
	must(t, os.WriteFile(path, data, 0o600))
}

// TestDamagedIndexIsNeverUsed damages an index in hundreds of ways that go
// through the file system; each must end in the right index, with the damaged
// file kept and the notes untouched.
func TestDamagedIndexIsNeverUsed(t *testing.T) {
	if testing.Short() {
		t.Skip("it works on one thing at a time, which tells nothing to a race detector")
	}
	sp := newSpecimen(t, false)
	before := fingerprint(t, sp.notes)
	size := fileSize(t, Path(sp.index))
	r := rand.New(rand.NewPCG(1, 2))
	type damage struct {
		name string
		do   func(t *testing.T, path string)
		kept bool
	}
	var all []damage
	for i := range many(120) {
		all = append(all, damage{fmt.Sprint("flip ", i), func(t *testing.T, p string) { flip(t, p, r) }, true})
	}
	for i := range many(60) {
		n := size * int64(i+1) / int64(many(60)+1)
		all = append(all, damage{fmt.Sprint("cut at ", n), func(t *testing.T, p string) { must(t, os.Truncate(p, n)) }, true})
	}
	all = append(all,
		damage{"text", func(t *testing.T, p string) { must(t, os.WriteFile(p, []byte("dear diary"), 0o600)) }, true},
		damage{"zeros", func(t *testing.T, p string) { must(t, os.WriteFile(p, make([]byte, size), 0o600)) }, true},
		damage{"longer", func(t *testing.T, p string) {
			f, err := os.OpenFile(p, os.O_APPEND|os.O_WRONLY, 0)
			must(t, err)
			_, err = f.Write(make([]byte, 4096))
			must(t, err)
			must(t, f.Close())
		}, true},
		damage{"one byte, which is none to SQLite", func(t *testing.T, p string) { must(t, os.Truncate(p, 1)) }, false},
		damage{"empty", func(t *testing.T, p string) { must(t, os.Truncate(p, 0)) }, false},
		damage{"gone", func(t *testing.T, p string) { must(t, os.Remove(p)) }, false},
		damage{"folder", func(t *testing.T, p string) { must(t, os.Remove(p)); must(t, os.Mkdir(p, 0o700)) }, true},
		damage{"full folder", func(t *testing.T, p string) { must(t, os.Remove(p)); must(t, os.MkdirAll(p+"/x/y", 0o700)) }, true},
		damage{"seal gone", func(t *testing.T, p string) { must(t, os.Remove(seal.Path(p))) }, true},
		damage{"seal is a folder", func(t *testing.T, p string) { must(t, os.Remove(seal.Path(p))); must(t, os.Mkdir(seal.Path(p), 0o700)) }, true},
		damage{"older", sqlDamage(`PRAGMA user_version = 0`), false},
		damage{"future", sqlDamage(`PRAGMA user_version = 99`), false},
		damage{"foreign", sqlDamage(`PRAGMA application_id = 7`), true},
		damage{"another program's", func(t *testing.T, p string) {
			must(t, os.Remove(p))
			sqlDamage(`CREATE TABLE mine (x); INSERT INTO mine VALUES (1)`)(t, p)
		}, true},
		damage{"row changed by hand", sqlDamage(`UPDATE notes SET title = 'wrong'`), true},
	)
	for _, table := range []string{"notes", "names", "tags", "props", "links", "chunks", "words", "vocabulary", "spellings", "meta"} {
		all = append(all, damage{"without " + table, sqlDamage(`DROP TABLE ` + table), true})
	}
	for _, d := range all {
		t.Run(d.name, func(t *testing.T) {
			dir := sp.copy(t)
			d.do(t, Path(dir))
			o, got, err := sp.use(t, dir)
			must(t, err)
			if !o.Rebuilt || (o.Kept != "") != d.kept {
				t.Errorf("opened as %+v", o)
			}
			if kept, _ := filepath.Glob(filepath.Join(dir, "index.corrupt-*")); (len(kept) == 1) != d.kept {
				t.Errorf("kept %q", kept)
			}
			sp.same(t, got)
			if strings.HasPrefix(d.name, "flip") || strings.HasPrefix(d.name, "cut") {
				return // once more for each kind is enough
			}
			if o, _, err := sp.use(t, dir); err != nil || o.Rebuilt {
				t.Errorf("the mended index is not used again: %+v %v", o, err)
			}
		})
	}
	if fingerprint(t, sp.notes) != before {
		t.Error("notes were touched")
	}
}

func sqlDamage(query string) func(*testing.T, string) {
	return func(t *testing.T, p string) {
		t.Helper()
		d, err := sql.Open("sqlite", p)
		must(t, err)
		_, err = d.ExecContext(t.Context(), query)
		must(t, err)
		must(t, d.Close())
	}
}

func fileSize(t *testing.T, p string) int64 {
	t.Helper()
	info, err := os.Stat(p)
	must(t, err)
	return info.Size()
}

// fingerprint is the content and time of every file of a folder.
func fingerprint(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	must(t, filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(p)
		info, _ := d.Info()
		fmt.Fprintf(&b, "%s %x %d\n", p, index.HashOf(data), info.ModTime().UnixNano())
		return err
	}))
	return b.String()
}

// TestDamagedLog leaves an index as a killed program does and damages its log.
// What the log loses is older than the files, and is made up for.
func TestDamagedLog(t *testing.T) {
	if testing.Short() {
		t.Skip("it works on one thing at a time, which tells nothing to a race detector")
	}
	sp := newSpecimen(t, true)
	size := fileSize(t, Path(sp.index)+"-wal")
	if size == 0 {
		t.Fatal("there is no log to damage")
	}
	r := rand.New(rand.NewPCG(3, 4))
	check := func(name string, do func(t *testing.T, wal string)) {
		t.Run(name, func(t *testing.T) {
			dir := sp.copy(t)
			do(t, Path(dir)+"-wal")
			_, got, err := sp.use(t, dir)
			must(t, err)
			sp.same(t, got)
		})
	}
	check("whole", func(*testing.T, string) {})
	for i := range many(60) {
		check(fmt.Sprint("flip ", i), func(t *testing.T, wal string) { flip(t, wal, r) })
	}
	for i := range many(30) {
		check(fmt.Sprint("cut ", i), func(t *testing.T, wal string) { must(t, os.Truncate(wal, size*int64(i)/int64(many(30)))) })
	}
	check("gone", func(t *testing.T, wal string) { must(t, os.Remove(wal)) })
	check("text", func(t *testing.T, wal string) { must(t, os.WriteFile(wal, []byte("dear diary"), 0o600)) })
}

// TestDecay changes bytes as a failing disk does: without a write, so that no
// seal can tell. Then SQLite's own checks are what there is: nothing may panic,
// and whatever was noticed must be mended by opening again.
func TestDecay(t *testing.T) {
	if testing.Short() {
		t.Skip("it works on one thing at a time, which tells nothing to a race detector")
	}
	sp := newSpecimen(t, false)
	r := rand.New(rand.NewPCG(5, 6))
	noticed, harmless, unseen := 0, 0, 0
	for i := range many(150) {
		dir := sp.copy(t)
		info, err := os.Stat(Path(dir))
		must(t, err)
		flip(t, Path(dir), r)
		must(t, os.Chtimes(Path(dir), info.ModTime(), info.ModTime()))
		o, got, err := sp.use(t, dir)
		switch {
		case err == nil && o.Rebuilt:
			noticed++
			sp.same(t, got)
		case err == nil && difference(got, sp.want) == "":
			harmless++
		case err == nil, errors.Is(err, errUnseen):
			unseen++
		default:
			noticed++
			if !Damaged(err) || fault.Of(err) != fault.Unavailable {
				t.Fatalf("damage %d: %v is no clear error", i, err)
			}
			o, got, err := sp.use(t, dir)
			if err != nil || !o.Rebuilt {
				t.Fatalf("damage %d was noticed and not mended: %+v %v", i, o, err)
			}
			sp.same(t, got)
		}
	}
	t.Logf("%d noticed, %d without effect, %d unseen", noticed, harmless, unseen)
}

// TestJoinReplacesNothing proves that a process without the right to write
// leaves a damaged index where it is.
func TestJoinReplacesNothing(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(Path(dir), []byte("not a database at all, but long enough to be looked at"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Join(t.Context(), dir); fault.Of(err) != fault.Busy {
		t.Errorf("joining a damaged index: %v", err)
	}
	if b, err := os.ReadFile(Path(dir)); err != nil || !strings.HasPrefix(string(b), "not a database") {
		t.Errorf("it was touched: %q, %v", b, err)
	}
}
