package wordpiece_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"lore/internal/embed/bert"
	"lore/internal/embed/wordpiece"
	"lore/internal/fault"
)

// minilm is the tokenizer of the model that is built in.
func minilm(t testing.TB) *wordpiece.Tokenizer {
	raw, err := os.ReadFile("../builtin/minilm.lore")
	if err != nil {
		t.Fatal(err)
	}
	file, err := bert.Parse(string(raw))
	if err != nil {
		t.Fatal(err)
	}
	tokens, err := wordpiece.New(file.Pieces())
	if err != nil {
		t.Fatal(err)
	}
	return tokens
}

type example struct {
	Text []byte  `json:"text"`
	IDs  []int32 `json:"ids"`
}

func examples(t testing.TB) []example {
	raw, err := os.ReadFile("testdata/golden.json")
	if err != nil {
		t.Fatal(err)
	}
	var all []example
	if err := json.Unmarshal(raw, &all); err != nil || len(all) < 200 {
		t.Fatalf("%d examples: %v", len(all), err)
	}
	return all
}

func pieces(tokens *wordpiece.Tokenizer, ids []int32) (out []string) {
	for _, id := range ids {
		out = append(out, tokens.Piece(id))
	}
	return out
}

func TestGolden(t *testing.T) {
	tokens := minilm(t)
	wrong := 0
	for _, e := range examples(t) {
		got := tokens.Encode(nil, string(e.Text), 1<<20)
		if slices.Equal(got, e.IDs) {
			continue
		}
		if wrong++; wrong > 10 {
			t.Fatal("and more")
		}
		i := 0
		for i < min(len(got), len(e.IDs)) && got[i] == e.IDs[i] {
			i++
		}
		t.Errorf("%.80q differs from piece %d on:\n got %q\nwant %q", e.Text, i,
			pieces(tokens, got[i:min(i+8, len(got))]), pieces(tokens, e.IDs[i:min(i+8, len(e.IDs))]))
	}
}

// A text that is cut gives the beginning of what the whole text gives.
func TestMax(t *testing.T) {
	tokens := minilm(t)
	for _, e := range examples(t) {
		for _, limit := range []int{2, 3, 5, 17} {
			got := tokens.Encode([]int32{7}, string(e.Text), limit)
			want := append([]int32{7}, e.IDs...)
			if len(e.IDs) > limit {
				want = append(want[:limit], e.IDs[len(e.IDs)-1])
			}
			if !slices.Equal(got, want) {
				t.Errorf("%.40q, at most %d: %v, want %v", e.Text, limit, got, want)
			}
		}
	}
}

// Long texts are read in portions, whose borders must not show.
func TestLongText(t *testing.T) {
	tokens := minilm(t)
	for _, words := range []string{"the quick brown fox ", "crème brûlée\n", "e\u0301 x ", "日本語 ", "漢字", "漢ΑΣ字x", strings.Repeat("x", 700) + " "} {
		one := tokens.Encode(nil, words, 1<<20)
		one = one[1 : len(one)-1]
		got := tokens.Encode(nil, strings.Repeat(words, 300), 1<<20)
		if want := slices.Repeat(one, 300); !slices.Equal(got[1:len(got)-1], want) {
			t.Errorf("%q 300 times: %d pieces, want %d", words, len(got)-2, len(want))
		}
	}
}

func TestNewRefuses(t *testing.T) {
	for _, vocabulary := range []string{
		"", "\n", "[UNK]\n[CLS]\n", "[UNK]\n[CLS]\n[SEP]\n\na\n", "[UNK]\n[CLS]\n[SEP]\na\na\n", "[UNK]\n[CLS]\n[SEP]\n[SEP]",
	} {
		if _, err := wordpiece.New(vocabulary); fault.Of(err) != fault.Invalid {
			t.Errorf("%q: %v", vocabulary, err)
		}
	}
	tokens, err := wordpiece.New("[CLS]\n[SEP]\n[UNK]\na\n##b")
	if err != nil {
		t.Fatal(err)
	}
	if got := tokens.Encode(nil, "abb c a [MASK]", 99); !slices.Equal(got, []int32{0, 3, 4, 4, 2, 3, 1}) {
		t.Errorf("small vocabulary: %v", got)
	}
}

func FuzzEncode(f *testing.F) {
	tokens := minilm(f)
	for _, e := range examples(f) {
		f.Add(string(e.Text), uint16(100))
	}
	f.Fuzz(func(t *testing.T, text string, limit uint16) {
		ids := tokens.Encode(nil, text, int(limit))
		if len(ids) < 2 || len(ids) > max(2, int(limit)) {
			t.Fatalf("%d pieces, at most %d wanted", len(ids), limit)
		}
		for _, id := range ids {
			if id < 0 || int(id) >= tokens.Len() {
				t.Fatalf("id %d of %d", id, tokens.Len())
			}
		}
		all := tokens.Encode(nil, text, 1<<20)
		if n := len(ids) - 1; !slices.Equal(all[:n], ids[:n]) {
			t.Fatalf("cut at %d: %v, whole %v", limit, ids, all)
		}
	})
}

func FuzzNew(f *testing.F) {
	f.Add("[CLS]\n[SEP]\n[UNK]\na\n##b", "ab")
	f.Fuzz(func(t *testing.T, vocabulary, text string) {
		tokens, err := wordpiece.New(vocabulary)
		if err != nil {
			return
		}
		for _, id := range tokens.Encode(nil, text, 64) {
			tokens.Piece(id)
		}
	})
}

func BenchmarkEncode(b *testing.B) {
	tokens := minilm(b)
	text := strings.Repeat("The quick brown fox jumps over the lazy dog, and antidisestablishmentarianism follows. ", 20)
	b.SetBytes(int64(len(text)))
	var ids []int32
	for b.Loop() {
		ids = tokens.Encode(ids[:0], text, 1<<20)
	}
}

func BenchmarkNew(b *testing.B) {
	raw, _ := os.ReadFile("../builtin/minilm.lore")
	file, err := bert.Parse(string(raw))
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := wordpiece.New(file.Pieces()); err != nil {
			b.Fatal(err)
		}
	}
}
