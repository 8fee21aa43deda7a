//go:build unix

package vault

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"lore/internal/fault"
)

// The look before the open can be outrun: a pipe may take a note's name in
// between. The open itself must not wait either, or this test does not end.
func TestReadOncePipe(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe.md"), 0o644); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if _, _, err := (&Vault{}).readOnce(root, "pipe.md", 1000, false); fault.Of(err) != fault.Unsafe {
		t.Errorf("%v", err)
	}
}
