//go:build torture && linux

package torture

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// until polls a condition. It fails when the condition never holds.
func until(t *testing.T, what string, so func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if so() {
			return
		}
	}
	t.Fatalf("never: %s", what)
}

// holding starts lore mcp and waits until it holds the vault.
func (w *world) holding() {
	w.t.Helper()
	c := w.start("mcp")
	w.t.Cleanup(func() { kill(c) })
	until(w.t, "lore mcp holds the vault", func() bool {
		found, err := filepath.Glob(filepath.Join(w.data, "lore", "*", "holder.json"))
		return err == nil && len(found) == 1
	})
}

// mode asks the server for the state of the vault, which looks at no file.
func (s *server) mode() string {
	s.t.Helper()
	req, err := http.NewRequest(http.MethodGet, s.address+"/api/v1/status", nil)
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+s.token)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	var out struct {
		State struct {
			Mode string `json:"mode"`
		} `json:"state"`
	}
	if err := json.NewDecoder(res.Body).Decode(&out); err != nil {
		s.t.Fatal(err)
	}
	return out.State.Mode
}

// numbered makes notes in a folder. The first eight link to the hub: a rename
// that changes more than twenty files would be asked about.
func (w *world) numbered(folder string, n int) {
	w.t.Helper()
	for i := range n {
		link := "words"
		if i < 8 {
			link = "[[Hub0]]"
		}
		w.write(fmt.Sprintf("%s/n%03d.md", folder, i), sealed(fmt.Sprintf("# Note %d\n\nsee %s words\n", i, link)))
	}
}

// linked fails when a link of the vault leads nowhere.
func (w *world) linked() {
	w.t.Helper()
	var broken struct {
		Total int `json:"total"`
		Index struct {
			Fresh bool `json:"fresh"`
		} `json:"index"`
	}
	w.mustLore("broken", "--json").decode(w.t, &broken)
	if broken.Total != 0 || !broken.Index.Fresh {
		w.t.Errorf("broken links: %+v", broken)
	}
}

// A checkout removes two thirds of the notes and brings them back. Nobody has
// to say anything: a change waits until the folder is quiet, and then is made.
func TestOfflineCheckout(t *testing.T) {
	need(t, "git", "git")
	w := newWorld(t)
	git := func(args ...string) {
		t.Helper()
		c := exec.Command("git", append([]string{"-C", w.vault, "-c", "user.name=n", "-c", "user.email=n@localhost", "-c", "commit.gpgsign=false"}, args...)...)
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v\n%s", args, err, out)
		}
	}
	git("init", "-q", "-b", "small")
	w.write(".gitignore", ".lore/\n")
	w.write("Hub0.md", sealed("# Hub\n\nwords\n"))
	w.numbered("kept", 100)
	git("add", "-A")
	git("commit", "-q", "-m", "small")
	git("checkout", "-q", "-b", "large")
	w.numbered("mixed", 100)
	w.numbered("kept/more", 100)
	w.write("mixed/stays.txt", "no note\n")
	git("add", "-A")
	git("commit", "-q", "-m", "large")
	s := w.serve()
	if n := len(w.search("words").Results); n == 0 {
		t.Fatal("nothing is found")
	}

	git("checkout", "-q", "small")
	w.mustLore("rename", "Hub0.md", "Hub1.md", "--yes")
	if got := w.read("kept/n007.md"); !strings.Contains(got, "[[Hub1]]") {
		t.Errorf("a link was left behind: %q", got)
	}
	w.linked()
	w.judge()

	git("commit", "-q", "-a", "-m", "renamed")
	git("checkout", "-q", "large")
	until(t, "the index is up to date after a checkout that brought notes back", func() bool { return w.search("words").Index.Fresh })
	w.judge()
	git("checkout", "-q", "small")
	if w.search("words").Index.Fresh {
		t.Error("200 notes are taken for removed at once")
	}
	until(t, "the server believes the checkout without being asked", func() bool { return s.mode() == "online" })
	w.judge()
	w.mustLore("write", "New.md", "--content", sealed("# New\n\n[[Hub1]]\n"), "--yes")
	w.linked()
	w.healthy()
}

// A disk inside the vault is unmounted: its notes are still found, and nothing
// is changed without them. Mounted again, all is well by itself.
func TestOfflineUnmounted(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can mount a file system")
	}
	w := newWorld(t)
	w.write("Hub0.md", sealed("# Hub\n\nwords\n"))
	w.numbered("here", 20)
	disk, source := makeDir(t, w.vault, "disk"), makeDir(t, w.dir, "source")
	mountAt(t, source, disk, "", unix.MS_BIND, "")
	w.numbered("disk", 40)
	w.write("disk/Gaiwan.md", sealed("# Gaiwan\n\nporcelain words [[Hub0]]\n"))
	s := w.serve()
	if !w.search("porcelain").has("disk/Gaiwan.md") {
		t.Fatal("the note on the disk is not found")
	}
	until(t, "the server says that the vault is well", func() bool { return s.mode() == "online" })

	if err := unix.Unmount(disk, 0); err != nil {
		t.Fatal(err)
	}
	until(t, "the server says that the vault is offline", func() bool { return s.mode() == "offline" })
	f := w.search("porcelain")
	if !f.has("disk/Gaiwan.md") || f.Index.Fresh {
		t.Errorf("without the disk: %+v", f)
	}
	for _, act := range [][]string{
		{"rename", "Hub0.md", "Hub1.md", "--yes"},
		{"move-folder", "here", "there", "--yes"},
	} {
		r := w.lore(act...)
		if r.code == 0 || !strings.Contains(r.errOut, "offline") || !strings.Contains(r.errOut, "lore index --accept") {
			t.Errorf("lore %q: %v", act, r)
		}
	}

	mountAt(t, source, disk, "", unix.MS_BIND, "")
	until(t, "the server says that the vault is well again", func() bool { return s.mode() == "online" })
	if !w.search("porcelain").Index.Fresh {
		t.Error("the index is not fresh although the disk is back")
	}
	w.mustLore("rename", "Hub0.md", "Hub1.md", "--yes")
	if got := w.read("disk/Gaiwan.md"); !strings.Contains(got, "[[Hub1]]") {
		t.Errorf("a link was left behind: %q", got)
	}
	w.judge()
	w.healthy()
}

// All notes of a folder are deleted and the folder is left: only a person knows
// whether its disk is missing, and says so while another process holds the vault.
func TestOfflineAccepted(t *testing.T) {
	for name, hold := range map[string]func(w *world){
		"serve": func(w *world) { w.serve() },
		"mcp":   (*world).holding,
	} {
		for _, asked := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, looked at before: %v", name, asked), func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				w.write("Hub0.md", sealed("# Hub\n\nwords\n"))
				w.numbered("kept", 20)
				w.numbered("gone", 40)
				w.mustLore("index", "--text-only")
				hold(w)
				until(t, "the index is up to date", func() bool { return w.search("words").Index.Fresh })
				// All at once: a watcher that hears of them one by one may rightly believe
				// that the first few are gone.
				gone := filepath.Join(w.vault, "gone")
				if err := errors.Join(os.Rename(gone, filepath.Join(w.dir, "away")), os.Mkdir(gone, 0o755)); err != nil {
					t.Fatal(err)
				}
				if asked {
					f := w.search("words")
					if f.Index.Fresh || !strings.Contains(f.Index.Reason, "lore index --accept") {
						t.Errorf("an empty folder: %+v", f.Index)
					}
					if r := w.lore("rename", "Hub0.md", "Hub1.md", "--yes"); r.code == 0 || !strings.Contains(r.errOut, "lore index --accept") {
						t.Errorf("a rename without 40 notes: %v", r)
					}
				}
				if r := w.mustLore("index", "--accept"); !strings.Contains(r.out, "40 notes accepted as deleted") {
					t.Errorf("%v", r)
				}
				w.mustLore("rename", "Hub0.md", "Hub1.md", "--yes")
				w.linked()
				w.judge()
				w.healthy()
			})
		}
	}
}
