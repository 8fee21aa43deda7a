// Package paging cuts what is too long for one answer, and says how to read on.
// It knows neither tools nor notes.
package paging

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Cut cuts one page out of a list. When the page is not the whole list, more
// says what it is, and how to read on when something follows: an answer never
// leaves something out silently.
func Cut[T any](all []T, offset, limit int) (page []T, more string) {
	from := min(max(offset, 0), len(all))
	to := min(from+max(limit, 1), len(all))
	return all[from:to], More(from, to-from, len(all))
}

// More is the sentence of [Cut] for a list that was cut elsewhere: shown
// things from offset on, of total.
func More(offset, shown, total int) string {
	switch {
	case shown == total:
		return ""
	case shown == 0:
		return fmt.Sprintf("nothing after %d; there are %d in total", offset, total)
	case offset+shown == total:
		return fmt.Sprintf("showing %s of %d", span(offset, shown), total)
	}
	return fmt.Sprintf("showing %s of %d; call again with offset %d", span(offset, shown), total, offset+shown)
}

// After is the sentence for a list whose end nobody has counted, when
// something follows what was shown.
func After(offset, shown int) string {
	return fmt.Sprintf("showing %s; call again with offset %d", span(offset, shown), offset+shown)
}

// span numbers the things that were shown, counted from 1: "3" or "3 to 5".
func span(offset, shown int) string {
	if shown == 1 {
		return fmt.Sprint(offset + 1)
	}
	return fmt.Sprintf("%d to %d", offset+1, offset+shown)
}

// MaxText is how much text one answer carries at the most, whatever limit of
// lines was asked for.
const MaxText = 256 << 10

// Lines are some lines of a text.
type Lines struct {
	Text  string
	First int // the number of the first line, counted from 1
	Total int // lines in the whole text
	More  string
}

// CutLines keeps at most limit lines of a text from line offset on, counted
// from 1, and at most [MaxText] bytes of them.
func CutLines(text string, offset, limit int) Lines {
	lines := strings.SplitAfter(text, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	from := min(max(offset, 1)-1, len(lines))
	to, size := from, 0
	for to < len(lines) && to-from < max(limit, 1) && size+len(lines[to]) <= MaxText {
		size += len(lines[to])
		to++
	}
	out := Lines{Text: strings.Join(lines[from:to], ""), First: from + 1, Total: len(lines)}
	switch {
	case to == from && to < len(lines):
		// One line that is too long by itself: its beginning is better than nothing.
		out.Text = cutBytes(lines[to], MaxText)
		out.More = fmt.Sprintf("line %d has %d bytes, showing the first %d; call again with offset %d for the lines after it",
			to+1, len(lines[to]), len(out.Text), to+2)
	case to < len(lines):
		out.More = fmt.Sprintf("lines %d to %d of %d; call again with offset %d", from+1, to, len(lines), to+1)
	case from == len(lines) && from > 0:
		out.More = fmt.Sprintf("no line %d; the last line is %d", offset, len(lines))
	}
	return out
}

func cutBytes(s string, n int) string {
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
