package note

import (
	"slices"
	"strings"
)

// maxDepth is how many quotes and list items may stand in each other. It bounds
// the work for one line; what is deeper is read as text.
const maxDepth = 100

// A container is an open block quote, list item or footnote.
type container struct {
	kind   byte // '>', '-' or '^'
	marker byte // of a list item: '-', '*', '+', '.' or ')'
	width  int  // columns a following line must be indented by
	start  int
	list   int  // where the list of the item begins
	block  int  // index+1 of the Block that names the item
	filled bool // something stands in it
	last   Span // the last closed block in it
	item   byte // the marker when the last closed block is a list item
}

// A leaf is a run of text that is read for links, tags and fields.
type leaf struct {
	Span
	segLo, segHi int  // its lines in parser.segs when quote marks stand between them
	fields       bool // "key:: value" may stand on its lines
}

const (
	noLeaf = iota
	paraLeaf
	fenceLeaf
	indentLeaf
	htmlLeaf
	mathLeaf
	commentLeaf
)

// A parser holds the state of one pass over the lines of a text, and then of
// one over the leaves that were found.
type parser struct {
	note   *Note
	text   string
	stack  []container
	root   container
	lines  []Span // of the open paragraph, without indent and line end
	leaves []leaf
	segs   []Span
	defs   map[string]definition

	leafKind  int
	leafStart int // of the open leaf that is no paragraph
	fenceChar byte
	fenceLen  int
	htmlEnd   string // what ends the open HTML block; "" = a blank line

	// The line being read: where its first byte that is no blank stands, at
	// which column, how many columns of indent are left, where the line ends.
	next, col, indent, eol int
	prevEnd                int // end of the last line that was not blank
	quoted                 int // open block quotes

	lastMath, lastComment int // the last "$$" and "%%" of the text, 0 for none; -1 unknown
	tooDeep               bool
	logseqTitle           string
	in                    inline

	lineBuf  [32]Span // first room for lines and stack
	stackBuf [8]container
}

// blocks finds the block structure of the text from pos on, line by line.
func (p *parser) blocks(pos int) {
	p.lastMath, p.lastComment = -1, -1
	loneCR := hasLoneCR(p.text)
	lines := strings.Count(p.text[pos:], "\n") + 1
	p.note.starts = slices.Grow(p.note.starts, lines)
	p.leaves = make([]leaf, 0, lines/3+1)
	p.lines, p.stack = p.lineBuf[:0], p.stackBuf[:0]
	if n := strings.Count(p.text[pos:], "\n#"); n > 0 {
		p.note.Headings = make([]Heading, 0, min(n, 1<<10)+1)
	}
	p.note.Links = slices.Grow(p.note.Links, min(1<<10, strings.Count(p.text[pos:], "](")+strings.Count(p.text[pos:], "[[")))
	for pos < len(p.text) {
		p.note.starts = append(p.note.starts, pos)
		var after int
		p.eol, after = lineEnd(p.text, pos, loneCR)
		p.line(pos)
		pos = after
	}
	p.eol, p.next = len(p.text), len(p.text)
	p.closeTo(0)
}

func hasLoneCR(s string) bool {
	for {
		i := strings.IndexByte(s, '\r')
		if i < 0 {
			return false
		}
		if i+1 == len(s) || s[i+1] != '\n' {
			return true
		}
		s = s[i+2:]
	}
}

// lineEnd gives the end of the line at pos without and with its line end.
func lineEnd(s string, pos int, loneCR bool) (end, next int) {
	i := strings.IndexByte(s[pos:], '\n')
	end, next = pos+i, pos+i+1
	if i < 0 {
		end, next = len(s), len(s)
	}
	if loneCR {
		if j := strings.IndexByte(s[pos:end], '\r'); j >= 0 && (pos+j+1 < end || i < 0) {
			return pos + j, pos + j + 1
		}
	}
	if i > 0 && s[end-1] == '\r' {
		end--
	}
	return end, next
}

// measure finds the first byte at or after pos that is no blank.
func (p *parser) measure(pos, col int) {
	from := col
	for pos < p.eol {
		if c := p.text[pos]; c == ' ' {
			col++
		} else if c == '\t' {
			col += 4 - col&3
		} else {
			break
		}
		pos++
	}
	p.next, p.col, p.indent = pos, col, col-from
}

func (p *parser) blank() bool { return p.next >= p.eol }

// line reads one line: first which containers it continues, then what it opens.
func (p *parser) line(pos int) {
	p.measure(pos, 0)
	matched := p.match()
	all := matched == len(p.stack)
	if p.leafKind > paraLeaf {
		if all && p.continueLeaf() {
			p.seen()
			return
		}
		p.closeLeaf()
	}
	lazy := p.leafKind == paraLeaf
	for {
		if p.indent >= 4 {
			if !lazy && !p.blank() {
				p.closeTo(matched)
				p.open(indentLeaf, p.next-1) // the blank before it tells it from a fence
			}
			break
		}
		if p.blank() {
			break
		}
		if matched < maxDepth {
			if p.openContainer(matched, all && lazy) {
				matched, all, lazy = len(p.stack), true, false
				continue
			}
		} else if c := p.text[p.next]; !p.tooDeep && (c == '>' || c == '-') {
			p.tooDeep = true
			p.note.problem("too_deep", "lists or quotes are nested too deeply", len(p.note.starts))
		}
		if p.openLeaf(matched, all && lazy) {
			p.seen()
			return
		}
		break
	}
	switch {
	case p.leafKind == indentLeaf:
	case p.blank():
		p.closeLeaf()
		p.closeTo(matched)
		return
	case lazy:
		p.lines = append(p.lines, Span{p.next, p.eol})
	default:
		p.closeTo(matched)
		p.leafKind = paraLeaf
		p.lines = append(p.lines[:0], Span{p.next, p.eol})
	}
	p.seen()
}

// seen notes that the line holds something.
func (p *parser) seen() {
	p.prevEnd = p.eol
	if len(p.stack) > 0 {
		p.stack[len(p.stack)-1].filled = true
	}
}

// match walks the open containers and returns how many the line continues.
func (p *parser) match() int {
	for i := range p.stack {
		c := &p.stack[i]
		switch {
		case c.kind == '>':
			if p.indent > 3 || p.blank() || p.text[p.next] != '>' {
				return i
			}
			p.quoteMark()
		case p.blank():
			if !c.filled && i == len(p.stack)-1 && c.kind == '-' {
				return i
			}
		case p.indent >= c.width:
			p.indent -= c.width
		default:
			return i
		}
	}
	return len(p.stack)
}

func (p *parser) quoteMark() {
	p.measure(p.next+1, p.col+1)
	if p.indent > 0 {
		p.indent--
	}
}

// openContainer starts a quote, list item or footnote at the line's position.
// When interrupts is set, an open paragraph stands in the way.
func (p *parser) openContainer(matched int, interrupts bool) bool {
	c := p.text[p.next]
	switch {
	case c == '>':
		p.closeTo(matched)
		p.stack = append(p.stack, container{kind: '>', start: p.next})
		p.quoted++
		p.quoteMark()
		return true
	case c == '[' && p.next+1 < p.eol && p.text[p.next+1] == '^':
		end := footnoteLabel(p.text[:p.eol], p.next)
		if end == 0 || end >= p.eol || p.text[end] != ':' {
			return false
		}
		p.closeTo(matched)
		p.stack = append(p.stack, container{kind: '^', width: 4, start: p.next, filled: true})
		p.measure(end+1, p.col+end+1-p.next)
		p.indent = min(p.indent, 3)
		return true
	case c == '-' || c == '+' || c == '*' || '0' <= c && c <= '9':
		return p.openItem(matched, interrupts)
	}
	return false
}

func (p *parser) openItem(matched int, interrupts bool) bool {
	start := p.next
	i, marker := start, p.text[start]
	if marker >= '0' && marker <= '9' {
		for i < p.eol && p.text[i] >= '0' && p.text[i] <= '9' && i-start < 10 {
			i++
		}
		if i-start > 9 || i >= p.eol || p.text[i] != '.' && p.text[i] != ')' {
			return false
		}
		marker = p.text[i]
		if interrupts && p.text[start:i] != "1" {
			return false
		}
	} else if p.rule() {
		return false
	}
	i++
	if i < p.eol && p.text[i] != ' ' && p.text[i] != '\t' {
		return false
	}
	lead, col, before := p.indent, p.col, p.next
	p.measure(i, col+i-start)
	if p.blank() && interrupts {
		p.next, p.col, p.indent = before, col, lead
		return false
	}
	pad := p.indent
	if p.blank() || pad > 4 {
		pad = 1
	}
	p.indent -= min(pad, p.indent)
	p.closeTo(matched)
	it := container{kind: '-', marker: marker, width: lead + i - start + pad, start: start, list: start}
	if up := p.top(); up.item == marker {
		it.list = up.last.Start
	}
	p.stack = append(p.stack, it)
	p.task(start)
	return true
}

// task recognises "[ ] " at the beginning of a list item.
func (p *parser) task(item int) {
	i := p.next
	if p.blank() || p.text[i] != '[' || p.indent > 3 {
		return
	}
	mark, size := decodeRune(p.text[i+1 : p.eol])
	j := i + 1 + size
	if size == 0 || mark == ']' || mark == '[' || j >= p.eol || p.text[j] != ']' || j+1 < p.eol && p.text[j+1] != ' ' && p.text[j+1] != '\t' {
		return
	}
	line := trimRight(p.text, j+1, p.eol)
	if p.note.full(len(p.note.Tasks), "tasks") {
		return
	}
	p.note.Tasks = append(p.note.Tasks, Task{
		Text: plainInline(p.text[j+1 : blockMark(p.text, j+1, line).Start]),
		Mark: mark, Span: Span{item, p.eol}, Box: Span{i + 1, j}, Line: len(p.note.starts),
	})
}

func (p *parser) top() *container {
	if len(p.stack) == 0 {
		return &p.root
	}
	return &p.stack[len(p.stack)-1]
}

// closeTo ends the open leaf and every container above depth.
func (p *parser) closeTo(depth int) {
	p.closeLeaf()
	for len(p.stack) > depth {
		c := p.stack[len(p.stack)-1]
		p.stack = p.stack[:len(p.stack)-1]
		span := Span{c.start, max(c.start, p.prevEnd)}
		if c.block > 0 {
			p.note.Blocks[c.block-1].Span = span
		}
		up := p.top()
		up.filled = true
		up.last, up.item = span, 0
		switch c.kind {
		case '>':
			p.quoted--
		case '-':
			up.last.Start, up.item = c.list, c.marker
		}
	}
}
