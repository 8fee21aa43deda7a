package explore_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lore/internal/tool"
	"lore/internal/tool/tooltest"
	"lore/internal/tools/explore"
)

func open(p tooltest.Place) []*tool.Tool {
	return explore.Tools(explore.Env{Vault: p.Vault, Store: p.Store, Search: p.Search, Fresh: p.Fresh, Now: tooltest.Now})
}

func TestTools(t *testing.T) { tooltest.Run(t, open) }

func TestPriceForModels(t *testing.T) {
	total, each := tooltest.Tokens(t, open(tooltest.Place{}))
	t.Log(total, each)
	for name, n := range each {
		if n > 400 {
			t.Errorf("%s costs %d tokens", name, n)
		}
	}
}

// TestAHundredSaysThatNothingWasFound: one broken link among many loses less than
// half a point, and is there all the same.
func TestAHundredSaysThatNothingWasFound(t *testing.T) {
	for text, want := range map[string]int{"": 100, "[[Nowhere]]\n": 99} {
		dir := t.TempDir()
		for name, other := range map[string]string{"A": "B", "B": "A"} {
			body := "# " + name + "\n\n" + strings.Repeat("See [["+other+"]].\n", 500)
			if name == "A" {
				body += text
			}
			if err := os.WriteFile(filepath.Join(dir, name+".md"), []byte(body), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		p := tooltest.Open(t, dir, nil)
		h, err := explore.VaultHealth{Examples: 3}.Run(t.Context(), explore.Env{Vault: p.Vault, Store: p.Store, Search: p.Search, Fresh: p.Fresh})
		if err != nil || h.Score != want {
			t.Errorf("%q: %d of 100, want %d (%+v), %v", text, h.Score, want, h.Parts, err)
		}
	}
}
