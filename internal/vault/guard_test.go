package vault_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"lore/internal/fault"
	"lore/internal/vault"
)

// notes makes n notes in a folder of dir.
func notes(t *testing.T, dir, folder string, n int) {
	t.Helper()
	for i := range n {
		write(t, dir, fmt.Sprintf("%s/n%d.md", folder, i), "x")
	}
}

func remove(t *testing.T, dir, folder string, from, to int) {
	t.Helper()
	for i := from; i < to; i++ {
		if err := os.Remove(filepath.Join(dir, folder, fmt.Sprintf("n%d.md", i))); err != nil {
			t.Fatal(err)
		}
	}
}

func TestGuardDoubtsManyMissingNotes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		have, gone int
		want       vault.Mode
	}{
		"few":            {100, 20, vault.Online},
		"many":           {100, 21, vault.Settling},
		"a small share":  {300, 30, vault.Online},
		"a large share":  {300, 31, vault.Settling},
		"a tiny vault":   {15, 14, vault.Online},
		"all but folder": {30, 30, vault.Offline},
	} {
		dir := t.TempDir()
		notes(t, dir, "a", c.have)
		v := open(t, dir, vault.Options{})
		walk(t, v)
		remove(t, dir, "a", 0, c.gone)
		l := walk(t, v)
		if l.State.Mode != c.want || v.State() != l.State {
			t.Errorf("%s: %+v", name, l.State)
		}
		if got := len(l.Gone([]string{"a/n0.md"})); (got == 0) != (c.want != vault.Online) {
			t.Errorf("%s: %d notes may be purged", name, got)
		}
	}
}

func TestGuardWaitsForAPerson(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	notes(t, dir, "a", 50)
	notes(t, dir, "b", 100)
	clock := time.Now()
	v := open(t, dir, vault.Options{Now: func() time.Time { return clock }})
	walk(t, v)
	remove(t, dir, "a", 0, 50) // the folder stays: its disk may not be mounted
	for range 5 {              // however often it looks
		clock = clock.Add(time.Hour)
		if l := walk(t, v); l.State.Mode != vault.Offline || l.State.Gone != 50 || l.State.Known != 150 {
			t.Fatalf("%+v", l.State)
		}
	}
	if _, err := v.Read(t.Context(), "a/n0.md"); fault.Of(err) != fault.Offline {
		t.Errorf("a missing note of an offline vault: %v", err)
	}
	if _, err := v.Read(t.Context(), "b/n99.md"); err != nil {
		t.Errorf("a note that is there: %v", err)
	}
	if s := v.Accept(); s.Mode != vault.Online {
		t.Fatalf("accepted: %+v", s)
	}
	if l := walk(t, v); l.State.Mode != vault.Online || len(l.Gone([]string{"a/n0.md", "b/n99.md"})) != 1 {
		t.Errorf("%+v", l.State)
	}
}

// A checkout of another branch removes many notes at once. When it is over, they
// are gone.
func TestGuardBelievesWhatIsGoneFromLivingFolders(t *testing.T) {
	t.Parallel()
	for name, drop := range map[string]func(t *testing.T, dir string){
		"notes of a folder": func(t *testing.T, dir string) { remove(t, dir, "a", 0, 50) },
		"a folder": func(t *testing.T, dir string) {
			if err := os.RemoveAll(filepath.Join(dir, "a")); err != nil {
				t.Fatal(err)
			}
		},
		"a folder in a folder": func(t *testing.T, dir string) {
			if err := os.RemoveAll(filepath.Join(dir, "b/c")); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			notes(t, dir, "a", 60)
			notes(t, dir, "b", 1)
			notes(t, dir, "b/c/d", 60)
			clock := time.Now()
			v := open(t, dir, vault.Options{Now: func() time.Time { return clock }})
			walk(t, v)
			drop(t, dir)
			clock = time.Now()
			if l := walk(t, v); l.State.Mode != vault.Settling || len(l.Gone([]string{"a/n0.md", "b/c/d/n0.md"})) != 0 {
				t.Fatalf("a moment ago: %+v", l.State)
			}
			clock = clock.Add(2 * vault.Quiet)
			if l := walk(t, v); l.State.Mode != vault.Online || len(l.Gone([]string{"a/n0.md", "b/c/d/n0.md"})) != 1 {
				t.Fatalf("when it was quiet: %+v", l.State)
			}
		})
	}
}

func TestGuardSeesNotesReturn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	notes(t, dir, "a", 50)
	v := open(t, dir, vault.Options{})
	walk(t, v)
	remove(t, dir, "a", 0, 40)
	walk(t, v)
	notes(t, dir, "a", 50)
	if l := walk(t, v); l.State.Mode != vault.Online {
		t.Errorf("%+v", l.State)
	}
}

func TestGuardAtStart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	v := open(t, dir, vault.Options{})
	v.Remember([]string{"a.md", "b.md"})
	l := walk(t, v)
	if l.State.Mode != vault.Offline || !strings.Contains(l.State.Reason, "empty") {
		t.Errorf("%+v", l.State)
	}
	write(t, dir, "a.md", "x")
	if l := walk(t, v); l.State.Mode != vault.Online || len(l.Gone([]string{"a.md", "b.md"})) != 1 {
		t.Errorf("%+v", l.State)
	}
}

func TestGuardLetsFoldersMove(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	notes(t, dir, "a", 100)
	v := open(t, dir, vault.Options{})
	walk(t, v)
	if err := os.Rename(filepath.Join(dir, "a"), filepath.Join(dir, "b")); err != nil {
		t.Fatal(err)
	}
	if l := walk(t, v); l.State.Mode != vault.Online || len(l.Gone([]string{"a/n1.md"})) != 1 {
		t.Errorf("%+v", l.State)
	}
}

func TestGuardMissingAndReplacedRoot(t *testing.T) {
	t.Parallel()
	parent := t.TempDir()
	dir := filepath.Join(parent, "vault")
	notes(t, dir, "a", 5)
	v := open(t, dir, vault.Options{})
	walk(t, v)
	away := filepath.Join(parent, "away")
	if err := os.Rename(dir, away); err != nil {
		t.Skip("an open folder cannot be moved here:", err)
	}
	if _, err := v.Walk(t.Context()); fault.Of(err) != fault.Offline || v.State().Mode != vault.Offline {
		t.Fatalf("missing: %v, %+v", err, v.State())
	}
	if _, err := v.Read(t.Context(), "a/n1.md"); fault.Of(err) != fault.Offline {
		t.Errorf("read without the folder: %v", err)
	}
	if s := v.Accept(); s.Mode != vault.Offline {
		t.Errorf("there is nothing to accept: %+v", s)
	}
	// An empty folder in its place: a mount point without its disk.
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if l := walk(t, v); l.State.Mode != vault.Offline || !l.Replaced {
		t.Errorf("replaced by an empty folder: %+v", l.State)
	}
	// Another folder with other notes.
	notes(t, dir, "b", 1)
	if l := walk(t, v); l.State.Mode != vault.Offline || !strings.Contains(l.State.Reason, "replaced") {
		t.Errorf("replaced by another folder: %+v", l.State)
	}
	if _, err := v.Read(t.Context(), "b/n0.md"); fault.Of(err) != fault.Offline {
		t.Errorf("read from a folder that nobody opened: %v", err)
	}
	// The same notes at another inode: a disk that was mounted again.
	notes(t, dir, "a", 6)
	if l := walk(t, v); l.State.Mode != vault.Online {
		t.Errorf("returned: %+v", l.State)
	}
	if _, err := v.Read(t.Context(), "a/n5.md"); err != nil {
		t.Errorf("the new folder is not the one that is read: %v", err)
	}
	if l := walk(t, v); l.Replaced {
		t.Error("the new folder is still called another one")
	}
}

func TestGuardAcceptsAReplacedRoot(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "vault")
	notes(t, dir, "a", 5)
	v := open(t, dir, vault.Options{})
	walk(t, v)
	if err := os.RemoveAll(dir); err != nil {
		t.Skip("an open folder cannot be removed here:", err)
	}
	notes(t, dir, "b", 2)
	if l := walk(t, v); l.Replaced && l.State.Mode != vault.Offline {
		t.Fatalf("%+v", l.State)
	}
	if s := v.Accept(); s.Mode != vault.Online {
		t.Fatalf("%+v", s)
	}
	if _, err := v.Read(t.Context(), "b/n1.md"); err != nil {
		t.Error(err)
	}
}

func TestSuspicious(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		before, now int64
		want        bool
	}{{5000, 0, true}, {1025, 0, true}, {1024, 0, false}, {0, 0, false}, {5000, 1, false}} {
		if got := vault.Suspicious(c.before, c.now); got != c.want {
			t.Errorf("%d to %d bytes: %v", c.before, c.now, got)
		}
	}
}

func TestReadOnlyVault(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "a.md", "x")
	os.Chmod(dir, 0o555)
	t.Cleanup(func() { os.Chmod(dir, 0o755) })
	if f, err := os.Create(filepath.Join(dir, "probe")); err == nil {
		f.Close()
		t.Skip("this user may write everywhere")
	}
	v := open(t, dir, vault.Options{})
	if s := v.State(); s.Mode != vault.ReadOnly || s.Reason == "" {
		t.Errorf("%+v", s)
	}
	if l := walk(t, v); l.State.Mode != vault.ReadOnly || len(l.Entries) != 1 {
		t.Errorf("%+v", l.State)
	}
}

func TestExcludedNotesAreNotMissed(t *testing.T) {
	dir := t.TempDir()
	notes(t, dir, "Archive", 30)
	notes(t, dir, "kept", 30)
	var known []string
	for _, folder := range []string{"Archive", "kept"} {
		for i := range 30 {
			known = append(known, fmt.Sprintf("%s/n%d.md", folder, i))
		}
	}
	slices.Sort(known)
	v, err := vault.Open(dir, vault.Options{Exclude: []string{"Archive"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = v.Close() })
	v.Remember(known)
	l, err := v.Walk(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if l.State.Mode == vault.Offline {
		t.Errorf("the vault is offline: %s", l.State.Reason)
	}
	if gone := l.Gone(known); len(gone) != 30 {
		t.Errorf("%d notes are gone, want the 30 that are excluded", len(gone))
	}
}

// Whoever wants to know hears of every change of the state, and of none twice.
func TestGuardReportsChanges(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	notes(t, dir, "a", 40)
	notes(t, dir, "b", 40)
	var told []vault.State
	v := open(t, dir, vault.Options{Changed: func(s vault.State) { told = append(told, s) }})
	expect := func(what string, want ...vault.Mode) {
		t.Helper()
		var got []vault.Mode
		for _, s := range told {
			got = append(got, s.Mode)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, not %v", what, got, want)
		}
		told = nil
	}
	expect("opened")
	walk(t, v)
	expect("first walk", vault.Online)
	walk(t, v)
	expect("the same")
	remove(t, dir, "a", 0, 40)
	walk(t, v)
	expect("an empty folder", vault.Offline)
	walk(t, v)
	expect("still empty")
	remove(t, dir, "b", 0, 1)
	walk(t, v)
	if len(told) != 1 || told[0].Gone != 41 {
		t.Errorf("one more: %+v", told)
	}
	told = nil
	v.Accept()
	expect("accepted", vault.Online)
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if _, err := v.Walk(t.Context()); fault.Of(err) == "" || len(told) != 1 || !told[0].NoFolder {
		t.Errorf("no folder: %v, %+v", err, told)
	}
}

// A note that moved is not listed as missing.
func TestMissingLeavesOutWhatMoved(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	notes(t, dir, "a", 40)
	notes(t, dir, "b", 10)
	v := open(t, dir, vault.Options{})
	walk(t, v)
	write(t, dir, "c/moved.md", "x") // keeps its folder
	if err := os.Rename(filepath.Join(dir, "a", "n39.md"), filepath.Join(dir, "c", "n39.md")); err != nil {
		t.Fatal(err)
	}
	remove(t, dir, "a", 0, 39)
	walk(t, v)
	st, missing := v.Missing()
	if st.Believed() || st.Gone != 39 || len(missing) != 39 || slices.Contains(missing, "a/n39.md") {
		t.Errorf("%+v, %d missing", st, len(missing))
	}
}
