package index

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Unspaced reports whether r belongs to a script that is written without
// spaces between words, which is indexed by grams: see [Grams]. Korean has
// spaces, but its particles cling to the words.
func Unspaced(r rune) bool {
	if r < 0x0E00 {
		return false
	}
	switch {
	case r <= 0x0EFF: // Thai, Lao
		return unicode.IsLetter(r) || unicode.IsMark(r)
	case r < 0x1000:
		return false
	case r <= 0x109F: // Myanmar
		return true
	case r >= 0x1780 && r <= 0x17FF: // Khmer
		return true
	case r < 0x3040:
		return r == 0x3005 || r == 0x3006 || r == 0x3007
	case r <= 0x30FF: // kana
		return unicode.IsLetter(r)
	case r >= 0x31F0 && r <= 0x31FF, r >= 0x3400 && r <= 0x4DBF, r >= 0x4E00 && r <= 0x9FFF:
		return true
	case r >= 0xAC00 && r <= 0xD7A3, r >= 0x1100 && r <= 0x11FF: // Hangul
		return true
	case r >= 0xF900 && r <= 0xFAFF, r >= 0x20000 && r <= 0x323AF, r >= 0xFF66 && r <= 0xFF9D:
		return true
	}
	return false
}

// gramLength is how many characters of r's script make a gram. Two ideographs
// are most words of Chinese; scripts of syllables in several letters need more
// to say as much.
func gramLength(r rune) int {
	if r < 0x1100 || r >= 0x1780 && r <= 0x17FF { // Thai, Lao, Myanmar, Khmer
		return 3
	}
	return 2
}

// Spaced returns s as the full-text index reads it. Of a script without spaces
// nobody knows where a word ends, so every character begins a word: a gram of
// itself and those after it, as far as the run goes. 茶道文化 is read as
// 茶道 道文 文化 化. Text without such characters is returned as it is.
func Spaced(s string) string {
	at := firstUnspaced(s)
	if at < 0 {
		return s
	}
	var b strings.Builder
	b.Grow(3 * len(s))
	b.WriteString(s[:at])
	segments(s[at:], func(word string, run []rune) {
		b.WriteString(word)
		for i := range run {
			b.WriteByte(' ')
			for _, r := range run[i:min(i+gramLength(run[i]), len(run))] {
				b.WriteRune(r)
			}
		}
		if run != nil {
			b.WriteByte(' ')
		}
	})
	return b.String()
}

// Grams cuts a word for ranking: 茶道文化 is 茶道, 道文 and 文化. A run that is
// too short is one gram, and what stands between runs is a word. Words without
// such characters stay as they are.
func Grams(word string) []string {
	if firstUnspaced(word) < 0 {
		return []string{word}
	}
	var out []string
	segments(word, func(word string, run []rune) {
		if run == nil {
			out = append(out, word)
			return
		}
		for i := range run {
			if end := i + gramLength(run[i]); i == 0 || end <= len(run) {
				out = append(out, string(run[i:min(end, len(run))]))
			}
		}
	})
	return out
}

// Phrase cuts text into the words that stand in the full-text index, one after
// the other, wherever the text does. Where the text ends within a run, so that
// the last word may go on in a longer one, open is true.
func Phrase(text string) (words []string, open bool) {
	var run []rune
	notInWord := func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r) && !unicode.Is(unicode.Co, r)
	}
	segments(text, func(word string, next []rune) {
		if parts := strings.FieldsFunc(word, notInWord); len(parts) > 0 {
			words, run = append(words, parts...), nil
		}
		for i := range next {
			words = append(words, string(next[i:min(i+gramLength(next[i]), len(next))]))
		}
		if len(next) > 0 {
			run = append(run[:0], next...)
		}
	})
	// A longer run has the same grams, but for the last ones, which it fills up.
	whole := 0
	for whole < len(run) && whole+gramLength(run[whole]) <= len(run) {
		whole++
	}
	cut := min(len(run)-whole, max(len(run)-1, 0))
	return words[:len(words)-cut], len(run) > 0 && whole == 0
}

// segments cuts text into what lies between the runs of unspaced scripts, and
// the runs: their characters without marks, of which the full-text index has
// none. A line may end within a run.
func segments(s string, use func(word string, run []rune)) {
	var run []rune
	start := 0 // of what is not part of the run
	for i, r := range s {
		if !Unspaced(r) {
			continue
		}
		if between := s[start:i]; between != "" && !(between == "\n" && len(run) > 0) {
			if len(run) > 0 {
				use("", run)
			}
			use(between, nil)
			run = run[:0]
		}
		if !unicode.IsMark(r) {
			run = append(run, r)
		}
		start = i + utf8.RuneLen(r)
	}
	if len(run) > 0 {
		use("", run)
	}
	if start < len(s) {
		use(s[start:], nil)
	}
}

func firstUnspaced(s string) int {
	for i := 0; i < len(s); i++ {
		// Every unspaced script begins at U+0E00: three bytes, the first 0xE0 or more.
		if s[i] < 0xE0 {
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if Unspaced(r) {
			return i
		}
		i += n - 1
	}
	return -1
}
