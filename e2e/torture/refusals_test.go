//go:build torture && linux

package torture

import (
	"bytes"
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

	"lore/internal/workspace/process/ptytest"
)

// refused runs a command in which system calls fail, and says yes to it.
func (w *world) refused(calls, errno string, args ...string) result {
	w.t.Helper()
	r := w.interfered(calls, errno, append(args, "--yes")...)
	if r.code == 3 {
		r = w.interfered(calls, errno, "approvals", "approve")
	}
	return r
}

// interfered runs a command in which system calls fail.
func (w *world) interfered(calls, errno string, args ...string) result {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), 2*time.Minute)
	defer cancel()
	c := w.traced(ctx, "inject="+calls+":error="+errno, args...)
	if ptytest.Needs(args) {
		r := ptytest.Run(w.t, c)
		return result{r.Code, r.Out, r.Err}
	}
	var out, errOut bytes.Buffer
	c.Stdout, c.Stderr = &out, &errOut
	err := c.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		w.t.Fatal(err)
	}
	return result{c.ProcessState.ExitCode(), out.String(), errOut.String()}
}

// TestDiskRefuses lets the kernel refuse the calls that a disk may lack. Every
// kind of change works all the same.
func TestDiskRefuses(t *testing.T) {
	needTool(t, "strace", "strace")
	for _, calls := range []string{"renameat2", "renameat2,linkat", "syncfs", "fsetxattr,fchmod,fchown", "renameat2,linkat,syncfs,fsetxattr,fchmod,fchown"} {
		for _, errno := range []string{"EINVAL", "ENOSYS", "EOPNOTSUPP", "EXDEV", "EPERM"} {
			t.Run(calls+" "+errno, func(t *testing.T) {
				w := testDisk{mount: func(*testing.T, string, string) {}}.world(t)
				do := func(args ...string) {
					t.Helper()
					if r := w.refused(calls, errno, args...); r.code != 0 {
						t.Fatalf("lore %q: %v", args, r)
					}
				}
				do("write", "new/Note.md", "fresh")
				do("edit", "Hub.md", "--search", "# Hub", "--replace", "# Center")
				do("rename", "Sencha.md", "leaves/Gyokuro.md")
				w.holds(map[string]string{"new/Note.md": "fresh", "Hub.md": "# Center", "Sencha.md": "", "leaves/Gyokuro.md": "A leaf.", "Tea.md": "[[Gyokuro]]"})
				do("move-folder", "drinks", "Drinks")
				do("delete", "Hub.md")
				w.holds(map[string]string{"Hub.md": "", "Drinks/cold/Ice.md": "# Ice"})
				do("undo")
				w.holds(map[string]string{"Hub.md": "# Center"})
			})
		}
	}
}

// TestDiskLacksRename refuses to change a vault on a disk that cannot rename
// files, says so, and reads from it.
func TestDiskLacksRename(t *testing.T) {
	needTool(t, "strace", "strace")
	for _, errno := range []string{"EINVAL", "ENOSYS", "EOPNOTSUPP", "EXDEV", "EPERM"} {
		t.Run(errno, func(t *testing.T) {
			w := testDisk{mount: func(*testing.T, string, string) {}}.world(t)
			w.do("edit", "Tea.md", "--search", "See", "--replace", "Look at") // Lore's own data, which needs renames too, is made
			before := fmt.Sprint(w.files())
			r := w.refused("renameat,renameat2", errno, "edit", "Hub.md", "--search", "# Hub", "--replace", "# Center")
			if r.code == 0 || !strings.Contains(r.errOut, "cannot rename a file") {
				t.Errorf("want a refusal with its reason: %v", r)
			}
			if have := fmt.Sprint(w.files()); have != before {
				t.Errorf("the files are %v", have)
			}
			if r := w.interfered("renameat,renameat2", errno, "read", "Hub.md"); r.code != 0 || !strings.Contains(r.out, "# Hub") {
				t.Errorf("reading: %v", r)
			}
			w.do("edit", "Hub.md", "--search", "# Hub", "--replace", "# Center")
			w.holds(map[string]string{"Hub.md": "# Center"})
		})
	}
}

// TestDiskMounts has folders of the vault on other disks, and on another mount
// of the same disk.
func TestDiskMounts(t *testing.T) {
	for name, mount := range map[string]func(t *testing.T, dir, spare string){
		"tmpfs": func(t *testing.T, dir, _ string) { mountAt(t, "tmpfs", dir, "tmpfs", 0, "size=16m") },
		"bind":  func(t *testing.T, dir, spare string) { mountAt(t, spare, dir, "", unix.MS_BIND, "") },
		"bindfs": func(t *testing.T, dir, spare string) {
			program(t, "bindfs", "bindfs", spare, dir)
		},
	} {
		t.Run(name, func(t *testing.T) {
			needTool(t, "mount", "mount")
			w := testDisk{mount: func(*testing.T, string, string) {}}.world(t)
			mount(t, makeDir(t, w.vault, "other"), makeDir(t, w.dir, "inside"))
			w.write("other/Far.md", "# Far\n\n[[Sencha]]\n")
			w.write("other/sub/Farther.md", "# Farther\n\n[[Sencha]]\n")
			w.do("edit", "other/Far.md", "--search", "# Far", "--replace", "# Far away")
			w.do("write", "other/New.md", "fresh [[Sencha]]")
			w.do("rename", "Sencha.md", "Gyokuro.md")
			w.holds(map[string]string{"other/Far.md": "[[Gyokuro]]", "other/sub/Farther.md": "[[Gyokuro]]", "other/New.md": "fresh [[Gyokuro]]", "Tea.md": "[[Gyokuro]]", "Gyokuro.md": "A leaf."})
			w.do("undo")
			w.holds(map[string]string{"other/Far.md": "[[Sencha]]", "other/sub/Farther.md": "[[Sencha]]", "Tea.md": "[[Sencha]]", "Sencha.md": "A leaf."})
			w.do("rename", "other/Far.md", "other/sub/Near.md")
			w.holds(map[string]string{"other/Far.md": "", "other/sub/Near.md": "# Far away"})
			// The trash lies on the disk of the vault. What cannot be moved there, or to
			// any other disk, stays as it is.
			for _, args := range [][]string{{"delete", "other/sub/Near.md"}, {"rename", "other/sub/Near.md", "drinks/Near.md"}, {"move-folder", "drinks", "other/drinks"}} {
				r := w.lore(append(args, "--yes")...)
				if r.code == 3 {
					r = w.lore("approvals", "approve")
				}
				if r.code == 0 || !strings.Contains(r.errOut, "a different disk") {
					t.Errorf("lore %q: %v", args, r)
				}
				w.holds(map[string]string{"other/sub/Near.md": "# Far away", "drinks/Near.md": "", "drinks/Mate.md": "# Mate", "drinks/cold/Ice.md": "# Ice", "other/drinks/Mate.md": ""})
			}
			w.do("edit", "other/sub/Near.md", "--search", "away", "--replace", "off")
			w.holds(map[string]string{"other/sub/Near.md": "# Far off"})
			w.mustLore("doctor")
		})
	}
}

// TestDiskWedged opens a vault that an older version left refusing every change:
// the last save stands, and its journal could not be closed on a disk without
// moves that never overwrite.
func TestDiskWedged(t *testing.T) {
	old := os.Getenv("LORE_OLD")
	if old == "" {
		t.Skip("set LORE_OLD to a lore of before November 2026")
	}
	w := testDisks()[0].world(t)
	mine := binary
	binary = old
	w.lore("edit", "Hub.md", "--search", "# Hub", "--replace", "# Center", "--yes")
	if r := w.lore("edit", "Hub.md", "--search", "Center", "--replace", "Middle", "--yes"); r.code == 0 {
		t.Errorf("the old version is not wedged: %v", r)
	}
	binary = mine
	w.do("edit", "Hub.md", "--search", "Center", "--replace", "Middle")
	w.holds(map[string]string{"Hub.md": "# Middle"})
	if left, err := os.ReadDir(filepath.Join(w.vault, ".lore", "recovered")); err == nil && len(left) > 0 {
		t.Errorf("recovered: %v", left)
	}
}
