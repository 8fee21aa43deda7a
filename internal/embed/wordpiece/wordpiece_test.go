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

// vocabulary is that of the model that is built in.
func vocabulary(t testing.TB) string {
	raw, err := os.ReadFile("../builtin/model.lore")
	if err != nil {
		t.Fatal(err)
	}
	file, err := bert.Parse(string(raw))
	if err != nil {
		t.Fatal(err)
	}
	return file.Pieces()
}

// uncased is the tokenizer of an English BERT, whose 30,522 pieces the
// vocabulary begins with.
func uncased(t testing.TB) *wordpiece.Tokenizer {
	lines := strings.SplitAfterN(vocabulary(t), "\n", 30523)
	tokens, err := wordpiece.New(strings.Join(lines[:30522], ""))
	if err != nil {
		t.Fatal(err)
	}
	return tokens
}

// multilingual is the tokenizer of the model that is built in.
func multilingual(t testing.TB) *wordpiece.Tokenizer {
	tokens, err := wordpiece.NewMultilingual(vocabulary(t))
	if err != nil {
		t.Fatal(err)
	}
	return tokens
}

type example struct {
	Text []byte  `json:"text"`
	IDs  []int32 `json:"ids"`
}

func examples(t testing.TB, file string) []example {
	raw, err := os.ReadFile("testdata/" + file)
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

func TestGolden(t *testing.T) { compare(t, uncased(t), "golden.json") }

// TestMultilingual compares with the tokenizer that the model was trained with.
func TestMultilingual(t *testing.T) { compare(t, multilingual(t), "multilingual.json") }

func compare(t *testing.T, tokens *wordpiece.Tokenizer, file string) {
	wrong := 0
	for _, e := range examples(t, file) {
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
	for file, tokens := range map[string]*wordpiece.Tokenizer{"golden.json": uncased(t), "multilingual.json": multilingual(t)} {
		for _, e := range examples(t, file) {
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
}

// Long texts are read in portions, whose borders must not show.
func TestLongText(t *testing.T) {
	for _, tokens := range []*wordpiece.Tokenizer{uncased(t), multilingual(t)} {
		for _, words := range []string{"the quick brown fox ", "crème brûlée\n", "e\u0301 x ", "日本語 ", "漢字", "漢ΑΣ字x", strings.Repeat("x", 700) + " "} {
			one := tokens.Encode(nil, words, 1<<20)
			one = one[1 : len(one)-1]
			got := tokens.Encode(nil, strings.Repeat(words, 300), 1<<20)
			if want := slices.Repeat(one, 300); !slices.Equal(got[1:len(got)-1], want) {
				t.Errorf("%q 300 times: %d pieces, want %d", words, len(got)-2, len(want))
			}
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
	both := []*wordpiece.Tokenizer{uncased(f), multilingual(f)}
	for _, e := range examples(f, "multilingual.json") {
		f.Add(string(e.Text), uint16(100))
	}
	f.Fuzz(func(t *testing.T, text string, limit uint16) {
		for _, tokens := range both {
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
		}
	})
}

func FuzzNew(f *testing.F) {
	f.Add("[CLS]\n[SEP]\n[UNK]\na\n##b", "ab")
	f.Fuzz(func(t *testing.T, vocabulary, text string) {
		for _, read := range []func(string) (*wordpiece.Tokenizer, error){wordpiece.New, wordpiece.NewMultilingual} {
			tokens, err := read(vocabulary)
			if err != nil {
				return
			}
			for _, id := range tokens.Encode(nil, text, 64) {
				tokens.Piece(id)
			}
		}
	})
}

func BenchmarkEncode(b *testing.B) {
	tokens := multilingual(b)
	text := strings.Repeat("The quick brown fox jumps over the lazy dog, and antidisestablishmentarianism follows. ", 20)
	b.SetBytes(int64(len(text)))
	var ids []int32
	for b.Loop() {
		ids = tokens.Encode(ids[:0], text, 1<<20)
	}
}

func BenchmarkNew(b *testing.B) {
	pieces := vocabulary(b)
	for b.Loop() {
		if _, err := wordpiece.NewMultilingual(pieces); err != nil {
			b.Fatal(err)
		}
	}
}
