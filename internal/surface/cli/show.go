package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

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
		fmt.Fprintln(p.err, p.screen.dim(harmless(n)))
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
		to := p.out
		if v.Text != "" {
			to = p.err // the text itself stays clean
		}
		fmt.Fprintln(to, p.screen.dim(harmless(v.Foot)))
	}
	return nil
}

func (p *program) item(b *strings.Builder, i int, it tool.Item, dir string) {
	s := p.screen
	if i > 0 && it.Text != "" {
		b.WriteByte('\n')
	}
	place := harmless(it.Path)
	if it.Line > 0 {
		place = fmt.Sprintf("%s:%d", place, it.Line)
	}
	b.WriteString(s.bold(harmless(it.Title)))
	if it.Path != "" {
		b.WriteString("  " + s.link(dir, it.Path, s.path(place)))
	}
	if it.Score > 0 {
		b.WriteString("  " + s.dim(fmt.Sprintf("%.2f", it.Score)))
	}
	b.WriteByte('\n')
	if it.Detail != "" && it.Detail != it.Title {
		b.WriteString("  " + s.dim(harmless(it.Detail)) + "\n")
	}
	for _, l := range s.wrap(p.marked(it), "  ") {
		b.WriteString(l + "\n")
	}
	for _, n := range it.Notes {
		b.WriteString("    " + s.dim(harmless(n)) + "\n")
	}
}

// marked paints the parts of the text that show why it was found, word by word
// so that a line break cannot split a colour.
func (p *program) marked(it tool.Item) string {
	var b strings.Builder
	at := 0
	for _, m := range it.Marks {
		if m.Start < at || m.End > len(it.Text) {
			continue
		}
		b.WriteString(harmless(it.Text[at:m.Start]))
		b.WriteString(p.screen.mark(harmless(it.Text[m.Start:m.End])))
		at = m.End
	}
	b.WriteString(harmless(it.Text[at:]))
	return b.String()
}

// table prints columns as wide as their widest cell.
func (p *program) table(b *strings.Builder, head []string, rows [][]string) {
	if len(rows) == 0 {
		return
	}
	width := make([]int, len(head))
	for i, h := range head {
		width[i] = utf8.RuneCountInString(h)
	}
	for _, r := range rows {
		for i, c := range r {
			width[i] = min(60, max(width[i], utf8.RuneCountInString(harmless(c))))
		}
	}
	line := func(cells []string, paint func(string) string) {
		for i, c := range cells {
			c = strings.ReplaceAll(harmless(c), "\n", " ")
			pad := strings.Repeat(" ", max(0, width[i]-utf8.RuneCountInString(c)))
			if i == len(cells)-1 {
				pad = ""
			}
			b.WriteString(paint(c) + pad)
			if i < len(cells)-1 {
				b.WriteString("  ")
			}
		}
		b.WriteByte('\n')
	}
	line(head, p.screen.bold)
	for _, r := range rows {
		line(r, func(s string) string { return s })
	}
}

func (p *program) pairs(b *strings.Builder, pairs [][2]string) {
	width := 0
	for _, kv := range pairs {
		width = max(width, utf8.RuneCountInString(kv[0]))
	}
	for _, kv := range pairs {
		fmt.Fprintf(b, "%s%s  %s\n", p.screen.dim(kv[0]), strings.Repeat(" ", width-utf8.RuneCountInString(kv[0])), harmless(kv[1]))
	}
}
