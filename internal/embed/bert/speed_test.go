package bert

import (
	"context"
	"os"
	"strings"
	"testing"

	"lore/internal/embed"
)

func builtinFile(t testing.TB) string {
	raw, err := os.ReadFile("../builtin/model.lore")
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// passages are n texts of 200 words, about 255 tokens each, from the longest
// English text of the repository.
func passages(t testing.TB, n int) []string {
	raw, err := os.ReadFile("../../../LICENSE")
	if err != nil {
		t.Fatal(err)
	}
	words := strings.Fields(string(raw))
	var out []string
	for i := range n {
		at := i * 97 % (len(words) - 200)
		out = append(out, strings.Join(words[at:at+200], " "))
	}
	return out
}

// BenchmarkEmbed reports passages of 200 words per second of CPU time.
func BenchmarkEmbed(b *testing.B) {
	file := builtinFile(b)
	for _, kernel := range Kernels() {
		b.Run(kernel, func(b *testing.B) {
			m, err := Load(file, Options{Kernel: kernel})
			if err != nil {
				b.Fatal(err)
			}
			texts := passages(b, 8)
			if strings.HasPrefix(kernel, "scalar") {
				texts = texts[:1]
			}
			embedAll(b, m, texts)
			before := cpuTime()
			for b.Loop() {
				if _, err := m.Embed(context.Background(), embed.Passage, texts); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(len(texts)*b.N)/(cpuTime()-before).Seconds(), "passages/cpu-s")
		})
	}
}

func BenchmarkQuery(b *testing.B) {
	m, err := Load(builtinFile(b), Options{})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		m.Embed(context.Background(), embed.Query, []string{"how do I rotate the encryption keys of my backup?"})
	}
}

func BenchmarkLoad(b *testing.B) {
	file := builtinFile(b)
	for b.Loop() {
		if _, err := Load(file, Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
