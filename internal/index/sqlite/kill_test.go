package sqlite

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"lore/internal/index"
	"lore/internal/vault"
)

// Where a child process is to die: its folders, the commit, and the moment.
const (
	killNotes = "LORE_TEST_KILL_NOTES"
	killIndex = "LORE_TEST_KILL_INDEX"
	killAt    = "LORE_TEST_KILL_AT"
	killWhen  = "LORE_TEST_KILL_WHEN" // "before" or "after" the commit, or "during": the parent kills
)

// mortal is a store that commits little at a time, and dies.
type mortal struct {
	*Store
	at   int
	when string
	done int
}

const mortalBatch = 20

func (m *mortal) Apply(ctx context.Context, b index.Batch) error {
	for len(b.Put) > 0 {
		n := min(mortalBatch, len(b.Put))
		fmt.Println("commit", m.done)
		if m.done == m.at && m.when == "before" {
			die()
		}
		if err := m.Store.Apply(ctx, index.Batch{Put: b.Put[:n]}); err != nil {
			return err
		}
		if m.done == m.at && m.when == "after" {
			die()
		}
		m.done++
		b.Put = b.Put[n:]
	}
	return m.Store.Apply(ctx, b)
}

func (m *mortal) Optimize(ctx context.Context) error {
	fmt.Println("settle")
	return m.Store.Optimize(ctx)
}

// die ends the process as a kill does: nothing is flushed, closed or undone.
func die() {
	p, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = p.Kill()
	}
	panic(fmt.Sprint("still alive: ", err))
}

// TestMortalChild is not a test: it is the process that TestKilled kills.
func TestMortalChild(t *testing.T) {
	if os.Getenv(killIndex) == "" {
		t.Skip("runs only as the child of another test")
	}
	s, _ := openAt(t, os.Getenv(killIndex))
	at, err := strconv.Atoi(os.Getenv(killAt))
	must(t, err)
	m := &mortal{Store: s, at: at, when: os.Getenv(killWhen)}
	_, err = index.New(openVault(t, os.Getenv(killNotes), vault.Options{}), m, index.Options{}).Sync(t.Context())
	must(t, err)
	must(t, s.Close())
}

// TestKilled kills a program that builds an index before, during and after each
// of its commits. The next one goes on where the last commit left off, parses
// nothing twice, and ends with the same index.
func TestKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("it works on one thing at a time, which tells nothing to a race detector")
	}
	notes := t.TempDir()
	const total = 300
	for i := range total {
		text := fmt.Sprintf("---\ntags: [a%d]\n---\n# Note %d\n\n[[n%d]] %s\n", i%9, i, i/2, strings.Repeat(fmt.Sprintf("w%d tea leaves ", i%50), 60))
		must(t, os.WriteFile(filepath.Join(notes, fmt.Sprintf("n%d.md", i)), []byte(text), 0o644))
	}
	old := time.Now().Add(-time.Hour)
	for i := range total {
		must(t, os.Chtimes(filepath.Join(notes, fmt.Sprintf("n%d.md", i)), old, old))
	}
	want := fresh(t, notes, vault.Options{}, index.Options{})
	commits := total / mortalBatch
	step := 2
	if testing.Short() {
		step = 15
	}
	for _, when := range []string{"before", "after", "during"} {
		for at := 0; at <= commits; at += step {
			t.Run(fmt.Sprint(when, " ", at), func(t *testing.T) {
				dir := t.TempDir()
				kill(t, notes, dir, when, at)
				s, _ := openAt(t, dir)
				must(t, s.Check(t.Context()))
				kept := 0
				must(t, s.Files(t.Context(), func(index.File) error { kept++; return nil }))
				if kept%mortalBatch != 0 {
					t.Errorf("%d files: a batch was committed in part", kept)
				}
				if when == "before" && kept != min(at, commits)*mortalBatch || when == "after" && kept != min(at+1, commits)*mortalBatch {
					t.Errorf("%d files were kept of %d commits", kept, at)
				}
				sum, err := index.New(openVault(t, notes, vault.Options{}), s, index.Options{}).Sync(t.Context())
				must(t, err)
				if sum.Added != total-kept || sum.Changed+sum.Touched+sum.Dropped+sum.Failed != 0 {
					t.Errorf("%d files were indexed, and then %+v", kept, sum)
				}
				if d := difference(dump(t, s), want); d != "" {
					t.Errorf("the index is not what the files say:\n%s", d)
				}
			})
		}
	}
}

// kill runs a child until it dies. "during" is a kill from outside, as soon as
// the child has begun the commit, or when it merges its index at the end.
func kill(t *testing.T, notes, dir, when string, at int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestMortalChild$", "-test.count=1")
	cmd.Env = append(os.Environ(), killNotes+"="+notes, killIndex+"="+dir, killAt+"="+strconv.Itoa(at), killWhen+"="+when)
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	in := bufio.NewScanner(out)
	for in.Scan() {
		if when == "during" && (in.Text() == fmt.Sprint("commit ", at) || in.Text() == "settle") {
			must(t, cmd.Process.Kill())
			break
		}
	}
	_, _ = io.Copy(io.Discard, out) // the rest is of no interest
	err = cmd.Wait()
	if when == "during" {
		return // on a busy machine the child may be done before the kill reaches it
	}
	if alive := at >= total(t, notes)/mortalBatch; (err == nil) != alive {
		t.Fatalf("the child ended with %v", err)
	}
}

func total(t *testing.T, dir string) int {
	t.Helper()
	entries, err := os.ReadDir(dir)
	must(t, err)
	return len(entries)
}
