//go:build torture && linux

package torture

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A testDisk is a kind of file system that people keep their notes on.
type testDisk struct {
	name string
	// mount mounts it at dir. spare is a folder for images and the like.
	mount func(t *testing.T, dir, spare string)
	// weak says that the disk has no exchange, so that doctor must tell.
	weak bool
	// noCase says that the disk does not keep the case of names.
	noCase bool
}

func testDisks() []testDisk {
	return []testDisk{
		{name: "bindfs", weak: true, mount: func(t *testing.T, dir, spare string) {
			program(t, "bindfs", "bindfs", makeDir(t, spare, "source"), dir)
		}},
		{name: "ntfs-3g", weak: true, mount: func(t *testing.T, dir, spare string) {
			program(t, "ntfs-3g", "ntfs-3g", image(t, spare, "mkfs.ntfs", "ntfs-3g", "-F", "-Q"), dir)
		}},
		{name: "lowntfs-3g, case ignored", weak: true, noCase: true, mount: func(t *testing.T, dir, spare string) {
			program(t, "lowntfs-3g", "ntfs-3g", "-o", "ignore_case", image(t, spare, "mkfs.ntfs", "ntfs-3g", "-F", "-Q"), dir)
		}},
		{name: "exfat-fuse", weak: true, mount: func(t *testing.T, dir, spare string) {
			program(t, "mount.exfat-fuse", "exfat-fuse", loop(t, image(t, spare, "mkfs.exfat", "exfatprogs")), dir)
		}},
		{name: "ext4", mount: func(t *testing.T, dir, spare string) {
			mountAt(t, loop(t, image(t, spare, "mkfs.ext4", "e2fsprogs", "-q")), dir, "ext4", 0, "")
		}},
		{name: "overlay", mount: func(t *testing.T, dir, spare string) {
			mountAt(t, "tmpfs", spare, "tmpfs", 0, "size=64m")
			lower, upper, work := makeDir(t, spare, "lower"), makeDir(t, spare, "upper"), makeDir(t, spare, "work")
			mountAt(t, "overlay", dir, "overlay", 0, "lowerdir="+lower+",upperdir="+upper+",workdir="+work)
		}},
		{name: "tmpfs", mount: func(t *testing.T, dir, spare string) { mountAt(t, "tmpfs", dir, "tmpfs", 0, "size=64m") }},
	}
}

func makeDir(t *testing.T, parts ...string) string {
	t.Helper()
	dir := filepath.Join(parts...)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// needTool skips the test where a program is missing.
func needTool(t *testing.T, name, pkg string) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("only root can mount a file system")
	}
	if _, err := exec.LookPath(name); err != nil {
		t.Skipf("%s is not installed (Debian package %s)", name, pkg)
	}
}

// program mounts by a program and unmounts at the end. dir is the last argument.
func program(t *testing.T, name, pkg string, args ...string) {
	t.Helper()
	needTool(t, name, pkg)
	dir := args[len(args)-1]
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		t.Skipf("%s does not work here: %v\n%s", name, err, out)
	}
	unmountLater(t, dir)
	var here, above unix.Stat_t
	if err := errors.Join(unix.Stat(dir, &here), unix.Stat(filepath.Dir(dir), &above)); err != nil || here.Dev == above.Dev {
		t.Skipf("%s mounted nothing at %s: %v", name, dir, err)
	}
}

func mountAt(t *testing.T, source, dir, kind string, flags uintptr, options string) {
	t.Helper()
	if err := unix.Mount(source, dir, kind, flags, options); err != nil {
		t.Skipf("%s cannot be mounted here: %v", kind, err)
	}
	unmountLater(t, dir)
}

func unmountLater(t *testing.T, dir string) {
	t.Cleanup(func() {
		if err := unix.Unmount(dir, 0); err != nil {
			_ = unix.Unmount(dir, unix.MNT_DETACH)
		}
	})
}

// image makes a file system in a file.
func image(t *testing.T, spare, mkfs, pkg string, args ...string) string {
	t.Helper()
	needTool(t, mkfs, pkg)
	file := filepath.Join(spare, "image")
	f, err := os.Create(file)
	if err == nil {
		err = errors.Join(f.Truncate(64<<20), f.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(mkfs, append(args, file)...).CombinedOutput(); err != nil {
		t.Skipf("%s does not work here: %v\n%s", mkfs, err, out)
	}
	return file
}

// loop makes a block device of a file.
func loop(t *testing.T, file string) string {
	t.Helper()
	needTool(t, "losetup", "mount")
	out, err := exec.Command("losetup", "-f", "--show", file).CombinedOutput()
	if err != nil {
		t.Skipf("no loop device is to be had: %v\n%s", err, out)
	}
	device := strings.TrimSpace(string(out))
	t.Cleanup(func() { _ = exec.Command("losetup", "-d", device).Run() })
	return device
}

// on moves the vault of a new world to the disk.
func (d testDisk) world(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	w.lower = d.noCase
	d.mount(t, w.vault, makeDir(t, w.dir, "spare"))
	w.write("Tea.md", "# Tea\n\nSee [[Sencha]] and [[Hub]].\n")
	w.write("Sencha.md", "# Sencha\n\nA leaf. See [hub](Hub.md).\n")
	w.write("Hub.md", "# Hub\n")
	w.write("drinks/Mate.md", "# Mate\n\n[[Sencha]]\n")
	w.write("drinks/cold/Ice.md", "# Ice\n")
	w.write("Index.md", "[m](drinks/Mate.md) [i](drinks/cold/Ice.md)\n")
	return w
}

// do makes a change and says yes to it.
func (w *world) do(args ...string) {
	w.t.Helper()
	r := w.lore(append(args, "--yes")...)
	if r.code == 3 {
		r = w.lore("approvals", "approve")
	}
	if r.code != 0 {
		w.t.Fatalf("lore %q: %v", args, r)
	}
}

// files are the visible files by path, as the disk spells them.
func (w *world) files() map[string]string {
	w.t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(w.vault, func(p string, e os.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case p != w.vault && strings.HasPrefix(e.Name(), ".") && e.IsDir(), e.Name() == "lost+found":
			return filepath.SkipDir
		case e.Type().IsRegular():
			b, err := os.ReadFile(p)
			rel, _ := filepath.Rel(w.vault, p)
			out[rel] = string(b)
			return err
		}
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return out
}

// holds checks parts of files; "" means that there is no such file.
func (w *world) holds(want map[string]string) {
	w.t.Helper()
	have := w.files()
	for p, part := range want {
		if w.lower {
			p = strings.ToLower(p)
		}
		text, there := have[p]
		if there != (part != "") || !strings.Contains(text, part) {
			w.t.Errorf("%s is %q (there: %v), want %q in it", p, text, there, part)
		}
	}
	for p := range have {
		// What was replaced on another disk waits there to be swept.
		if strings.HasPrefix(filepath.Base(p), ".") && !strings.HasPrefix(p, "other/") {
			w.t.Errorf("%s is left", p)
		}
	}
	if left, err := os.ReadDir(filepath.Join(w.vault, ".lore", "journal")); err == nil && len(left) > 0 {
		w.t.Errorf("the journal holds %v", left)
	}
}

// TestDiskChanges makes every kind of change on every kind of disk.
func TestDiskChanges(t *testing.T) {
	for _, d := range testDisks() {
		t.Run(d.name, func(t *testing.T) {
			w := d.world(t)
			w.do("write", "new/Note.md", "# Note\n\nfresh")
			w.holds(map[string]string{"new/Note.md": "fresh"})
			w.do("edit", "Hub.md", "--search", "# Hub", "--replace", "# Hub of all")
			w.do("edit", "Hub.md", "--search", "of all", "--replace", "of many")
			w.holds(map[string]string{"Hub.md": "# Hub of many"})
			w.do("rename", "Sencha.md", "leaves/Gyokuro.md")
			w.holds(map[string]string{"Sencha.md": "", "leaves/Gyokuro.md": "A leaf.", "Tea.md": "[[Gyokuro]]", "drinks/Mate.md": "[[Gyokuro]]"})
			w.do("undo")
			w.holds(map[string]string{"Sencha.md": "A leaf.", "leaves/Gyokuro.md": "", "Tea.md": "[[Sencha]]"})
			w.do("redo")
			w.holds(map[string]string{"Sencha.md": "", "leaves/Gyokuro.md": "A leaf.", "Tea.md": "[[Gyokuro]]"})
			w.do("move-folder", "drinks", "food/drinks")
			w.holds(map[string]string{"drinks/Mate.md": "", "food/drinks/Mate.md": "[[Gyokuro]]", "food/drinks/cold/Ice.md": "# Ice", "Index.md": "food/drinks/cold/Ice.md"})
			w.do("delete", "Hub.md")
			w.holds(map[string]string{"Hub.md": ""})
			w.do("undo")
			w.holds(map[string]string{"Hub.md": "# Hub of many"})
			w.do("edit", "Hub.md", "--search", "of many", "--replace", "again")
			w.holds(map[string]string{"Hub.md": "# Hub again"})
			d.doctor(w)
		})
	}
}

// doctor sees what doctor says about the disk.
func (d testDisk) doctor(w *world) {
	w.t.Helper()
	r := w.mustLore("doctor")
	if told := strings.Contains(r.out, "cannot swap two files"); told != d.weak {
		w.t.Errorf("doctor tells of a weaker promise: %v, want %v\n%s", told, d.weak, r.out)
	}
}

// TestDiskCase changes only the case of names.
func TestDiskCase(t *testing.T) {
	for _, d := range testDisks() {
		t.Run(d.name, func(t *testing.T) {
			w := d.world(t)
			if d.noCase {
				before := w.files()
				if r := w.lore("rename", "tea.md", "Tea.md", "--yes"); r.code == 0 || !strings.Contains(r.errOut, "case") {
					t.Errorf("the disk cannot do this: %v", r)
				}
				if have := w.files(); len(have) != len(before) {
					t.Errorf("the files are %v", have)
				}
				w.do("edit", "hub.md", "--search", "# Hub", "--replace", "# Still")
				return
			}
			w.do("rename", "Sencha.md", "SENCHA.md")
			w.holds(map[string]string{"Sencha.md": "", "SENCHA.md": "A leaf."})
			w.leads("Tea.md", "SENCHA.md")
			w.do("undo")
			w.holds(map[string]string{"SENCHA.md": "", "Sencha.md": "A leaf.", "Tea.md": "[[Sencha]]"})
			w.do("move-folder", "drinks", "Drinks")
			w.holds(map[string]string{"drinks/Mate.md": "", "Drinks/Mate.md": "[[Sencha]]", "Drinks/cold/Ice.md": "# Ice"})
			w.leads("Index.md", "Drinks/cold/Ice.md")
			w.do("move-folder", "Drinks/cold", "Drinks/COLD")
			w.holds(map[string]string{"Drinks/COLD/Ice.md": "# Ice"})
			w.leads("Index.md", "Drinks/COLD/Ice.md")
			w.do("undo")
			w.do("undo")
			w.holds(map[string]string{"Drinks/Mate.md": "", "drinks/Mate.md": "[[Sencha]]", "drinks/cold/Ice.md": "# Ice", "Index.md": "drinks/cold/Ice.md"})
			if r := w.lore("write", "TEA.md", "a twin", "--yes", "--mode", "create"); r.code == 0 {
				t.Errorf("a twin was made: %v", r)
			}
			w.holds(map[string]string{"Tea.md": "# Tea", "TEA.md": ""})
			w.listed(map[string]bool{"Sencha.md": true, "SENCHA.md": false, "drinks/Mate.md": true, "Drinks/Mate.md": false})
		})
	}
}

// leads checks that a note has a link to another, and none that leads nowhere.
func (w *world) leads(from, to string) {
	w.t.Helper()
	if out := w.mustLore("links", from, "--json").out; !strings.Contains(out, `"`+to+`"`) {
		w.t.Errorf("%s does not lead to %s:\n%s", from, to, out)
	}
	if out := w.mustLore("broken").out; strings.Contains(out, from) {
		w.t.Errorf("broken links:\n%s", out)
	}
}

// listed checks which notes the index knows.
func (w *world) listed(want map[string]bool) {
	w.t.Helper()
	out := w.mustLore("list", "--json").out
	for p, there := range want {
		if strings.Contains(out, `"`+p+`"`) != there {
			w.t.Errorf("%s is listed: %v, want %v\n%s", p, !there, there, out)
		}
	}
}

// TestDiskKilled kills changes on every kind of disk at the calls that change
// names, and sees that they stand whole or not at all, and that the next one
// works.
func TestDiskKilled(t *testing.T) {
	needTool(t, "strace", "strace")
	for _, d := range testDisks() {
		t.Run(d.name, func(t *testing.T) {
			w := newWorld(t)
			d.mount(t, w.vault, makeDir(t, w.dir, "spare"))
			const notes = 8
			w.write("hub0.md", "# The hub\n")
			for i := range notes {
				w.write(fmt.Sprintf("n%d.md", i), fmt.Sprintf("note %d links to [[hub0]]\n", i))
			}
			name := "hub0"
			kills := 0
			for at := 1; at <= rounds(20); at += 3 {
				next := fmt.Sprintf("hub%d", at)
				if w.killed(at, "rename", name+".md", next+".md", "--yes") {
					kills++
				}
				w.mustLore("list") // recovers
				files := w.files()
				if _, ok := files[next+".md"]; ok {
					name = next
				}
				if files[name+".md"] != "# The hub\n" || len(files) != notes+1 {
					t.Fatalf("killed at %d: %v", at, files)
				}
				for i := range notes {
					p := fmt.Sprintf("n%d.md", i)
					if want := fmt.Sprintf("note %d links to [[%s]]\n", i, name); files[p] != want {
						t.Fatalf("killed at %d: %s is %q, want %q", at, p, files[p], want)
					}
				}
			}
			if kills == 0 {
				t.Error("nothing was killed")
			}
			w.do("edit", name+".md", "--search", "hub", "--replace", "end")
			w.holds(map[string]string{name + ".md": "# The end"})
			d.doctor(w)
		})
	}
}

// TestDiskKilledCase kills changes of the case of a name.
func TestDiskKilledCase(t *testing.T) {
	needTool(t, "strace", "strace")
	for _, d := range testDisks() {
		if d.noCase {
			continue
		}
		t.Run(d.name, func(t *testing.T) {
			w := newWorld(t)
			d.mount(t, w.vault, makeDir(t, w.dir, "spare"))
			w.write("dir/Note.md", "# The note\n")
			w.mustLore("list")
			kills, changes := 0, 0
			for at := 1; at <= rounds(9); at++ {
				from := keyOf(w.files())
				to := map[string]string{"dir/Note.md": "dir/NOTE.md", "dir/NOTE.md": "DIR/NOTE.md", "DIR/NOTE.md": "dir/Note.md"}[from]
				if w.killed(at, "rename", from, to, "--yes") {
					kills++
				}
				w.mustLore("list") // recovers
				files := w.files()
				if files[to] != "" {
					changes++
				}
				if len(files) != 1 || files[from] != "# The note\n" && files[to] != "# The note\n" {
					t.Fatalf("killed at %d, %s to %s: %v", at, from, to, files)
				}
				if left, err := os.ReadDir(filepath.Join(w.vault, ".lore", "journal")); err == nil && len(left) > 0 {
					t.Fatalf("killed at %d: the journal holds %v", at, left)
				}
			}
			if kills == 0 || changes == 0 {
				t.Errorf("%d kills, %d changes", kills, changes)
			}
		})
	}
}

// keyOf is the only key.
func keyOf(files map[string]string) string {
	for p := range files {
		return p
	}
	return ""
}

// killed runs a command that is killed at the nth call of a thread that changes
// a name.
func (w *world) killed(n int, args ...string) bool {
	w.t.Helper()
	inject := fmt.Sprintf("inject=renameat,renameat2,linkat,unlinkat:signal=KILL:when=%d", n)
	ctx, cancel := context.WithTimeout(w.t.Context(), 2*time.Minute)
	defer cancel()
	c := w.traced(ctx, inject, args...)
	err := c.Run()
	if err != nil && c.ProcessState.ExitCode() <= 0 { // strace dies of the same signal
		return true
	}
	return false
}

// traced prepares a command whose system calls are interfered with.
func (w *world) traced(ctx context.Context, inject string, args ...string) *exec.Cmd {
	plain := w.command(ctx, args...)
	c := exec.CommandContext(ctx, "strace", append([]string{"-f", "-qq", "-o", "/dev/null", "-e", inject, binary}, args...)...)
	c.Dir, c.Env = plain.Dir, append(plain.Env, "GOMAXPROCS=1")
	return c
}
