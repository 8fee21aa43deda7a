package index

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Unspaced reports whether r belongs to a script that is written without
// spaces between words, so that each character is indexed as a word and a word
// is found as a phrase of characters.
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

// Spaced returns s with a space on each side of every character of an unspaced
// script. Text without such characters is returned as it is. Both the indexed
// text and the words of a query go through it.
func Spaced(s string) string {
	at := firstUnspaced(s)
	if at < 0 {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + len(s)/2)
	b.WriteString(s[:at])
	for i := at; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if Unspaced(r) {
			b.WriteByte(' ')
			b.WriteString(s[i : i+n])
			b.WriteByte(' ')
		} else {
			b.WriteString(s[i : i+n])
		}
		i += n
	}
	return b.String()
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
