package e2e

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// A glass is what a person sees on a terminal: the codes that programs write are
// obeyed, as far as programs that draw the whole screen use them.
type glass struct {
	rows, cols int
	cells      [][]rune
	x, y       int
	top, foot  int // the rows that scroll
	last       rune
	odd        []string // codes that nobody here knows
}

func newGlass(cols, rows int) *glass {
	g := &glass{rows: rows, cols: cols, foot: rows - 1}
	for range rows {
		g.cells = append(g.cells, g.blank())
	}
	return g
}

func (g *glass) blank() []rune { return []rune(strings.Repeat(" ", g.cols)) }

// text is all that is seen.
func (g *glass) text() string {
	var b strings.Builder
	for _, r := range g.cells {
		line := strings.ReplaceAll(string(r), "\x00", "") // the second half of wide characters
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	return b.String()
}

// write obeys what a program wrote.
func (g *glass) write(s string) {
	for s != "" {
		if s[0] == 0x1b {
			s = s[g.code(s):]
			continue
		}
		r, n := utf8.DecodeRuneInString(s)
		s = s[n:]
		switch r {
		case '\r':
			g.x = 0
		case '\n':
			g.feed()
		case '\b':
			g.x = max(0, g.x-1)
		case '\t':
			g.x = min(g.cols-1, (g.x/8+1)*8)
		case 7:
		default:
			g.put(r)
		}
	}
}

func (g *glass) put(r rune) {
	wide := r >= 0x1100 && (r <= 0x115f || r >= 0x2e80 && r <= 0xffdc && !(r >= 0xfe00 && r <= 0xfe0f) || r >= 0x1f300)
	if g.x >= g.cols {
		g.x = 0
		g.feed()
	}
	g.cells[g.y][g.x] = r
	g.x++
	if wide && g.x < g.cols {
		g.cells[g.y][g.x] = 0
		g.x++
	}
	g.last = r
}

func (g *glass) feed() {
	if g.y == g.foot {
		g.shift(1)
		return
	}
	g.y = min(g.rows-1, g.y+1)
}

// shift moves the rows that scroll, up for more than nothing.
func (g *glass) shift(n int) {
	for ; n > 0; n-- {
		copy(g.cells[g.top:g.foot], g.cells[g.top+1:g.foot+1])
		g.cells[g.foot] = g.blank()
	}
	for ; n < 0; n++ {
		copy(g.cells[g.top+1:g.foot+1], g.cells[g.top:g.foot])
		g.cells[g.top] = g.blank()
	}
}

// code obeys the code that s begins with, and returns its length.
func (g *glass) code(s string) int {
	if len(s) < 2 {
		return len(s)
	}
	switch s[1] {
	case ']', 'P', '_':
		for i := 2; i < len(s); i++ {
			if s[i] == 7 {
				return i + 1
			}
			if strings.HasPrefix(s[i:], "\x1b\\") {
				return i + 2
			}
		}
		return len(s)
	case 'M':
		if g.y == g.top {
			g.shift(-1)
		} else {
			g.y = max(0, g.y-1)
		}
		return 2
	case '[':
	case '(', ')':
		return min(3, len(s)) // the rest may be on its way
	default:
		return 2
	}
	i := 2
	for i < len(s) && (s[i] < 0x40 || s[i] > 0x7e) {
		i++
	}
	if i == len(s) {
		return i
	}
	g.csi(s[2:i], s[i])
	return i + 1
}

func (g *glass) csi(params string, final byte) {
	if strings.ContainsAny(params, "?<>=$ !") {
		return // modes and questions
	}
	var n []int
	for _, p := range strings.Split(params, ";") {
		v, _ := strconv.Atoi(p)
		n = append(n, v)
	}
	arg := func(i int) int {
		if i < len(n) && n[i] > 0 {
			return n[i]
		}
		return 1
	}
	row := g.cells[g.y]
	at := min(g.x, g.cols-1)
	switch final {
	case 'A':
		g.y = max(0, g.y-arg(0))
	case 'B', 'e':
		g.y = min(g.rows-1, g.y+arg(0))
	case 'C', 'a':
		g.x = min(g.cols-1, g.x+arg(0))
	case 'D':
		g.x = max(0, g.x-arg(0))
	case 'E':
		g.x, g.y = 0, min(g.rows-1, g.y+arg(0))
	case 'F':
		g.x, g.y = 0, max(0, g.y-arg(0))
	case 'G', '`':
		g.x = min(g.cols, arg(0)) - 1
	case 'd':
		g.y = min(g.rows, arg(0)) - 1
	case 'H', 'f':
		g.y, g.x = min(g.rows, arg(0))-1, min(g.cols, arg(1))-1
	case 'J', 'K':
		g.erase(final, n[0])
	case 'X':
		for i := at; i < min(g.cols, at+arg(0)); i++ {
			row[i] = ' '
		}
	case 'P':
		copy(row[at:], append(append([]rune{}, row[min(g.cols, at+arg(0)):]...), g.blank()[:min(g.cols-at, arg(0))]...))
	case '@':
		copy(row[at:], append(append([]rune{}, g.blank()[:min(g.cols-at, arg(0))]...), row[at:]...))
	case 'b':
		for range arg(0) {
			g.put(g.last)
		}
	case 'S':
		g.shift(arg(0))
	case 'T':
		g.shift(-arg(0))
	case 'L', 'M':
		top := g.top
		g.top = g.y
		if final == 'L' {
			g.shift(-arg(0))
		} else {
			g.shift(arg(0))
		}
		g.top = top
	case 'r':
		g.top, g.foot = 0, g.rows-1
		if params != "" {
			g.top, g.foot = arg(0)-1, min(g.rows, arg(1))-1
		}
		g.x, g.y = 0, 0
	case 'm', 'h', 'l', 't', 'n', 'q', 'u', 's', 'c':
	default:
		g.odd = append(g.odd, params+string(final))
	}
}

// erase empties a part of the line, or of the glass.
func (g *glass) erase(final byte, how int) {
	from, to := 0, g.cols
	switch how {
	case 0:
		from = min(g.x, g.cols)
	case 1:
		to = min(g.cols, g.x+1)
	}
	for i := from; i < to; i++ {
		g.cells[g.y][i] = ' '
	}
	if final == 'K' {
		return
	}
	for y := range g.cells {
		if how == 2 || how == 0 && y > g.y || how == 1 && y < g.y {
			g.cells[y] = g.blank()
		}
	}
}
