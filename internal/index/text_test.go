package index_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"lore/internal/index"
)

// TestGrams shows one text as the index reads it, as a question is ranked by it,
// and as a phrase; a phrase that may go on ends with a star.
func TestGrams(t *testing.T) {
	for _, c := range []struct{ text, read, grams, phrase string }{
		{"green tea", "green tea", "green tea", "green tea"},
		{"茶", "茶", "茶", "茶*"},
		{"茶道", "茶道 道", "茶道", "茶道"},
		{"茶道文化", "茶道 道文 文化 化", "茶道 道文 文化", "茶道 道文 文化"},
		{"茶道，文化", "茶道 道 ， 文化 化", "茶道 ， 文化", "茶道 道 文化"},
		{"茶\n道", "茶道 道", "茶道", "茶道"},
		{"茶\n\n道", "茶 道", "茶 \n\n 道", "茶 道*"},
		{"iPhone手机15号", "iPhone 手机 机 15 号", "iPhone 手机 15 号", "iPhone 手机 机 15 号*"},
		{"手机 case", "手机 机 case", "手机  case", "手机 机 case"},
		{"お茶を", "お茶 茶を を", "お茶 茶を", "お茶 茶を"},
		{"コーヒー", "コー ーヒ ヒー ー", "コー ーヒ ヒー", "コー ーヒ ヒー"},
		{"녹차를 마신다", "녹차 차를 를 마신 신다 다", "녹차 차를   마신 신다", "녹차 차를 를 마신 신다"},
		{"ชาเขียว", "ชาเ าเข เขย ขยว ยว ว", "ชาเ าเข เขย ขยว", "ชาเ าเข เขย ขยว"}, // without the marks
		{"ชา", "ชา า", "ชา", "ชา*"},
		{"茶!", "茶 !", "茶 !", "茶*"},
		{"", "", "", ""},
	} {
		if got := strings.Join(strings.Fields(index.Spaced(c.text)), " "); got != c.read {
			t.Errorf("%q is read as %q, want %q", c.text, got, c.read)
		}
		if got := strings.Join(index.Grams(c.text), " "); got != c.grams {
			t.Errorf("%q has the grams %q, want %q", c.text, got, c.grams)
		}
		words, open := index.Phrase(c.text)
		got := strings.Join(words, " ")
		if open {
			got += "*"
		}
		if got != c.phrase {
			t.Errorf("%q is the phrase %q, want %q", c.text, got, c.phrase)
		}
	}
}

// FuzzPhrase: a text that is part of a longer one is a phrase in it, unless the
// longer one goes on within a word.
func FuzzPhrase(f *testing.F) {
	f.Add("日本の", "茶道", "文化です")
	f.Add("tea ", "茶", " cup")
	f.Add("ฉันชอบ", "ดื่ม", "ชาเขียว")
	f.Add("a", "녹차를", "b茶")
	f.Add("ก漢", "กก漢", "漢ก")
	f.Fuzz(func(t *testing.T, before, text, after string) {
		if !utf8.ValidString(before + text + after) {
			return
		}
		for _, r := range text { // where words end with spaces, the neighbours decide
			if !index.Unspaced(r) {
				return
			}
		}
		words, open := index.Phrase(text)
		all := strings.Fields(index.Spaced(before + text + after))
		if len(words) == 0 {
			return
		}
		for at := 0; at+len(words) <= len(all); at++ {
			last := at + len(words) - 1
			if slices.Equal(all[at:last], words[:len(words)-1]) &&
				(all[last] == words[len(words)-1] || open && strings.HasPrefix(all[last], words[len(words)-1])) {
				return
			}
		}
		t.Fatalf("%q is not found in %q: %q in %q", text, before+text+after, words, all)
	})
}
