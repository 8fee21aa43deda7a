//go:build torture && linux

package torture

import (
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

// at is the place of a path of the vault on disk.
func (w *world) at(path string) string { return filepath.Join(w.vault, path) }

// must fails the test on an error.
func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// find asks the server for a word.
func (s *server) find(word string) found {
	s.t.Helper()
	var f found
	if err := s.call("search_notes", map[string]any{"query": word, "mode": "lexical"}, &f); err != nil {
		s.t.Fatal(err)
	}
	return f
}

// A foreignChange is a change of a vault that a server follows, and what an
// answer has to show after it.
type foreignChange struct {
	name   string
	before func(w *world)            // what the vault holds when the server starts
	change func(w *world, s *server) // what happens then
	has    string                    // the path that a search for quokka has to list; "" when it has to list none
}

var foreignChanges = []foreignChange{
	{
		name: "two folders change places",
		before: func(w *world) {
			w.write("a/one.md", "one\n")
			w.write("b/two.md", "two\n")
		},
		change: func(w *world, s *server) {
			w.must(unix.Renameat2(unix.AT_FDCWD, w.at("a"), unix.AT_FDCWD, w.at("b"), unix.RENAME_EXCHANGE))
			s.find("one")
			w.write("b/one.md", "quokka\n")
		},
		has: "b/one.md",
	},
	{
		name: "two folders change places, the other one",
		before: func(w *world) {
			w.write("a/one.md", "one\n")
			w.write("b/two.md", "two\n")
		},
		change: func(w *world, s *server) {
			w.must(unix.Renameat2(unix.AT_FDCWD, w.at("a"), unix.AT_FDCWD, w.at("b"), unix.RENAME_EXCHANGE))
			s.find("one")
			w.write("a/two.md", "quokka\n")
		},
		has: "a/two.md",
	},
	{
		name: "a folder is moved over an empty one",
		before: func(w *world) {
			w.write("a/one.md", "one\n")
			w.must(os.Mkdir(w.at("b"), 0o755))
		},
		change: func(w *world, s *server) {
			w.must(unix.Rename(w.at("a"), w.at("b")))
			s.find("one")
			w.write("b/one.md", "quokka\n")
		},
		has: "b/one.md",
	},
	{
		name: "a folder is renamed to and fro",
		before: func(w *world) {
			w.write("a/deep/one.md", "one\n")
		},
		change: func(w *world, s *server) {
			for range 50 {
				w.must(os.Rename(w.at("a"), w.at("b")))
				w.must(os.Rename(w.at("b"), w.at("a")))
			}
			w.write("a/deep/one.md", "quokka\n")
		},
		has: "a/deep/one.md",
	},
	{
		name: "a link through a linked folder",
		before: func(w *world) {
			w.write("real/one.md", "one\n")
			w.must(os.Symlink("real", w.at("linked")))
			w.must(os.Symlink("linked/one.md", w.at("link.md")))
		},
		change: func(w *world, s *server) { w.write("real/one.md", "quokka\n") },
		has:    "link.md",
	},
	{
		name: "a linked folder leads elsewhere",
		before: func(w *world) {
			w.write("real/one.md", "one\n")
			w.write("other/one.md", "quokka\n")
			w.must(os.Symlink("real", w.at("linked")))
			w.must(os.Symlink("linked/one.md", w.at("link.md")))
		},
		change: func(w *world, s *server) {
			w.must(os.Symlink("other", w.at("linked2")))
			w.must(os.Rename(w.at("linked2"), w.at("linked")))
		},
		has: "link.md",
	},
	{
		name: "a broken link gets its file",
		before: func(w *world) {
			w.write("one.md", "one\n")
			w.must(os.Symlink("sub/later.md", w.at("link.md")))
		},
		change: func(w *world, s *server) { w.write("sub/later.md", "quokka\n") },
		has:    "link.md",
	},
	{
		name:   "a link that came later",
		before: func(w *world) { w.write("one.md", "one\n") },
		change: func(w *world, s *server) {
			w.must(os.Symlink("one.md", w.at("link.md")))
			s.find("one")
			w.write("one.md", "quokka\n")
		},
		has: "link.md",
	},
	{
		name:   "a broken link that came later",
		before: func(w *world) { w.write("one.md", "one\n") },
		change: func(w *world, s *server) {
			w.must(os.Symlink("two.md", w.at("link.md")))
			s.find("one")
			w.write("two.md", "quokka\n")
		},
		has: "link.md",
	},
	{
		name:   "a note becomes a folder",
		before: func(w *world) { w.write("one.md", "quokka\n") },
		change: func(w *world, s *server) {
			w.must(os.Remove(w.at("one.md")))
			w.must(os.Mkdir(w.at("one.md"), 0o755))
		},
	},
	{
		name:   "a note becomes a link that leads out",
		before: func(w *world) { w.write("one.md", "quokka\n") },
		change: func(w *world, s *server) {
			w.must(os.Symlink("/etc/hostname", w.at("tmp.md")))
			w.must(os.Rename(w.at("tmp.md"), w.at("one.md")))
		},
	},
	{
		name:   "a note becomes a broken link",
		before: func(w *world) { w.write("one.md", "quokka\n") },
		change: func(w *world, s *server) {
			w.must(os.Remove(w.at("one.md")))
			w.must(os.Symlink("nowhere.md", w.at("one.md")))
		},
	},
	{
		name:   "a note becomes a pipe",
		before: func(w *world) { w.write("one.md", "quokka\n") },
		change: func(w *world, s *server) {
			w.must(os.Remove(w.at("one.md")))
			w.must(unix.Mkfifo(w.at("one.md"), 0o644))
		},
	},
	{
		name: "a folder becomes a link to a folder",
		before: func(w *world) {
			w.write("a/one.md", "quokka\n")
			w.write("b/two.md", "two\n")
		},
		change: func(w *world, s *server) {
			w.must(os.RemoveAll(w.at("a")))
			w.must(os.Symlink("b", w.at("a")))
		},
	},
	{
		name: "of two spellings of a name one goes",
		before: func(w *world) {
			w.write("caf\u00e9.md", "one\n")
			w.write("cafe\u0301.md", "quokka\n")
		},
		change: func(w *world, s *server) { w.must(os.Remove(w.at("caf\u00e9.md"))) },
		has:    "caf\u00e9.md",
	},
	{
		name:   "a folder whose name is decomposed is moved in",
		before: func(w *world) { w.write("one.md", "one\n") },
		change: func(w *world, s *server) {
			w.must(os.MkdirAll(filepath.Join(w.dir, "u\u0308ber/a\u0308"), 0o755))
			w.must(os.WriteFile(filepath.Join(w.dir, "u\u0308ber/a\u0308/o\u0308.md"), []byte("quokka\n"), 0o644))
			w.must(os.Rename(filepath.Join(w.dir, "u\u0308ber"), w.at("u\u0308ber")))
		},
		has: "\u00fcber/\u00e4/\u00f6.md",
	},
	{
		name:   "a decomposed name gets its other spelling",
		before: func(w *world) { w.write("cafe\u0301.md", "quokka\n") },
		change: func(w *world, s *server) {
			w.must(os.Rename(w.at("cafe\u0301.md"), w.at("caf\u00e9.md")))
		},
		has: "caf\u00e9.md",
	},
	{
		name:   "a decomposed folder gets its other spelling",
		before: func(w *world) { w.write("cafe\u0301/one.md", "one\n") },
		change: func(w *world, s *server) {
			w.must(os.Rename(w.at("cafe\u0301"), w.at("caf\u00e9")))
			s.find("one")
			w.write("caf\u00e9/one.md", "quokka\n")
		},
		has: "caf\u00e9/one.md",
	},
	{
		name:   "only the case of a name changes",
		before: func(w *world) { w.write("sub/Tea.md", "quokka\n") },
		change: func(w *world, s *server) { w.must(os.Rename(w.at("sub/Tea.md"), w.at("sub/tea.md"))) },
		has:    "sub/tea.md",
	},
	{
		name:   "500 notes are moved in",
		before: func(w *world) { w.write("one.md", "one\n") },
		change: func(w *world, s *server) {
			for i := range 500 {
				d := filepath.Join(w.dir, "tree", fmt.Sprint(i%50), fmt.Sprint(i%7))
				w.must(os.MkdirAll(d, 0o755))
				w.must(os.WriteFile(filepath.Join(d, fmt.Sprint(i, ".md")), []byte("word\n"), 0o644))
			}
			w.must(os.WriteFile(filepath.Join(w.dir, "tree/49/0/last.md"), []byte("quokka\n"), 0o644))
			w.must(os.Rename(filepath.Join(w.dir, "tree"), w.at("tree")))
		},
		has: "tree/49/0/last.md",
	},
	{
		name:   "20,000 files at once",
		before: func(w *world) { w.write("one.md", "one\n") },
		change: func(w *world, s *server) {
			for i := range 20000 {
				w.must(os.WriteFile(w.at(fmt.Sprint(i, ".txt")), nil, 0o644))
			}
			w.write("new.md", "quokka\n")
		},
		has: "new.md",
	},
	{
		name:   "saved while the server is stopped",
		before: func(w *world) { w.write("one.md", "one\n") },
		change: func(w *world, s *server) {
			w.must(s.cmd.Process.Signal(unix.SIGSTOP))
			for i := range 20000 {
				w.must(os.WriteFile(w.at(fmt.Sprint(i, ".txt")), nil, 0o644))
			}
			w.write("sub/new.md", "quokka\n")
			w.must(s.cmd.Process.Signal(unix.SIGCONT))
		},
		has: "sub/new.md",
	},
	{
		name: "a folder is a mount of something that others change",
		before: func(w *world) {
			w.must(os.Mkdir(w.at("sub"), 0o755))
			w.bindfs(filepath.Join(w.dir, "below"), w.at("sub"))
			w.write("sub/one.md", "one\n")
		},
		change: func(w *world, s *server) {
			w.must(os.WriteFile(filepath.Join(w.dir, "below", "new.md"), []byte("quokka\n"), 0o644))
		},
		has: "sub/new.md",
	},
	{
		name:   "a disk is mounted on a folder",
		before: func(w *world) { w.write("sub/one.md", "one\n") },
		change: func(w *world, s *server) {
			w.must(os.MkdirAll(filepath.Join(w.dir, "disk"), 0o755))
			w.must(os.WriteFile(filepath.Join(w.dir, "disk", "new.md"), []byte("quokka\n"), 0o644))
			w.mountBind(filepath.Join(w.dir, "disk"), w.at("sub"))
		},
		has: "sub/new.md",
	},
	{
		name: "a disk is unmounted from a folder",
		before: func(w *world) {
			w.write("other.md", "other\n")
			w.write("sub/.keep", "")
			w.must(os.MkdirAll(filepath.Join(w.dir, "disk"), 0o755))
			w.must(os.WriteFile(filepath.Join(w.dir, "disk", "new.md"), []byte("quokka\n"), 0o644))
			w.mountBind(filepath.Join(w.dir, "disk"), w.at("sub"))
		},
		change: func(w *world, s *server) { w.must(unix.Unmount(w.at("sub"), 0)) },
	},
}

// mountBind shows a folder at another place, until the test ends.
func (w *world) mountBind(from, to string) {
	w.t.Helper()
	if os.Getuid() != 0 {
		w.t.Skip("needs root to mount")
	}
	w.must(unix.Mount(from, to, "", unix.MS_BIND, ""))
	w.t.Cleanup(func() { _ = unix.Unmount(to, unix.MNT_DETACH) }) // the test may have done it
}

// bindfs shows a folder at another place through FUSE, until the test ends.
func (w *world) bindfs(from, to string) {
	w.t.Helper()
	need(w.t, "bindfs", "bindfs")
	if os.Getuid() != 0 {
		w.t.Skip("needs root to mount")
	}
	w.must(os.MkdirAll(from, 0o755))
	if out, err := exec.Command("bindfs", from, to).CombinedOutput(); err != nil {
		w.t.Skipf("bindfs: %v: %s", err, out)
	}
	w.t.Cleanup(func() { _ = unix.Unmount(to, unix.MNT_DETACH) })
}

// What others do to a vault that a server follows is in the next answer, or the
// answer says that it is behind.
func TestServerAfterForeignChanges(t *testing.T) {
	for _, c := range foreignChanges {
		t.Run(strings.ReplaceAll(c.name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			c.before(w)
			s := w.serve()
			for range 100 { // until it has compared everything and follows events
				if s.find("word").Index.Fresh {
					break
				}
				time.Sleep(50 * time.Millisecond)
			}
			c.change(w, s)
			f := s.find("quokka")
			if !f.Index.Fresh {
				t.Logf("behind: %s", f.Index.Reason)
			}
			switch {
			case !f.Index.Fresh:
			case c.has != "" && !f.has(c.has):
				t.Errorf("an answer that is marked fresh lacks %s: %+v", c.has, f)
			case c.has == "" && len(f.Results) > 0:
				t.Errorf("an answer that is marked fresh shows what is gone: %+v", f)
			}
		})
	}
}

// A doubt about the vault ends as soon as there is no reason for it any more.
func TestServerIsFreshAgain(t *testing.T) {
	long := strings.Repeat("some words\n", 500)
	for name, change := range map[string]func(w *world, s *server){
		"a note is emptied and filled again": func(w *world, s *server) {
			w.write("sub/0.md", "")
			s.find("word")
			s.find("word")
			w.write("sub/0.md", "quokka\n")
		},
		"a folder is emptied and filled again": func(w *world, s *server) {
			w.must(os.Rename(w.at("sub"), filepath.Join(w.dir, "kept")))
			w.must(os.Mkdir(w.at("sub"), 0o755))
			if f := s.find("words"); f.Index.Fresh {
				w.t.Errorf("an empty folder is believed: %+v", f)
			}
			for i := range 100 {
				name := fmt.Sprint(i, ".md")
				w.must(os.Rename(filepath.Join(w.dir, "kept", name), w.at("sub/"+name)))
			}
			w.write("sub/0.md", "quokka\n")
		},
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			for i := range 100 {
				w.write(fmt.Sprintf("sub/%d.md", i), long)
			}
			w.write("other.md", "other\n")
			s := w.serve()
			s.find("word")
			change(w, s)
			var f found
			for range 10 {
				if f = s.find("quokka"); f.Index.Fresh {
					break
				}
			}
			if !f.Index.Fresh || !f.has("sub/0.md") {
				t.Errorf("%+v", f)
			}
		})
	}
}

// A vault below FUSE is changed by others. The system remembers what it was told
// of a file for a second; commands ask again.
func TestFreshBelowFUSE(t *testing.T) {
	w := newWorld(t)
	below := filepath.Join(w.dir, "below")
	w.bindfs(below, w.vault)
	w.write("one.md", "one\n")
	w.write("two.md", "two\n")
	settle()
	for i := range rounds(5) {
		w.search("two")
		word := fmt.Sprint("quokka", i)
		w.must(os.WriteFile(filepath.Join(below, "one.md"), []byte(word+"\n"), 0o644))
		w.search(word).judge(t, fmt.Sprint("save ", i), "one.md")
	}
}

// A folder that was excluded a moment ago is not in an answer that is marked
// fresh.
func TestServerSettings(t *testing.T) {
	w := newWorld(t)
	w.write("Private/secret.md", "quokka\n")
	w.write("open.md", "quokka\n")
	s := w.serve()
	var f found
	if err := s.call("search_notes", map[string]any{"query": "quokka", "mode": "lexical"}, &f); err != nil || !f.has("Private/secret.md") {
		t.Fatalf("%+v, %v", f, err)
	}
	w.exclude("Private/**")
	if err := s.call("search_notes", map[string]any{"query": "quokka", "mode": "lexical"}, &f); err != nil {
		t.Fatal(err)
	}
	if f.Index.Fresh && f.has("Private/secret.md") {
		t.Errorf("an answer that is marked fresh has what is excluded: %+v", f)
	}
}

// exclude adds a pattern to the settings of the vault.
func (w *world) exclude(pattern string) {
	w.t.Helper()
	file, err := os.OpenFile(filepath.Join(w.dir, "config", "lore", "config.toml"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		w.t.Fatal(err)
	}
	_, err = fmt.Fprintf(file, "\n[vaults.%q]\nexclude = [%q]\n", w.vault, pattern)
	if err := errors.Join(err, file.Close()); err != nil {
		w.t.Fatal(err)
	}
}
