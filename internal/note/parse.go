package note

import (
	"path"
	"sort"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// MaxText is how many bytes of a note are parsed. What lies beyond stays part
// of [Note.Text] and carries a "too_large" problem.
const MaxText = 10 << 20

// Options are what the owner of a vault knows and a single text cannot tell.
// The zero value reads the dialect of Obsidian.
type Options struct {
	// DendronAlias reads [[text|target]] as Dendron writes it. Nothing inside a
	// note tells the two orders apart, so the caller decides (by dendron.yml).
	DendronAlias bool
	// Most is how many links, tags, headings, tasks, fields and block ids are kept,
	// each; 0 keeps as many as any edit needs. A note that has more says so.
	Most int
}

// Parse reads src as the note at path with the zero [Options]. It never fails,
// takes time linear in the size of src and does not keep src.
func Parse(path string, src []byte) *Note { return Options{}.Parse(path, src) }

// Parse is like the function [Parse], for a vault with these options.
func (o Options) Parse(path string, src []byte) *Note {
	n := &Note{Path: path, opt: o}
	n.decode(src)
	p := &parser{note: n, text: n.text[:n.end]}
	body := p.front()
	p.blocks(body)
	p.inlines()
	p.finish()
	n.chunk(body)
	return n
}

// decode fills the text and says what about the bytes forbids edits.
func (n *Note) decode(src []byte) {
	if len(src) >= 2 && (src[0] == 0xFF && src[1] == 0xFE || src[0] == 0xFE && src[1] == 0xFF) {
		n.text = decodeUTF16(src[2:], src[0] == 0xFE)
		n.ReadOnly = true
		n.problem("utf16", "the file is UTF-16; it can be searched but not edited", 0)
	} else {
		n.text = string(src)
		if i := strings.IndexByte(n.text, 0); i >= 0 {
			n.ReadOnly = true
			n.problem("nul_byte", "the file contains NUL bytes", 1+strings.Count(n.text[:i], "\n"))
		}
		if !utf8.ValidString(n.text) {
			n.ReadOnly = true
			n.problem("invalid_utf8", "the file is not valid UTF-8", 0)
		}
	}
	n.end = len(n.text)
	if n.end > MaxText {
		n.end = MaxText
		if i := strings.LastIndexByte(n.text[:MaxText], '\n'); i >= 0 {
			n.end = i + 1
		} else {
			for n.end > 0 && !utf8.RuneStart(n.text[n.end]) {
				n.end--
			}
		}
		n.problem("too_large", "only the first 10 MB are read", 0)
	}
}

func decodeUTF16(b []byte, big bool) string {
	u := make([]uint16, len(b)/2)
	for i := range u {
		lo, hi := b[2*i], b[2*i+1]
		if big {
			lo, hi = hi, lo
		}
		u[i] = uint16(lo) | uint16(hi)<<8
	}
	return string(utf16.Decode(u))
}

func (n *Note) problem(kind, detail string, line int) {
	n.Problems = append(n.Problems, Problem{kind, detail, line})
}

// line tells on which line of the file the byte at pos stands.
func (n *Note) line(pos int) int {
	return max(1, sort.Search(len(n.starts), func(i int) bool { return n.starts[i] > pos }))
}

// finish orders what was found and derives what depends on all of it.
func (p *parser) finish() {
	n := p.note
	if !sort.SliceIsSorted(n.Links, func(i, j int) bool { return before(n.Links[i].Span, n.Links[j].Span) }) {
		sort.SliceStable(n.Links, func(i, j int) bool { return before(n.Links[i].Span, n.Links[j].Span) })
	}
	for i := range n.Links {
		n.Links[i].Line = n.line(n.Links[i].Span.Start)
	}
	sort.SliceStable(n.Fields, func(i, j int) bool { return before(n.Fields[i].Span, n.Fields[j].Span) })
	for i := range n.Fields {
		n.Fields[i].Line = n.line(n.Fields[i].Span.Start)
	}
	n.Lines = len(n.starts) + strings.Count(n.text[n.end:], "\n")
	if n.end < len(n.text) && n.text[len(n.text)-1] != '\n' {
		n.Lines++
	}
	p.logseq()
	sort.SliceStable(n.Tags, func(i, j int) bool { return n.Tags[i].Span.Start < n.Tags[j].Span.Start })
	p.sections()
	n.Title = p.title()
	if v, ok := n.Front.Get("type"); ok {
		n.Type, _ = v.(string)
	}
}

// before orders spans by where they begin, the longer one first.
func before(a, b Span) bool {
	return a.Start < b.Start || a.Start == b.Start && a.End > b.End
}

func (p *parser) title() string {
	if v, ok := p.note.Front.Get("title"); ok {
		if s := strings.TrimSpace(scalarText(v)); s != "" {
			return s
		}
	}
	if p.logseqTitle != "" {
		return p.logseqTitle
	}
	for _, h := range p.note.Headings {
		if h.Level == 1 && h.Text != "" {
			return h.Text
		}
	}
	base := path.Base(p.note.Path)
	if t := strings.TrimSuffix(base, path.Ext(base)); t != "" {
		return t
	}
	return base
}

// sections gives every heading its range. The stack holds the headings that
// are still open, so each is pushed and popped once.
func (p *parser) sections() {
	hs := p.note.Headings
	var open []int
	for i := range hs {
		keep := open[:0]
		for _, j := range open {
			if hs[j].Level >= hs[i].Level && (!hs[i].Nested || hs[j].Nested) || hs[j].Nested && !hs[i].Nested {
				hs[j].Section = Span{hs[j].Span.Start, p.lineStart(hs[i].Span.Start)}
				continue
			}
			keep = append(keep, j)
		}
		open = append(keep, i)
	}
	for _, j := range open {
		hs[j].Section = Span{hs[j].Span.Start, p.note.end}
	}
}

func (p *parser) lineStart(pos int) int { return p.note.starts[p.note.line(pos)-1] }
