package history_test

import (
	"bufio"
	"context"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"testing"

	"lore/internal/change"
	"lore/internal/machine/state"
	"lore/internal/tool"
	"lore/internal/tool/history"
)

// noise is text that does not get shorter.
func noise(seed, n int) string {
	rnd := rand.NewChaCha8(sha256.Sum256([]byte(fmt.Sprint(seed))))
	b := make([]byte, n)
	_, _ = rnd.Read(b) // never fails
	return string(b)
}

const crashDir = "LORE_TEST_CRASH"

// TestIntentSurvivesKill kills a child between Begin and Finish.
func TestIntentSurvivesKill(t *testing.T) {
	set := change.Set{change.Replace("a.md", "before", "after"), change.Delete("b.md", noise(1, 5000))}
	if dir := os.Getenv(crashDir); dir != "" {
		s := history.New(state.In(dir), history.Options{})
		for i := range 5 {
			if err := s.Begin(context.Background(), operation(fmt.Sprint("op-", i), set...)); err != nil {
				panic(err)
			}
			if i < 4 {
				if err := s.Finish(context.Background(), fmt.Sprint("op-", i), tool.Applied, ""); err != nil {
					panic(err)
				}
			}
		}
		fmt.Println("begun")
		select {} // until the parent kills it
	}
	dir := t.TempDir()
	for range 3 {
		cmd := exec.Command(os.Args[0], "-test.run=^TestIntentSurvivesKill$")
		cmd.Env = append(os.Environ(), crashDir+"="+dir)
		cmd.Stderr = os.Stderr
		out, err := cmd.StdoutPipe()
		must(t, err)
		must(t, cmd.Start())
		line, err := bufio.NewReader(out).ReadString('\n')
		if err != nil || line != "begun\n" {
			t.Fatalf("%q, %v", line, err)
		}
		must(t, cmd.Process.Kill())
		_ = cmd.Wait() // it was killed
		p := openIn(t, dir, history.Options{})
		list, err := p.Unresolved(t.Context())
		must(t, err)
		if len(list) != 1 || list[0].ID != "op-4" || p.outcome(t, "op-4") != tool.Intended {
			t.Fatalf("%+v", list)
		}
		got, err := p.Edits(t.Context(), "op-4")
		must(t, err)
		if got.Hash() != set.Hash() {
			t.Error("the contents differ")
		}
		if v, err := p.Verify(t.Context()); err != nil || v.Entries != 4 {
			t.Errorf("%+v, %v", v, err)
		}
		must(t, p.file.Close())
		dir = t.TempDir()
	}
}
