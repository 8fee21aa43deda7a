package search

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"lore/internal/note"
)

// Preview is the excerpt for people: headings and items of lists end with a mark,
// so that they do not run into the words behind them. Models get Excerpt, whose
// words can be quoted as they are.
func (h *Hit) Preview() (string, []Mark) {
	if h.asked == nil {
		return h.Excerpt, h.Marks
	}
	return h.asked.excerpt(note.Plain(punctuated(h.Passage)))
}

// punctuated ends each heading of a passage with a colon and each item of a list
// with a semicolon, unless it ends with a mark already: an excerpt is one line,
// on which the ends of lines are not seen. Code stays as it is.
func punctuated(text string) string {
	var b strings.Builder
	lines := strings.Split(text, "\n")
	fence := ""
	for i, l := range lines {
		if i > 0 {
			b.WriteByte('\n')
		}
		t := strings.TrimSpace(l)
		if mark := t[:min(3, len(t))]; mark == "```" || mark == "~~~" {
			if fence == "" {
				fence = mark
			} else if fence == mark {
				fence = ""
			}
		}
		end := ""
		switch {
		case fence != "":
		case isHeading(t):
			l = strings.TrimRight(strings.TrimRight(l, "# \t\r"), " \t")
			end = ":"
		case isItem(t) && i+1 < len(lines) && isItem(strings.TrimSpace(lines[i+1])):
			l = strings.TrimRight(l, " \t\r")
			end = ";"
		}
		b.WriteString(l)
		if end != "" && endsOpen(l) {
			b.WriteString(end)
		}
	}
	return b.String()
}

func isHeading(l string) bool {
	rest := strings.TrimLeft(l, "#")
	n := len(l) - len(rest)
	return n > 0 && n <= 6 && strings.HasPrefix(rest, " ") && strings.Trim(rest, "# \t") != ""
}

func isItem(l string) bool {
	return len(l) > 2 && strings.IndexByte("-*+", l[0]) >= 0 && l[1] == ' '
}

// endsOpen reports whether a line ends with a word or a closing bracket, and not
// with the id of a block.
func endsOpen(l string) bool {
	if i := strings.LastIndexByte(l, ' '); strings.HasPrefix(l[i+1:], "^") {
		return false
	}
	r, _ := utf8.DecodeLastRuneInString(l)
	return unicode.IsLetter(r) || unicode.IsNumber(r) || strings.ContainsRune(")]*_", r)
}
