package builtin

import (
	"context"
	"slices"
	"strings"
	"testing"

	"lore/internal/embed"
	"lore/internal/embed/bert"
)

var _ embed.Model = (*Model)(nil)

// The file is as NOTICE and the documentation describe it.
func TestFileIsWhatWeSay(t *testing.T) {
	m := New()
	if name, hash, ok := strings.Cut(m.ID(), "/"); name != "lore-embed-22" || len(hash) != 12 || !ok || m.Dim() != 384 || m.MaxWords() != 200 || header().License != "see NOTICE" {
		t.Errorf("%s %d %d %s", m.ID(), m.Dim(), m.MaxWords(), header().License)
	}
}

// The same thing said in two languages is nearer than another thing said in one.
func TestLanguages(t *testing.T) {
	const tea, tax = "Green tea is not brewed with boiling water.", "The tax return is due in May."
	texts := []string{
		tea, tax, "Grüner Tee wird nicht mit kochendem Wasser aufgegossen.", "绿茶不能用开水冲泡。", "緑茶は沸騰したお湯で淹れません。", "녹차는 끓는 물로 우리지 않는다.",
		"Зелёный чай не заваривают кипятком.", "Le thé vert ne se prépare pas avec de l'eau bouillante.",
	}
	v, err := New().Embed(context.Background(), embed.Passage, texts)
	if err != nil {
		t.Fatal(err)
	}
	dot := func(a, b []float32) (sum float32) {
		for i := range a {
			sum += a[i] * b[i]
		}
		return sum
	}
	for i, text := range texts[2:] {
		if near, far := dot(v[0], v[i+2]), dot(v[1], v[i+2]); near < far+0.3 {
			t.Errorf("%s: tea %.2f, tax %.2f", text, near, far)
		}
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
