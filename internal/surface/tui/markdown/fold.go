package markdown

import (
	"strings"
	"unicode/utf8"

	"lore/internal/surface/cli/draw"
)

// Fold breaks a line that may be painted into lines that fit, at a blank where
// there is one not far from the end.
func Fold(line string, width int) []string {
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
		w := cells(s)
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

// Cells is how many columns a text that is not painted takes at the most,
// whatever stands beside it.
func Cells(text string) int { return cells(text) }

// Clip is the beginning of a line that is not painted, as much as fits.
func Clip(line string, width int) string {
	if cells(line) <= width {
		return line
	}
	used := 0
	for i, r := range line {
		w := cells(string(r))
		if used+w > width-1 {
			return line[:i] + "…"
		}
		used += w
	}
	return line
}

// Plain draws a text as it is, each line after an indent.
func Plain(text, first, next string, width int) []string {
	var out []string
	for line := range strings.SplitSeq(strings.TrimRight(draw.Harmless(text), "\n"), "\n") {
		line = strings.ReplaceAll(line, "\t", "    ")
		for _, l := range Fold(line, width-cells(next)) {
			out = append(out, first+l)
			first = next
		}
	}
	return out
}
