package note

import "strings"

// tableAt returns the index of the delimiter row among the collected lines, or
// 0 when they are no table.
func (p *parser) tableAt() int {
	for i := 1; i < len(p.lines); i++ {
		l := p.text[p.lines[i].Start:p.lines[i].End]
		c := l[0]
		if c != '|' && c != '-' && c != ':' {
			continue
		}
		cols := delimiterCells(l)
		if cols > 0 && cols == countCells(p.text[p.lines[i-1].Start:p.lines[i-1].End]) {
			return i
		}
	}
	return 0
}

// delimiterCells counts the columns of a row like "|---|:-:|"; 0 = it is none.
func delimiterCells(l string) int {
	l = strings.Trim(l, " \t")
	if !strings.Contains(l, "|") {
		if !strings.Contains(l, ":") {
			return 0
		}
	}
	l = strings.TrimSuffix(strings.TrimPrefix(l, "|"), "|")
	n, dashes, closed := 0, 0, false
	for i := 0; i <= len(l); i++ {
		if i == len(l) || l[i] == '|' {
			if dashes == 0 {
				return 0
			}
			n, dashes, closed = n+1, 0, false
			continue
		}
		switch c := l[i]; {
		case c == '-' && !closed:
			dashes++
		case c == ':' && !closed:
			closed = dashes > 0
		case c == ' ' || c == '\t':
			closed = closed || dashes > 0
		default:
			return 0
		}
	}
	return n
}

func countCells(l string) int {
	n := 0
	eachCell(l, func(int, int) { n++ })
	return n
}

// eachCell calls f with the bounds of every cell of a row. A pipe after a
// backslash does not divide, also inside code, as GFM has it.
func eachCell(l string, f func(start, end int)) {
	i, end := trimLeft(l, 0, len(l)), trimRight(l, 0, len(l))
	if i < end && l[i] == '|' {
		i++
	}
	if end > i && l[end-1] == '|' && (end < 2 || l[end-2] != '\\') {
		end--
	}
	start := i
	for ; i < end; i++ {
		switch l[i] {
		case '\\':
			i++
		case '|':
			f(start, i)
			start = i + 1
		}
	}
	f(start, end)
}

// table makes a leaf of every cell, and one of the lines above the header.
func (p *parser) table(delimiter int) {
	if delimiter > 1 {
		first, last := p.lines[0], p.lines[delimiter-2]
		above := p.lines
		p.lines = p.lines[:delimiter-1]
		p.leaves = append(p.leaves, leaf{Span: Span{first.Start, last.End}, fields: true})
		p.splitLines(&p.leaves[len(p.leaves)-1])
		p.lines = above
	}
	for i, row := range p.lines[delimiter-1:] {
		if i == 1 {
			continue
		}
		eachCell(p.text[row.Start:row.End], func(start, end int) {
			if start < end {
				p.leaves = append(p.leaves, leaf{Span: Span{row.Start + start, row.Start + end}})
			}
		})
	}
}
