package note

import (
	"strings"

	"lore/internal/change"
	"lore/internal/fault"
)

// Where says at which end of a section text is inserted.
type Where int

// The two ends of a section.
const (
	AtEnd   Where = iota // behind everything in it, also its subsections
	AtStart              // right below its heading
)

// InsertUnder puts text into a section of n, named as for [Note.Section]; ""
// is the whole body. It uses the note's line ends, sets blank lines between
// paragraphs, and lets list items join a list. A section that does not exist is
// an error: no heading is ever made. Text that would change the structure of
// what follows, such as an open code fence, is refused.
func InsertUnder(n *Note, section, text string, where Where) ([]change.Patch, error) {
	if err := n.editable(); err != nil {
		return nil, err
	}
	eol := n.eol()
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	text = strings.TrimRight(strings.TrimLeft(text, "\n"), " \t\n")
	if text == "" {
		return nil, fault.Field("text", "give some text", "there is nothing to insert")
	}
	area, head, err := n.insertArea(section)
	if err != nil {
		return nil, err
	}
	var p change.Patch
	if where == AtStart {
		p = n.insertStart(area, head, text, eol)
	} else {
		if area.End == n.end && n.end < len(n.text) {
			return nil, fault.New(fault.TooLarge, "%s is too long: Lore cannot find the end of the section", n.Path)
		}
		p = n.insertEnd(area, head, text, eol)
	}
	p.Text = strings.ReplaceAll(p.Text, "\n", eol)
	if err := n.verifyInsert(p); err != nil {
		return nil, err
	}
	return []change.Patch{p}, nil
}

// insertArea gives the range of a section and the end of its heading, or the
// body when section is "".
func (n *Note) insertArea(section string) (area Span, head int, err error) {
	if strings.TrimSpace(section) == "" {
		from := n.Front.Span.End
		if from == 0 && strings.HasPrefix(n.text, bom) {
			from = len(bom)
		}
		return Span{from, n.end}, from, nil
	}
	if strings.HasPrefix(strings.TrimSpace(section), "^") {
		return Span{}, 0, fault.Field("section", "name a heading", "%q is a block; text can be inserted only under a heading", section)
	}
	i, err := n.findHeading(section)
	if err != nil {
		return Span{}, 0, err
	}
	h := n.Headings[i]
	if h.Nested {
		return Span{}, 0, fault.Field("section", "edit the list or quote itself", "the heading %q on line %d is inside a list or quote", h.Text, h.Line)
	}
	return h.Section, h.Span.End, nil
}

func (n *Note) insertEnd(area Span, head int, text, eol string) change.Patch {
	at := area.End
	for at > area.Start && blankByte[n.text[at-1]] {
		at--
	}
	at = max(at, head)
	empty := at == area.Start && head == area.Start
	// The rest is line ends and blank lines up to the next heading or the end.
	rest := n.text[at:area.End]
	lead := "\n\n"
	switch {
	case empty:
		at, rest, lead = area.Start, n.text[area.Start:area.End], ""
	case at > head && joins(n.lastLine(at), text):
		lead = "\n"
	}
	tail := ""
	if area.End < len(n.text) && strings.Count(strings.ReplaceAll(rest, eol, "\n"), "\n") < 2 {
		tail = "\n"
	}
	if empty && len(n.text) > at {
		tail += "\n"
	} else if empty {
		tail = "\n"
	}
	return change.Patch{Start: at, End: at, Text: lead + text + tail}
}

func (n *Note) insertStart(area Span, head int, text, eol string) change.Patch {
	at := head
	body := strings.TrimLeft(n.text[head:area.End], " \t\r\n")
	rest := strings.ReplaceAll(n.text[head:area.End-len(body)], eol, "\n")
	first, _, _ := strings.Cut(strings.ReplaceAll(body, "\r", "\n"), "\n")
	gap := "\n\n"
	if joins(first, text) {
		gap = "\n"
	}
	if head == area.Start { // the whole body
		if body == "" {
			gap = "\n"
		}
		return change.Patch{Start: at, End: at, Text: text + gap}
	}
	lead := "\n"
	if strings.Count(rest, "\n") > 1 || body == "" {
		lead = "\n\n"
	}
	tail := ""
	if body != "" && strings.Count(rest, "\n") < len(gap) {
		tail = gap[strings.Count(rest, "\n"):]
	} else if body == "" && area.End < len(n.text) && strings.Count(rest, "\n") < 2 {
		tail = "\n"
	}
	return change.Patch{Start: at, End: at, Text: lead + text + tail}
}

// lastLine is the line that ends at pos.
func (n *Note) lastLine(pos int) string {
	return n.text[n.starts[n.line(max(0, pos-1))-1]:pos]
}

// joins reports whether text may follow or precede line as an item of one list.
func joins(line, text string) bool {
	return listMark(line) != 0 && listMark(line) == listMark(text) && len(text) == len(strings.TrimLeft(text, " \t"))
}

// listMark is the kind of list item a line is, or 0.
func listMark(l string) byte {
	l = strings.TrimLeft(l, " \t")
	i := len(l) - len(strings.TrimLeft(l, "0123456789"))
	if i > 0 && i < 10 && len(l) > i+1 && (l[i] == '.' || l[i] == ')') && l[i+1] == ' ' {
		return l[i]
	}
	if len(l) > 1 && strings.IndexByte("-*+", l[0]) >= 0 && l[1] == ' ' {
		return l[0]
	}
	return 0
}

// verifyInsert reads the note again with the patch: every heading, link and
// block outside of the new text must be what it was.
func (n *Note) verifyInsert(p change.Patch) error {
	text, err := change.Splice(n.text, p)
	if err != nil {
		return fault.New(fault.Internal, "%v", err)
	}
	again := n.opt.Parse(n.Path, []byte(text))
	var old, now []Heading
	moved := func(pos int) int {
		if pos >= p.Start {
			return pos + len(p.Text)
		}
		return pos
	}
	for _, h := range n.Headings {
		h.Span = Span{moved(h.Span.Start), moved(h.Span.End - 1)}
		old = append(old, h)
	}
	for _, h := range again.Headings {
		if h.Span.Start >= p.Start && h.Span.Start < p.Start+len(p.Text) {
			continue
		}
		h.Span.End--
		now = append(now, h)
	}
	ok := len(old) == len(now) && again.Front.Span == n.Front.Span
	for i := 0; ok && i < len(old); i++ {
		ok = old[i].Level == now[i].Level && old[i].Text == now[i].Text && old[i].Span == now[i].Span
	}
	if ok {
		ok = sameLinks(n.Links, again.Links, p, moved)
	}
	if !ok {
		return fault.Field("text", "close every code block, comment and HTML tag in it, or choose another place", "the text would change how the rest of %s renders", n.Path)
	}
	return nil
}

// sameLinks compares the links outside of a patch.
func sameLinks(old, now []Link, p change.Patch, moved func(int) int) bool {
	k := 0
	for _, l := range now {
		if l.Span.Start >= p.Start && l.Span.Start < p.Start+len(p.Text) {
			continue
		}
		if k >= len(old) || old[k].Target != l.Target || moved(old[k].Span.Start) != l.Span.Start {
			return false
		}
		k++
	}
	return k == len(old)
}
