package note

import (
	"strings"
	"unicode/utf8"
)

// maxLabel is the length of a label in CommonMark.
const maxLabel = 999

// definitions takes the reference definitions off the open paragraph's head.
func (p *parser) definitions() {
	for len(p.lines) > 0 && p.text[p.lines[0].Start] == '[' {
		used := p.define()
		if used == 0 {
			return
		}
		last := p.lines[used-1]
		p.top().last, p.top().item = Span{p.lines[0].Start, last.End}, 0
		p.lines = p.lines[used:]
	}
}

// define reads one definition at the head of the collected lines and returns
// how many of them it takes. A label, destination and title stand on at most
// three lines here: that covers what people and programs write.
func (p *parser) define() int {
	end := min(len(p.lines), 3)
	in := &p.in
	in.p = p
	l := leaf{Span: Span{p.lines[0].Start, p.lines[end-1].End}}
	if p.quoted > 0 && end > 1 {
		l.segLo = len(p.segs)
		p.segs = append(p.segs, p.lines[:end]...)
		l.segHi = len(p.segs)
	}
	in.load(l)
	p.segs = p.segs[:len(p.segs)-(l.segHi-l.segLo)]
	s := in.s
	label := labelEnd(s, 0)
	if label == 0 || label >= len(s) || s[label] != ':' {
		return 0
	}
	from := skipSpace(s, label+1)
	dest, i := destination(s, from)
	if i < 0 || i == from {
		return 0
	}
	stop := i
	if j := skipSpace(s, i); j > i && j < len(s) {
		if k := linkTitle(s, j); k > 0 && atLineEnd(s, k) {
			stop = k
		}
	}
	if stop == i && !atLineEnd(s, i) {
		return 0
	}
	key := foldLabel(s[1 : label-1])
	if key == "" {
		return 0
	}
	if p.defs == nil {
		p.defs = make(map[string]definition)
	}
	if _, dup := p.defs[key]; !dup {
		p.defs[key] = definition{raw: s[dest.Start:dest.End]}
	}
	if dest.Len() > 0 {
		d := Link{Kind: Markdown, Definition: true, Text: s[1 : label-1], Span: in.span(0, stop)}
		cut := d.setTarget(s[dest.Start:dest.End])
		d.Dest = in.span(dest.Start, dest.Start+cut)
		if d.Fragment != "" {
			d.Frag = in.span(dest.Start+cut+1, dest.End)
		}
		p.note.addLink(d)
	}
	at := in.at(stop - 1)
	used := 1
	for used < end && p.lines[used].Start <= at {
		used++
	}
	return used
}

func atLineEnd(s string, i int) bool {
	i = trimLeft(s, i, len(s))
	return i == len(s) || s[i] == '\n' || s[i] == '\r'
}

// labelEnd returns the end of the "[label]" at s[i], or 0.
func labelEnd(s string, i int) int {
	for j := i + 1; j < len(s) && j-i <= maxLabel+1; j++ {
		switch s[j] {
		case '\\':
			j++
		case '[':
			return 0
		case ']':
			return j + 1
		}
	}
	return 0
}

// footnoteLabel returns the end of the "[^label]" at s[i], or 0.
func footnoteLabel(s string, i int) int {
	for j := i + 2; j < len(s) && j-i < 100; j++ {
		switch c := s[j]; {
		case c == ']':
			if j == i+2 {
				return 0
			}
			return j + 1
		case c <= ' ' || c == '[' || c == '^':
			return 0
		}
	}
	return 0
}

// foldLabel is how two labels are compared: without case, blanks as one space.
func foldLabel(s string) string {
	return strings.ToLower(strings.ToUpper(strings.Join(strings.Fields(s), " ")))
}

// reference resolves "[text][label]", "[label][]" and "[label]" whose text
// closes at i. It returns the destination and the end, or 0.
func (in *inline) reference(b bracket, i int) (raw string, end int) {
	s := in.s
	text := s[b.pos+1 : i]
	if i+1 < len(s) && s[i+1] == '[' {
		if e := labelEnd(s, i+1); e > 0 {
			if e > i+3 {
				d, ok := in.p.defs[foldLabel(s[i+2:e-1])]
				if !ok {
					return "", 0
				}
				return d.raw, e
			}
			end = e
		}
	}
	if b.inner || len(text) > maxLabel {
		return "", 0
	}
	d, ok := in.p.defs[foldLabel(text)]
	if !ok {
		return "", 0
	}
	return d.raw, max(end, i+1)
}

func decodeRune(s string) (rune, int) {
	if s == "" {
		return 0, 0
	}
	return utf8.DecodeRuneInString(s)
}
