package invisible

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/secure/precis"
	"golang.org/x/text/unicode/norm"
)

// A Fault is a character in a name that nobody sees, or that turns the words
// around it.
type Fault struct {
	Rune  rune
	Place int // which character of the name it is, from 1
}

// String names the character, as Unicode does, and its place.
func (f Fault) String() string {
	return fmt.Sprintf("%s as character %d", RuneName(f.Rune), f.Place)
}

// RuneName is a character's code point with its name, where it is one that is
// met in names.
func RuneName(r rune) string {
	text := fmt.Sprintf("U+%04X", r)
	switch name := runeNames[r]; {
	case name != "":
		text += " " + name
	case 0xe0020 <= r && r <= 0xe007e:
		text += " TAG " + string(r-0xe0000)
	case 0xfe00 <= r && r <= 0xfe0f:
		text += fmt.Sprintf(" VARIATION SELECTOR-%d", r-0xfe00+1)
	case 0xe0100 <= r && r <= 0xe01ef:
		text += fmt.Sprintf(" VARIATION SELECTOR-%d", r-0xe0100+17)
	}
	return text
}

var runeNames = map[rune]string{
	0xad: "SOFT HYPHEN", 0x34f: "COMBINING GRAPHEME JOINER", 0x61c: "ARABIC LETTER MARK", 0x115f: "HANGUL CHOSEONG FILLER", 0x1160: "HANGUL JUNGSEONG FILLER",
	0x17b4: "KHMER VOWEL INHERENT AQ", 0x17b5: "KHMER VOWEL INHERENT AA", 0x180b: "MONGOLIAN FREE VARIATION SELECTOR ONE", 0x180c: "MONGOLIAN FREE VARIATION SELECTOR TWO",
	0x180d: "MONGOLIAN FREE VARIATION SELECTOR THREE", 0x180e: "MONGOLIAN VOWEL SEPARATOR", 0x180f: "MONGOLIAN FREE VARIATION SELECTOR FOUR",
	0x200b: "ZERO WIDTH SPACE", 0x200c: "ZERO WIDTH NON-JOINER", 0x200d: "ZERO WIDTH JOINER", 0x200e: "LEFT-TO-RIGHT MARK", 0x200f: "RIGHT-TO-LEFT MARK",
	0x2028: "LINE SEPARATOR", 0x2029: "PARAGRAPH SEPARATOR", 0x202a: "LEFT-TO-RIGHT EMBEDDING", 0x202b: "RIGHT-TO-LEFT EMBEDDING", 0x202c: "POP DIRECTIONAL FORMATTING",
	0x202d: "LEFT-TO-RIGHT OVERRIDE", 0x202e: "RIGHT-TO-LEFT OVERRIDE", 0x2060: "WORD JOINER", 0x2061: "FUNCTION APPLICATION", 0x2062: "INVISIBLE TIMES",
	0x2063: "INVISIBLE SEPARATOR", 0x2064: "INVISIBLE PLUS", 0x2066: "LEFT-TO-RIGHT ISOLATE", 0x2067: "RIGHT-TO-LEFT ISOLATE", 0x2068: "FIRST STRONG ISOLATE",
	0x2069: "POP DIRECTIONAL ISOLATE", 0x3164: "HANGUL FILLER", 0xfeff: "ZERO WIDTH NO-BREAK SPACE", 0xffa0: "HALFWIDTH HANGUL FILLER",
	0xfff9: "INTERLINEAR ANNOTATION ANCHOR", 0xfffa: "INTERLINEAR ANNOTATION SEPARATOR", 0xfffb: "INTERLINEAR ANNOTATION TERMINATOR", 0xe0001: "LANGUAGE TAG", 0xe007f: "CANCEL TAG",
}

// ignorable are the default-ignorable code points outside of the category Cf,
// and the two separators that end a line.
var ignorable = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x034f, Hi: 0x034f, Stride: 1},
		{Lo: 0x115f, Hi: 0x1160, Stride: 1},
		{Lo: 0x17b4, Hi: 0x17b5, Stride: 1},
		{Lo: 0x180b, Hi: 0x180f, Stride: 1},
		{Lo: 0x2028, Hi: 0x2029, Stride: 1},
		{Lo: 0x2065, Hi: 0x2065, Stride: 1},
		{Lo: 0x3164, Hi: 0x3164, Stride: 1},
		{Lo: 0xfe00, Hi: 0xfe0f, Stride: 1},
		{Lo: 0xffa0, Hi: 0xffa0, Stride: 1},
		{Lo: 0xfff0, Hi: 0xfff8, Stride: 1},
	},
	R32: []unicode.Range32{{Lo: 0xe0000, Hi: 0xe0fff, Stride: 1}},
}

// isUnseen reports characters without a shape of their own.
func isUnseen(r rune) bool {
	return r >= 0xad && (unicode.Is(unicode.Cf, r) || unicode.Is(ignorable, r))
}

const (
	zwnj = 0x200c
	zwj  = 0x200d
)

// InName finds the first character of a name that nobody sees and that no
// spelling needs there. Spelling are, by Unicode's rules of context: the joiners
// in scripts that join letters, and in emoji; the picture form of an emoji; the
// tags of a flag; and what Mongolian and Arabic write with.
func InName(name string) (Fault, bool) {
	if !strings.ContainsFunc(name, isUnseen) {
		return Fault{}, false
	}
	text := []rune(name)
	for i := 0; i < len(text); i++ {
		if n := flag(text[i:]); n > 0 {
			i += n - 1
			continue
		}
		if isUnseen(text[i]) && !isSpelling(text, i) {
			return Fault{Rune: text[i], Place: i + 1}, true
		}
	}
	return Fault{}, false
}

// flag is how many characters the flag of England, Scotland or Wales has that a
// text begins with: a black flag, tags, and the end of the tags.
func flag(text []rune) int {
	for _, region := range []string{"gbeng", "gbsct", "gbwls"} {
		want := []rune{0x1f3f4}
		for _, r := range region {
			want = append(want, 0xe0000+r)
		}
		want = append(want, 0xe007f)
		if len(text) >= len(want) && slices.Equal(text[:len(want)], want) {
			return len(want)
		}
	}
	return 0
}

// isSpelling reports whether a character without a shape belongs where it is.
func isSpelling(text []rune, i int) bool {
	before, after := at(text, i-1), at(text, i+1)
	switch r := text[i]; {
	case r == zwj:
		return isVirama(before) || (before == 0x9b0 || before == 0xcb0) && isVirama(after) || endsEmoji(text[:i]) && isPicture(after)
	case r == zwnj:
		return isVirama(before) || joins(text, i)
	case r == 0xfe0e, r == 0xfe0f:
		return isPicture(before) || strings.ContainsRune("0123456789#*", before) && before != 0 && after == 0x20e3
	case 0x180b <= r && r <= 0x180f:
		return unicode.Is(unicode.Mongolian, before) && unicode.IsLetter(before)
	case unicode.Is(unicode.Prepended_Concatenation_Mark, r): // it has a shape, around the digits that follow
		return unicode.In(after, unicode.Arabic, unicode.Syriac, unicode.Kaithi, unicode.Nd)
	}
	return false
}

func at(text []rune, i int) rune {
	if i < 0 || i >= len(text) {
		return 0
	}
	return text[i]
}

// isVirama reports the sign that takes a consonant its vowel: after it, Indic
// scripts choose a form by a joiner.
func isVirama(r rune) bool {
	return r >= 0x900 && norm.NFC.PropertiesString(string(r)).CCC() == 9
}

// freeform knows the rules of context for joiners (RFC 5892, appendix A).
var freeform = sync.OnceValue(func() *precis.Profile { return precis.NewFreeform() })

// joins reports whether the letters around a non-joiner would join without it.
func joins(text []rune, i int) bool {
	from, to := i, i+1
	for from > 0 && i-from < 8 && isInWord(text[from-1]) {
		from--
	}
	for to < len(text) && to-i < 8 && isInWord(text[to]) {
		to++
	}
	if from == i || to == i+1 {
		return false
	}
	_, err := freeform().String(string(text[from:to]))
	return err == nil
}

func isInWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsMark(r) }

// endsEmoji reports whether a text ends in an emoji, with its picture form or
// the color of its skin.
func endsEmoji(text []rune) bool {
	n := len(text)
	if n > 0 && (text[n-1] == 0xfe0f || 0x1f3fb <= text[n-1] && text[n-1] <= 0x1f3ff) {
		n--
	}
	return n > 0 && isPicture(text[n-1])
}

// Escape writes every character of a text that nobody sees, and that is no
// spelling, as its code point: <U+202E>. Control characters are written so too.
func Escape(s string) string {
	if utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return isUnseen(r) || unicode.IsControl(r) }) {
		return s
	}
	text := []rune(s)
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if n := flag(text[i:]); n > 0 {
			b.WriteString(string(text[i : i+n]))
			i += n - 1
			continue
		}
		if r := text[i]; unicode.IsControl(r) || isUnseen(r) && !isSpelling(text, i) {
			fmt.Fprintf(&b, "<U+%04X>", r)
			continue
		}
		b.WriteRune(text[i])
	}
	return b.String()
}

const (
	firstStrong = "\u2068"
	popIsolate  = "\u2069"
)

// Isolate is [Escape] for a name that is written among other words: one with
// letters from right to left is set apart, so that it cannot move what is
// around it.
func Isolate(s string) string {
	if inner, ok := strings.CutPrefix(s, firstStrong); ok { // it is set apart already
		if inner, ok = strings.CutSuffix(inner, popIsolate); ok && Escape(inner) == inner && isRightToLeft(inner) {
			return s
		}
	}
	s = Escape(s)
	if isRightToLeft(s) {
		return firstStrong + s + popIsolate
	}
	return s
}

// isRightToLeft reports whether a text has letters that are written from right
// to left.
func isRightToLeft(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool {
		switch {
		case r < 0x590:
			return false
		case r <= 0x8ff, 0xfb1d <= r && r <= 0xfdff, 0xfe70 <= r && r <= 0xfefc, 0x10800 <= r && r <= 0x10fff, 0x1e800 <= r && r <= 0x1efff:
			return true
		}
		return false
	})
}
