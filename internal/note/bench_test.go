package note

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// readVaults reads every note below LORE_VAULTS, by vault.
func readVaults(tb testing.TB) map[string][][]byte {
	root := os.Getenv("LORE_VAULTS")
	if root == "" {
		tb.Skip("LORE_VAULTS is not set")
	}
	vaults := make(map[string][][]byte)
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(p, ".md") {
			return err
		}
		src, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(root, p)
		vault, _, _ := strings.Cut(filepath.ToSlash(rel), "/")
		vaults[vault] = append(vaults[vault], src)
		return nil
	})
	if err != nil {
		tb.Fatal(err)
	}
	return vaults
}

func BenchmarkParseVaults(b *testing.B) {
	for name, notes := range readVaults(b) {
		size := int64(0)
		for _, s := range notes {
			size += int64(len(s))
		}
		b.Run(name, func(b *testing.B) {
			b.SetBytes(size)
			b.ReportAllocs()
			for b.Loop() {
				for _, s := range notes {
					Parse("a/note.md", s)
				}
			}
		})
	}
}
