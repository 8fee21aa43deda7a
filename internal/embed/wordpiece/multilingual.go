package wordpiece

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// multilingual appends the pieces of a text in any language, until dst is limit
// long.
func (t *Tokenizer) multilingual(dst []int32, text string, limit int) []int32 {
	s := manySplitter{t: t, dst: dst, limit: limit}
	for len(text) > 0 && len(s.dst) < limit {
		var part string
		part, text = validPortion(text)
		if !isASCII(part) && !norm.NFC.IsNormalString(part) {
			part = norm.NFC.String(part)
		}
		for _, r := range part {
			s.add(r)
		}
		s.flush()
	}
	if len(s.dst) > limit {
		s.dst = s.dst[:max(limit, len(dst))]
	}
	return s.dst
}

// validPortion is portion for text whose bytes may be no characters: those are
// left out, and end no word.
func validPortion(text string) (part, rest string) {
	for at := 0; ; {
		part, rest = portion(text[at:])
		at += len(part)
		if r, _ := utf8.DecodeRuneInString(rest); rest == "" || r == ' ' || r == '\n' || isSingle(r) {
			return text[:at], rest
		}
	}
}

// The classes of characters between which a word ends though no space stands
// there.
type class int

const (
	other class = iota
	hiragana
	katakana
)

func classOf(r rune) class {
	switch {
	case r >= 0x3041 && r <= 0x309F:
		return hiragana
	case r >= 0x30A0 && r <= 0x30FF, r >= 0x31F0 && r <= 0x31FF:
		return katakana
	}
	return other
}

// A manySplitter collects the bytes of a word and appends its pieces when it
// ends.
type manySplitter struct {
	t     *Tokenizer
	dst   []int32
	limit int
	word  []byte
	class class // of the last character of a word
}

func (s *manySplitter) flush() {
	if len(s.word) > 0 && len(s.dst) < s.limit {
		s.dst = s.t.accented(s.dst, s.word)
	}
	s.word = s.word[:0]
}

func (s *manySplitter) add(r rune) {
	r = fold(r)
	switch {
	case r == 0:
		return
	case r == ' ':
		s.flush()
		return
	case isPunctuation(r), isSingle(r):
		s.flush()
		s.word = utf8.AppendRune(s.word, r)
		s.flush()
		return
	}
	c := classOf(r)
	if r == 'ー' && s.class != other { // it prolongs what stands before it
		c = s.class
	}
	if c != s.class {
		s.flush()
	}
	s.class = c
	s.word = utf8.AppendRune(s.word, r)
}

// isSingle are the ideographs that were words of their own in training; the
// supplement of compatibility ideographs was not.
func isSingle(r rune) bool {
	return r >= 0x4E00 && r <= 0x9FFF || r >= 0x3400 && r <= 0x4DBF || r >= 0x20000 && r <= 0x2CEAF || r >= 0xF900 && r <= 0xFAFF
}

// fold gives a character as the vocabulary has it: small, of ordinary width,
// without signs for vowels that most writers leave out. 0 is nothing.
func fold(r rune) rune {
	switch {
	case r >= 0xFF01 && r <= 0xFF5E: // full width
		return fold(r - 0xFEE0)
	case r >= 'A' && r <= 'Z':
		return r + 'a' - 'A'
	case r == '\n' || r == '\t' || r == '\r':
		return ' '
	case r < utf8.RuneSelf:
		if r < ' ' || r == 0x7F {
			return 0
		}
		return r
	case r == utf8.RuneError, r == 0xAD, r == 0x640: // a soft hyphen, a tatweel
		return 0
	case r >= 0x64B && r <= 0x652, r == 0x670, r >= 0x591 && r <= 0x5C7: // points of Arabic and Hebrew
		return 0
	case unicode.IsSpace(r):
		return ' '
	case unicode.IsControl(r), unicode.Is(unicode.Cf, r): // also the joiners within Persian words
		return 0
	case r == 'İ':
		return 'i'
	}
	return unicode.ToLower(r)
}

// accented appends the pieces of a word. A word that cannot be put together with
// its accents is tried without them, which the older part of the vocabulary was
// made for.
func (t *Tokenizer) accented(dst []int32, w []byte) []int32 {
	ascii := isASCII(string(w))
	if len(w) <= maxWord || !ascii { // long runs of other scripts have no spaces
		if out, ok := t.pieces(dst, w); ok {
			return out
		}
	}
	if bare := unaccented(w); !ascii && len(bare) > 0 && string(bare) != string(w) {
		return t.accented(dst, bare)
	}
	return append(dst, t.special.unknown)
}

func unaccented(w []byte) []byte {
	var out []byte
	for _, r := range norm.NFD.String(string(w)) {
		if !unicode.Is(unicode.Mn, r) {
			out = utf8.AppendRune(out, r)
		}
	}
	return out
}
