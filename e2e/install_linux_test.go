package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestInstallAsksBeforeItReplaces: an entry with other content is shown to the
// person at the terminal, and only a yes replaces it.
func TestInstallAsksBeforeItReplaces(t *testing.T) {
	vault := home(t)
	own := t.TempDir()
	t.Setenv("HOME", own)
	path := filepath.Join(own, ".cursor", "mcp.json")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	old := "{\"mcpServers\": {\"lore\": {\"command\": \"/gone/lore\", \"args\": [\"mcp\"]}}}\n"
	if err := os.WriteFile(path, []byte(old), 0o640); err != nil {
		t.Fatal(err)
	}
	const question = "Replace the existing entry? "
	for _, tc := range []struct {
		answer string
		code   int
		same   bool
	}{{"n\n", 4, true}, {"\x03", 130, true}, {"y\n", 0, false}} {
		tm := onTerminal(t, vault, "install", "cursor", "--vault", vault)
		tm.await(question)
		if !strings.Contains(tm.seen(), `gone/lore", "args"`) {
			t.Errorf("the entry was not shown:\n%s", tm.seen())
		}
		tm.enter(tc.answer)
		code := tm.exit()
		b, err := os.ReadFile(path)
		if err != nil || code != tc.code || (string(b) == old) != tc.same {
			t.Errorf("%q: exit code %d, %v\n%s\n%s", tc.answer, code, err, b, tm.seen())
		}
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("the permissions changed: %v, %v", info.Mode(), err)
	}
}
