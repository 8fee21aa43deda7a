package markdown

import "strings"

// line takes one whole line.
func (p *Page) line(line string) {
	text := strings.TrimLeft(line, " ")
	indent := len(line) - len(text)
	switch {
	case p.fence != "":
		p.code(line, text)
		return
	case p.glued && p.quote == nil:
		p.join(text)
		return
	}
	if strings.HasPrefix(text, ">") && indent < 4 && p.depth < mostDeep {
		p.quoted(text)
		return
	}
	if p.quote != nil { // it ends where its mark does
		p.close()
	}
	text = strings.TrimRight(text, " \r")
	if text == "" {
		p.close()
		p.gap()
		return
	}
	if p.opened(line, text, indent) || p.rows(text) {
		return
	}
	if n, mark, rest := item(text); n > 0 {
		p.item(indent, mark, rest)
		return
	}
	if p.open.text.Len() > 0 || p.open.table {
		if p.open.table {
			p.close()
		}
		p.joinLine(line, text)
		return
	}
	switch {
	case p.hang > 0 && indent >= 2:
		p.open.first = strings.Repeat(" ", p.hang)
		p.open.next = p.open.first
	case indent >= 4 && p.hang == 0:
		p.codeLine(strings.TrimPrefix(line, "    "))
		return
	default:
		p.hang = 0
	}
	p.joinLine(line, text)
}

// opened takes the lines that stand for themselves: fences, headings and rules.
func (p *Page) opened(line, text string, indent int) bool {
	if f := fence(text); f != "" {
		p.close()
		p.fence = f
		if word := strings.TrimSpace(strings.TrimLeft(text, f[:1])); word != "" {
			p.put(p.st.Screen.Dim(p.st.fit("  " + word)))
		}
		return true
	}
	if n := heading(text); n > 0 && indent < 4 {
		p.close()
		p.hang = 0
		p.heading(n, strings.TrimSpace(strings.TrimRight(strings.TrimSpace(text[n:]), "#")))
		return true
	}
	under := underline(text)
	if under > 0 && p.open.lines == 1 && !p.open.table && p.open.first == "" && indent < 4 {
		was := p.open.text.String()
		p.open = block{}
		p.heading(under, was)
		return true
	}
	if rule(text) && indent < 4 {
		p.close()
		p.hang = 0
		p.put(p.st.Screen.Dim(strings.Repeat("─", min(p.st.Width, 40))))
		return true
	}
	return false
}

// quoted gives a line to the quote that is open, or opens one.
func (p *Page) quoted(text string) {
	if p.quote == nil {
		p.close()
		p.quote = &Page{st: p.st.narrow(), depth: p.depth + 1}
		if p.st.Width < 14 { // too narrow for a mark: it is text then
			p.quote = nil
			p.join(text)
			return
		}
	}
	text = strings.TrimPrefix(text[1:], " ")
	if kind, title, ok := callout(text); ok && p.quote.open.lines == 0 {
		look := bold
		for _, l := range p.st.narrow().spread(p.st.inline(kind+": "+title, look), "", "") {
			p.quote.put(l)
		}
	} else {
		p.quote.line(text)
	}
	p.drain()
}

// narrow is the style inside a quote.
func (st Style) narrow() Style {
	st.Width = max(12, st.Width-2)
	return st
}

// callout reads the head of a quote that says what it is: "[!note] Title".
func callout(text string) (kind, title string, ok bool) {
	rest, found := strings.CutPrefix(text, "[!")
	kind, title, ok = strings.Cut(rest, "]")
	if !found || !ok || kind == "" || strings.ContainsAny(kind, " [") || len(kind) > 30 {
		return "", "", false
	}
	return kind, strings.TrimSpace(strings.TrimLeft(title, "+-")), true
}

// fence is the mark that opens a block of code, "" when there is none.
func fence(text string) string {
	for _, c := range []string{"`", "~"} {
		n := len(text) - len(strings.TrimLeft(text, c))
		if n >= 3 && (c == "~" || !strings.Contains(text[n:], "`")) {
			return text[:n]
		}
	}
	return ""
}

// code takes a line inside a block of code.
func (p *Page) code(line, text string) {
	closing := strings.TrimRight(text, " ")
	if !p.glued && len(closing) >= len(p.fence) && strings.Trim(closing, p.fence[:1]) == "" {
		p.fence = ""
		return
	}
	p.codeLine(line)
}

func (p *Page) codeLine(line string) {
	for _, l := range p.st.broken(line, "  ") {
		p.put(l)
	}
}

// heading is the rank of a heading, 0 when the line is none.
func heading(text string) int {
	n := len(text) - len(strings.TrimLeft(text, "#"))
	if n == 0 || n > 6 || n < len(text) && text[n] != ' ' {
		return 0
	}
	return n
}

// underline is the rank of the heading that a line makes of the one above it.
func underline(text string) int {
	switch {
	case strings.Trim(text, "=") == "":
		return 1
	case strings.Trim(text, "-") == "":
		return 2
	}
	return 0
}

// rule reports whether a line is a rule across the page.
func rule(text string) bool {
	c := text[:1]
	if !strings.Contains("-*_", c) || strings.Trim(text, c+" ") != "" {
		return false
	}
	return strings.Count(text, c) >= 3
}

func (p *Page) heading(rank int, text string) {
	mark := ""
	if !p.st.Screen.Colour { // what is bold on other terminals
		mark = strings.Repeat("#", rank) + " "
	}
	look := bold
	if rank == 1 {
		look |= under
	}
	for _, l := range p.st.spread(p.st.inline(text, look), mark, "") {
		p.put(l)
	}
}

// item reads the mark of a list; n is 0 when there is none.
func item(text string) (n int, mark, rest string) {
	digits := 0
	for digits < len(text) && digits < 9 && text[digits] >= '0' && text[digits] <= '9' {
		digits++
	}
	switch {
	case digits > 0 && digits < len(text) && (text[digits] == '.' || text[digits] == ')'):
		n, mark = digits+1, text[:digits+1]
	case strings.ContainsRune("-*+", rune(text[0])):
		n, mark = 1, "•"
	}
	if n == 0 || n < len(text) && text[n] != ' ' {
		return 0, "", ""
	}
	rest = strings.TrimLeft(text[n:], " ")
	for box, shown := range map[string]string{"[ ] ": "☐", "[x] ": "☑", "[X] ": "☑"} {
		if strings.HasPrefix(rest, box) {
			return n, shown, rest[len(box):]
		}
	}
	return n, mark, rest
}

// item opens an item of a list.
func (p *Page) item(indent int, mark, rest string) {
	p.close()
	if cells(mark) > p.st.Width/2 {
		mark = "•" // a number that leaves no room for words
	}
	in := strings.Repeat(" ", min(indent, p.st.Width/4))
	p.open.first = in + mark + " "
	p.open.next = in + strings.Repeat(" ", cells(mark)+1)
	p.hang = cells(p.open.next)
	p.join(rest)
	if rest == "" {
		p.put(strings.TrimRight(p.open.first, " "))
		p.open = block{}
	}
}

// joinLine adds a line to the open paragraph; two blanks or a backslash at its
// end break it there.
func (p *Page) joinLine(line, text string) {
	if strings.HasSuffix(line, "  ") {
		text += "\n"
	} else if t, ok := strings.CutSuffix(text, "\\"); ok {
		text = t + "\n"
	}
	p.join(text)
}

// join adds words to the open paragraph, which is drawn when it is too long.
func (p *Page) join(text string) {
	b := &p.open
	if b.table {
		p.close()
	}
	if b.text.Len()+len(text) > mostLine+mostLine/2 && b.text.Len() > 0 {
		next := b.next
		p.close()
		b.first, b.next = next, next
	}
	if had := b.text.String(); had != "" && !strings.HasSuffix(had, "\n") && !(p.glued && p.split) {
		b.text.WriteByte(' ')
	}
	b.text.WriteString(text)
	b.lines++
}
