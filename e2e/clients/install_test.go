//go:build clients

package clients

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"lore/internal/workspace/process/ptytest"
)

// TestInstalled: what lore install writes into the file of a client is enough
// for the official SDKs to start it and work with it.
func TestInstalled(t *testing.T) {
	t.Parallel()
	all := []string{"claude", "claude-code", "cursor", "vscode", "zed", "windsurf", "gemini", "lmstudio"}
	sdks := []string{"v1", "v2-legacy", "v2-modern"}
	for i, client := range all {
		// Every client's file is read once; one of them by every SDK.
		use := sdks[i%len(sdks) : i%len(sdks)+1]
		if client == "cursor" {
			use = sdks
		}
		for _, sdk := range use {
			t.Run(client+" "+sdk, func(t *testing.T) {
				w := newWorld(t)
				original := w.read(note)
				o := w.script("client.mjs", sdk, w.install(client), note, before, after)
				if o.code != 0 || !strings.Contains(w.read(note), after) {
					t.Fatalf("%s\n%s", o, w.read(note))
				}
				t.Log(strings.TrimSpace(o.out))
				w.run("undo", "--yes")
				if got := w.read(note); got != original {
					t.Errorf("undone, and not what it was: %q", got)
				}
			})
		}
	}
}

// install puts Lore into a client, whose dialogs count, and returns the path of the
// client's file.
func (w *world) install(client string) string {
	w.t.Helper()
	if r := ptytest.Run(w.t, w.command(w.t.Context(), w.lore, "--vault", w.vault, "install", client, "--confirm")); r.Code != 0 {
		w.t.Fatal(r)
	}
	var list struct {
		Clients []struct {
			Client, Path string
			Installed    bool
		}
	}
	if err := json.Unmarshal([]byte(w.run("install", "--list", "--json")), &list); err != nil {
		w.t.Fatal(err)
	}
	for _, c := range list.Clients {
		if c.Client == client && c.Installed && strings.HasPrefix(c.Path, w.home) {
			if _, err := os.Stat(c.Path); err != nil {
				w.t.Fatal(err)
			}
			return c.Path
		}
	}
	w.t.Fatalf("%s is not installed: %+v", client, list)
	return ""
}
