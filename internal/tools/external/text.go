package external

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"lore/internal/note/invisible"
)

// clean takes out of a text what nobody sees and what turns it around, so that
// a person and a model read the same. It tells how much that was.
func clean(s string) (string, int) {
	s = strings.ToValidUTF8(s, "\uFFFD")
	return invisible.Strip(s)
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
