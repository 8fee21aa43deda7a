package vectors

import (
	"math/rand/v2"
	"testing"

	"lore/internal/index"
)

// BenchmarkLoadVectors reads a file of 40,000 vectors, as the first search by
// meaning of a process does.
func BenchmarkLoadVectors(b *testing.B) {
	dir := b.TempDir()
	f, err := New(dir).Get("m")
	if err != nil {
		b.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 1))
	vs := make([]index.Vector, 40_000)
	for i := range vs {
		vs[i].Vector = make([]float32, 384)
		for j := range vs[i].Vector {
			vs[i].Vector[j] = float32(r.NormFloat64())
		}
		vs[i].Hash = index.HashOf([]byte{byte(i), byte(i >> 8), byte(i >> 16)})
	}
	if err := f.add(vs); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := New(dir).Get("m"); err != nil {
			b.Fatal(err)
		}
	}
}
