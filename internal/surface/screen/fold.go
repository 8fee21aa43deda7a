package screen

import (
	"strings"
	"unicode/utf8"

	"lore/internal/surface/draw"
)

// upTo is how many columns a text takes at the most, whatever stands beside it.
func upTo(s string) int {
	n := 0
	for i, r := range s {
		switch {
		case r < 0x300, r == 0xfe0f:
			n++
		default:
			n += draw.Cells(s[i : i+max(1, utf8.RuneLen(r))])
		}
	}
	return n
}

// fold breaks a line that may be painted into lines that fit, at a blank where
// there is one not far from the end.
func fold(line string, width int) []string {
	width = max(width, 4)
	if len(line) <= width && !strings.Contains(line, "\x1b") && len(line) == utf8.RuneCountInString(line) {
		return []string{line}
	}
	var out []string
	var b strings.Builder
	code := "" // the paint that is on
	used, blank, after := 0, -1, 0
	turn := func(rest string) {
		out = append(out, closed(b.String(), code))
		b.Reset()
		b.WriteString(code + rest)
		used, blank = painted(rest), -1
	}
	for i := 0; i < len(line); {
		if line[i] == 0x1b {
			end := strings.IndexByte(line[i:], 'm')
			if end < 0 {
				break
			}
			code = line[i : i+end+1]
			b.WriteString(code)
			if code == "\x1b[0m" {
				code = ""
			}
			i += end + 1
			continue
		}
		_, size := utf8.DecodeRuneInString(line[i:])
		s := line[i : i+size]
		w := upTo(s)
		if used+w > width {
			if text := b.String(); blank > 0 && after > width*2/3 && !strings.Contains(text[blank:], "\x1b") {
				rest := text[blank:]
				b.Reset()
				b.WriteString(text[:blank-1])
				turn(rest)
			} else {
				turn("")
			}
		}
		b.WriteString(s)
		used += w
		if s == " " {
			blank, after = b.Len(), used
		}
		i += size
	}
	return append(out, closed(b.String(), code))
}

// closed ends the paint of a line.
func closed(line, code string) string {
	if code != "" {
		line += "\x1b[0m"
	}
	return line
}

// painted is [upTo] of a text with paint in it.
func painted(s string) int {
	n := 0
	for {
		i := strings.IndexByte(s, 0x1b)
		if i < 0 {
			return n + upTo(s)
		}
		n += upTo(s[:i])
		end := strings.IndexByte(s[i:], 'm')
		if end < 0 {
			return n
		}
		s = s[i+end+1:]
	}
}

// clip is the beginning of a line that is not painted, as much as fits.
func clip(line string, width int) string {
	if upTo(line) <= width {
		return line
	}
	used := 0
	for i, r := range line {
		w := upTo(string(r))
		if used+w > width-1 {
			return line[:i] + "…"
		}
		used += w
	}
	return line
}

// plain draws a text as it is, each line after an indent.
func plain(text, first, next string, width int) []string {
	var out []string
	for line := range strings.SplitSeq(strings.TrimRight(draw.Harmless(text), "\n"), "\n") {
		line = strings.ReplaceAll(line, "\t", "    ")
		for _, l := range fold(line, width-upTo(next)) {
			out = append(out, first+l)
			first = next
		}
	}
	return out
}
