// Package draw shows results to people on a terminal: colours where there are
// any, tables that fit, diffs, and text that cannot play tricks on the screen.
// It asks nothing and knows no tool.
package draw

import (
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/term"

	"lore/internal/note/invisible"
)

// A Screen knows what the place that is written to can show.
type Screen struct {
	Terminal bool
	Colour   bool
	Width    int
	Dumb     bool // a terminal that understands no codes
}

// New looks at what w can show; plain takes the colours away.
func New(w io.Writer, plain bool) Screen {
	s := Screen{Width: 100}
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n > 20 {
		s.Width = n
	}
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return s
	}
	s.Terminal = true
	if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 20 {
		s.Width = min(width, 120)
	}
	s.Dumb = os.Getenv("TERM") == "dumb"
	s.Colour = !plain && !s.Dumb && os.Getenv("NO_COLOR") == ""
	return s
}

// AtTerminal reports whether a person types what is read.
func AtTerminal(r io.Reader) bool {
	f, ok := r.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// style paints text; the codes are SGR parameters.
func (s Screen) style(code, text string) string {
	if !s.Colour || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// Bold shows what matters.
func (s Screen) Bold(t string) string { return s.style("1", t) }

// Dim shows what may be overlooked.
func (s Screen) Dim(t string) string { return s.style("2", t) }

// Mark shows what was found.
func (s Screen) Mark(t string) string { return s.style("1;33", t) }

// Path shows the path of a note.
func (s Screen) Path(t string) string { return s.style("36", t) }

// Red shows what goes.
func (s Screen) Red(t string) string { return s.style("31", t) }

// Green shows what comes.
func (s Screen) Green(t string) string { return s.style("32", t) }

// Link makes text a link to a file, where a terminal can follow it.
func (s Screen) Link(dir, path, text string) string {
	if !s.Colour || dir == "" {
		return text
	}
	u := url.URL{Scheme: "file", Path: filepath.ToSlash(filepath.Join(dir, filepath.FromSlash(path)))}
	return "\x1b]8;;" + u.String() + "\x1b\\" + text + "\x1b]8;;\x1b\\"
}

// Harmless makes text safe to show on a terminal: a note must not be able to
// move the cursor, change the title or hide what stands in it. Control
// characters become visible; marks that turn the direction of writing, letters
// that nobody sees and bytes that are no text become a replacement mark.
func Harmless(s string) string {
	if utf8.ValidString(s) && !strings.ContainsFunc(s, harmful) || isOneLine(s) {
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

// Revealed is [Harmless] for text that a person decides about: characters that
// no font draws become visible too, because words could hide in them.
func Revealed(s string) string {
	s = Harmless(s)
	if !strings.ContainsFunc(s, unseen) || isOneLine(s) {
		return s
	}
	return strings.Map(func(r rune) rune {
		if unseen(r) {
			return unicode.ReplacementChar
		}
		return r
	}, s)
}

// unseen are characters without a shape. The joiner of emoji and the mark of
// their picture form stay.
func unseen(r rune) bool {
	switch {
	case r == 0xad, r == 0x34f, r == 0x115f, r == 0x1160, r == 0x17b4, r == 0x17b5, r == 0x180e, r == 0x3164, r == 0xffa0, r == 0xfeff:
		return true
	case r == 0x200b, r >= 0x2060 && r <= 0x206f, r >= 0xfe00 && r <= 0xfe0e, r >= 0xfff9 && r <= 0xfffb, r >= 0xe0100 && r <= 0xe01ef:
		return true
	}
	return false
}

// OneLine is [Harmless] for what must not begin a line of its own, and stands
// among other words: a path, a title, a cell of a table. Characters that nobody
// sees are written as their code points, <U+202E>, so that a name can be told
// from another, and what is written from right to left is set apart, so that it
// cannot move its neighbors.
func OneLine(s string) string {
	if strings.ContainsAny(s, "\n\r\t\u0085\u2028\u2029") {
		s = strings.Join(strings.Fields(s), " ")
	}
	return invisible.Isolate(pictured(s))
}

// pictured shows control characters as their pictures, and bytes that are no
// text as a replacement mark.
func pictured(s string) string {
	if utf8.ValidString(s) && !strings.ContainsFunc(s, unicode.IsControl) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case r < 0x20:
			b.WriteRune(0x2400 + r)
		case r == 0x7f:
			b.WriteRune(0x2421)
		case unicode.IsControl(r):
			b.WriteRune(unicode.ReplacementChar)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// isOneLine reports whether a text is what [OneLine] makes of one that is
// written from right to left.
func isOneLine(s string) bool {
	return strings.HasPrefix(s, "\u2068") && OneLine(s) == s
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

// Wrap breaks text at spaces to fit the screen, each line after an indent. What
// has no spaces, such as Chinese or an address, is broken where the line ends.
func (s Screen) Wrap(text, indent string) []string {
	room := max(20, s.Width-Cells(indent))
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
		if Cells(w) <= room {
			put(w, Cells(w))
			continue
		}
		for _, piece := range split(w, room) {
			put(piece, Cells(piece))
		}
	}
	if line != "" {
		out = append(out, indent+line)
	}
	return out
}
