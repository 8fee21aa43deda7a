package app

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"lore/internal/index/sqlite"
	"lore/internal/vault/vaultcheck"
)

// TestKilledAtRandomTimes kills an ordinary build with a signal, at times that
// nothing in it knows of.
func TestKilledAtRandomTimes(t *testing.T) {
	long(t)
	kills, runs := 0, 0
	for _, s := range scenes() {
		// An approval needs a person's terminal, which does not die with the command;
		// it is killed at every seam instead.
		if s.name != "append" && s.name != "rename" && s.name != "undo delete" {
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			k := newKilling(t, s)
			random := rand.New(rand.NewPCG(5, uint64(len(s.name))))
			k.restore()
			begun := time.Now()
			k.must(0, k.args...)
			span := int(time.Since(begun))
			for i := range 15 * torture() {
				k.restore()
				cmd := k.command(nil, k.args...)
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				timer := time.AfterFunc(time.Duration(random.IntN(span)), func() { _ = cmd.Process.Kill() })
				_ = cmd.Wait() // how it ended is what the state tells
				timer.Stop()
				runs++
				killed := cmd.ProcessState.ExitCode() == -1
				if killed {
					kills++
				}
				k.freshen()
				k.check(fmt.Sprintf("killed by a signal, run %d", i), !killed)
				if t.Failed() {
					return
				}
			}
		})
	}
	t.Logf("%d kills in %d runs", kills, runs)
}

// asNobody lets the processes of a lab be those of a user without rights. Root
// may write everything, and then a test of permissions proves nothing.
func (l *lab) asNobody() {
	l.t.Helper()
	if os.Geteuid() != 0 {
		return
	}
	l.nobody = true
	if err := os.Chmod(l.around, 0o755); err != nil {
		l.t.Fatal(err)
	}
	// The program is this binary, which lies where only root may look.
	b, err := os.ReadFile(os.Args[0])
	if err == nil {
		l.program = filepath.Join(l.around, "lore")
		err = os.WriteFile(l.program, b, 0o755)
	}
	if err == nil {
		err = filepath.Walk(l.around, func(p string, _ os.FileInfo, err error) error {
			if err != nil {
				return err
			}
			return os.Lchown(p, nobody, nobody)
		})
	}
	if err != nil {
		l.t.Fatal(err)
	}
}

const nobody = 65534

func (l *lab) chmod(p string, mode os.FileMode) {
	l.t.Helper()
	if err := os.Chmod(p, mode); err != nil {
		l.t.Fatal(err)
	}
	l.t.Cleanup(func() { _ = os.Chmod(p, 0o755) })
}

// refused runs a command that cannot work, and sees that it says why, that
// nothing changed, and that reading goes on.
func (l *lab) refused(kind string, args ...string) {
	l.t.Helper()
	before := l.visible()
	r := l.lore(nil, append(args, "--json")...)
	if r.code != 1 || !strings.Contains(r.out, fmt.Sprintf("%q: %q", "kind", kind)) {
		l.t.Errorf("lore %s: exit code %d, want 1 and the kind %s:\n%s%s", strings.Join(args, " "), r.code, kind, r.out, r.err)
	}
	if !maps.Equal(before, l.visible()) {
		l.t.Errorf("lore %s was refused, and something changed", strings.Join(args, " "))
	}
	l.reads()
}

func (l *lab) reads() {
	l.t.Helper()
	for _, args := range [][]string{{"read", "b.md"}, {"list"}, {"search", "body", "--mode", "lexical"}, {"backlinks", "a.md"}} {
		if r := l.lore(nil, args...); r.code != 0 {
			l.t.Errorf("lore %s: exit code %d: %s%s", strings.Join(args, " "), r.code, r.out, r.err)
		}
	}
}

// small fills the lab with two notes and reads them once.
func (l *lab) small() {
	l.t.Helper()
	l.put("a.md", "# A\n\none\n")
	l.put("b.md", "body of b, [[a]]\n")
	l.put("deep/c.md", "# C\n")
}

func TestFaultReadOnlyVault(t *testing.T) {
	long(t)
	l := newLab(t)
	l.small()
	l.asNobody()
	l.must(0, "list")
	l.chmod(filepath.Join(l.dir, "deep"), 0o555)
	l.chmod(l.dir, 0o555)
	for _, args := range [][]string{
		{"write", "new.md", "--content", "x", "--yes"},
		{"write", "a.md", "--content", "x", "--mode", "append", "--yes"},
		{"edit", "a.md", "--search", "one", "--replace", "two", "--yes"},
		{"rename", "a.md", "z.md", "--yes"},
	} {
		l.refused("read_only", args...)
	}
	l.chmod(l.dir, 0o755)
	l.must(0, "write", "a.md", "--content", "x", "--mode", "append", "--yes")
}

func TestFaultNoteWithoutRights(t *testing.T) {
	l := newLab(t)
	l.small()
	l.asNobody()
	l.must(0, "list")
	l.chmod(filepath.Join(l.dir, "a.md"), 0)
	r := l.lore(nil, "edit", "a.md", "--search", "one", "--replace", "two", "--yes", "--json")
	if r.code == 0 || strings.Contains(r.out, `"internal"`) {
		t.Errorf("exit code %d: %s%s", r.code, r.out, r.err)
	}
	t.Logf("a note that cannot be read: %s", strings.Join(strings.Fields(r.out), " "))
	l.must(0, "read", "b.md")
	l.must(0, "write", "b.md", "--content", "more", "--mode", "append", "--yes")
	l.chmod(filepath.Join(l.dir, "a.md"), 0o644)
	if got := l.visible()["a.md"]; got != "# A\n\none\n" {
		t.Errorf("a.md is %q", got)
	}
}

func TestFaultDataFolderReadOnly(t *testing.T) {
	l := newLab(t)
	l.small()
	l.asNobody()
	l.must(0, "list")
	l.must(0, "write", "a.md", "--content", "x", "--mode", "append", "--yes")
	before := l.visible()
	l.chmod(l.dataDir(), 0o555)
	r := l.lore(nil, "write", "a.md", "--content", "y", "--mode", "append", "--yes", "--json")
	if r.code != 1 || strings.Contains(r.out, `"internal"`) || !maps.Equal(before, l.visible()) {
		t.Errorf("exit code %d: %s%s", r.code, r.out, r.err)
	}
	t.Logf("data folder without rights: %s", strings.Join(strings.Fields(r.out), " "))
	read := l.lore(nil, "read", "b.md")
	t.Logf("reading: exit code %d %s", read.code, strings.TrimSpace(read.err))
	if strings.Contains(read.err, "internal") || strings.Contains(read.err, "panic") {
		t.Error(read.err)
	}
	l.chmod(l.dataDir(), 0o755)
	l.must(0, "write", "a.md", "--content", "y", "--mode", "append", "--yes")
}

// TestFaultDiskFull writes into a vault, and then into a data folder, on a disk
// that has no room.
func TestFaultDiskFull(t *testing.T) {
	long(t)
	for _, full := range []string{"vault", "data"} {
		t.Run(full, func(t *testing.T) {
			l := newLab(t)
			at := filepath.Join(l.around, full)
			if err := os.MkdirAll(at, 0o755); err != nil {
				t.Fatal(err)
			}
			if err := unix.Mount("tmpfs", at, "tmpfs", 0, "size=4m"); err != nil {
				t.Skip("nothing can be mounted here: ", err)
			}
			t.Cleanup(func() { _ = unix.Unmount(at, unix.MNT_DETACH) })
			l.small()
			l.must(0, "write", "a.md", "--content", "two", "--mode", "append", "--yes")
			filler := filepath.Join(at, ".filler")
			fill(t, filler)
			acknowledged, before := 0, l.visible()
			for i := range 6 {
				name := fmt.Sprintf("n%d.md", i)
				text := strings.Repeat("words that need some room. ", 200+i)
				r := l.lore(nil, "write", name, "--content", text, "--yes", "--json")
				have, there := l.visible()[name]
				switch {
				case r.code == 0 && have != text:
					t.Errorf("%s was acknowledged and is not there", name)
				case r.code == 0:
					acknowledged++
				case there:
					t.Errorf("%s was refused and is there", name)
				case strings.Contains(r.out, `"internal"`):
					t.Errorf("no clear error: %s%s", r.out, r.err)
				}
				if i == 0 {
					t.Logf("exit code %d: %s", r.code, strings.Join(strings.Fields(r.out), " "))
				}
			}
			for p, s := range before {
				if have := l.visible()[p]; have != s {
					t.Errorf("%s changed: %q", p, have)
				}
			}
			// Without room for its data the program does not start; it says so.
			if r := l.lore(nil, "read", "b.md", "--json"); r.code != 0 && (full == "vault" || !strings.Contains(r.out, `"unavailable"`)) {
				t.Errorf("reading: exit code %d: %s%s", r.code, r.out, r.err)
			}
			if err := os.Remove(filler); err != nil {
				t.Fatal(err)
			}
			l.must(0, "write", "a.md", "--content", "three", "--mode", "append", "--yes")
			l.indexed("after there was room again")
			t.Logf("6 writes on a full disk, %d acknowledged", acknowledged)
		})
	}
}

// fill takes all room that is left.
func fill(t *testing.T, path string) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	block := make([]byte, 4096)
	for err == nil {
		_, err = f.Write(block)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// indexed compares the index with one that is built from the files, after a
// start that brings it up to date.
func (l *lab) indexed(label string) {
	l.t.Helper()
	l.must(0, "index")
	have, err := dumpIndex(l.t.Context(), sqlite.Path(l.dataDir()))
	if err != nil {
		l.t.Error(err)
	}
	fresh, err := freshIndex(l.t.Context(), l.dir, l.t.TempDir())
	if err != nil {
		l.t.Error(err)
	}
	if diff := indexDifference(have, fresh); diff != "" {
		l.t.Errorf("%s: the index is not as a new one:\n%s", label, diff)
	}
}

// TestProcessesAtOnce lets eight processes write at once: each does it or says
// that another is at work, and what was acknowledged is there.
func TestProcessesAtOnce(t *testing.T) {
	l := newLab(t)
	l.small()
	l.must(0, "list")
	const rounds, processes = 3, 8
	done, busy := 0, 0
	var mu sync.Mutex
	wrote := map[string]string{}
	for round := range rounds {
		var wg sync.WaitGroup
		for p := range processes {
			wg.Go(func() {
				name, text := fmt.Sprintf("p%d-%d.md", round, p), fmt.Sprintf("text %d of process %d\n", round, p)
				args := []string{"write", name, "--content", text, "--yes", "--json"}
				if p%2 == 1 { // all into one note
					args = []string{"write", "shared.md", "--content", strings.TrimSpace(text), "--mode", "append", "--yes", "--json"}
				}
				r := l.lore(nil, args...)
				mu.Lock()
				defer mu.Unlock()
				switch {
				case r.code == 0 && p%2 == 1:
					done++
					wrote["shared.md"] += strings.TrimSpace(text) + "\x00"
				case r.code == 0:
					done++
					wrote[name] = text
				case r.code == 1 && strings.Contains(r.out, `"busy"`), p%2 == 1 && strings.Contains(r.out, `"not_found"`), strings.Contains(r.out, `"conflict"`):
					busy++
				default:
					t.Errorf("exit code %d: %s%s", r.code, r.out, r.err)
				}
			})
		}
		wg.Wait()
	}
	have := l.visible()
	for name, text := range wrote {
		for part := range strings.SplitSeq(strings.TrimSuffix(text, "\x00"), "\x00") {
			if !strings.Contains(have[name], part) {
				t.Errorf("%s was acknowledged with %q and holds %q", name, part, have[name])
			}
		}
	}
	for _, v := range vaultcheck.Check(l.dir, vaultcheck.Case{Before: have, After: have}) {
		if v.Rule == vaultcheck.Stray {
			t.Error(v)
		}
	}
	l.indexed("after all ended")
	l.must(0, "audit", "verify")
	if done == 0 {
		t.Error("nobody could write")
	}
	t.Logf("%d processes, %d done, %d told to wait or try again", rounds*processes, done, busy)
}

// credential is what a process of a lab runs as.
func (l *lab) credential() *syscall.SysProcAttr {
	if !l.nobody {
		return nil
	}
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
}
