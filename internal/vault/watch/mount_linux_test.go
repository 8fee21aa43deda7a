package watch

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"lore/internal/fault"
	"lore/internal/vault"
)

// A vault on a disk of its own, which is unmounted and mounted again. Only the
// super-user can do this, and only where LORE_TEST_MOUNT asks for it.
func TestUnmount(t *testing.T) {
	if os.Getenv("LORE_TEST_MOUNT") == "" {
		t.Skip("set LORE_TEST_MOUNT to let this test mount a file system")
	}
	dir := filepath.Join(t.TempDir(), "vault")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	mount := func() {
		t.Helper()
		if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=1m"); err != nil {
			t.Skip(err)
		}
		for i := range 5 {
			put(t, dir, fmt.Sprintf("n%d.md", i))
		}
	}
	mount()
	t.Cleanup(func() { _ = unix.Unmount(dir, unix.MNT_DETACH) })
	w := watch(t, dir, quick)
	if _, err := w.v.Walk(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := unix.Unmount(dir, 0); err != nil {
		t.Fatal("the vault keeps the disk busy:", err)
	}
	rescan(t, w, RootChanged)
	l, err := w.v.Walk(t.Context())
	if err != nil || l.State.Mode != vault.Offline {
		t.Fatalf("%+v, %v", l, err)
	}
	if _, err := w.v.Read(t.Context(), "n1.md"); fault.Of(err) != fault.Offline {
		t.Errorf("%v", err)
	}
	mount()
	for l.State.Mode == vault.Offline {
		next(t, w)
		if l, err = w.v.Walk(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if len(l.Entries) != 5 {
		t.Errorf("%d notes returned", len(l.Entries))
	}
	hears(t, w, dir, "new.md")
}

// Two folders change places in one step: both are watched under their new names.
func TestWatchFoldersChangePlaces(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put(t, dir, "a/x/one.md")
	put(t, dir, "b/y/two.md")
	w := watch(t, dir, quick)
	if err := unix.Renameat2(unix.AT_FDCWD, filepath.Join(dir, "a"), unix.AT_FDCWD, filepath.Join(dir, "b"), unix.RENAME_EXCHANGE); err != nil {
		t.Skip(err)
	}
	rescan(t, w, FolderMoved)
	for _, name := range []string{"a/new.md", "b/new.md", "a/y/two.md", "b/x/one.md"} {
		hears(t, w, dir, name)
	}
}
