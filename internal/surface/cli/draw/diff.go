package draw

import (
	"strings"
	"unicode/utf8"
)

// Diff paints a unified diff. What cannot be seen is made visible: a person
// must not approve what the screen hides. On a terminal the words that differ
// stand out, and only text that both sides share is shortened.
func (s Screen) Diff(b *strings.Builder, diff string) {
	lines := diffLines(diff)
	for i := 0; i < len(lines); {
		gone, come := run(lines[i:], '-'), 0
		if gone > 0 {
			come = run(lines[i+gone:], '+')
		}
		if gone > 0 && gone == come {
			s.pairs(b, lines[i:i+gone], lines[i+gone:i+gone+come])
			i += gone + come
			continue
		}
		s.diffLine(b, lines[i])
		i++
	}
}

// DiffLines are the lines of a unified diff, each with its sign, in which
// nothing is hidden.
func DiffLines(diff string) []string {
	lines := diffLines(diff)
	for i, l := range lines {
		lines[i] = Revealed(l)
	}
	return lines
}

// diffLines are the lines of a diff after the names of the files, which are
// shown already. Line ends are a part of it only where they differ.
func diffLines(diff string) []string {
	if at := strings.Index(diff, "@@"); at > 0 {
		diff = diff[at:]
	}
	if diff == "" {
		return nil
	}
	if !mixedEnds(diff) {
		diff = strings.ReplaceAll(diff, "\r\n", "\n")
	}
	return strings.Split(strings.TrimSuffix(diff, "\n"), "\n")
}

// mixedEnds reports whether a diff has lines with both sorts of line ends, so
// that the ends are a part of what changes. Headers of places count for none.
func mixedEnds(diff string) bool {
	with, without := false, false
	for line := range strings.SplitSeq(diff, "\n") {
		switch {
		case line == "" || line[0] == '@' || line[0] == '\\':
		case strings.HasSuffix(line, "\r"):
			with = true
		default:
			without = true
		}
	}
	return with && without
}

// run counts the lines that begin with a sign.
func run(lines []string, sign byte) int {
	n := 0
	for n < len(lines) && lines[n] != "" && lines[n][0] == sign {
		n++
	}
	return n
}

func (s Screen) diffLine(b *strings.Builder, line string) {
	text := Revealed(line)
	switch {
	case strings.HasPrefix(line, "@@"), strings.HasPrefix(line, "\\"):
		text = s.Dim(text)
	case strings.HasPrefix(line, "+"):
		text = s.Green(text)
	case strings.HasPrefix(line, "-"):
		text = s.Red(text)
	default:
		text = s.clipped(text)
	}
	b.WriteString("  " + text + "\n")
}

// clipped shortens a line that did not change to what fits.
func (s Screen) clipped(text string) string {
	if !s.Terminal || Cells(text) <= s.Width-2 {
		return text
	}
	return cutCells(text, s.Width-3) + "…"
}

// cutCells is the beginning of a text that takes at most n columns.
func cutCells(text string, n int) string {
	for i := range text {
		if Cells(text[:i]) >= n {
			return text[:i]
		}
	}
	return text
}

// around is how much of the shared text is left beside a change on a line that
// is too long.
const around = 24

// pairs draws lines that were replaced one by one.
func (s Screen) pairs(b *strings.Builder, gone, come []string) {
	var olds, news strings.Builder
	for i := range gone {
		before, after := gone[i][1:], come[i][1:]
		if !s.Terminal {
			s.diffLine(&olds, gone[i])
			s.diffLine(&news, come[i])
			continue
		}
		start, end := shared(before, after)
		s.part(&olds, "-", before, start, end, s.Red)
		s.part(&news, "+", after, start, end, s.Green)
	}
	b.WriteString(olds.String() + news.String())
}

// shared is how many bytes two lines have in common at the start and the end.
func shared(a, b string) (start, end int) {
	for start < len(a) && start < len(b) && a[start] == b[start] {
		start++
	}
	for start > 0 && start < len(a) && !utf8.RuneStart(a[start]) {
		start--
	}
	if start < len(b) && !utf8.RuneStart(b[start]) {
		start = 0
	}
	for end < len(a)-start && end < len(b)-start && a[len(a)-1-end] == b[len(b)-1-end] {
		end++
	}
	for end > 0 && !utf8.RuneStart(a[len(a)-end]) {
		end--
	}
	return start, end
}

// part draws one side of a replaced line, the part that differs set off.
func (s Screen) part(b *strings.Builder, sign, line string, start, end int, paint func(string) string) {
	head, mid, tail := Revealed(line[:start]), Revealed(line[start:len(line)-end]), Revealed(line[len(line)-end:])
	if Cells(head)+Cells(mid)+Cells(tail) > s.Width-3 {
		if n := utf8.RuneCountInString(head); n > around {
			r := []rune(head)
			head = "…" + string(r[n-around:])
		}
		if Cells(tail) > around {
			tail = cutCells(tail, around) + "…"
		}
	}
	b.WriteString("  " + paint(sign+head) + s.style("7", mid) + paint(tail) + "\n")
}
