package builtin

import (
	"context"
	"slices"
	"testing"

	"lore/internal/embed"
	"lore/internal/embed/bert"
)

var _ embed.Model = (*Model)(nil)

// What is known without loading is what the file says.
func TestFileIsWhatWeSay(t *testing.T) {
	f, err := bert.Parse(file)
	if err != nil {
		t.Fatal(err)
	}
	m := New()
	if f.Model != m.ID() || f.Width != m.Dim() || f.MaxWords != m.MaxWords() || f.License != "Apache-2.0" {
		t.Errorf("%s %d %d %s", f.Model, f.Width, f.MaxWords, f.License)
	}
}

func TestEmbed(t *testing.T) {
	m := New()
	v, err := m.Embed(context.Background(), embed.Query, []string{"tea", "a hot drink", "tax law"})
	if err != nil {
		t.Fatal(err)
	}
	near, far := 0.0, 0.0
	for i := range v[0] {
		near += float64(v[0][i] * v[1][i])
		far += float64(v[0][i] * v[2][i])
	}
	if near < far+0.1 {
		t.Errorf("a drink %.2f, the law %.2f", near, far)
	}
	kernel, err := m.Kernel()
	if names := bert.Kernels(); err != nil || kernel != names[len(names)-1] {
		t.Errorf("kernel %s of %v: %v", kernel, names, err)
	}
	if !slices.Contains(bert.Kernels(), "scalar") {
		t.Error("no kernel for every CPU")
	}
}

func BenchmarkFirstEmbed(b *testing.B) {
	for b.Loop() {
		if _, err := New().Embed(context.Background(), embed.Query, []string{"tea"}); err != nil {
			b.Fatal(err)
		}
	}
}
