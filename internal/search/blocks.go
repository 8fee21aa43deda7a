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

// punctuated ends each heading and title of a callout with a colon, and each item
// of a list that another one follows with a semicolon, unless it ends with a mark
// already: an excerpt is one line, on which the ends of lines are not seen. Code
// stays as it is.
func punctuated(text string) string {
	var b strings.Builder
	lines := strings.Split(text, "\n")
	fence, list := "", false
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
		list = fence == "" && (isItem(t) || list && t != "" && strings.IndexByte(" \t", l[0]) >= 0)
		switch {
		case fence != "":
		case isHeading(t):
			l = withMark(strings.TrimRight(l, "# \t\r"), ":")
		case isCallout(t):
			l = withMark(l, ":")
		case list && i+1 < len(lines) && isItem(strings.TrimSpace(lines[i+1])):
			l = withMark(l, ";")
		}
		b.WriteString(l)
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

// isCallout reports whether a line begins a callout that has a title.
func isCallout(l string) bool {
	l = strings.TrimLeft(l, "> ")
	_, title, ok := strings.Cut(l, "]")
	return ok && strings.HasPrefix(l, "[!") && strings.Trim(title, "+- ") != ""
}

// withMark is a line with a mark behind its last word or closing bracket, before
// the id of a block; a line that ends otherwise stays as it is.
func withMark(l, mark string) string {
	words := strings.TrimRight(l, " \t\r")
	id := ""
	if i := strings.LastIndexByte(words, ' '); i >= 0 && strings.HasPrefix(words[i+1:], "^") {
		words, id = strings.TrimRight(words[:i], " \t"), words[i:]
	}
	r, _ := utf8.DecodeLastRuneInString(words)
	if !unicode.IsLetter(r) && !unicode.IsNumber(r) && !strings.ContainsRune(")]*_", r) {
		return l
	}
	return words + mark + id
}
