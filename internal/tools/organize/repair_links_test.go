package organize_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"lore/internal/index"
	"lore/internal/index/indextest"
	"lore/internal/tool/tooltest"
	"lore/internal/tools/organize"
)

// TestRepairEndsWithItsCaller: a repair that compares every name ends when nobody
// waits for it.
func TestRepairEndsWithItsCaller(t *testing.T) {
	dir := t.TempDir()
	for i := range 300 {
		text := fmt.Sprintf("coffee and Tea n%d [[n%d]] [[Nowhere%d]]\n", i, i+1, i)
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("n%d.md", i)), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p := tooltest.Open(t, dir, nil)
	indextest.Interrupt(t, p.Store, func(ctx context.Context, s index.Store) error {
		_, _, err := organize.RepairLinks{Limit: 50}.Plan(ctx, organize.Env{Vault: p.Vault, Store: s})
		return err
	})
}
