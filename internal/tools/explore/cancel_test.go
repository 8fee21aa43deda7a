package explore_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"lore/internal/index"
	"lore/internal/index/indextest"
	"lore/internal/tool/tooltest"
	"lore/internal/tools/explore"
)

// TestSearchesEndWithTheirCaller: what looks at all notes ends when nobody waits
// for it.
func TestSearchesEndWithTheirCaller(t *testing.T) {
	dir := t.TempDir()
	for i := range 300 {
		text := fmt.Sprintf("coffee and Tea n%d [[n%d]] [[Nowhere%d]]\n", i, i+1, i)
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("n%d.md", i)), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p := tooltest.Open(t, dir, nil)
	for name, work := range map[string]func(context.Context, explore.Env) error{
		"vault_search": func(ctx context.Context, env explore.Env) error {
			_, err := explore.VaultSearch{Query: "coffee", Limit: 50}.Run(ctx, env)
			return err
		},
		"find_broken_links": func(ctx context.Context, env explore.Env) error {
			_, err := explore.FindBrokenLinks{Limit: 50}.Run(ctx, env)
			return err
		},
		"find_path": func(ctx context.Context, env explore.Env) error {
			_, err := explore.FindPath{From: "n5.md", To: "n12.md"}.Run(ctx, env)
			return err
		},
		"vault_health": func(ctx context.Context, env explore.Env) error {
			_, err := explore.VaultHealth{Examples: 3}.Run(ctx, env)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			indextest.Interrupt(t, p.Store, func(ctx context.Context, s index.Store) error {
				return work(ctx, explore.Env{Vault: p.Vault, Store: s, Search: p.Search, Fresh: p.Fresh})
			})
		})
	}
}
