package note

import "strings"

// open starts a leaf that is no paragraph.
func (p *parser) open(kind, start int) {
	p.leafKind, p.leafStart = kind, start
}

// openLeaf starts or completes a leaf other than a paragraph at the line's
// position, and reports whether it used the line up.
func (p *parser) openLeaf(matched int, interrupts bool) bool {
	switch c := p.text[p.next]; c {
	case '#':
		return p.atx(matched)
	case '`', '~':
		return p.openFence(matched)
	case '<':
		end, ok := htmlStart(p.text[p.next:p.eol], interrupts)
		if !ok {
			return false
		}
		p.closeTo(matched)
		p.open(htmlLeaf, p.next)
		p.htmlEnd = end
		if end != "" && indexFold(p.text[p.next:p.eol], end) >= 0 {
			p.closeWith(p.eol)
		}
		return true
	case '=', '-', '*', '_':
		if interrupts && (c == '=' || c == '-') {
			if level := p.setext(); level > 0 {
				return p.closeSetext(level)
			}
		}
		if c == '=' || !p.rule() {
			return false
		}
		p.closeTo(matched)
		p.top().last, p.top().item = Span{p.next, p.eol}, 0
		return true
	case '$':
		return p.openPaired(matched, "$$", mathLeaf, &p.lastMath)
	case '%':
		return p.openPaired(matched, "%%", commentLeaf, &p.lastComment)
	}
	return false
}

// openPaired starts a block between two marks that begins on this line and ends
// on another one. Without a second mark it is no block, whatever follows.
func (p *parser) openPaired(matched int, mark string, kind int, last *int) bool {
	if !strings.HasPrefix(p.text[p.next:p.eol], mark) || strings.Contains(p.text[p.next+2:p.eol], mark) {
		return false
	}
	if *last < 0 {
		*last = max(0, strings.LastIndex(p.text, mark))
	}
	if *last < p.eol {
		return false
	}
	p.closeTo(matched)
	p.open(kind, p.next)
	return true
}

// continueLeaf gives the line to the open leaf if it still belongs to it.
func (p *parser) continueLeaf() bool {
	switch p.leafKind {
	case fenceLeaf:
		if p.indent < 4 && !p.blank() && p.text[p.next] == p.fenceChar {
			i := p.next
			for i < p.eol && p.text[i] == p.fenceChar {
				i++
			}
			if i-p.next >= p.fenceLen && trimRight(p.text, i, p.eol) == i {
				p.closeWith(p.eol)
			}
		}
		return true
	case indentLeaf:
		return p.indent >= 4 || p.blank()
	case htmlLeaf:
		if p.htmlEnd == "" {
			return !p.blank()
		}
		if indexFold(p.text[p.next:p.eol], p.htmlEnd) >= 0 {
			p.closeWith(p.eol)
		}
		return true
	case mathLeaf, commentLeaf:
		mark := "$$"
		if p.leafKind == commentLeaf {
			mark = "%%"
		}
		if strings.Contains(p.text[p.next:p.eol], mark) {
			p.closeWith(p.eol)
		}
		return true
	}
	return false
}

// closeLeaf ends the open leaf before the current line.
func (p *parser) closeLeaf() {
	switch p.leafKind {
	case noLeaf:
	case paraLeaf:
		p.closeParagraph()
	default:
		p.closeWith(p.prevEnd)
	}
}

func (p *parser) closeWith(end int) {
	span := Span{p.leafStart, max(end, p.leafStart)}
	if p.leafKind == fenceLeaf || p.leafKind == indentLeaf {
		p.note.code = append(p.note.code, span)
	}
	p.top().last, p.top().item = span, 0
	p.leafKind = noLeaf
}

func (p *parser) atx(matched int) bool {
	i := p.next
	for i < p.eol && p.text[i] == '#' {
		i++
	}
	level := i - p.next
	if level > 6 || i < p.eol && p.text[i] != ' ' && p.text[i] != '\t' {
		return false
	}
	p.closeTo(matched)
	start, end := trimLeft(p.text, i, p.eol), trimRight(p.text, i, p.eol)
	start = min(start, end)
	if j := end; j > start && p.text[j-1] == '#' {
		for j > start && p.text[j-1] == '#' {
			j--
		}
		if j == start || p.text[j-1] == ' ' || p.text[j-1] == '\t' {
			end = trimRight(p.text, start, j)
		}
	}
	p.heading(level, Span{p.next, p.eol}, Span{start, end}, len(p.note.starts))
	return true
}

func (p *parser) heading(level int, span, content Span, line int) {
	own := Span{content.Start, trimRight(p.text, content.Start, blockMark(p.text, content.Start, content.End).Start)}
	if !p.note.full(len(p.note.Headings), "headings") {
		p.note.Headings = append(p.note.Headings, Heading{
			Level: level, Text: plainInline(p.text[own.Start:own.End]),
			Span: span, Content: own, Line: line, Nested: len(p.stack) > 0,
		})
	}
	p.leaves = append(p.leaves, leaf{Span: content})
	p.top().last, p.top().item = span, 0
}

// rule reports whether the line is a thematic break.
func (p *parser) rule() bool {
	c, n := p.text[p.next], 0
	for i := p.next; i < p.eol; i++ {
		switch p.text[i] {
		case c:
			n++
		case ' ', '\t':
		default:
			return false
		}
	}
	return n >= 3 && c != '+'
}

// setext returns the level that the line as an underline would give, or 0.
func (p *parser) setext() int {
	c, i := p.text[p.next], p.next
	for i < p.eol && p.text[i] == c {
		i++
	}
	if trimRight(p.text, i, p.eol) != i {
		return 0
	}
	if c == '=' {
		return 1
	}
	return 2
}

func (p *parser) closeSetext(level int) bool {
	p.definitions()
	if len(p.lines) == 0 {
		// Only definitions stand above: the underline is text of its own.
		p.leafKind = noLeaf
		return false
	}
	first, last := p.lines[0], p.lines[len(p.lines)-1]
	content := Span{first.Start, trimRight(p.text, last.Start, last.End)}
	p.heading(level, Span{first.Start, p.eol}, content, p.note.line(first.Start))
	p.splitLines(&p.leaves[len(p.leaves)-1])
	p.leafKind, p.lines = noLeaf, p.lines[:0]
	return true
}

func (p *parser) openFence(matched int) bool {
	c, i := p.text[p.next], p.next
	for i < p.eol && p.text[i] == c {
		i++
	}
	if i-p.next < 3 || c == '`' && strings.IndexByte(p.text[i:p.eol], '`') >= 0 {
		return false
	}
	p.closeTo(matched)
	p.open(fenceLeaf, p.next)
	p.fenceChar, p.fenceLen = c, i-p.next
	return true
}

// closeParagraph turns the collected lines into definitions, a table or text.
func (p *parser) closeParagraph() {
	p.leafKind = noLeaf
	p.definitions()
	if len(p.lines) == 0 {
		return
	}
	first, last := p.lines[0], &p.lines[len(p.lines)-1]
	span := Span{first.Start, trimRight(p.text, last.Start, last.End)}
	mark := blockMark(p.text, last.Start, span.End)
	alone := len(p.lines) == 1 && mark.Start == first.Start
	if mark.Len() > 0 {
		p.block(span, mark, alone)
		last.End = mark.Start
		if last.Len() == 0 {
			p.lines = p.lines[:len(p.lines)-1]
		}
	}
	if !alone {
		p.top().last, p.top().item = span, 0
	}
	if len(p.lines) == 0 {
		return
	}
	if at := p.tableAt(); at > 0 {
		p.table(at)
		return
	}
	p.leaves = append(p.leaves, leaf{Span: Span{first.Start, p.lines[len(p.lines)-1].End}, fields: true})
	p.splitLines(&p.leaves[len(p.leaves)-1])
}

// splitLines remembers the lines of a leaf that quote marks interrupt.
func (p *parser) splitLines(l *leaf) {
	if p.quoted > 0 && len(p.lines) > 1 {
		l.segLo = len(p.segs)
		p.segs = append(p.segs, p.lines...)
		l.segHi = len(p.segs)
	}
}

// block records a "^id" mark. One that stands alone names the block above it.
func (p *parser) block(span, mark Span, alone bool) {
	if p.note.full(len(p.note.Blocks), "block ids") {
		return
	}
	up := p.top()
	if alone && up.last.Len() > 0 {
		span.Start = up.last.Start
	} else if up.kind == '-' && up.last.Len() == 0 {
		up.block = len(p.note.Blocks) + 1
	}
	p.note.Blocks = append(p.note.Blocks, Block{
		ID: p.text[mark.Start+1 : mark.End], Span: span, Mark: mark, Line: p.note.line(mark.Start),
	})
}

// blockMark finds "^id" at the end of text[start:end]. Without one it is the
// empty span at end.
func blockMark(text string, start, end int) Span {
	i := end
	for i > start && isIDByte(text[i-1]) {
		i--
	}
	if i == end || i == start || text[i-1] != '^' || i-1 > start && text[i-2] != ' ' && text[i-2] != '\t' {
		return Span{end, end}
	}
	return Span{i - 1, end}
}

func isIDByte(c byte) bool {
	return c == '-' || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z'
}

func trimRight(s string, start, end int) int {
	for end > start && (s[end-1] == ' ' || s[end-1] == '\t') {
		end--
	}
	return end
}

func trimLeft(s string, start, end int) int {
	for start < end && (s[start] == ' ' || s[start] == '\t') {
		start++
	}
	return start
}
