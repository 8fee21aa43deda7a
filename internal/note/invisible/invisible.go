// Package invisible finds characters that are not displayed. Text written with
// them reaches a model, but not the eye of the person who reviews it.
package invisible

import (
	"fmt"
	"strings"
	"unicode"
)

// Is reports whether a character carries words past the eye: tags, selectors of
// variants beyond those of emoji, marks of direction, fillers, and control
// characters but for those of lines. The joiners are not among them: scripts
// need them.
func Is(r rune) bool {
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

// In reports whether a text has any.
func In(s string) bool { return strings.ContainsFunc(s, Is) }

// Strip takes them out, and tells how many there were.
func Strip(s string) (string, int) {
	if !In(s) {
		return s, 0
	}
	n := 0
	return strings.Map(func(r rune) rune {
		if Is(r) {
			n++
			return -1
		}
		return r
	}, s), n
}

// few is how many in a row may be there for a reason: a soft hyphen, the mark of a
// direction.
const few = 3

// Mark puts a visible mark in the place of what could hide words: tags, what turns
// the direction of writing, and rows of any. It tells how many characters that
// were. Single ones stay, so that an edit of the text around them still fits.
func Mark(s string) (string, int) {
	if !In(s) {
		return s, 0
	}
	var b strings.Builder
	total, from, count, bad := 0, 0, 0, false
	end := func(at int) {
		if count > few || bad {
			fmt.Fprintf(&b, "⟦%d hidden characters⟧", count)
			total += count
		} else {
			b.WriteString(s[from:at])
		}
		count, bad = 0, false
	}
	for i, r := range s {
		if Is(r) {
			if count == 0 {
				from = i
			}
			count++
			bad = bad || turns(r)
			continue
		}
		if count > 0 {
			end(i)
		}
		b.WriteRune(r)
	}
	if count > 0 {
		end(len(s))
	}
	return b.String(), total
}

// turns are those that no text needs: they spell words, or turn them around.
func turns(r rune) bool {
	return r >= 0xe0000 && r <= 0xe0fff || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || r < 0x20 || unicode.Is(unicode.Co, r)
}
