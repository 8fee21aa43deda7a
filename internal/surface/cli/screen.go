package cli

import (
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/term"
)

// A screen knows what the place that is written to can show.
type screen struct {
	terminal bool
	dumb     bool // a terminal that understands no codes
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
	s.dumb = os.Getenv("TERM") == "dumb"
	s.colour = !plain && !s.dumb && os.Getenv("NO_COLOR") == ""
	return s
}

// atTerminal reports whether a person types what is read.
func atTerminal(r io.Reader) bool {
	f, ok := r.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
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
// characters become visible; marks that turn the direction of writing, letters
// that nobody sees and bytes that are no text become a replacement mark.
func harmless(s string) string {
	if utf8.ValidString(s) && !strings.ContainsFunc(s, harmful) {
		return s
	}
	s = strings.ReplaceAll(s, "\r\n", "\n")
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

// oneLine is [harmless] for what must not begin a line of its own, such as a
// title.
func oneLine(s string) string {
	if strings.ContainsAny(s, "\n\r\t\u0085\u2028\u2029") {
		s = strings.Join(strings.Fields(s), " ")
	}
	return harmless(s)
}

func harmful(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case r < 0x20, r == 0x7f, r >= 0x80 && r < 0xa0:
		return true
	case r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069, r == 0x200e, r == 0x200f, r == 0x061c:
		return true // marks that turn the direction of writing
	case r == 0x2028, r == 0x2029, r >= 0xe0000 && r <= 0xe007f:
		return true // hidden line ends, and letters that no font draws
	}
	return false
}

// wrap breaks text at spaces to fit the screen, each line after an indent. What
// has no spaces, such as Chinese or an address, is broken where the line ends.
func (s screen) wrap(text, indent string) []string {
	room := max(20, s.width-cells(indent))
	var out []string
	line, used := "", 0
	put := func(w string, n int) {
		if used > 0 && used+1+n > room {
			out = append(out, indent+line)
			line, used = "", 0
		}
		if used > 0 {
			line += " "
			used++
		}
		line += w
		used += n
	}
	for w := range strings.FieldsSeq(text) {
		if cells(w) <= room {
			put(w, cells(w))
			continue
		}
		for _, piece := range split(w, room) {
			put(piece, cells(piece))
		}
	}
	if line != "" {
		out = append(out, indent+line)
	}
	return out
}
