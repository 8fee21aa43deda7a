package sqlite

import (
	"context"
	"database/sql"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"lore/internal/embed"
	"lore/internal/index"
	"lore/internal/vault"
)

// The form of the files of vectors, which the tests damage.
const (
	headerSize = 256
	recordHead = 20
)

// letters is a model that counts letters: small, exact, and the same everywhere.
type letters struct {
	id  string
	dim int
}

var _ embed.Model = letters{}

func (m letters) ID() string    { return m.id }
func (m letters) Dim() int      { return m.dim }
func (m letters) MaxWords() int { return 1000 }

func (m letters) Embed(_ context.Context, _ embed.Role, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i, t := range texts {
		v := make([]float32, m.dim)
		v[0] = 1
		for _, r := range t {
			v[int(r)%m.dim]++
		}
		var sum float64
		for _, x := range v {
			sum += float64(x) * float64(x)
		}
		for j := range v {
			v[j] /= float32(math.Sqrt(sum))
		}
		out[i] = v
	}
	return out, nil
}

func embedAll(t *testing.T, s *Store, m embed.Model) int {
	t.Helper()
	e := &index.Embedder{Store: s, Model: m, Threads: func() int { return 2 }, Now: time.Now}
	n, err := e.Run(t.Context())
	must(t, err)
	return n
}

// ranking is the answer that damaged vectors must not change.
func ranking(t *testing.T, s *Store, m embed.Model) string {
	t.Helper()
	q, err := m.Embed(t.Context(), embed.Query, []string{"word7 kettle"})
	must(t, err)
	near, err := s.Nearest(t.Context(), index.Near{Model: m.ID(), Vector: q[0], Limit: 20})
	must(t, err)
	out := ""
	for _, p := range near {
		out += fmt.Sprintf("%s#%d %.3f\n", p.Path, p.Seq, p.Cosine)
	}
	return out
}

// TestDamagedVectors damages the file of vectors: what is good is kept, what is
// not is embedded again, and the answer is the same.
func TestDamagedVectors(t *testing.T) {
	sp := newSpecimen(t, false)
	m := letters{"letters", 32}
	s, _ := openAt(t, sp.index)
	passages := embedAll(t, s, m)
	want, hashes := ranking(t, s, m), dumpVectors(t, s, m.ID())
	must(t, s.Close())
	files, err := filepath.Glob(filepath.Join(sp.index, "vectors-*.bin"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	name := filepath.Base(files[0])
	size := fileSize(t, files[0])
	r := rand.New(rand.NewPCG(9, 9))
	record := int64(recordHead + m.dim)
	check := func(what string, atMost int, do func(t *testing.T, path string)) {
		t.Run(what, func(t *testing.T) {
			dir := sp.copy(t)
			do(t, filepath.Join(dir, name))
			s, o := openAt(t, dir)
			if o.Rebuilt {
				t.Fatal("the index itself was thrown away")
			}
			if n := embedAll(t, s, m); n > atMost {
				t.Errorf("%d passages were embedded again, %d at most were damaged", n, atMost)
			}
			if got := ranking(t, s, m); got != want {
				t.Errorf("got\n%swant\n%s", got, want)
			}
			if !slices.Equal(dumpVectors(t, s, m.ID()), hashes) {
				t.Error("some passages have no vector")
			}
			// And once more from the file.
			must(t, s.Close())
			s, _ = openAt(t, dir)
			if n := embedAll(t, s, m); n != 0 || ranking(t, s, m) != want {
				t.Errorf("%d passages were embedded a third time", n)
			}
		})
	}
	check("whole", 0, func(*testing.T, string) {})
	for i := range many(40) {
		check(fmt.Sprint("records flipped ", i), 3, func(t *testing.T, p string) {
			data, err := os.ReadFile(p)
			must(t, err)
			for range 3 {
				data[headerSize+r.IntN(len(data)-headerSize)] ^= byte(1 + r.IntN(255))
			}
			must(t, os.WriteFile(p, data, 0o600))
		})
	}
	for i := range many(40) {
		check(fmt.Sprint("header flipped ", i), passages, func(t *testing.T, p string) {
			data, err := os.ReadFile(p)
			must(t, err)
			data[r.IntN(32)] ^= byte(1 + r.IntN(255))
			must(t, os.WriteFile(p, data, 0o600))
		})
	}
	for i := range many(20) {
		n := size * int64(i) / int64(many(20))
		lost := passages - int(max(0, n-headerSize)/record)
		check(fmt.Sprint("cut at ", n), lost, func(t *testing.T, p string) { must(t, os.Truncate(p, n)) })
	}
	check("gone", passages, func(t *testing.T, p string) { must(t, os.Remove(p)) })
	check("text", passages, func(t *testing.T, p string) { must(t, os.WriteFile(p, []byte("dear diary"), 0o600)) })
	check("a hole", passages, func(t *testing.T, p string) {
		data := make([]byte, size)
		old, err := os.ReadFile(p)
		must(t, err)
		copy(data, old[:size/2]) // a power cut can leave the length and lose the bytes
		must(t, os.WriteFile(p, data, 0o600))
	})
	check("another dimension", passages, func(t *testing.T, p string) {
		data, err := os.ReadFile(p)
		must(t, err)
		binary.LittleEndian.PutUint32(data[8:], 33)
		must(t, os.WriteFile(p, data, 0o600))
	})
	check("another model", passages, func(t *testing.T, p string) {
		data, err := os.ReadFile(p)
		must(t, err)
		copy(data[16:], "LETTERS")
		must(t, os.WriteFile(p, data, 0o600))
	})
}

// TestVectorsOutliveTheIndex: vectors are found by the hash of their text, so a
// rebuilt index needs none embedded again.
func TestVectorsOutliveTheIndex(t *testing.T) {
	sp := newSpecimen(t, false)
	m := letters{"letters", 16}
	s, _ := openAt(t, sp.index)
	embedAll(t, s, m)
	must(t, s.Close())
	must(t, os.WriteFile(Path(sp.index), []byte("dear diary"), 0o600))
	s, o := openAt(t, sp.index)
	if !o.Rebuilt || o.Kept == "" {
		t.Fatalf("opened as %+v", o)
	}
	_, err := index.New(openVault(t, sp.notes, vault.Options{}), s, index.Options{}).Sync(t.Context())
	must(t, err)
	if n := embedAll(t, s, m); n != 0 {
		t.Errorf("%d passages were embedded again", n)
	}
}

// A search that waits for a connection keeps nobody from adding vectors: those
// who hold the connections may be waiting for that.
func TestSearchThatWaitsHoldsNoVectors(t *testing.T) {
	t.Parallel()
	s, _, err := Open(t.Context(), t.TempDir(), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	add := func(word string) error {
		return s.vectors.Add("m", []index.Vector{{Hash: index.HashOf([]byte(word)), Vector: []float32{1, 0}}})
	}
	if err := add("one"); err != nil {
		t.Fatal(err)
	}
	var held []*sql.Conn
	for range s.db.Read.Stats().MaxOpenConnections {
		c, err := s.db.Read.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		held = append(held, c)
	}
	found := make(chan error, 1)
	go func() {
		_, err := s.Nearest(t.Context(), index.Near{Model: "m", Vector: []float32{1, 0}, Limit: 1})
		found <- err
	}()
	for s.db.Read.Stats().WaitCount == 0 {
		runtime.Gosched()
	}
	added := make(chan error, 1)
	go func() { added <- add("two") }()
	select {
	case err := <-added:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(20 * time.Second):
		t.Error("nothing can be added while a search waits for a connection")
	}
	for _, c := range held {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
	if err := <-found; err != nil {
		t.Error(err)
	}
}
