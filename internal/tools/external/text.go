package external

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// clean takes out of a text what nobody sees and what turns it around, so that
// a person and a model read the same. It tells how much that was.
func clean(s string) (string, int) {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if !strings.ContainsFunc(s, hidden) {
		return s, 0
	}
	n := 0
	return strings.Map(func(r rune) rune {
		if hidden(r) {
			n++
			return -1
		}
		return r
	}, s), n
}

// hidden are the characters that carry words past the eye: tags, selectors of
// variants beyond those of emoji, marks of direction, fillers, and control
// characters but for those of lines. The joiners stay: scripts need them.
func hidden(r rune) bool {
	switch {
	case r == '\n', r == '\t', r == '\r':
		return false
	case r < 0x20, r >= 0x7f && r < 0xa0:
		return true
	case r == 0xad, r == 0x34f, r == 0x61c, r == 0x115f, r == 0x1160, r == 0x17b4, r == 0x17b5, r == 0x180e, r == 0x3164, r == 0xffa0, r == 0xfeff:
		return true
	case r == 0x200b, r == 0x200e, r == 0x200f, r >= 0x2028 && r <= 0x202e, r >= 0x2060 && r <= 0x206f:
		return true
	case r >= 0xfe00 && r < 0xfe0f, r >= 0xfff0 && r < 0xfffc, r >= 0x1d173 && r <= 0x1d17a, r >= 0xe0000 && r <= 0xe0fff:
		return true
	}
	return unicode.Is(unicode.Co, r) // for private use: no font of ours has them
}

// cut shortens a text to at most n bytes, at a whole character, and says so.
func cut(s string, n int) (string, bool) {
	if len(s) <= n {
		return s, false
	}
	at := whole(s, n)
	return fmt.Sprintf("%s\n[cut: %d of %d bytes]", s[:at], at, len(s)), true
}

// whole is where a text of at most n bytes ends without breaking a character.
func whole(s string, n int) int {
	if len(s) <= n {
		return len(s)
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return n
}

// line is a text of a server on one line, short enough to stand in a message.
func line(s string, n int) string {
	s, _ = clean(s)
	s = strings.Join(strings.Fields(s), " ")
	if utf8.RuneCountInString(s) > n {
		s = string([]rune(s)[:n]) + "…"
	}
	return s
}
