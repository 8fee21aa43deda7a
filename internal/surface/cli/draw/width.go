package draw

import (
	"strings"
	"unicode"

	"golang.org/x/text/width"
)

// Cells counts the columns that a line takes on a terminal: East Asian
// characters and emoji take two, marks that sit on another character none, and
// the codes that paint text none.
func Cells(s string) int {
	n, last := 0, 0
	joined := false // the last character joins the next one to itself
	for len(s) > 0 {
		if k := escape(s); k > 0 {
			s = s[k:]
			continue
		}
		var r rune
		for _, r = range s {
			break
		}
		s = s[runeLen(s):]
		switch {
		case r == 0x200d:
			joined = true
			continue
		case r == 0xfe0f && last == 1:
			n++ // the picture form of a character that has two forms
			last = 2
			continue
		case joined:
			joined = false
			continue
		}
		if w := runeCells(r); w > 0 {
			n += w
			last = w
		}
	}
	return n
}

// runeLen is the length of the first character of s in bytes.
func runeLen(s string) int {
	for i := range s {
		if i > 0 {
			return i
		}
	}
	return len(s)
}

// escape is the length of the code that s begins with, or 0. Only codes that
// this package writes are known: colours and links.
func escape(s string) int {
	switch {
	case strings.HasPrefix(s, "\x1b["):
		if i := strings.IndexByte(s, 'm'); i > 0 {
			return i + 1
		}
	case strings.HasPrefix(s, "\x1b]8;"):
		if i := strings.Index(s, "\x1b\\"); i > 0 {
			return i + 2
		}
	}
	return 0
}

// runeCells is how many columns one character takes by itself.
func runeCells(r rune) int {
	switch {
	case r < 0x20, r >= 0x7f && r < 0xa0:
		return 0
	case r < 0x300:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	case r >= 0x1160 && r <= 0x11ff:
		return 0 // the vowels and endings of Korean syllables written in parts
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}

// Pad fills a text with spaces up to n columns.
func Pad(s string, n int) string {
	return s + strings.Repeat(" ", max(0, n-Cells(s)))
}

// split cuts a word that is wider than n columns into pieces that are not. A
// code that paints stays with the character after it.
func split(word string, n int) []string {
	var out []string
	start, used := 0, 0
	for at := 0; at < len(word); {
		k := escape(word[at:])
		if k > 0 {
			at += k
			continue
		}
		k = runeLen(word[at:])
		w := Cells(word[at : at+k])
		if used+w > n && at > start {
			out = append(out, word[start:at])
			start, used = at, 0
		}
		used += w
		at += k
	}
	return append(out, word[start:])
}
