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

// BenchmarkParse runs on the committed samples, repeated.
func BenchmarkParse(b *testing.B) {
	var text []byte
	for _, f := range []string{"docs.md", "basic.md"} {
		src, err := os.ReadFile("testdata/oracle/" + f)
		if err != nil {
			b.Fatal(err)
		}
		text = append(append(text, src...), '\n')
	}
	text = []byte(strings.Repeat(string(text), 100))
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		Parse("a.md", text)
	}
}

// BenchmarkPlain strips the chunks of the committed samples.
func BenchmarkPlain(b *testing.B) {
	src, err := os.ReadFile("testdata/oracle/docs.md")
	if err != nil {
		b.Fatal(err)
	}
	text := strings.Repeat(string(src), 100)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		Plain(text)
	}
}
