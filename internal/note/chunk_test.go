package note

import (
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
)

// slowMeasure is measure without its fast way.
func slowMeasure(s string, limit int) size {
	z := size{floor: len(s), end: len(s)}
	for i := 0; i < len(s); {
		if s[i] <= ' ' {
			i++
			continue
		}
		var stop bool
		if i, stop = z.word(s, i, limit); stop {
			break
		}
	}
	return z
}

func TestMeasureAgrees(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	parts := []string{"a", "word ", " ", "\n\n", "longer-word-that-goes-on", "https://example.org/a/very/long/path/that/never/ends/", "字", "é", "\u3000", "\t", ". ", "\xff"}
	for range 3000 {
		var b strings.Builder
		for range r.IntN(300) {
			b.WriteString(parts[r.IntN(len(parts))])
		}
		s := b.String()
		for _, limit := range []int{maxChunk, 1 << 60} {
			if got, want := measure(s, limit), slowMeasure(s, limit); got != want {
				t.Fatalf("%q up to %d: %+v, not %+v", s, limit, got, want)
			}
		}
	}
}

func TestCountWords(t *testing.T) {
	tests := []struct {
		s    string
		want int
	}{
		{"", 0}, {"a", 1}, {"one two  three\nfour", 4}, {"中文字符", 2}, {"中文 and text", 3}, {"été à la carte", 4}, {"x中y", 3},
		{strings.Repeat("word ", 1000), 1000}, {strings.Repeat("a", 5000), 1},
	}
	for _, tt := range tests {
		if got := countWords(tt.s); got != tt.want {
			t.Errorf("%.20q: %d, not %d", tt.s, got, tt.want)
		}
	}
}

func TestChunks(t *testing.T) {
	sentence := "This sentence has exactly eight words in it. "
	para := strings.TrimSpace(strings.Repeat(sentence, 10)) + "\n\n"
	tests := []struct {
		name, src string
		paths     []string
		chunks    int
	}{
		{"one section", "# A\n\ntext\n", []string{"A"}, 1},
		{"text above", "text\n\n# A\n\nmore\n", []string{"", "A"}, 2},
		{"bare headings join", "# A\n\n## B\n\ntext\n\n## C\n\ntext\n", []string{"A > B", "A > C"}, 2},
		{"tiny parent", "# A\n\nfew words\n\n## B\n\n" + para, []string{"A"}, 1},
		{"big parent", "# A\n\n" + para + "## B\n\ntext\n", []string{"A", "A > B"}, 2},
		{"siblings stay apart", "# A\nx\n# B\ny\n", []string{"A", "B"}, 2},
		{"long section", "# A\n\n" + strings.Repeat(para, 5), nil, 3},
		{"long paragraph", "# A\n\n" + strings.Repeat(sentence, 60), nil, 3},
		{"one long word", strings.Repeat("x", 20_000), nil, 5},
		{"chinese", strings.Repeat("这是一个句子。", 200), nil, 4},
		{"only front matter", "---\na: 1\n---\n", nil, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n := Parse("a.md", []byte(tt.src))
			check(t, n)
			var paths []string
			for _, c := range n.Chunks {
				paths = append(paths, strings.Join(c.Headings, " > "))
			}
			if tt.paths != nil && !reflect.DeepEqual(paths, tt.paths) {
				t.Errorf("paths %q, not %q", paths, tt.paths)
			}
			if len(n.Chunks) != tt.chunks {
				t.Errorf("%d chunks, not %d", len(n.Chunks), tt.chunks)
			}
		})
	}
}

// TestChunksOverlap wants the pieces of a long paragraph to begin at a sentence
// and to share one.
func TestChunksOverlap(t *testing.T) {
	var b strings.Builder
	for i := range 60 {
		b.WriteString("Sentence number " + strings.Repeat("i", i%5+1) + " says something about tea. ")
	}
	n := Parse("a.md", []byte(b.String()))
	for i, c := range n.Chunks {
		if !strings.HasPrefix(c.Text, "Sentence") || !strings.HasSuffix(c.Text, ".") {
			t.Errorf("chunk %d is cut inside a sentence: %q", i, c.Text)
		}
		if i > 0 && n.Chunks[i-1].Span.End <= c.Span.Start {
			t.Errorf("chunks %d and %d share nothing", i-1, i)
		}
	}
}

// TestChunksKeepBlockIDs: an id stays with the block that it names, so that no
// chunk begins with the id of another.
func TestChunksKeepBlockIDs(t *testing.T) {
	sentence := "This sentence has exactly eight words in it. "
	for name, end := range map[string]string{"after the sentence": " ^id-%", "after a blank line": "\n\n^id-%", "after two": "\n\n\n^id-%", "on the next line": "\n^id-%"} {
		for _, sentences := range []int{1, 3, 5, 9, 12} {
			var b strings.Builder
			for i := range 30 {
				b.WriteString(strings.TrimSpace(strings.Repeat(sentence, sentences)) + strings.ReplaceAll(end, "%", string(rune('a'+i%26))) + "\n\n")
			}
			n := Parse("n.md", []byte(b.String()))
			for _, c := range n.Chunks {
				if strings.HasPrefix(c.Text, "^") {
					t.Errorf("%s, %d sentences: a chunk begins with %.40q", name, sentences, c.Text)
				}
			}
		}
	}
	for text, want := range map[string]bool{"^a": true, "^a-1\nb": true, "^": false, "^\n": false, "^a b": false, "a": false, "": false, "^é": false} {
		if endsBlock(text, 0) != want {
			t.Errorf("endsBlock(%q) is not %v", text, want)
		}
	}
}
