package summarize

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"
)

// short are words that end with a full stop and no sentence.
var short = setOf(`mr mrs ms dr prof rev hon gen col sgt capt lt st sr jr vs cf eg ie e.g i.e viz al fig figs eq eqs sec ch vol vols nr
	pp pg ed eds trans ca approx est dept univ inc ltd corp co bros a.m p.m u.s u.k u.n e.u ph.d jan feb mar apr jun jul aug sep sept oct nov dec
	bzw usw z.b d.h u.a ggf vgl bspw evtl inkl ff`)

// shortBeforeNumber are words that are short forms only before a number, and
// ordinary ends of sentences elsewhere: "The answer is no."
var shortBeforeNumber = setOf(`no p art`)

func setOf(words string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(words) {
		out[w] = true
	}
	return out
}

// Sentences takes a plain text apart. What ends a sentence: . ! ? and their
// kin in other scripts, with the quotation marks and brackets that close
// behind them, before a blank and something that can begin a sentence. A full
// stop inside a number, after a short form or before a small letter ends none.
func Sentences(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		start := 0
		for i := 0; i < len(text); {
			r, size := utf8.DecodeRuneInString(text[i:])
			i += size
			if !isEnd(r) {
				continue
			}
			end := afterClosers(text, i)
			if isWide(r) || closes(text, start, i-size, end, r) {
				if s := strings.TrimSpace(text[start:end]); s != "" && !yield(s) {
					return
				}
				start = end
			}
			i = end
		}
		if s := strings.TrimSpace(text[start:]); s != "" {
			yield(s)
		}
	}
}

func isEnd(r rune) bool {
	switch r {
	case '.', '!', '?', '…', '؟', '۔', '।', '॥', '።':
		return true
	}
	return isWide(r)
}

// isWide are the marks behind which no blank is written.
func isWide(r rune) bool {
	switch r {
	case '。', '！', '？', '｡', '．':
		return true
	}
	return false
}

// afterClosers skips more marks of the end, and what closes behind them.
func afterClosers(text string, i int) int {
	for i < len(text) {
		r, size := utf8.DecodeRuneInString(text[i:])
		if !isEnd(r) && !strings.ContainsRune(")]}\"'”’»›」』）】", r) {
			break
		}
		i += size
	}
	return i
}

// closes decides about a mark at dot, behind which the text goes on at end.
func closes(text string, start, dot, end int, mark rune) bool {
	if end >= len(text) {
		return true
	}
	next, size := utf8.DecodeRuneInString(text[end:])
	if !unicode.IsSpace(next) {
		return false
	}
	next, _ = utf8.DecodeRuneInString(text[end+size:])
	if unicode.IsLower(next) {
		return false
	}
	if mark != '.' || end > dot+1 {
		return true
	}
	word := text[start:dot]
	if i := strings.LastIndexAny(word, " ([\"'“"); i >= 0 {
		word = word[i+1:]
	}
	low := strings.ToLower(word)
	switch {
	case short[low], shortBeforeNumber[low] && unicode.IsDigit(next):
		return false
	case utf8.RuneCountInString(strings.TrimLeftFunc(word, unicode.IsPunct)) == 1 && unicode.IsUpper([]rune(word)[len([]rune(word))-1]):
		return false // an initial
	case strings.Trim(low, "0123456789") == "" && word != "" && strings.TrimSpace(text[start:dot]) == word:
		return false // the number of an item
	}
	return true
}
