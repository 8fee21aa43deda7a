package cli

import (
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"golang.org/x/term"
)

// A screen knows what the place that is written to can show.
type screen struct {
	terminal bool
	colour   bool
	width    int
}

func newScreen(w io.Writer, plain bool) screen {
	s := screen{width: 100}
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return s
	}
	s.terminal = true
	if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 20 {
		s.width = min(width, 120)
	}
	s.colour = !plain && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	return s
}

// style paints text; the codes are SGR parameters.
func (s screen) style(code, text string) string {
	if !s.colour || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

func (s screen) bold(t string) string  { return s.style("1", t) }
func (s screen) dim(t string) string   { return s.style("2", t) }
func (s screen) mark(t string) string  { return s.style("1;33", t) }
func (s screen) path(t string) string  { return s.style("36", t) }
func (s screen) red(t string) string   { return s.style("31", t) }
func (s screen) green(t string) string { return s.style("32", t) }

// link makes text a link to a file, where a terminal can follow it.
func (s screen) link(dir, path, text string) string {
	if !s.colour || dir == "" {
		return text
	}
	u := url.URL{Scheme: "file", Path: filepath.ToSlash(filepath.Join(dir, filepath.FromSlash(path)))}
	return "\x1b]8;;" + u.String() + "\x1b\\" + text + "\x1b]8;;\x1b\\"
}

// harmless makes text safe to show on a terminal: a note must not be able to
// move the cursor, change the title or hide what stands in it. Control
// characters become visible, and marks that turn the direction of writing are
// shown by their number.
func harmless(s string) string {
	if !strings.ContainsFunc(s, harmful) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case !harmful(r):
			b.WriteRune(r)
		case r < 0x20:
			b.WriteRune(0x2400 + r) // the picture of the control character
		case r == 0x7f:
			b.WriteRune(0x2421)
		default:
			b.WriteRune(unicode.ReplacementChar)
		}
	}
	return b.String()
}

func harmful(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case r < 0x20, r == 0x7f, r >= 0x80 && r < 0xa0:
		return true
	case r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069:
		return true // bidirectional overrides and isolates
	}
	return false
}

// wrap breaks text at spaces to fit the screen, each line after an indent.
func (s screen) wrap(text, indent string) []string {
	width := max(20, s.width-len(indent))
	var out []string
	line := ""
	length := 0
	for w := range strings.FieldsSeq(text) {
		n := visible(w)
		if length > 0 && length+1+n > width {
			out = append(out, indent+line)
			line, length = "", 0
		}
		if length > 0 {
			line += " "
			length++
		}
		line += w
		length += n
	}
	if length > 0 {
		out = append(out, indent+line)
	}
	return out
}

// visible counts the characters of a word that take room, without the codes
// that paint it.
func visible(w string) int {
	n, in := 0, false
	for _, r := range w {
		switch {
		case r == '\x1b':
			in = true
		case in:
			in = r != 'm'
		default:
			n++
		}
	}
	return n
}
