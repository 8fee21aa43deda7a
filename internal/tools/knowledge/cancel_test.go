package knowledge_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"lore/internal/index"
	"lore/internal/index/indextest"
	"lore/internal/tool/tooltest"
	"lore/internal/tools/knowledge"
)

// TestComparisonsEndWithTheirCaller: what looks at all nodes ends when nobody
// waits for it.
func TestComparisonsEndWithTheirCaller(t *testing.T) {
	dir := t.TempDir()
	for i := range 12 {
		text := fmt.Sprintf("---\ntype: Claim\n---\n# Brew %d\n\nCold brew is mild coffee.\n\n- contradicts:: [[n%d]]\n- supports:: [[n%d]]\n", i, i+1, i+2)
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("n%d.md", i)), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p := tooltest.Open(t, dir, tooltest.Words{})
	for name, work := range map[string]func(context.Context, knowledge.Env) error{
		"find_duplicate_nodes": func(ctx context.Context, env knowledge.Env) error {
			_, err := knowledge.FindDuplicateNodes{MinSimilarity: 0.5, Limit: 20}.Run(ctx, env)
			return err
		},
		"find_contradictions": func(ctx context.Context, env knowledge.Env) error {
			_, err := knowledge.FindContradictions{Limit: 20}.Run(ctx, env)
			return err
		},
		"get_neighbourhood": func(ctx context.Context, env knowledge.Env) error {
			_, err := knowledge.GetNeighbourhood{NodeID: "n3.md", Depth: 2, Limit: 100}.Run(ctx, env)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			indextest.Interrupt(t, p.Store, func(ctx context.Context, s index.Store) error {
				return work(ctx, knowledge.Env{Vault: p.Vault, Store: s, Search: p.Search, Fresh: p.Fresh, Folder: "Nodes"})
			})
		})
	}
}
