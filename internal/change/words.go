package change

import (
	"unicode"
	"unicode/utf8"
)

const (
	// longLine is the length from which marks inside a line cost more than
	// they tell.
	longLine = 4 << 10
	// manyLines is the size of a replaced block from which no marks are made.
	manyLines = 200
)

// markPairs marks the changed words where a block of lines was replaced: the
// first removed line is held against the first added one, and so on.
func markPairs(removed, added []Line) {
	n := min(len(removed), len(added))
	if n > manyLines {
		return
	}
	for i := range n {
		removed[i].Marks, added[i].Marks = words(removed[i].Text, added[i].Text)
	}
}

// words compares two lines word by word. It returns nothing for lines that
// have less than a third in common: they are different lines, not a changed
// one.
func words(a, b string) (inA, inB []Mark) {
	if len(a) > longLine || len(b) > longLine {
		return nil, nil
	}
	ta, tb := tokens(a), tokens(b)
	endsA, endsB := ends(ta), ends(tb)
	same := len(a)
	for _, r := range regions(number(ta, tb)) {
		same -= endsA[r.a1] - endsA[r.a0]
		if r.a0 < r.a1 {
			inA = append(inA, Mark{endsA[r.a0], endsA[r.a1]})
		}
		if r.b0 < r.b1 {
			inB = append(inB, Mark{endsB[r.b0], endsB[r.b1]})
		}
	}
	if 3*same < max(len(a), len(b)) {
		return nil, nil
	}
	return inA, inB
}

// ends returns the byte offsets between parts, from 0 to the whole length.
func ends(parts []string) []int {
	out := make([]int, len(parts)+1)
	for i, p := range parts {
		out[i+1] = out[i] + len(p)
	}
	return out
}

// tokens cuts a line into words, runs of space, and single other characters.
func tokens(s string) []string {
	var out []string
	for s != "" {
		r, n := utf8.DecodeRuneInString(s)
		if k := kind(r); k != 0 {
			for n < len(s) {
				r, w := utf8.DecodeRuneInString(s[n:])
				if kind(r) != k {
					break
				}
				n += w
			}
		}
		out = append(out, s[:n])
		s = s[n:]
	}
	return out
}

// kind is 1 for letters and digits, 2 for space, 0 for what stands alone. A
// script without spaces between words stands alone too.
func kind(r rune) int {
	switch {
	case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai):
		return 0
	case unicode.IsLetter(r), unicode.IsDigit(r), unicode.IsMark(r), r == '_':
		return 1
	case unicode.IsSpace(r):
		return 2
	}
	return 0
}
