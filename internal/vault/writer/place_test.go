//go:build linux

package writer

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"lore/internal/change"
	"lore/internal/fault"
	"lore/internal/vault"
	"lore/internal/vault/journal"
	"lore/internal/vault/vaultcheck"
)

func TestCapabilities(t *testing.T) {
	d := newDesk(t, map[string]string{"a.md": "one"})
	can, err := d.w.Capabilities(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !can.Exchange || !can.NoReplace || !can.HardLink || !can.SyncAll || !can.Lock {
		t.Skipf("an unusual file system: %+v", can)
	}
	d.tidy()
}

// TestPoorFileSystems applies the same edits where the system can do less.
func TestPoorFileSystems(t *testing.T) {
	for name, can := range map[string]Capabilities{"no exchange": {HardLink: true, NoReplace: true}, "links only": {HardLink: true}, "nothing": {}} {
		for scene, s := range scenes() {
			t.Run(name+", "+scene, func(t *testing.T) {
				d := s.desk(t)
				d.w.probed, d.w.can = true, can
				d.must(s.set...)
				d.expect(s.after())
				d.must(s.set.Inverse()...)
				d.expect(s.withLinks())
				_, err := d.apply(change.Replace("a.md", "stale", "new"), change.Create("q.md", ""))
				if fault.Of(err) != fault.Conflict {
					t.Error(err)
				}
				d.expect(s.withLinks())
			})
		}
	}
}

func TestSecondProcessIsKeptOut(t *testing.T) {
	if dir := os.Getenv("LOCK_VAULT"); dir != "" {
		v, err := vault.Open(dir, vault.Options{AllowLinked: true})
		if err != nil {
			t.Fatal(err)
		}
		_, err = Open(v, Options{}).Apply(t.Context(), "other", change.Set{change.Create("x.md", "x")})
		if fault.Of(err) != fault.Busy || !strings.Contains(err.Error(), "another lore process") {
			t.Fatalf("the second process got %v", err)
		}
		return
	}
	d := newDesk(t, map[string]string{"a.md": "one"})
	d.must(change.Replace("a.md", "one", "two"))
	cmd := exec.Command(os.Args[0], "-test.run", "^TestSecondProcessIsKeptOut$")
	cmd.Env = append(os.Environ(), "LOCK_VAULT="+d.dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	if err := d.w.Close(); err != nil {
		t.Fatal(err)
	}
	other := Open(d.v, Options{})
	if _, err := other.Apply(t.Context(), "other", change.Set{change.Create("x.md", "x")}); err != nil {
		t.Error(err)
	}
	if err := other.Close(); err != nil {
		t.Error(err)
	}
	if d.get(own+"/lock") != "" {
		t.Error("the lock of a writer that ended in order says something")
	}
}

func TestCancelled(t *testing.T) {
	d := newDesk(t, map[string]string{"a.md": "one"})
	ctx, cancel := context.WithCancel(t.Context())
	d.w.sys.Before = func(call string) error {
		if call == "write" {
			cancel()
		}
		return nil
	}
	d.w.probed, d.w.can = true, Capabilities{Exchange: true, NoReplace: true, SyncAll: true}
	_, err := d.w.Apply(ctx, "op", change.Set{change.Replace("a.md", "one", "two"), change.Create("n/b.md", "bee")})
	if fault.Of(err) != fault.Cancelled {
		t.Error(err)
	}
	d.expect(map[string]string{"a.md": "one"})
	// Past the commit, the set is made whole.
	ctx, cancel = context.WithCancel(t.Context())
	d.w.sys.Before = func(call string) error {
		if call == "exchange" {
			cancel()
		}
		return nil
	}
	if _, err := d.w.Apply(ctx, "op", change.Set{change.Replace("a.md", "one", "two"), change.Create("n/b.md", "bee")}); err != nil {
		t.Error(err)
	}
	d.expect(map[string]string{"a.md": "two", "n/b.md": "bee"})
}

// TestDetour takes the way that a change of case needs where case is ignored.
func TestDetour(t *testing.T) {
	for _, stop := range []bool{false, true} {
		d := newDesk(t, map[string]string{"f/a.md": "one"})
		d.must(change.Create("x.md", "")) // so that the folder is there
		task, err := d.w.begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		st, err := task.Stat("f/a.md")
		if err != nil {
			t.Fatal(err)
		}
		task.ID = "detour"
		step := journal.Step{Kind: journal.Moves, Key: "f/A.md", From: "f/a.md", Path: "f/A.md", Via: "f/" + vault.Temp("via"), Inode: st.Inode}
		task.Plan = journal.Manifest{Version: journal.Version, Op: "detour", Single: true, Steps: []journal.Step{step}}
		moves := 0
		task.Sys.Before = func(call string) error {
			if call == "move" {
				moves++
			}
			if stop && moves > 1 {
				return syscall.EIO
			}
			return nil
		}
		_, err = task.Apply(t.Context())
		task.Close()
		want := map[string]string{"f/A.md": "one", "x.md": ""}
		if stop {
			var unsettled *Interrupted
			if !errors.As(err, &unsettled) {
				t.Fatal(err)
			}
			d.w.unsettled = true
			settled, err := d.w.Recover(t.Context())
			if err != nil || len(settled) != 1 || settled[0].Outcome != journal.Discarded {
				t.Errorf("%+v, %v", settled, err)
			}
			want = map[string]string{"f/a.md": "one", "x.md": ""}
		} else if err != nil {
			t.Fatal(err)
		}
		d.expect(want)
	}
}

// TestStraysAfterPowerCut finds what a journal does not know any more.
func TestStraysAfterPowerCut(t *testing.T) {
	d := newDesk(t, map[string]string{"f/g/a.md": "one"})
	d.must(change.Replace("f/g/a.md", "one", "two"))
	if err := d.w.Close(); err != nil {
		t.Fatal(err)
	}
	d.put("f/g/.lore-0123.tmp", "a person's words")
	d.put(".lore-4567.tmp", "")
	d.put(own+"/journal/cut/0", "words too")
	d.put(own+"/journal/cut/manifest", "")
	d.put(own+"/lock", "another-boot")
	settled, err := d.w.Recover(t.Context())
	if err != nil || len(settled) != 2 {
		t.Fatalf("%+v, %v", settled, err)
	}
	d.expect(map[string]string{"f/g/a.md": "two"})
	all, err := vaultcheck.Tree(d.path(journal.RecoveredFolder), "")
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for s := range maps.Values(all) {
		texts = append(texts, s)
	}
	if len(texts) != 2 || !strings.Contains(strings.Join(texts, "|"), "a person's words") || !strings.Contains(strings.Join(texts, "|"), "words too") {
		t.Errorf("recovered: %q", texts)
	}
	if settled, err := d.w.Recover(t.Context()); err != nil || len(settled) > 0 {
		t.Errorf("again: %+v, %v", settled, err)
	}
}

func TestOwnFolderMustBeAFolder(t *testing.T) {
	d := newDesk(t, map[string]string{"a.md": "one", "f/x.md": ""})
	if err := os.Symlink("f", d.path(own)); err != nil {
		t.Fatal(err)
	}
	if _, err := d.apply(change.Replace("a.md", "one", "two")); fault.Of(err) != fault.Unsafe {
		t.Error(err)
	}
}

// TestWithoutPermission writes as somebody else, in a process of his own.
func TestWithoutPermission(t *testing.T) {
	if dir := os.Getenv("DENIED_VAULT"); dir != "" {
		denied(t, dir)
		return
	}
	if os.Getuid() != 0 {
		t.Skip("only root can become somebody else")
	}
	dir, err := os.MkdirTemp("/tmp", "lore-denied-")
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	d := newDeskIn(t, dir, map[string]string{"open/a.md": "one", "shut/b.md": "bee", "shut/c.md": "cee"})
	nobody := 65534
	for _, p := range []string{".", "open", "open/a.md"} {
		if err := errors.Join(os.Chown(d.path(p), nobody, nobody), os.Chmod(d.path(p), 0o755)); err != nil {
			t.Fatal(err)
		}
	}
	bin := filepath.Join(dir, ".test-binary")
	data, err := os.ReadFile(os.Args[0])
	if err == nil {
		err = os.WriteFile(bin, data, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(bin, "-test.run", "^TestWithoutPermission$")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "DENIED_VAULT="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(nobody), Gid: uint32(nobody)}}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	if d.get("open/a.md") != "two" || d.get("shut/b.md") != "bee" {
		t.Error("the wrong files were changed")
	}
	d.tidy()
}

func denied(t *testing.T, dir string) {
	v, err := vault.Open(dir, vault.Options{})
	if err != nil {
		t.Fatal(err)
	}
	w := Open(v, Options{})
	defer w.Close()
	a, b := change.Replace("open/a.md", "one", "two"), change.Replace("shut/b.md", "bee", "new")
	for name, set := range map[string]change.Set{"one": {b}, "set": {a, b}, "create": {change.Create("shut/n.md", "")}, "delete": {change.Delete("shut/c.md", "cee")}, "move": {change.Move("shut/c.md", "open/c.md")}} {
		_, err := w.Apply(t.Context(), name, set)
		if fault.Of(err) != fault.Denied {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := w.Apply(t.Context(), "fine", change.Set{a}); err != nil {
		t.Error(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "open/sub"), 0o555); err != nil {
		t.Fatal(err)
	}
	sub, err := vault.Open(filepath.Join(dir, "shut"), vault.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Open(sub, Options{}).Apply(t.Context(), "x", change.Set{change.Create("n.md", "")}); fault.Of(err) != fault.ReadOnly {
		t.Errorf("a read-only vault: %v", err)
	}
}

// mounted mounts a small file system, or skips.
func mounted(t *testing.T, options string) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, options); err != nil {
		t.Skip("nothing can be mounted here:", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	return dir
}

func TestDiskFull(t *testing.T) {
	for name, options := range map[string]string{"bytes": "size=256k", "inodes": "size=8m,nr_inodes=16"} {
		t.Run(name, func(t *testing.T) {
			files := map[string]string{"a.md": "one", "f/b.md": "bee"}
			d := newDeskIn(t, mounted(t, options), files)
			d.must(change.Replace("a.md", "one", "two"))
			d.must(change.Replace("a.md", "two", "one"))
			big := strings.Repeat("x", 300<<10)
			set := change.Set{change.Replace("a.md", "one", big), change.Replace("f/b.md", "bee", "new")}
			if name == "inodes" {
				set = nil
				for _, n := range strings.Split("abcdefghijklmn", "") {
					set = append(set, change.Create("n/"+n+".md", n))
				}
			}
			for _, set := range []change.Set{set, set[:1]} {
				if name == "inodes" && len(set) == 1 {
					break
				}
				_, err := d.apply(set...)
				if fault.Of(err) != fault.Unavailable || !strings.Contains(err.Error(), "no space left") {
					t.Errorf("%d edits: %v", len(set), err)
				}
				d.expect(files)
			}
		})
	}
}

func TestReadOnlyMount(t *testing.T) {
	dir := mounted(t, "size=1m")
	d := newDeskIn(t, dir, map[string]string{"a.md": "one"})
	if err := syscall.Mount("", dir, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		t.Skip(err)
	}
	if _, err := d.apply(change.Replace("a.md", "one", "two")); fault.Of(err) != fault.ReadOnly {
		t.Error(err)
	}
	if _, err := d.w.Recover(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestOtherDiskInside has a folder of the vault on another disk.
func TestOtherDiskInside(t *testing.T) {
	d := newDesk(t, map[string]string{"a.md": "one", "m/x": ""})
	if err := syscall.Mount("tmpfs", d.path("m"), "tmpfs", 0, "size=1m"); err != nil {
		t.Skip("nothing can be mounted here:", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(d.path("m"), syscall.MNT_DETACH) })
	d.put("m/b.md", "bee")
	d.must(change.Replace("m/b.md", "bee", "cee"))
	d.must(change.Replace("m/b.md", "cee", "dee"), change.Replace("a.md", "one", "two"), change.Create("m/n.md", "new"))
	for p, want := range map[string]string{"m/b.md": "dee", "a.md": "two", "m/n.md": "new"} {
		if d.get(p) != want {
			t.Errorf("%s: %q", p, d.get(p))
		}
	}
	_, err := d.apply(change.Delete("m/b.md", "dee"))
	if fault.Of(err) != fault.Unavailable || !strings.Contains(err.Error(), "a different disk") {
		t.Error(err)
	}
	if d.get("m/b.md") != "dee" {
		t.Error("the refused delete took the file")
	}
	if _, err := d.w.Recover(t.Context()); err != nil {
		t.Error(err)
	}
	if err := filepath.WalkDir(d.path(journal.Folder), func(p string, e fs.DirEntry, err error) error {
		if p != d.path(journal.Folder) {
			t.Errorf("%s is left", p)
		}
		return err
	}); err != nil {
		t.Error(err)
	}
}
