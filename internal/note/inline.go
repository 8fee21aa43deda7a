package note

import (
	"sort"
	"strings"
)

// maxBrackets is how many open brackets are remembered: an older one can no
// longer begin a link. It bounds how often a byte is part of a link's text.
const maxBrackets = 32

// A bracket is a "[" or "![" that may begin a link.
type bracket struct {
	pos   int // of the "[" in the view
	image bool
	inner bool // another bracket stands after it, so its text is no label
	links int  // how many links were known before it
}

// inline reads one leaf. The text is a view: a part of the source, or, when
// quote marks stand between the lines, a copy without them.
type inline struct {
	p        *parser
	s        string
	base     int
	segs     []Span // of the source, for a copy
	offs     []int  // where each of segs begins in s
	buf      []byte
	brackets []bracket
	floor    int // brackets below it that are no images are inside of a link
	code     ticks
	noMath   bool // no "$" that could close follows
	noHTML   int  // from here on an unclosed comment was seen
	wasted   int  // bytes of failed tags
	fields   []lineField
	field    string // the bracketed field that is open, and its end
	fieldEnd int
}

var special = [256]bool{'\\': true, '`': true, '[': true, ']': true, '!': true, '<': true, '#': true,
	'$': true, '%': true, '(': true, ':': true}

// inlines reads every leaf for links, tags and fields.
func (p *parser) inlines() {
	in := &p.in
	in.p = p
	for _, l := range p.leaves {
		in.load(l)
		in.fields = in.fields[:0]
		if l.fields && strings.Contains(in.s, "::") {
			in.lineFields()
		}
		in.scan()
	}
}

// load makes the view of a leaf.
func (in *inline) load(l leaf) {
	in.brackets, in.floor = in.brackets[:0], 0
	in.code.scanned, in.noMath, in.noHTML, in.wasted, in.fieldEnd = false, false, 0, 0, 0
	in.segs = nil
	if l.segHi == 0 {
		in.s, in.base = in.p.text[l.Start:l.End], l.Start
		return
	}
	in.segs = in.p.segs[l.segLo:l.segHi]
	in.buf, in.offs = in.buf[:0], in.offs[:0]
	for _, s := range in.segs {
		in.offs = append(in.offs, len(in.buf))
		in.buf = append(in.buf, in.p.text[s.Start:s.End]...)
		in.buf = append(in.buf, '\n')
	}
	in.s = string(in.buf)
}

// at turns a position in the view into one in the source.
func (in *inline) at(i int) int {
	if in.segs == nil {
		return in.base + i
	}
	k := sort.SearchInts(in.offs, i+1) - 1
	return min(in.segs[k].Start+i-in.offs[k], in.segs[k].End)
}

// span turns a range of the view into one of the source. Its end is mapped by
// its last byte, so that it never reaches into the quote mark of the next line.
func (in *inline) span(start, end int) Span {
	if start >= end {
		return Span{in.at(start), in.at(start)}
	}
	return Span{in.at(start), in.at(end-1) + 1}
}

func (in *inline) scan() {
	s := in.s
	for i := 0; i < len(s); {
		c := s[i]
		if !special[c] {
			i++
			continue
		}
		switch c {
		case '\\':
			i++
			if i < len(s) && isPunct(s[i]) {
				i++
			}
		case '`':
			i = in.code.end(s, i)
		case '[':
			i = in.open(i, false)
		case ']':
			i = in.close(i)
		case '!':
			i++
			if i < len(s) && s[i] == '[' {
				i = in.open(i, true)
			}
		case '<':
			i = in.angle(i)
		case '#':
			i = in.tag(i)
		case '$':
			i = in.math(i)
		case '%':
			i = in.comment(i)
		case '(':
			i = in.paren(i)
		case ':':
			i = in.bareURL(i)
		}
	}
}

// ticks remembers the runs of backticks of one text. The first run that opens
// nothing records the last run of every length, so that the next ones cost
// nothing.
type ticks struct {
	last    map[int]int
	scanned bool
}

// end skips the code span that begins at s[i], or only the run of backticks
// when none does.
func (t *ticks) end(s string, i int) int {
	run := runLen(s, i)
	from := i + run
	if t.scanned && t.last[run] < from {
		return from
	}
	if !t.scanned {
		clear(t.last)
	}
	for j := from; ; {
		k := strings.IndexByte(s[j:], '`')
		if k < 0 {
			t.scanned = true
			return from
		}
		j += k
		n := runLen(s, j)
		if n == run {
			return j + n
		}
		if !t.scanned {
			if t.last == nil {
				t.last = make(map[int]int)
			}
			t.last[n] = j
		}
		j += n
	}
}

// runLen counts how often the byte at s[i] is repeated.
func runLen(s string, i int) int {
	j := i + 1
	for j < len(s) && s[j] == s[i] {
		j++
	}
	return j - i
}

// angle skips an HTML tag or comment, or reads an autolink.
func (in *inline) angle(i int) int {
	s := in.s
	if i+1 >= len(s) {
		return i + 1
	}
	if c := s[i+1]; c == '!' || c == '?' {
		return in.markup(i)
	}
	if end := autolink(s, i); end > 0 {
		in.external(i, end, i+1, end-1)
		return end
	}
	if in.wasted > 4096+8*len(s) {
		return i + 1
	}
	end, seen := htmlTag(s, i)
	if end > 0 {
		return end
	}
	in.wasted += seen - i
	return i + 1
}

// markup skips a comment, a declaration or an instruction.
func (in *inline) markup(i int) int {
	s := in.s
	end := ">"
	switch {
	case strings.HasPrefix(s[i:], "<!--"):
		end = "-->"
	case s[i+1] == '?':
		end = "?>"
	case strings.HasPrefix(s[i:], "<![CDATA["):
		end = "]]>"
	case i+2 >= len(s) || !isLetter(s[i+2]):
		return i + 2
	}
	if in.noHTML > 0 && i >= in.noHTML {
		return i + 2
	}
	j := strings.Index(s[i+2:], end)
	if j < 0 {
		in.noHTML = max(i, 1)
		return i + 2
	}
	return i + 2 + j + len(end)
}

// autolink returns the end of <scheme:...> at s[i], or 0.
func autolink(s string, i int) int {
	n := schemeLen(s[i+1:])
	if n == 0 {
		return 0
	}
	for j := i + 1 + n; j < len(s); j++ {
		switch c := s[j]; {
		case c == '>':
			return j + 1
		case c <= ' ' || c == '<':
			return 0
		}
	}
	return 0
}

// schemeLen returns the length of "scheme:" at the beginning of s, or 0.
func schemeLen(s string) int {
	for i := 0; i < len(s) && i <= 32; i++ {
		switch c := s[i]; {
		case c == ':':
			if i < 2 {
				return 0
			}
			return i + 1
		case isLetter(c):
		case i > 0 && (c >= '0' && c <= '9' || c == '+' || c == '.' || c == '-'):
		default:
			return 0
		}
	}
	return 0
}

// math skips "$...$" and "$$...$$". An opening mark has no space after it, a
// closing one none before it and no digit after it, as in Obsidian.
func (in *inline) math(i int) int {
	s := in.s
	n := runLen(s, i)
	if n > 2 || in.noMath || i+n >= len(s) {
		return i + n
	}
	if n == 2 {
		if j := strings.Index(s[i+2:], "$$"); j >= 0 {
			return i + 2 + j + 2
		}
		return i + 2
	}
	if c := s[i+1]; c == ' ' || c == '\t' || c == '\n' || c == '\r' {
		return i + 1
	}
	for j := i + 1; ; j++ {
		k := strings.IndexByte(s[j:], '$')
		if k < 0 {
			in.noMath = true
			return i + 1
		}
		j += k
		b := s[j-1]
		if j > i+1 && b != ' ' && b != '\t' && b != '\n' && b != '\\' && (j+1 == len(s) || s[j+1] < '0' || s[j+1] > '9') {
			return j + 1
		}
	}
}

// comment skips "%%...%%". Nothing in a comment is a link or a tag: Obsidian
// neither shows it nor counts it.
func (in *inline) comment(i int) int {
	if !strings.HasPrefix(in.s[i:], "%%") {
		return i + 1
	}
	j := strings.Index(in.s[i+2:], "%%")
	if j < 0 {
		return i + runLen(in.s, i)
	}
	return i + 2 + j + 2
}

func isPunct(c byte) bool {
	return c >= '!' && c <= '/' || c >= ':' && c <= '@' || c >= '[' && c <= '`' || c >= '{' && c <= '~'
}
