//go:build torture && linux

package torture

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"sync"
	"testing"
	"time"
)

// A holder is the process that holds the vault while commands are given.
type holder func(w *world) *exec.Cmd

func holders() map[string]holder {
	return map[string]holder{
		"command": func(*world) *exec.Cmd { return nil },
		"serve":   func(w *world) *exec.Cmd { return w.start("serve", "--listen", "127.0.0.1:0") },
		"mcp":     func(w *world) *exec.Cmd { return w.start("mcp") },
	}
}

// start starts a process that stays. Its standard input is held open.
func (w *world) start(args ...string) *exec.Cmd {
	w.t.Helper()
	c := w.command(context.Background(), args...)
	in, err := c.StdinPipe()
	if err != nil {
		w.t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() {
		_ = in.Close()
		kill(c)
	})
	return c
}

func kill(c *exec.Cmd) {
	if c != nil {
		_ = c.Process.Kill() // it may have ended
		_ = c.Wait()
	}
}

// hub fills the vault with notes that link to one.
func (w *world) hub(n int) {
	w.write("Hub0.md", sealed("# Hub\n\nwords #tea0\n"))
	for i := range n {
		w.write(fmt.Sprintf("f%d/n%02d.md", i%5, i), sealed(fmt.Sprintf("# Note %d\n\nsee [[Hub0]] and #tea0 words AAAA\n", i)))
	}
}

// A change whose end has the same length as its beginning, so that a torn file
// shows.
func acts(r *rand.Rand, hub, tag *int, n int) [][]string {
	return [][]string{
		{"rename", fmt.Sprintf("Hub%d.md", *hub), fmt.Sprintf("Hub%d.md", 1-*hub), "--yes"},
		{"rename-tag", fmt.Sprintf("tea%d", *tag), fmt.Sprintf("tea%d", 1-*tag), "--yes"},
		{"edit", fmt.Sprintf("f%d/n%02d.md", r.IntN(n)%5, r.IntN(n)), "--search", "AAAA", "--replace", "BBBB", "--yes"},
		{"undo", "--yes"},
		{"redo", "--yes"},
		{"list"},
	}
}

// Commands, servers and MCP servers are killed at any moment. After each kill a
// rename is whole or not made, and nothing is torn.
func TestKilled(t *testing.T) {
	for name, hold := range holders() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			seed := uint64(time.Now().UnixNano())
			t.Logf("seed %d", seed)
			r := rand.New(rand.NewPCG(seed, 0))
			w := newWorld(t)
			w.hub(40)
			w.mustLore("index", "--text-only")
			for range rounds(25) {
				w.killOnce(r, hold)
			}
			w.judge()
			w.healthy()
		})
	}
}

// killOnce gives one command and kills the process that carries it out.
func (w *world) killOnce(r *rand.Rand, hold holder) {
	w.t.Helper()
	hub, tag := 0, 0
	if w.read("Hub1.md") != "" {
		hub = 1
	}
	if hubs := w.read("Hub0.md") + w.read("Hub1.md"); bytes.Contains([]byte(hubs), []byte("#tea1")) {
		tag = 1
	}
	all := acts(r, &hub, &tag, 40)
	act := all[r.IntN(len(all))]
	keeper := hold(w)
	ctx, cancel := context.WithTimeout(w.t.Context(), 2*time.Minute)
	defer cancel()
	c := w.command(ctx, act...)
	if err := c.Start(); err != nil {
		w.t.Fatal(err)
	}
	time.Sleep(time.Duration(r.IntN(120)) * time.Millisecond)
	if keeper == nil {
		kill(c)
	} else {
		kill(keeper)
		_ = c.Wait() // it goes on by itself, or is refused
	}
	// Whoever comes next recovers, and every link leads somewhere.
	var broken struct {
		Total int `json:"total"`
	}
	w.mustLore("broken", "--json").decode(w.t, &broken)
	if broken.Total != 0 {
		w.t.Errorf("after %q was killed %d links lead nowhere", act, broken.Total)
	}
	if w.read("Hub0.md") != "" && w.read("Hub1.md") != "" {
		w.t.Errorf("after %q was killed the note is there twice", act)
	}
	w.whole()
}

// Eight processes read and write one vault at once. What was acknowledged is
// there, once.
func TestEightProcesses(t *testing.T) {
	w := newWorld(t)
	w.hub(40)
	w.mustLore("index", "--text-only")
	n := rounds(6)
	var wg sync.WaitGroup
	for p := range 8 {
		wg.Go(func() {
			for i := range n {
				path := fmt.Sprintf("p%d/n%d.md", p, i)
				text := sealed(fmt.Sprintf("# Process %d, %d\n\nwords [[Hub0]]\n", p, i))
				if r := w.lore("write", path, "--content", text, "--yes"); r.code != 0 {
					t.Errorf("write %s: %v", path, r)
				} else if got := w.read(path); got != text {
					t.Errorf("%s was acknowledged and is %q", path, got)
				}
				if r := w.lore("search", "words", "--mode", "lexical", "--json"); r.code != 0 {
					t.Errorf("search: %v", r)
				}
			}
		})
	}
	wg.Wait()
	w.judge()
	w.healthy()
	var activity struct {
		Activity []struct {
			Tool   string `json:"tool"`
			Status string `json:"status"`
		} `json:"activity"`
	}
	w.mustLore("activity", "--tool", "write_note", "--limit", "200", "--json").decode(t, &activity)
	done := 0
	for _, a := range activity.Activity {
		if a.Status == "done" {
			done++
		}
	}
	if want := min(8*n, 200); done != want {
		t.Errorf("%d writes are recorded, %d were made", done, want)
	}
}
