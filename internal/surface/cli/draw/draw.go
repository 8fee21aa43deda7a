package draw

import (
	"fmt"
	"strings"

	"lore/internal/change"
	"lore/internal/tool"
)

// Item draws one note or passage of a list; dir is the vault, for links.
func (s Screen) Item(b *strings.Builder, i int, it tool.Item, dir string) {
	if i > 0 && it.Text != "" {
		b.WriteByte('\n')
	}
	place := OneLine(it.Path)
	if it.Line > 0 {
		place = fmt.Sprintf("%s:%d", place, it.Line)
	}
	if it.Title != "" {
		b.WriteString(s.Bold(OneLine(it.Title)))
	}
	if it.Path != "" {
		if it.Title != "" {
			b.WriteString("  ")
		}
		b.WriteString(s.Link(dir, it.Path, s.Path(place)))
	}
	if it.Score > 0 {
		b.WriteString("  " + s.Dim(fmt.Sprintf("%.2f", it.Score)))
	}
	b.WriteByte('\n')
	if it.Detail != "" && it.Detail != it.Title {
		b.WriteString("  " + s.Dim(OneLine(it.Detail)) + "\n")
	}
	for _, l := range s.Wrap(s.marked(it), "  ") {
		b.WriteString(l + "\n")
	}
	for _, n := range it.Notes {
		b.WriteString("    " + s.Dim(OneLine(n)) + "\n")
	}
}

// marked paints the parts of the text that show why it was found, word by word
// so that a line break cannot split a colour.
func (s Screen) marked(it tool.Item) string {
	var b strings.Builder
	at := 0
	for _, m := range it.Marks {
		if m.Start < at || m.End < m.Start || m.End > len(it.Text) {
			continue
		}
		b.WriteString(Harmless(it.Text[at:m.Start]))
		for i, w := range strings.Split(Harmless(it.Text[m.Start:m.End]), " ") {
			if i > 0 {
				b.WriteByte(' ')
			}
			b.WriteString(s.Mark(w))
		}
		at = m.End
	}
	b.WriteString(Harmless(it.Text[at:]))
	return b.String()
}

// widest is the width of a column from which on a cell may stand out: paths are
// there to be copied, so they are not cut.
const widest = 60

// Gap stands between two columns.
const Gap = "  "

// Table prints columns as wide as their widest cell. On a terminal the last
// column is wrapped beside the others when it has the room. Where the columns do
// not fit beside each other, every row gets lines of its own.
func (s Screen) Table(b *strings.Builder, head []string, rows [][]string) {
	if len(rows) == 0 {
		return
	}
	var width []int
	for _, r := range append([][]string{head}, rows...) {
		for i, c := range r {
			if i == len(width) {
				width = append(width, 0)
			}
			width[i] = max(width[i], min(widest, Cells(OneLine(c))))
		}
	}
	if s.Terminal && len(head) > 1 && total(width) > s.Width {
		for _, r := range rows {
			s.stack(b, head, r)
		}
		return
	}
	if len(head) > 0 {
		s.row(b, width, head, s.Bold)
	}
	for _, r := range rows {
		s.row(b, width, r, func(x string) string { return x })
	}
}

// leastLast is as narrow as the last column may become: it can be wrapped.
const leastLast = 30

// total is how much room columns need at the least.
func total(width []int) int {
	last := len(width) - 1
	sum := min(leastLast, width[last])
	for _, w := range width[:last] {
		sum += w + len(Gap)
	}
	return sum
}

// stack draws a row of a table that is too wide: the first cell, and the others
// below it with the names of their columns.
func (s Screen) stack(b *strings.Builder, head, row []string) {
	b.WriteString(s.Bold(OneLine(row[0])) + "\n")
	var cells []string
	for i, c := range row[1:] {
		if c = OneLine(c); c != "" && i+1 < len(head) {
			cells = append(cells, head[i+1]+": "+c)
		}
	}
	for _, l := range s.Wrap(strings.Join(cells, "; "), Gap) {
		b.WriteString(l + "\n")
	}
}

func (s Screen) row(b *strings.Builder, width []int, row []string, paint func(string) string) {
	left := 0
	for i, c := range row {
		c = OneLine(c)
		if i < len(row)-1 {
			b.WriteString(Pad(paint(c), width[i]) + Gap)
			left += width[i] + len(Gap)
			continue
		}
		for n, l := range s.LastColumn(c, left) {
			if n > 0 {
				b.WriteString("\n" + strings.Repeat(" ", left))
			}
			b.WriteString(paint(l))
		}
	}
	b.WriteByte('\n')
}

// LastColumn breaks the last cell of a row into lines; a pipe gets one line. A
// path that is too long for a line is left to the terminal, so that it can be
// copied.
func (s Screen) LastColumn(cell string, left int) []string {
	room := s.Width - left
	if !s.Terminal || room < 30 || Cells(cell) <= room {
		return []string{cell}
	}
	for w := range strings.FieldsSeq(cell) {
		if Cells(w) > room {
			return []string{cell}
		}
	}
	return Screen{Width: room}.Wrap(cell, "")
}

// Pairs prints names and values.
func (s Screen) Pairs(b *strings.Builder, pairs [][2]string) {
	width := 0
	for _, kv := range pairs {
		width = max(width, Cells(OneLine(kv[0])))
	}
	for _, kv := range pairs {
		key := OneLine(kv[0])
		lines := strings.Split(Harmless(kv[1]), "\n")
		b.WriteString(Pad(s.Dim(key), width) + Gap + lines[0] + "\n")
		for _, l := range lines[1:] {
			b.WriteString(strings.Repeat(" ", width) + Gap + l + "\n")
		}
	}
}

var actionWords = map[change.Kind]string{change.Creates: "new", change.Replaces: "changed", change.Removes: "deleted", change.Moves: "moved", change.Reads: "read"}

// Change draws what happens to one file.
func (s Screen) Change(b *strings.Builder, c tool.FileChange, diff bool) {
	name := s.Path(OneLine(c.Path))
	if c.From != "" {
		name = s.Path(OneLine(c.From)) + " → " + name
	}
	if c.Action == change.Reads {
		fmt.Fprintf(b, "%s  %s\n", Pad(actionWords[c.Action], 7), name)
		return
	}
	fmt.Fprintf(b, "%s  %s  %s %s\n", Pad(actionWords[c.Action], 7), name, s.Green(fmt.Sprintf("+%d", c.Added)), s.Red(fmt.Sprintf("-%d", c.Removed)))
	if diff {
		s.Diff(b, c.Diff)
	}
}
