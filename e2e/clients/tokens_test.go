//go:build clients

package clients

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// TestPriceForModels counts what a client sends with every question, with the
// tokenizer of a real model.
func TestPriceForModels(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, c := range []struct {
		sets        string
		tools, most int
	}{{"default", 16, 2100}, {"notes", 12, 1800}, {"all", 93, 11500}} {
		o := w.script(inspector, "--cli", w.lore, "mcp", "--vault", w.vault, "--toolsets", c.sets, "--method", "tools/list", "--format", "json")
		if o.code != 0 {
			t.Fatal(o)
		}
		path := filepath.Join(t.TempDir(), "tools.json")
		if err := os.WriteFile(path, []byte(o.out), 0o600); err != nil {
			t.Fatal(err)
		}
		counted := w.script("tokens.mjs", path)
		var price struct {
			Tools, Total int
			Each         map[string]int
		}
		if err := json.Unmarshal([]byte(counted.out), &price); err != nil {
			t.Fatal(counted, err)
		}
		t.Logf("%s: %d tools, %d tokens: %v", c.sets, price.Tools, price.Total, price.Each)
		if price.Tools == 0 || price.Tools > c.tools || price.Total > c.most {
			t.Errorf("%s: %d tools cost %d tokens; %d and %d are the limits", c.sets, price.Tools, price.Total, c.tools, c.most)
		}
	}
}
