package e2e

import (
	"bytes"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestARunThatIsKilled kills a run at many moments and goes on with it in another
// process: what it was allowed to do is done once, or it says that nobody knows,
// and never twice.
func TestARunThatIsKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("it kills many processes")
	}
	vault := home(t)
	lore := func(args ...string) *exec.Cmd {
		cmd := exec.Command("lore", append([]string{"--vault", vault}, args...)...)
		cmd.Env = append(os.Environ(), "LORE_EMBED_MODEL=none")
		return cmd
	}
	if out, err := lore("index").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	log := filepath.Join(vault, "Log.md")
	began := time.Now()
	if out, err := lore("run", "/list_nodes").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	whole := time.Since(began)
	if err := os.WriteFile(log, []byte("begun\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	done := map[int]int{}
	for range 25 {
		before, err := os.ReadFile(log)
		if err != nil {
			t.Fatal(err)
		}
		cmd := lore("run", "--auto", `/write_note path=Log content="one more line" mode=append`)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(random.Int64N(int64(whole) + int64(whole)/2)))
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		goOn := lore("chat", "--continue", "last")
		goOn.Stdin = strings.NewReader("")
		var errOut bytes.Buffer
		goOn.Stderr = &errOut
		err = goOn.Run()
		// One that was killed before its leave was kept asks, and nobody answers.
		if text := errOut.String(); err != nil && !strings.Contains(text, "there are no chats yet") && !strings.Contains(text, "Waiting for your approval") {
			t.Fatalf("%v: %s", err, text)
		}
		after, err := os.ReadFile(log)
		if err != nil {
			t.Fatal(err)
		}
		added := strings.Count(string(after), "one more line") - strings.Count(string(before), "one more line")
		if added > 1 || !strings.HasPrefix(string(after), string(before)) {
			t.Fatalf("it was done %d times:\n%s", added, after)
		}
		done[added]++
	}
	t.Log(whole, done)
	if done[1] == 0 {
		t.Error("no run was ever finished")
	}
}
