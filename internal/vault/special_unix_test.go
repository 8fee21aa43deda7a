//go:build unix

package vault_test

import (
	"net"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"lore/internal/fault"
	"lore/internal/vault"
)

// A pipe without a writer blocks every plain open for ever: without the guard
// this test does not end.
func TestSpecialFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "a.md", "x")
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe.md"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("pipe.md", filepath.Join(dir, "topipe.md")); err != nil {
		t.Fatal(err)
	}
	want := []string{"not_regular pipe.md", "not_regular topipe.md"}
	if l, err := net.Listen("unix", filepath.Join(dir, "s.md")); err == nil { // long temporary paths do not fit a socket
		defer l.Close()
		want = slices.Insert(want, 1, "not_regular s.md")
	}
	v := open(t, dir, vault.Options{})
	l := walk(t, v)
	if paths(l) != "a.md" || !slices.Equal(problems(l), want) {
		t.Errorf("listed %s, problems %q", paths(l), problems(l))
	}
	for _, p := range []string{"pipe.md", "topipe.md"} {
		if _, err := v.Read(t.Context(), p); fault.Of(err) != fault.Unsafe {
			t.Errorf("Read(%q): %v", p, err)
		}
	}
}

// TestHardLinks: a file with several names is listed, told and not read; when
// the other name goes, it is a file like any other.
func TestHardLinks(t *testing.T) {
	t.Parallel()
	dir, outside := t.TempDir(), filepath.Join(t.TempDir(), "secret")
	write(t, dir, "a.md", "x")
	write(t, dir, "c.md", "y")
	if err := os.Link(filepath.Join(dir, "a.md"), outside); err != nil {
		t.Skip(err)
	}
	if err := os.Symlink("a.md", filepath.Join(dir, "over.md")); err != nil {
		t.Fatal(err)
	}
	v := open(t, dir, vault.Options{})
	l := walk(t, v)
	if got := problems(l); !slices.Equal(got, []string{"hard_link a.md", "hard_link over.md"}) || paths(l) != "a.md c.md over.md" {
		t.Errorf("%q, %s", got, paths(l))
	}
	for _, p := range []string{"a.md", "over.md"} {
		f, err := v.Read(t.Context(), p)
		if !vault.IsLinked(err) || fault.Of(err) != fault.Unsafe || len(f.Data) > 0 {
			t.Errorf("%s: %q, %v", p, f.Data, err)
		}
		if _, err := v.Head(t.Context(), p); !vault.IsLinked(err) {
			t.Errorf("the head of %s: %v", p, err)
		}
	}
	if got := v.HasLinked([]string{"a.md", "c.md", "none.md"}); !slices.Equal(got, []string{"a.md"}) {
		t.Error(got)
	}
	allowed := open(t, dir, vault.Options{AllowLinked: true})
	if f, err := allowed.Read(t.Context(), "a.md"); err != nil || f.Info.Links != 2 || f.Info.Inode == 0 || len(walk(t, allowed).Problems) > 0 {
		t.Errorf("%+v, %v", f.Info, err)
	}
	if allowed.Unchanged(l.Snapshot(), nil) {
		t.Error("a walk under other rules is believed")
	}
	if err := os.Remove(outside); err != nil {
		t.Fatal(err)
	}
	if f, err := v.Read(t.Context(), "a.md"); err != nil || string(f.Data) != "x" || len(walk(t, v).Problems) > 0 {
		t.Errorf("%q, %v", f.Data, err)
	}
}

// A link that reaches a hidden folder over a link to that folder is not followed.
func TestLinkOverALinkedFolderIntoAHiddenOne(t *testing.T) {
	dir := t.TempDir()
	for _, d := range []string{".hidden", "open"} {
		if err := os.Mkdir(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, d, "note.md"), []byte(d), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, target := range map[string]string{
		"toHidden": ".hidden", "toOpen": "open", "hidden.md": "toHidden/note.md", "open.md": "toOpen/../open/note.md",
	} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	v, err := vault.Open(dir, vault.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	if f, err := v.Read(t.Context(), "hidden.md"); err == nil {
		t.Errorf("hidden.md shows %q", f.Data)
	}
	if f, err := v.Read(t.Context(), "open.md"); err != nil || string(f.Data) != "open" {
		t.Errorf("open.md shows %q, %v", f.Data, err)
	}
	if _, err := v.Walk(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := v.WithLinks([]string{"open/note.md"}); !slices.Contains(got, "open.md") {
		t.Errorf("the links to open/note.md are %q", got)
	}
}
