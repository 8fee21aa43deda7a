package history_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"lore/internal/change"
	"lore/internal/fault"
	"lore/internal/machine/state"
	"lore/internal/tool"
	"lore/internal/tool/history"
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

func clearly(t *testing.T, what string, err error, kind fault.Kind) {
	t.Helper()
	if fault.Of(err) != kind || err != nil && !strings.Contains(err.Error(), ";") {
		t.Errorf("%s: %v is of kind %q, want %q with what to do", what, err, fault.Of(err), kind)
	}
}

func TestFullDisk(t *testing.T) {
	dir := mount(t, "size=3m")
	f := state.In(dir)
	s := history.New(f, history.Options{Now: now})
	p := place{s, f}
	p.do(t, operation("op-1", change.Create("a.md", "x")))
	clearly(t, "Begin", p.Begin(t.Context(), operation("op-2", change.Create("b.md", noise(2, 4<<20)))), fault.Unavailable)
	if _, err := p.Outcome(t.Context(), "op-2"); fault.Of(err) != fault.NotFound {
		t.Errorf("what could not be recorded is there: %v", err)
	}
	must(t, s.Close())
	must(t, f.Close())
}

func TestDiskThatFillsUp(t *testing.T) {
	dir := mount(t, "size=3m")
	f := state.In(dir)
	s := history.New(f, history.Options{Now: now})
	p := place{s, f}
	must(t, p.Begin(t.Context(), operation("op-3", change.Create("c.md", "x"))))
	filler := filepath.Join(dir, "filler")
	_ = os.WriteFile(filler, make([]byte, 4<<20), 0o600) // until nothing is left
	clearly(t, "Record", p.Record(t.Context(), call("call-1", tool.CallDenied)), fault.Unavailable)
	clearly(t, "Finish", p.Finish(t.Context(), "op-3", tool.Applied, ""), fault.Unavailable)
	must(t, os.Remove(filler))
	must(t, p.Finish(t.Context(), "op-3", tool.Applied, ""))
	must(t, p.Record(t.Context(), call("call-1", tool.CallDenied)))
	if v, err := p.Verify(t.Context()); err != nil {
		t.Errorf("after the disk was full: %+v, %v", v, err)
	}
	must(t, s.Close())
	must(t, f.Close())
}

func TestReadOnlyFolder(t *testing.T) {
	dir := mount(t, "size=4m")
	p := openIn(t, filepath.Join(dir, "was"), history.Options{})
	p.do(t, operation("op-1", change.Create("a.md", "x")))
	must(t, p.Close())
	must(t, p.file.Close())
	must(t, syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""))
	for _, sub := range []string{"was", "new"} {
		f := state.In(filepath.Join(dir, sub))
		s := history.New(f, history.Options{Now: now})
		clearly(t, sub+": Begin", s.Begin(t.Context(), operation("op-2", change.Create("b.md", "x"))), fault.ReadOnly)
		must(t, s.Record(t.Context(), call("call-1", tool.CallDone)))
		clearly(t, sub+": a read", s.Close(), fault.ReadOnly)
		_ = f.Close()
	}
}
