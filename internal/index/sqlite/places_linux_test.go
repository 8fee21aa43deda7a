package sqlite

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"lore/internal/fault"
	"lore/internal/index"
	"lore/internal/machine/db"
	"lore/internal/vault"
)

// mount puts a file system of its own at a new folder, where that is allowed.
func mount(t *testing.T, options string) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, options); err != nil {
		t.Skipf("no file system can be mounted here: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	return dir
}

func readOnly(t *testing.T, dir string) {
	t.Helper()
	must(t, syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""))
}

func clearError(t *testing.T, err error, kind fault.Kind) {
	t.Helper()
	if fault.Of(err) != kind {
		t.Errorf("%v is of kind %q, want %q", err, fault.Of(err), kind)
	}
	if err != nil && !strings.Contains(err.Error(), ";") {
		t.Errorf("%v does not say what to do", err)
	}
}

func TestReadOnlyDataFolder(t *testing.T) {
	dir := mount(t, "size=4m")
	t.Run("with an index", func(t *testing.T) {
		s, _, err := Open(t.Context(), filepath.Join(dir, "was"), time.Now)
		must(t, err)
		must(t, s.Close())
		readOnly(t, dir)
		_, _, err = Open(t.Context(), filepath.Join(dir, "was"), time.Now)
		clearError(t, err, fault.ReadOnly)
	})
	t.Run("without", func(t *testing.T) {
		_, _, err := Open(t.Context(), filepath.Join(dir, "new"), time.Now)
		clearError(t, err, fault.ReadOnly)
		_, _, err = Open(t.Context(), dir, time.Now)
		clearError(t, err, fault.ReadOnly)
	})
}

func TestReadOnlyVault(t *testing.T) {
	notes := mount(t, "size=1m")
	must(t, os.WriteFile(filepath.Join(notes, "a.md"), []byte("# Tea\n\ngreen"), 0o644))
	readOnly(t, notes)
	s := openTemp(t)
	sum, err := index.New(openVault(t, notes, vault.Options{}), s, index.Options{}).Sync(t.Context())
	must(t, err)
	if sum.Added != 1 || sum.State.Mode != vault.ReadOnly {
		t.Errorf("%+v", sum)
	}
}

// TestFullDisk fills the data folder while an index is built. The error says
// so, what was committed stays, and with room again the index is completed.
func TestFullDisk(t *testing.T) {
	if testing.Short() {
		t.Skip("it works on one thing at a time, which tells nothing to a race detector")
	}
	notes := t.TempDir()
	r := rand.New(rand.NewPCG(1, 1))
	for i := range 200 {
		var b strings.Builder
		for range 700 {
			fmt.Fprintf(&b, "w%d ", r.IntN(100000))
		}
		must(t, os.WriteFile(filepath.Join(notes, fmt.Sprintf("n%d.md", i)), []byte(b.String()), 0o644))
	}
	dir := mount(t, "size=3m")
	s, _ := openAt(t, dir)
	ix := index.New(openVault(t, notes, vault.Options{}), s, index.Options{})
	_, err := ix.Sync(t.Context())
	clearError(t, err, fault.Unavailable)
	if !strings.Contains(fmt.Sprint(err), "full") {
		t.Errorf("%v does not say that the disk is full", err)
	}
	if f := ix.Freshness(); f.Fresh || f.Reason == "" {
		t.Errorf("fresh after a failure: %+v", f)
	}
	must(t, s.Check(t.Context()))
	must(t, syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_REMOUNT, "size=64m"))
	_, err = ix.Sync(t.Context())
	must(t, err)
	if d := difference(dump(t, s), fresh(t, notes, vault.Options{}, index.Options{})); d != "" {
		t.Error(d)
	}
}

// TestFullDiskForVectors: the file of vectors has errors of its own.
func TestFullDiskForVectors(t *testing.T) {
	notes := t.TempDir()
	for i := range 20 {
		must(t, os.WriteFile(filepath.Join(notes, fmt.Sprintf("n%d.md", i)), []byte(fmt.Sprintf("# N %d\n\ntea %d\n", i, i)), 0o644))
	}
	dir := mount(t, "size=2m")
	s, _ := openAt(t, dir)
	_, err := index.New(openVault(t, notes, vault.Options{}), s, index.Options{}).Sync(t.Context())
	must(t, err)
	for { // until nothing is left
		f, err := os.OpenFile(filepath.Join(dir, "ballast"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		must(t, err)
		_, err = f.Write(make([]byte, 512))
		must(t, f.Close())
		if err != nil {
			break
		}
	}
	e := &index.Embedder{Store: s, Model: letters{"letters", 2048}, Threads: func() int { return 1 }, Now: time.Now}
	_, err = e.Run(t.Context())
	clearError(t, err, fault.Unavailable)
	must(t, os.Remove(filepath.Join(dir, "ballast")))
	_, err = e.Run(t.Context())
	must(t, err)
	if st, err := s.Stats(t.Context(), "letters"); err != nil || st.Embedded != st.Passages {
		t.Errorf("%+v %v", st, err)
	}
}

func TestLocked(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for SQLite's patience to end")
	}
	t.Parallel()
	sp := newSpecimen(t, false)
	other, err := db.Open(Path(sp.index), db.Options{})
	must(t, err)
	defer other.Close()
	c, err := other.Write.Conn(t.Context())
	must(t, err)
	_, err = c.ExecContext(t.Context(), "BEGIN EXCLUSIVE")
	must(t, err)
	s, _ := openAt(t, sp.index) // reading goes on
	must(t, os.WriteFile(filepath.Join(sp.notes, "new.md"), []byte("new"), 0o644))
	ix := index.New(openVault(t, sp.notes, vault.Options{}), s, index.Options{})
	_, err = ix.Sync(t.Context())
	clearError(t, err, fault.Busy)
	_, err = c.ExecContext(t.Context(), "ROLLBACK")
	must(t, err)
	must(t, c.Close())
	sum, err := ix.Sync(t.Context())
	must(t, err)
	if sum.Added != 1 {
		t.Errorf("%+v", sum)
	}
}
