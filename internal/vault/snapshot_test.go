package vault_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"lore/internal/vault"
	"lore/internal/vault/filetime"
)

// settled makes a small vault whose files were last written two hours and copied
// here one hour ago, and returns it with what a walk saw.
func settled(t *testing.T) (string, *vault.Vault, vault.Snapshot, []vault.Known) {
	t.Helper()
	dir := t.TempDir()
	for _, p := range []string{"a.md", "b/c.md", "b/c/d/e.md", "b/c/f.md", "b/z.md", "pic.png", "z.md"} {
		write(t, dir, p, "text of "+p)
	}
	if err := os.MkdirAll(filepath.Join(dir, "empty"), 0o755); err != nil {
		t.Fatal(err)
	}
	age(t, dir)
	// Change times cannot be set, so it is the vault's clock that is moved.
	v, err := vault.Open(dir, vault.Options{Now: func() time.Time { return time.Now().Add(time.Hour) }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = v.Close() })
	l, err := v.Walk(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var files []vault.Known
	for _, e := range l.Entries {
		files = append(files, vault.Known{Path: e.Path, Size: e.Size, ModTime: e.ModTime, ChangeTime: e.ChangeTime, Inode: e.Inode})
	}
	return dir, v, l.Snapshot(), files
}

// age sets every time below dir back by an hour, the folders last.
func age(t *testing.T, dir string) {
	t.Helper()
	var all []string
	err := filepath.WalkDir(dir, func(p string, _ os.DirEntry, err error) error {
		all = append(all, p)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Reverse(all)
	for _, p := range all {
		if err := putBack(p); err != nil {
			t.Fatal(err)
		}
	}
}

// then is the time that all files of these tests carry.
var then = time.Now().Add(-time.Hour)

// putBack gives a file or folder, and those named below it, the time that they
// had, as a copy with its times does.
func putBack(dir string, names ...string) error {
	if len(names) == 0 {
		return os.Chtimes(dir, then, then)
	}
	for _, name := range names {
		if err := os.Chtimes(filepath.Join(dir, name), then, then); err != nil {
			return err
		}
	}
	return nil
}

func TestUnchanged(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		change func(dir string) error
		want   bool
	}{
		{"nothing", func(string) error { return nil }, true},
		{"a read", func(dir string) error { _, err := os.ReadFile(filepath.Join(dir, "a.md")); return err }, true},
		{"a new note", func(dir string) error { return os.WriteFile(filepath.Join(dir, "b/new.md"), nil, 0o644) }, false},
		{"a note in an empty folder", func(dir string) error { return os.WriteFile(filepath.Join(dir, "empty/n.md"), nil, 0o644) }, false},
		{"a new folder", func(dir string) error { return os.Mkdir(filepath.Join(dir, "b/c/d/x"), 0o755) }, false},
		{"a note gone", func(dir string) error { return os.Remove(filepath.Join(dir, "b/c/d/e.md")) }, false},
		{"a folder gone", func(dir string) error { return os.RemoveAll(filepath.Join(dir, "b/c")) }, false},
		{"a rename", func(dir string) error {
			return os.Rename(filepath.Join(dir, "z.md"), filepath.Join(dir, "y.md"))
		}, false},
		{"an edit in place", func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "b/c/f.md"), []byte("other words"), 0o644)
		}, false},
		{"an edit of the same size", func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "b/z.md"), []byte(strings.ToUpper("text of b/z.md")), 0o644)
		}, false},
		{"an older copy put in place", func(dir string) error {
			p := filepath.Join(dir, "a.md")
			old := time.Now().Add(-48 * time.Hour)
			return os.Chtimes(p, old, old)
		}, false},
		{"a note that became a folder", func(dir string) error {
			p := filepath.Join(dir, "a.md")
			if err := os.Remove(p); err != nil {
				return err
			}
			return os.Mkdir(p, 0o755)
		}, false},
		{"a note in a folder with its old times", func(dir string) error {
			if err := os.WriteFile(filepath.Join(dir, "b/old.md"), nil, 0o644); err != nil {
				return err
			}
			return putBack(dir, "b/old.md", "b")
		}, false},
		{"an edit of the same size with its old time", func(dir string) error {
			if err := os.WriteFile(filepath.Join(dir, "b/z.md"), []byte(strings.ToUpper("text of b/z.md")), 0o644); err != nil {
				return err
			}
			return putBack(dir, "b/z.md")
		}, false},
		{"the vault gone", os.RemoveAll, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir, v, g, files := settled(t)
			if err := c.change(dir); err != nil {
				t.Fatal(err)
			}
			if got := v.Unchanged(g, files); got != c.want {
				t.Errorf("unchanged: %v", got)
			}
		})
	}
	t.Run("a walk that was never made", func(t *testing.T) {
		_, v, _, files := settled(t)
		if v.Unchanged(vault.Snapshot{}, files) {
			t.Error("an empty snapshot is believed")
		}
	})
}

func TestSettled(t *testing.T) {
	t.Parallel()
	const now = int64(1_700_000_000_500_000_000)
	ago := func(d time.Duration) int64 { return now - int64(d) }
	for _, c := range []struct {
		name              string
		modified, changed int64
		want              bool
	}{
		{"long ago", ago(time.Hour) + 7, ago(time.Hour) + 7, true},
		{"this moment", now - 7, now - 7, false},
		{"a tick ago", ago(9*time.Millisecond) - 7, ago(9*time.Millisecond) - 7, false},
		{"a tenth of a second ago", ago(100*time.Millisecond) - 7, ago(100*time.Millisecond) - 7, true},
		{"a second ago, on a clock of whole seconds", 1_699_999_999_000_000_000, 1_699_999_999_000_000_000, false},
		{"three seconds ago, on a clock of whole seconds", 1_699_999_997_000_000_000, 1_699_999_997_000_000_000, true},
		{"written long ago, copied here now", ago(time.Hour) + 7, now - 7, false},
		{"no change time, long ago", ago(time.Hour) + 7, 0, true},
		{"no change time, now", now - 7, 0, false},
		{"dated to come, copied here long ago", now + int64(time.Hour), ago(time.Hour) + 7, true},
		{"a clock that is a minute ahead", now + int64(time.Minute), now + int64(time.Minute), false},
		{"a clock that was years ahead", now + int64(9000*time.Hour), now + int64(9000*time.Hour), true},
	} {
		if got := filetime.AreReliable(c.modified, c.changed, now); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
