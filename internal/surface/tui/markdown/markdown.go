// Package markdown draws Markdown on a terminal while it arrives: every part is
// drawn once, when it is whole, and only the part that is still open is drawn
// again. It is for what models say: nothing in a text reaches the terminal as a
// code, every line fits, and the work is linear whatever is written.
package markdown

import (
	"strings"
	"unicode/utf8"

	"lore/internal/surface/cli/draw"
)

// The bounds that keep the work linear: what is longer is drawn in pieces.
const (
	mostLine = 4096 // bytes of a line, and of a paragraph
	mostRows = 100  // of a table
	mostDeep = 6    // quotes in quotes
)

// A Style says how a page looks.
type Style struct {
	Screen draw.Screen // its width is not used
	Width  int
	// Doubt says what is wrong with a citation, "" for nothing; nil: nobody knows.
	Doubt func(link string) string
}

// A Page is a text that arrives in pieces.
type Page struct {
	st    Style
	depth int
	lines []string // drawn for good
	blank bool     // an empty line belongs before the next one
	rest  []byte   // a line that has not ended
	glued bool     // rest goes on with a line that was too long
	split bool     // which was cut inside a word

	open  block
	hang  int // the indent of the list that the page is in
	fence string
	quote *Page
}

// A block is what is open: a paragraph, an item of a list, or a table.
type block struct {
	text  strings.Builder
	lines int
	first string // what stands before the first line
	next  string // and before the others
	head  []string
	align []byte
	rows  [][]string
	size  int // bytes of the rows
	table bool
}

// New makes an empty page.
func New(st Style) *Page {
	st.Width = max(st.Width, 12)
	return &Page{st: st}
}

// Draw draws a whole text.
func Draw(st Style, text string) []string {
	p := New(st)
	p.Write(text)
	return append(p.Lines(), p.Tail()...)
}

// Write adds a piece of the text.
func (p *Page) Write(text string) {
	for len(text) > 0 {
		take := min(len(text), mostLine-len(p.rest))
		i := strings.IndexByte(text[:take], '\n')
		if i >= 0 {
			p.rest = append(p.rest, text[:i]...)
			text = text[i+1:]
			p.ended(len(p.rest))
			p.glued = false
			continue
		}
		p.rest = append(p.rest, text[:take]...)
		text = text[take:]
		if len(p.rest) == mostLine {
			at := cutAt(p.rest)
			split := p.rest[min(at, len(p.rest)-1)] != ' '
			p.ended(at)
			p.glued, p.split = true, split
		}
	}
}

// cutAt is where a line that is too long is cut: at its last blank, or before
// its last character.
func cutAt(b []byte) int {
	for i := len(b) - 1; i > len(b)/2; i-- {
		if b[i] == ' ' {
			return i
		}
	}
	for i := len(b) - 1; i > len(b)-utf8.UTFMax; i-- {
		if utf8.RuneStart(b[i]) {
			return i
		}
	}
	return len(b)
}

// ended takes the first n bytes of the rest as a line.
func (p *Page) ended(n int) {
	line := clean(string(p.rest[:n]))
	p.rest = append(p.rest[:0], p.rest[n:]...)
	p.line(line)
}

// clean is a line without anything that a terminal would obey.
func clean(line string) string {
	return strings.ReplaceAll(draw.Harmless(strings.TrimSuffix(line, "\r")), "\t", "    ")
}

// Lines are what is drawn for good. The caller must not change them.
func (p *Page) Lines() []string { return p.lines[:len(p.lines):len(p.lines)] }

// Tail draws what is still open.
func (p *Page) Tail() []string {
	if len(p.rest) == 0 && !p.open.table && p.open.text.Len() == 0 && p.quote == nil {
		return nil
	}
	return p.Rest()
}

// Rest draws what is open on a copy, so that the page stays as it is.
func (p *Page) Rest() []string {
	q := p.copied()
	if len(q.rest) > 0 {
		q.ended(len(q.rest))
	}
	q.close()
	return q.lines
}

// copied is the page with nothing drawn for good.
func (p *Page) copied() *Page {
	q := *p
	q.lines = nil
	q.open = block{lines: p.open.lines, first: p.open.first, next: p.open.next, head: p.open.head, align: p.open.align, size: p.open.size, table: p.open.table}
	q.open.text.WriteString(p.open.text.String())
	q.open.rows = p.open.rows[:len(p.open.rows):len(p.open.rows)]
	if p.quote != nil {
		q.quote = p.quote.copied()
	}
	return &q
}

// put draws a line for good. Blank lines wait for a line that follows them.
func (p *Page) put(line string) {
	if p.blank {
		p.lines = append(p.lines, "")
		p.blank = false
	}
	p.lines = append(p.lines, line)
}

// gap wants an empty line before whatever comes.
func (p *Page) gap() { p.blank = true }

// close draws the open block for good.
func (p *Page) close() {
	if p.quote != nil {
		p.quote.close()
		p.drain()
		p.quote = nil
	}
	b := &p.open
	switch {
	case b.table:
		p.table()
	case b.text.Len() > 0:
		for _, l := range p.st.wrap(b.text.String(), b.first, b.next) {
			p.put(l)
		}
	}
	p.open = block{}
}

// drain takes over what a quote has drawn.
func (p *Page) drain() {
	bar := p.st.Screen.Dim("│ ")
	for _, l := range p.quote.lines {
		p.put(bar + l)
	}
	p.quote.lines = nil
}
