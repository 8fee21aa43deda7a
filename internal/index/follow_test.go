package index_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lore/internal/index"
	"lore/internal/vault"
	"lore/internal/vault/watch"
)

// follower watches the vault without ever settling by itself: what is indexed
// was flushed.
func (b *bench) follower() *watch.Watcher {
	b.t.Helper()
	w := watch.Start(b.t.Context(), b.vault, watch.Options{Quiet: time.Hour, Ceiling: time.Hour, Check: time.Hour, Marks: filepath.Join(b.t.TempDir(), "marks")})
	b.flush(w)
	return w
}

func (b *bench) flush(w *watch.Watcher) index.Summary {
	b.t.Helper()
	sum, err := b.ix.Flush(b.t.Context(), w)
	must(b.t, err)
	return sum
}

func TestFlush(t *testing.T) {
	b := newBench(t, nil)
	b.write("a.md", "alpha")
	w := b.follower()
	for i := range 50 {
		word, path := fmt.Sprintf("word%d", i), fmt.Sprintf("f%d/n.md", i%10)
		b.write(path, word)
		if sum := b.flush(w); !sum.Fresh.Fresh || b.found(word) != path {
			t.Fatalf("%s: found %q, %+v", path, b.found(word), sum.Fresh)
		}
	}
	must(t, os.Remove(filepath.Join(b.dir, "f3/n.md")))
	if b.flush(w); b.found("word43") != "" {
		t.Error("a note that was removed is found")
	}
}

// Many notes disappear. No event tells that the folder has been quiet since, and
// still they are taken for removed then.
func TestFlushWhileSettling(t *testing.T) {
	b := newBench(t, nil)
	for i := range 60 {
		b.write(fmt.Sprintf("a/n%d.md", i), fmt.Sprintf("word%d", i))
	}
	w := b.follower()
	for i := range 40 {
		must(t, os.Remove(filepath.Join(b.dir, fmt.Sprintf("a/n%d.md", i))))
	}
	for range 2 {
		if sum := b.flush(w); sum.Fresh.Fresh || b.found("word7") == "" {
			t.Fatalf("a moment ago: %+v", sum.Fresh)
		}
	}
	b.mu.Lock()
	b.ahead = time.Minute
	b.mu.Unlock()
	if sum := b.flush(w); !sum.Fresh.Fresh || b.found("word7") != "" {
		t.Errorf("a minute later: %+v, found %q", sum.Fresh, b.found("word7"))
	}
}

// A file that gets a second name leaves the index with its text, and comes back
// when the other name goes, in whatever folder that is.
func TestFlushHardLinks(t *testing.T) {
	for name, outside := range map[string]bool{"in the vault": false, "elsewhere": true} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, nil)
			b.write("a.md", "alpha")
			b.write("c.md", "gamma")
			a, other := filepath.Join(b.dir, "a.md"), filepath.Join(b.dir, "other.md")
			if outside {
				other = filepath.Join(t.TempDir(), "other")
			}
			w := b.follower()
			if b.found("alpha") != "a.md" {
				t.Fatalf("found %q", b.found("alpha"))
			}
			must(t, os.Link(a, other))
			if outside { // no event tells of it
				if _, err := b.ix.Sync(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			if b.flush(w); b.found("alpha") != "" || b.found("gamma") != "c.md" {
				t.Errorf("found %q and %q", b.found("alpha"), b.found("gamma"))
			}
			rows, err := b.store.Notes(t.Context(), index.Select{Paths: []string{"a.md"}})
			if err != nil || len(rows) != 1 || len(rows[0].Problems) != 1 || rows[0].Problems[0].Kind != index.ProblemHardLink {
				t.Errorf("%+v, %v", rows, err)
			}
			b.write("c.md", "delta")
			if b.flush(w); b.found("alpha") != "" || b.found("delta") != "c.md" {
				t.Errorf("found %q and %q", b.found("alpha"), b.found("delta"))
			}
			must(t, os.Remove(other))
			if b.flush(w); b.found("alpha") != "a.md" {
				t.Errorf("found %q after the other name went", b.found("alpha"))
			}
		})
	}
}

// A note with several names changes under all of them, where such notes are
// read.
func TestFlushOtherNames(t *testing.T) {
	for name, link := range map[string]func(old, new string) error{
		"link":      func(_, new string) error { return os.Symlink("a.md", new) },
		"hard link": os.Link,
	} {
		for _, first := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, there first %v", name, first), func(t *testing.T) {
				b := newBenchIn(t, vault.Options{AllowLinked: true}, nil)
				b.write("a.md", "alpha")
				a, other := filepath.Join(b.dir, "a.md"), filepath.Join(b.dir, "other.md")
				if first {
					must(t, link(a, other))
				}
				w := b.follower()
				if !first {
					must(t, link(a, other))
					b.flush(w)
				}
				b.write("a.md", "beta")
				if b.flush(w); b.found("beta") != "a.md other.md" {
					t.Errorf("found %q", b.found("beta"))
				}
			})
		}
	}
	t.Run("a chain of links", func(t *testing.T) {
		b := newBench(t, nil)
		b.write("a.md", "alpha")
		b.write("b.md", "beta")
		must(t, os.Symlink("a.md", filepath.Join(b.dir, "middle.md")))
		must(t, os.Symlink("middle.md", filepath.Join(b.dir, "far.md")))
		w := b.follower()
		must(t, os.Remove(filepath.Join(b.dir, "middle.md")))
		must(t, os.Symlink("b.md", filepath.Join(b.dir, "middle.md")))
		if b.flush(w); !strings.Contains(b.found("beta"), "far.md") {
			t.Errorf("found %q", b.found("beta"))
		}
	})
}

// A note that Lore itself emptied is empty.
func TestUpdateEmptiedNote(t *testing.T) {
	b := newBench(t, nil)
	b.write("big.md", strings.Repeat("tea leaves ", 200))
	w := b.follower()
	b.write("big.md", "")
	sum, err := b.ix.Update(t.Context(), []string{"big.md"})
	must(t, err)
	if f := b.ix.Freshness(); sum.Doubted != 0 || !f.Fresh || b.found("tea") != "" {
		t.Errorf("%+v, %+v, found %q", sum, f, b.found("tea"))
	}
	if sum := b.flush(w); !sum.Fresh.Fresh {
		t.Errorf("after the event: %+v", sum.Fresh)
	}
}

// While a note that became empty is shown as it was, nothing is called fresh.
func TestFlushEmptiedNote(t *testing.T) {
	b := newBench(t, nil)
	text := strings.Repeat("tea leaves ", 200)
	b.write("big.md", text)
	w := b.follower()
	b.write("big.md", "")
	if sum := b.flush(w); sum.Fresh.Fresh || b.ix.Freshness().Fresh {
		t.Errorf("%+v", sum)
	}
	b.write("big.md", text+"coffee")
	if sum := b.flush(w); !sum.Fresh.Fresh || b.found("coffee") != "big.md" {
		t.Errorf("%+v, found %q", sum, b.found("coffee"))
	}
}
