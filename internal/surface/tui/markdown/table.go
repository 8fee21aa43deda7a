package markdown

import (
	"slices"
	"strings"
)

// rows takes a line of a table, or the one that makes the line above its head.
func (p *Page) rows(text string) bool {
	b := &p.open
	if !strings.Contains(text, "|") {
		return false
	}
	if b.table {
		b.rows = append(b.rows, cut(text))
		b.size += len(text)
		if len(b.rows) == mostRows || b.size > 2*mostLine {
			head, align := b.head, b.align
			p.table()
			p.open = block{table: true, head: head, align: align}
		}
		return true
	}
	if b.lines != 1 || b.first != "" {
		return false
	}
	align := aligned(text)
	head := cut(b.text.String())
	if align == nil || len(head) != len(align) {
		return false
	}
	p.open = block{table: true, head: head, align: align}
	return true
}

// cut is a row in cells.
func cut(text string) []string {
	text = strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(text), "|"), "|")
	var out []string
	from := 0
	code := false
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '\\':
			i++
		case text[i] == '`':
			code = !code
		case text[i] == '|' && !code:
			out = append(out, strings.TrimSpace(text[from:i]))
			from = i + 1
		}
	}
	return append(out, strings.TrimSpace(text[min(from, len(text)):]))
}

// aligned reads the line under the head of a table: '<', '>' or '^' for each
// column; nil when it is no such line.
func aligned(text string) []byte {
	var out []byte
	for _, c := range cut(text) {
		left, right := strings.HasPrefix(c, ":"), strings.HasSuffix(c, ":")
		if c = strings.Trim(c, ":"); c == "" || strings.Trim(c, "-") != "" {
			return nil
		}
		switch {
		case left && right:
			out = append(out, '^')
		case right:
			out = append(out, '>')
		default:
			out = append(out, '<')
		}
	}
	return out
}

// table draws the rows that are there.
func (p *Page) table() {
	b := &p.open
	width := p.widths()
	if width == nil {
		p.listed()
		return
	}
	if b.head != nil {
		p.row(width, b.head, bold)
		var line []string
		for _, w := range width {
			line = append(line, strings.Repeat("─", w))
		}
		p.put(p.st.Screen.Dim(strings.Join(line, "  ")))
	}
	for _, r := range b.rows {
		p.row(width, r, 0)
	}
}

// widths are those of the columns, nil when they do not fit beside each other.
func (p *Page) widths() []int {
	b := &p.open
	n := len(b.align)
	if n*6 > p.st.Width {
		return nil
	}
	width := make([]int, n)
	for _, r := range append([][]string{b.head}, b.rows...) {
		for i, c := range r[:min(n, len(r))] {
			sum := 0
			for _, s := range p.st.inline(c, 0) {
				sum += cells(s.text)
			}
			width[i] = max(width[i], sum, 1)
		}
	}
	room := p.st.Width - 2*(n-1)
	for total := sum(width); total > room; {
		// The widest gives first, down to the one after it.
		most := slices.Max(width)
		next, count := 4, 0
		for _, w := range width {
			if w == most {
				count++
			} else {
				next = max(next, w)
			}
		}
		if most <= 4 {
			return nil
		}
		give := min(most-next, (total-room+count-1)/count)
		for i, w := range width {
			if w == most {
				width[i] -= max(1, give)
			}
		}
		total = sum(width)
	}
	return width
}

func sum(list []int) int {
	n := 0
	for _, v := range list {
		n += v
	}
	return n
}

// row draws one row, each cell in its column.
func (p *Page) row(width []int, row []string, base look) {
	columns := make([][]string, len(width))
	most := 1
	for i, w := range width {
		if i < len(row) {
			st := p.st
			st.Width = w
			columns[i] = st.spread(st.inline(row[i], base), "", "")
		}
		most = max(most, len(columns[i]))
	}
	for k := range most {
		var line strings.Builder
		for i, w := range width {
			text := ""
			if k < len(columns[i]) {
				text = columns[i][k]
			}
			free := max(0, w-painted(text))
			before := 0
			switch p.open.align[i] {
			case '>':
				before = free
			case '^':
				before = free / 2
			}
			if i > 0 {
				line.WriteString("  ")
			}
			line.WriteString(strings.Repeat(" ", before) + text + strings.Repeat(" ", free-before))
		}
		p.put(strings.TrimRight(line.String(), " "))
	}
}

// painted is [cells] of a text with codes in it.
func painted(s string) int {
	n := 0
	for s != "" {
		i := strings.IndexByte(s, '\x1b')
		if i < 0 {
			return n + cells(s)
		}
		n += cells(s[:i])
		end := strings.IndexByte(s[i:], 'm')
		s = s[i+end+1:]
	}
	return n
}

// listed draws a table that is too wide as a list: each row with the names of
// its columns.
func (p *Page) listed() {
	b := &p.open
	for _, r := range b.rows {
		for i, c := range r {
			name := ""
			if i < len(b.head) {
				name = b.head[i] + ": "
			}
			mark := "  "
			if i == 0 {
				mark = "• "
			}
			for _, l := range p.st.wrap(name+c, mark, "  ") {
				p.put(l)
			}
		}
	}
	if len(b.rows) == 0 {
		for _, l := range p.st.wrap(strings.Join(b.head, ", "), "", "") {
			p.put(l)
		}
	}
}
