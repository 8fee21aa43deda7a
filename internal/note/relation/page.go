package relation

import (
	"fmt"
	"slices"
	"strings"

	"lore/internal/change"
	"lore/internal/fault"
	"lore/internal/note"
)

const bom = "\ufeff"

// A page is a note that is to be edited. What it says before and after is read
// with the zero options of the parser: which part of a link is its text does not
// matter to the comparison, and a line that is written here has no such part.
type page struct {
	reader
	entries []entry
}

func newPage(n *note.Note) *page {
	p := &page{reader: reader{n: n, text: n.Text()}, entries: read(n, nil)}
	p.starts = lineStarts(p.text)
	return p
}

// places lists where a relation can go, the best first.
func (p *page) places(r Relation) []change.Patch {
	line := canonical(r)
	eol := p.eol()
	var out []change.Patch
	for i := range p.n.Headings {
		h := &p.n.Headings[i]
		if h.Nested || !isRelations(h) {
			continue
		}
		last := p.lastLine(p.own(i))
		lead := eol
		if p.apart(last, h) {
			lead += eol
		}
		for _, mark := range slices.Compact([]string{p.mark(h, last), "- "}) {
			out = append(out, change.Patch{Start: last.End, End: last.End, Text: lead + mark + line})
		}
		break
	}
	return append(out, p.newSection(line, eol))
}

// newSection puts a heading and the line at the end of the note. A text that
// ends with a line end gets one before and one behind, any other two before:
// so [page.removal] can tell what was there.
func (p *page) newSection(line, eol string) change.Patch {
	end := len(p.text)
	body := strings.TrimPrefix(p.text, bom)
	text := title + eol + "- " + line
	switch last := lineEndBefore(p.text, end); {
	case body == "":
		text += eol
	case last > 0:
		own := p.text[end-last:]
		text = own + title + own + "- " + line + own
	default:
		text = eol + eol + text
	}
	return change.Patch{Start: end, End: end, Text: text}
}

// eol is the line end that the note uses: its first one.
func (p *page) eol() string {
	if i := strings.IndexAny(p.text, "\r\n"); i >= 0 {
		if strings.HasPrefix(p.text[i:], "\r\n") {
			return "\r\n"
		}
		return p.text[i : i+1]
	}
	return "\n"
}

// lineEndBefore is the length of the line end that stands before pos.
func lineEndBefore(s string, pos int) int {
	switch {
	case pos >= 2 && s[pos-2:pos] == "\r\n":
		return 2
	case pos >= 1 && (s[pos-1] == '\n' || s[pos-1] == '\r'):
		return 1
	}
	return 0
}

// own is the section of a heading without its subsections.
func (p *page) own(i int) note.Span {
	s := p.n.Headings[i].Section
	for _, h := range p.n.Headings[i+1:] {
		if !h.Nested && h.Span.Start < s.End {
			s.End = p.lineOf(h.Span.Start).Start
			break
		}
	}
	return s
}

// lastLine is the last line of a section that is not blank: at least one line of
// its heading is there.
func (p *page) lastLine(s note.Span) note.Span {
	end := s.End
	for end > s.Start && strings.IndexByte(" \t\r\n", p.text[end-1]) >= 0 {
		end--
	}
	return p.lineOf(max(s.Start, end-1))
}

// apart reports whether a blank line belongs between a line and a list below
// it: behind the heading and behind a paragraph, not behind what is of a list.
func (p *page) apart(line note.Span, h *note.Heading) bool {
	text := p.text[line.Start:line.End]
	return line.Start < h.Span.End || indent(text) == 0 && itemMark(text) == 0
}

// mark is how a list item begins in a section: as its last relation, or as the
// last line when that is a list item.
func (p *page) mark(h *note.Heading, last note.Span) string {
	line := note.Span{}
	for i := range p.entries {
		if e := &p.entries[i]; (e.Form == FormLine || e.Form == FormItem) && e.at >= h.Span.End && e.line.Start <= last.Start {
			if text := p.text[e.line.Start:]; line.Len() == 0 || indent(text) <= indent(p.text[line.Start:]) {
				line = e.line
			}
		}
	}
	if line.Len() == 0 && last.Start >= h.Span.End {
		line = last
	}
	text := p.text[line.Start:line.End]
	in := indent(text)
	if in > 3 || strings.Contains(text[:in], "\t") {
		return "- "
	}
	n := in
	for n < len(text) && text[n] >= '0' && text[n] <= '9' {
		n++
	}
	if n == in || n == len(text) || text[n] != '.' && text[n] != ')' {
		if in < len(text) && strings.IndexByte("-*+", text[in]) >= 0 && itemMark(text) > 0 {
			return text[:in+1+indent(text[in+1:])]
		}
		return "- "
	}
	var number int
	if _, err := fmt.Sscanf(text[in:n], "%d", &number); err != nil || number >= 999_999_999 {
		return "- "
	}
	return fmt.Sprintf("%s%d%c ", text[:in], number+1, text[n])
}

// removal is the patch that takes the line of a relation away, such that it is
// the reverse of the one that wrote it.
func (p *page) removal(e *entry) change.Patch {
	line := e.line
	if made, ok := p.madeSection(line); ok {
		return made
	}
	before := p.lineBefore(line)
	out := change.Patch{Start: before.End, End: line.End}
	h, i := p.headingOf(line)
	if h == nil || before.Start < h.Span.End || strings.Trim(p.text[before.Start:before.End], " \t") != "" || before.Len() > 0 {
		return out
	}
	// A blank line stands above: it goes too where it stood between the
	// line and a paragraph, or where another one follows.
	above := p.lineBefore(before)
	final := p.lastLine(p.own(i)) == line
	nextBlank := line.End < len(p.text) && p.blankAfter(line)
	if final && above.Len() > 0 && strings.Trim(p.text[above.Start:above.End], " \t") != "" && p.apart(above, h) || !final && nextBlank {
		out.Start = above.End
	}
	return out
}

// madeSection is the removal of a line together with the heading right above it,
// where both are the end of the note as [page.newSection] writes it.
func (p *page) madeSection(line note.Span) (change.Patch, bool) {
	head := p.lineBefore(line)
	if head.Start == 0 && strings.HasPrefix(p.text, bom) {
		head.Start = len(bom)
	}
	tail := len(p.text) - line.End
	if p.text[head.Start:head.End] != title || tail > 0 && lineEndBefore(p.text, len(p.text)) != tail {
		return change.Patch{}, false
	}
	out := change.Patch{Start: head.Start, End: len(p.text)}
	if head.Start == 0 || p.text[:head.Start] == bom {
		return out, true
	}
	one := head.Start - lineEndBefore(p.text, head.Start)
	two := one - lineEndBefore(p.text, one)
	if two == one {
		return out, false
	}
	if out.Start = one; tail == 0 {
		out.Start = two
	}
	return out, true
}

// headingOf is the heading called Relations that a line stands below.
func (p *page) headingOf(line note.Span) (*note.Heading, int) {
	for i := len(p.n.Headings) - 1; i >= 0; i-- {
		if h := &p.n.Headings[i]; h.Span.Start < line.Start && !h.Nested {
			return h, i
		}
	}
	return nil, 0
}

// lineBefore is the line above another; the line itself when it is the first.
func (p *page) lineBefore(line note.Span) note.Span {
	return p.lineOf(max(0, line.Start-1))
}

func (p *page) blankAfter(line note.Span) bool {
	k := p.lineNumber(line.Start)
	if k >= len(p.starts) {
		return false
	}
	next := p.lineOf(p.starts[k])
	return strings.Trim(p.text[next.Start:next.End], " \t") == ""
}

// cut takes a part of a line away, with the blanks before it.
func (p *page) cut(s note.Span) change.Patch {
	for s.Start > 0 && (p.text[s.Start-1] == ' ' || p.text[s.Start-1] == '\t') {
		s.Start--
	}
	if s.Start > 0 && p.text[s.Start-1] == ':' { // the blank behind the key stays
		s.Start++
		for s.End < len(p.text) && (p.text[s.End] == ' ' || p.text[s.End] == '\t') {
			s.End++
		}
	}
	return change.Patch{Start: s.Start, End: s.End}
}

// verify reads the note again with the patches: the relation called id must be
// want, or gone when that is nil, and everything else must be what it was.
func (p *page) verify(patches []change.Patch, id string, want *Relation) error {
	text, err := change.Splice(p.text, patches...)
	if err != nil {
		return fault.New(fault.Internal, "%v", err)
	}
	before, after := note.Parse(p.n.Path, []byte(p.text)), note.Parse(p.n.Path, []byte(text))
	was, _ := said(before, id)
	now, own := said(after, id)
	ok := slices.Equal(was, now)
	if want == nil {
		ok = ok && len(own) == 0
	} else {
		ok = ok && len(own) == 1 && own[0] == gist(want)
	}
	if !ok || !slices.Equal(shape(before, gone(patches)), shape(after, come(patches))) {
		return fault.Fix(fault.Invalid, "close open code blocks, comments and HTML in the note, use plain text in the \"notes\" argument, or edit the note by hand",
			"the relationship ^%s cannot be written to %s without changing how other text in it renders", id, p.n.Path)
	}
	return nil
}

// said lists what the relations of a note say: the others, and the one called
// id.
func said(n *note.Note, id string) (others, own []string) {
	for _, e := range read(n, nil) {
		if strings.EqualFold(e.ID, id) {
			own = append(own, gist(&e.Relation))
		} else {
			others = append(others, gist(&e.Relation))
		}
	}
	return others, own
}

// gist is a relation without its places.
func gist(r *Relation) string {
	conf := ""
	if r.Confidence != nil {
		conf = number(*r.Confidence)
	}
	if r.Prior != nil {
		conf += " before " + number(*r.Prior)
	}
	return fmt.Sprintf("%s %q %q %s %q %q %s %q", r.Type, r.Target, r.Fragment, conf, r.Notes, r.ID, r.Form, r.Problem)
}

// gone are the bytes that patches take from the old text, come those that they
// bring into the new one.
func gone(patches []change.Patch) []note.Span {
	var out []note.Span
	for _, c := range patches {
		out = append(out, note.Span{Start: c.Start, End: c.End})
	}
	return out
}

func come(patches []change.Patch) []note.Span {
	var out []note.Span
	by := 0
	for _, c := range slices.SortedStableFunc(slices.Values(patches), func(a, b change.Patch) int { return a.Start - b.Start }) {
		out = append(out, note.Span{Start: c.Start + by, End: c.Start + by + len(c.Text)})
		by += len(c.Text) - (c.End - c.Start)
	}
	return out
}

// shape lists the headings, links and marks of a note that begin outside of the
// spans, each with its words.
func shape(n *note.Note, without []note.Span) []string {
	out := []string{fmt.Sprint(n.Front.Span)}
	add := func(at int, format string, args ...any) {
		for _, s := range without {
			if at >= s.Start && at < s.End {
				return
			}
		}
		out = append(out, fmt.Sprintf(format, args...))
	}
	for _, h := range n.Headings {
		add(h.Span.Start, "heading %d %t %s", h.Level, h.Nested, h.Text)
	}
	for _, l := range n.Links {
		add(l.Span.Start, "link %s %s %s %s", l.Kind, l.Target, l.Fragment, l.Text)
	}
	for _, b := range n.Blocks {
		add(b.Mark.Start, "block %s", b.ID)
	}
	for _, t := range n.Tasks {
		add(t.Span.Start, "task %c", t.Mark)
	}
	return out
}
