package bert

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"flag"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"lore/internal/embed"
	"lore/internal/fault"
)

var update = flag.Bool("update", false, "write testdata/golden.json anew, by the scalar kernel")

var _ embed.Model = (*Model)(nil)

// A golden is a text and its vector by the reference.
type golden struct {
	Text   string `json:"text"`
	Vector []byte `json:"vector"` // little-endian float32
}

var sentences = []string{
	"A man is eating food.",
	"Someone is having a meal.",
	"The stock market crashed today.",
	"How do I rotate the encryption keys of my backup?",
	"To change the secrets that protect an archive, create new ones and encrypt the archive again.",
	"",
	"日本語 and naïve café 👍 [[wikilink]] #tag",
}

func cosine(a, b []float32) (sum float64) {
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

func load1(t testing.TB, kernel string) *Model {
	m, err := Load(builtinFile(t), Options{Kernel: kernel})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func embedAll(t testing.TB, m *Model, texts []string) [][]float32 {
	v, err := m.Embed(context.Background(), embed.Passage, texts)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func writeGolden(t *testing.T) {
	var all []golden
	for i, v := range embedAll(t, load1(t, "scalar"), sentences) {
		all = append(all, golden{sentences[i], appendFloats(nil, v)})
	}
	raw, err := json.MarshalIndent(all, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll("testdata", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("testdata/golden.json", append(raw, '\n'), 0o644); err != nil {
		t.Fatal(err)
	}
}

// known are all kernels, on whatever CPU.
var known = map[string][]string{
	"amd64": {"scalar", "avx2", "avx512", "avx2-vnni", "avx512-vnni", "amx"},
	"arm64": {"scalar", "neon", "neon-sdot"},
}

func TestKernelsAreKnown(t *testing.T) {
	for _, name := range Kernels() {
		if name != "scalar" && !slices.Contains(known[runtime.GOARCH], name) {
			t.Errorf("kernel %s is in no test", name)
		}
	}
}

// Every kernel gives the vectors that the reference gave when it was made, and
// vectors that mean something.
func TestGoldenVectors(t *testing.T) {
	if *update {
		writeGolden(t)
	}
	raw, err := os.ReadFile("testdata/golden.json")
	if err != nil {
		t.Fatal(err)
	}
	var all []golden
	if err := json.Unmarshal(raw, &all); err != nil || len(all) != len(sentences) {
		t.Fatalf("%d vectors: %v", len(all), err)
	}
	for _, name := range known[runtime.GOARCH] {
		t.Run(name, func(t *testing.T) {
			if !slices.Contains(Kernels(), name) {
				t.Skip("this CPU does not have what the kernel needs")
			}
			m := load1(t, name)
			least := 0.9999
			if m.kernel.bytes != nil {
				least = 0.99
			}
			v := embedAll(t, m, sentences)
			for i, g := range all {
				want := make([]float32, len(g.Vector)/4)
				for j := range want {
					want[j] = math.Float32frombits(binary.LittleEndian.Uint32(g.Vector[4*j:]))
				}
				if c := cosine(v[i], want); len(v[i]) != 384 || !(c > least) {
					t.Errorf("%q: cosine to the reference %.5f", g.Text, c)
				}
				if n := cosine(v[i], v[i]); math.Abs(n-1) > 1e-5 {
					t.Errorf("%q: length %v", g.Text, n)
				}
			}
			meal, market, keys := cosine(v[0], v[1]), cosine(v[0], v[2]), cosine(v[3], v[4])
			if meal < 0.6 || market > 0.15 || keys < 0.3 {
				t.Errorf("a meal %.2f, the market %.2f, keys %.2f", meal, market, keys)
			}
		})
	}
}

// A text has the same vector alone and among others, whatever their lengths.
func TestBatchingDoesNotShow(t *testing.T) {
	m := load1(t, "")
	texts := passages(t, 3)
	for i := range 40 {
		texts = append(texts, strings.Join(strings.Fields(texts[i%3])[:1+i*5%60], " "))
	}
	together := embedAll(t, m, texts)
	for i, text := range texts {
		if c := cosine(together[i], embedAll(t, m, []string{text})[0]); c < 0.99999 {
			t.Errorf("text %d: cosine %v", i, c)
		}
	}
}

func TestLongTextIsCut(t *testing.T) {
	m := load1(t, "")
	long := strings.Repeat("the same words again ", 100)
	v := embedAll(t, m, []string{long, long + strings.Repeat("and very different things about trees ", 1000)})
	if c := cosine(v[0], v[1]); c < 0.99999 {
		t.Errorf("what is beyond the limit counts: cosine %v", c)
	}
}

func TestCancel(t *testing.T) {
	m := load1(t, "")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := m.Embed(ctx, embed.Query, []string{"a"}); fault.Of(err) != fault.Cancelled {
		t.Errorf("cancelled: %v", err)
	}
	if v, err := m.Embed(context.Background(), embed.Query, nil); err != nil || len(v) != 0 {
		t.Errorf("no texts: %v %v", v, err)
	}
}

func TestConcurrentUse(t *testing.T) {
	m := load1(t, "")
	want := embedAll(t, m, sentences)
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for range 3 {
				got, err := m.Embed(context.Background(), embed.Query, sentences)
				if err != nil || cosine(got[3], want[3]) < 0.99999 {
					t.Errorf("%v", err)
				}
			}
		})
	}
	group.Wait()
}

func TestUnknownKernel(t *testing.T) {
	if _, err := Load(builtinFile(t), Options{Kernel: "abacus"}); fault.Of(err) != fault.Invalid {
		t.Error(err)
	}
}
