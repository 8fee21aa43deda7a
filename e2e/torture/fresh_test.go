//go:build torture && linux

package torture

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// found is as much of a search's answer as these tests need.
type found struct {
	Results []struct {
		Path string `json:"path"`
	} `json:"results"`
	Index struct {
		Fresh  bool   `json:"fresh"`
		Reason string `json:"reason"`
	} `json:"index"`
}

func (f found) has(path string) bool {
	for _, r := range f.Results {
		if r.Path == path {
			return true
		}
	}
	return false
}

// search asks for a word on the command line.
func (w *world) search(word string) found {
	w.t.Helper()
	var f found
	w.mustLore("search", word, "--mode", "lexical", "--json").decode(w.t, &f)
	return f
}

// true fails the test when an answer that is marked fresh lacks the note.
func (f found) judge(t *testing.T, what, path string) {
	t.Helper()
	if f.Index.Fresh && !f.has(path) {
		t.Errorf("%s: an answer that is marked fresh lacks %s: %+v", what, path, f)
	}
}

var yesterday = time.Now().Add(-24 * time.Hour).Truncate(time.Second)

func (w *world) date(when time.Time, paths ...string) {
	w.t.Helper()
	for _, p := range paths {
		if err := os.Chtimes(filepath.Join(w.vault, p), when, when); err != nil {
			w.t.Fatal(err)
		}
	}
}

// settle waits until the times of everything written so far are behind the clock
// of the disk, so that what follows has to be told by other means.
func settle() { time.Sleep(2100 * time.Millisecond) }

func TestFreshCommands(t *testing.T) {
	for name, change := range map[string]func(w *world){
		"a note copied with its folder's old times": func(w *world) {
			w.write("sub/new.md", "quokka\n")
			w.date(yesterday, "sub/new.md", "sub")
		},
		"a folder unpacked with old times": func(w *world) {
			w.write("sub/deep/new.md", "quokka\n")
			w.date(yesterday, "sub/deep/new.md", "sub/deep", "sub")
		},
		"an edit of the same size with the old time": func(w *world) {
			w.write("sub/old.md", "quokka word\n")
			w.date(yesterday, "sub/old.md")
		},
		"times to come": func(w *world) {
			w.write("sub/new.md", "quokka\n")
			w.date(time.Now().Add(time.Hour), "sub/new.md", "sub")
		},
		"the times of an earlier walk": func(w *world) {
			w.write("other/new.md", "quokka\n")
			w.date(yesterday, "other/new.md", "other")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.write("sub/old.md", "another wrd\n")
			w.write("sub/deep/older.md", "another word\n")
			w.write("other/old.md", "another word\n")
			w.date(yesterday, "sub/old.md", "sub/deep/older.md", "other/old.md", "sub/deep", "sub", "other", "")
			settle()
			w.mustLore("index", "--text-only")
			settle()
			w.search("another")
			change(w)
			f := w.search("quokka")
			if !f.Index.Fresh || len(f.Results) != 1 {
				t.Errorf("%+v", f)
			}
		})
	}
}

// While a server follows the vault, what was saved before a question is in its
// answer, or the answer says that it is behind.
func TestFreshServer(t *testing.T) {
	w := newWorld(t)
	for i := range 200 {
		w.write(fmt.Sprintf("notes/n%d.md", i), fmt.Sprintf("# Note %d\n\nsome words\n", i))
	}
	s := w.serve()
	stop := make(chan struct{})
	var wg sync.WaitGroup
	defer wg.Wait()
	defer close(stop)
	wg.Go(func() { // another note keeps being saved
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			case <-time.After(20 * time.Millisecond):
				w.write("notes/busy.md", fmt.Sprintf("saved %d times\n", i))
			}
		}
	})
	fresh := 0
	n := rounds(200)
	for i := range n {
		path, word := fmt.Sprintf("notes/n%d.md", i%200), fmt.Sprintf("quokka%d", i)
		switch i % 4 {
		case 1:
			path = fmt.Sprintf("fresh%d/new.md", i)
		case 2:
			path = fmt.Sprintf("deep%d/er/new.md", i)
		}
		w.write(path, word+"\n")
		if i%4 == 3 { // as editors save
			full := filepath.Join(w.vault, path)
			if err := os.WriteFile(full+".swp~", []byte(word+" again\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			if err := os.Rename(full+".swp~", full); err != nil {
				t.Fatal(err)
			}
		}
		var f found
		if err := s.call("search_notes", map[string]any{"query": word, "mode": "lexical"}, &f); err != nil {
			t.Fatal(err)
		}
		f.judge(t, fmt.Sprint("save ", i), path)
		if f.Index.Fresh {
			fresh++
		}
	}
	// Saying "behind" every time would be true and useless.
	if fresh < n/2 {
		t.Errorf("only %d of %d answers are fresh", fresh, n)
	}
}

// A link that was saved just before a rename follows it.
func TestRenameRightAfterASave(t *testing.T) {
	w := newWorld(t)
	w.write("Tea 0.md", "# Tea\n")
	w.serve()
	for i := range rounds(10) {
		from, to := fmt.Sprintf("Tea %d", i), fmt.Sprintf("Tea %d", i+1)
		link := fmt.Sprintf("Link %d.md", i)
		w.write(link, "See [["+from+"]].\n")
		w.mustLore("rename", from+".md", to+".md", "--yes")
		if got := w.read(link); !strings.Contains(got, "[["+to+"]]") {
			t.Errorf("%s: %q", link, got)
		}
		w.write(link, "done\n")
	}
}

// On a disk on which looking at the vault takes long, a rename waits.
func TestRenameOnASlowDisk(t *testing.T) {
	need(t, "strace", "strace")
	w := newWorld(t)
	w.write("Tea.md", "# Tea\n")
	for i := range 300 {
		w.write(fmt.Sprintf("n/n%d.md", i), "some words\n")
	}
	w.mustLore("index", "--text-only")
	settle()
	w.search("words")
	w.write("z/Link.md", "See [[Tea]].\n")
	slow := w.command(t.Context(), "rename", "Tea.md", "Green.md", "--yes")
	slow.Args = append([]string{"strace", "-f", "-qq", "-o", os.DevNull, "-e", "trace=newfstatat", "-e", "inject=newfstatat:delay_enter=4000", binary}, slow.Args[1:]...)
	slow.Path, slow.Err = mustLook(t, "strace"), nil
	out, err := slow.CombinedOutput()
	if got := w.read("z/Link.md"); err == nil && !strings.Contains(got, "[[Green]]") {
		t.Errorf("the rename succeeded and left %q\n%s", got, out)
	} else if err != nil && w.read("Tea.md") == "" {
		t.Errorf("the rename failed and was made: %v\n%s", err, out)
	}
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func mustLook(t *testing.T, program string) string {
	t.Helper()
	p, err := exec.LookPath(program)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// need skips a test whose program is not here; make torture installs them.
func need(t *testing.T, program, pkg string) {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		t.Skipf("needs %s: install the package %s", program, pkg)
	}
}
