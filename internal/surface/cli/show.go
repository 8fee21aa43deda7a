package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"lore/internal/tool"
)

// encode prints a value as JSON for programs.
func (p *program) encode(v any) error {
	enc := json.NewEncoder(p.out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// show prints a result: as JSON for programs, drawn for people.
func (p *program) show(r tool.Result, dir string) error {
	if p.g.JSON {
		return p.encode(r)
	}
	for _, n := range r.Notices {
		p.say(n)
	}
	switch {
	case r.DryRun:
		return p.showPlan(r)
	case r.Refused != "":
		p.say(strings.TrimSuffix(r.Refused+": "+r.Feedback, ": "))
		return nil
	}
	v := r.View()
	var b strings.Builder
	if v.Text != "" {
		text := v.Text
		if p.screen.terminal {
			// A pipe or a file gets the bytes as they are.
			text = harmless(text)
		}
		b.WriteString(text)
		if !strings.HasSuffix(text, "\n") && p.screen.terminal {
			b.WriteByte('\n')
		}
	}
	for i, it := range v.Items {
		p.item(&b, i, it, dir)
	}
	p.table(&b, v.Head, v.Rows)
	p.pairs(&b, v.Pairs)
	if _, err := io.WriteString(p.out, b.String()); err != nil {
		return err
	}
	if v.Foot != "" {
		// What is said about the answer is no part of it: a pipe gets the answer.
		// Tools speak to callers; a person at a terminal types a flag.
		p.say(strings.ReplaceAll(v.Foot, "call again with offset ", "go on with --offset "))
	}
	return nil
}

// say tells something about an answer on standard error.
func (p *program) say(text string) {
	lines := []string{oneLine(text)}
	if p.notice.terminal {
		lines = p.notice.wrap(lines[0], "")
	}
	for _, l := range lines {
		fmt.Fprintln(p.err, p.notice.dim(l))
	}
}

func (p *program) item(b *strings.Builder, i int, it tool.Item, dir string) {
	s := p.screen
	if i > 0 && it.Text != "" {
		b.WriteByte('\n')
	}
	place := oneLine(it.Path)
	if it.Line > 0 {
		place = fmt.Sprintf("%s:%d", place, it.Line)
	}
	b.WriteString(s.bold(oneLine(it.Title)))
	if it.Path != "" {
		b.WriteString("  " + s.link(dir, it.Path, s.path(place)))
	}
	if it.Score > 0 {
		b.WriteString("  " + s.dim(fmt.Sprintf("%.2f", it.Score)))
	}
	b.WriteByte('\n')
	if it.Detail != "" && it.Detail != it.Title {
		b.WriteString("  " + s.dim(oneLine(it.Detail)) + "\n")
	}
	for _, l := range s.wrap(p.marked(it), "  ") {
		b.WriteString(l + "\n")
	}
	for _, n := range it.Notes {
		b.WriteString("    " + s.dim(oneLine(n)) + "\n")
	}
}

// marked paints the parts of the text that show why it was found, word by word
// so that a line break cannot split a colour.
func (p *program) marked(it tool.Item) string {
	var b strings.Builder
	at := 0
	for _, m := range it.Marks {
		if m.Start < at || m.End < m.Start || m.End > len(it.Text) {
			continue
		}
		b.WriteString(harmless(it.Text[at:m.Start]))
		for i, w := range strings.Split(harmless(it.Text[m.Start:m.End]), " ") {
			if i > 0 {
				b.WriteByte(' ')
			}
			b.WriteString(p.screen.mark(w))
		}
		at = m.End
	}
	b.WriteString(harmless(it.Text[at:]))
	return b.String()
}

// widest is the width of a column from which on a cell may stand out: paths are
// there to be copied, so they are not cut.
const widest = 60

// gap stands between two columns.
const gap = "  "

// table prints columns as wide as their widest cell. On a terminal the last
// column is wrapped beside the others when it has the room.
func (p *program) table(b *strings.Builder, head []string, rows [][]string) {
	if len(rows) == 0 {
		return
	}
	var width []int
	for _, r := range append([][]string{head}, rows...) {
		for i, c := range r {
			if i == len(width) {
				width = append(width, 0)
			}
			width[i] = max(width[i], min(widest, cells(oneLine(c))))
		}
	}
	if len(head) > 0 {
		p.row(b, width, head, p.screen.bold)
	}
	for _, r := range rows {
		p.row(b, width, r, func(s string) string { return s })
	}
}

func (p *program) row(b *strings.Builder, width []int, row []string, paint func(string) string) {
	left := 0
	for i, c := range row {
		c = oneLine(c)
		if i < len(row)-1 {
			b.WriteString(pad(paint(c), width[i]) + gap)
			left += width[i] + len(gap)
			continue
		}
		for n, l := range p.lastColumn(c, left) {
			if n > 0 {
				b.WriteString("\n" + strings.Repeat(" ", left))
			}
			b.WriteString(paint(l))
		}
	}
	b.WriteByte('\n')
}

// lastColumn breaks the last cell of a row into lines; a pipe gets one line. A
// path that is too long for a line is left to the terminal, so that it can be
// copied.
func (p *program) lastColumn(cell string, left int) []string {
	room := p.screen.width - left
	if !p.screen.terminal || room < 30 || cells(cell) <= room {
		return []string{cell}
	}
	for w := range strings.FieldsSeq(cell) {
		if cells(w) > room {
			return []string{cell}
		}
	}
	return screen{width: room}.wrap(cell, "")
}

func (p *program) pairs(b *strings.Builder, pairs [][2]string) {
	width := 0
	for _, kv := range pairs {
		width = max(width, cells(oneLine(kv[0])))
	}
	for _, kv := range pairs {
		key := oneLine(kv[0])
		lines := strings.Split(harmless(kv[1]), "\n")
		b.WriteString(pad(p.screen.dim(key), width) + gap + lines[0] + "\n")
		for _, l := range lines[1:] {
			b.WriteString(strings.Repeat(" ", width) + gap + l + "\n")
		}
	}
}
