package wordpiece

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// plain appends the pieces of a text without reserved pieces, until dst is
// limit long.
func (t *Tokenizer) plain(dst []int32, text string, limit int) []int32 {
	s := splitter{t: t, dst: dst, limit: limit}
	for len(text) > 0 && len(s.dst) < limit {
		// Text is taken in portions, each normalised alone, so that of a very
		// long text only the part that is wanted is worked on.
		var part string
		part, text = portion(text)
		if isASCII(part) {
			s.ascii(part)
		} else {
			s.unicode(part)
		}
		s.flush()
	}
	if len(s.dst) > limit {
		s.dst = s.dst[:limit]
	}
	return s.dst
}

// portion cuts after 512 bytes, before the next space, line end or ideograph
// (U+5000 to U+9FFF begin with these bytes): none of them combines with what
// stands before it.
func portion(text string) (part, rest string) {
	for i := 512; i < len(text); i++ {
		if c := text[i]; c == ' ' || c == '\n' || c >= 0xE5 && c <= 0xE9 {
			return text[:i], text[i:]
		}
	}
	return text, ""
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// A splitter collects the bytes of a word and appends its pieces when it ends.
type splitter struct {
	t     *Tokenizer
	dst   []int32
	limit int
	word  []byte
}

func (s *splitter) flush() {
	if len(s.word) == 0 {
		return
	}
	if len(s.dst) < s.limit {
		s.dst = s.t.word(s.dst, s.word)
	}
	s.word = s.word[:0]
}

// alone appends a character that is a word of its own.
func (s *splitter) alone(r rune) {
	s.flush()
	s.word = utf8.AppendRune(s.word, r)
	s.flush()
}

func (s *splitter) ascii(text string) {
	for i := range len(text) {
		switch c := text[i]; {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9':
			s.word = append(s.word, c)
		case c >= 'A' && c <= 'Z':
			s.word = append(s.word, c+'a'-'A')
		case c == ' ', c == '\n', c == '\t', c == '\r':
			s.flush()
		case c > ' ' && c < 0x7f: // what is left is punctuation
			s.alone(rune(c))
		}
	}
}

func (s *splitter) unicode(text string) {
	for _, r := range norm.NFD.String(lower(text)) {
		switch {
		case unicode.Is(unicode.Mn, r):
		case unicode.IsSpace(r):
			s.flush()
		case isPunctuation(r), isIdeograph(r):
			s.alone(r)
		default:
			s.word = utf8.AppendRune(s.word, r)
		}
	}
}

// lower drops what is no text and puts the rest in lower case. That comes
// before the decomposition, and a capital sigma at the end of a word becomes
// the letter for that place, both as in the reference.
func lower(text string) string {
	out := make([]byte, 0, len(text)+8)
	for i, r := range text {
		switch {
		case r == '\t', r == '\n', r == '\r':
			out = append(out, ' ')
		case r == 0, r == utf8.RuneError, unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co):
		case r == 'Σ' && endsWord(text, i):
			out = utf8.AppendRune(out, 'ς')
		default:
			out = utf8.AppendRune(out, unicode.ToLower(r))
		}
	}
	return string(out)
}

// endsWord tells whether the sigma at byte i has a letter before it and none
// after it, passing over marks.
func endsWord(text string, i int) bool {
	before := false
	for j := i; j > 0; {
		r, size := utf8.DecodeLastRuneInString(text[:j])
		j -= size
		if !ignoredInCase(r) {
			before = isCased(r)
			break
		}
	}
	if !before {
		return false
	}
	for _, r := range text[i+len("Σ"):] {
		if !ignoredInCase(r) {
			return !isCased(r)
		}
	}
	return true
}

func isCased(r rune) bool {
	return unicode.In(r, unicode.Lu, unicode.Ll, unicode.Lt, unicode.Other_Lowercase, unicode.Other_Uppercase)
}

// ignoredInCase are the characters of Unicode's property Case_Ignorable, and
// those that lower drops.
func ignoredInCase(r rune) bool {
	switch r {
	case '\t', '\n', '\r':
		return false
	case '\'', '.', ':', 0xB7, 0x387, 0x55F, 0x5F4, 0x2018, 0x2019, 0x2024, 0x2027,
		0xFE13, 0xFE52, 0xFE55, 0xFF07, 0xFF0E, 0xFF1A, utf8.RuneError:
		return true
	}
	return unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf, unicode.Lm, unicode.Sk, unicode.Cc, unicode.Co)
}

func isPunctuation(r rune) bool {
	if r < utf8.RuneSelf {
		return r > ' ' && r < 0x7f && !(r >= '0' && r <= '9') && !(r >= 'a' && r <= 'z') && !(r >= 'A' && r <= 'Z')
	}
	return unicode.IsPunct(r)
}

func isIdeograph(r rune) bool {
	return r >= 0x4E00 && r <= 0x9FFF || r >= 0x3400 && r <= 0x4DBF || r >= 0xF900 && r <= 0xFAFF ||
		r >= 0x20000 && r <= 0x2A6DF || r >= 0x2A700 && r <= 0x2CEAF || r >= 0x2F800 && r <= 0x2FA1F
}
