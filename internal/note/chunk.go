package note

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Sizes of chunks, counted in half words: see measure.
const (
	maxChunk   = 2 * 200
	tinyChunk  = 2 * 30
	minCut     = 2 * 60 // a cut at a paragraph or sentence leaves at least this
	maxOverlap = 2 * 40
	longRun    = 24  // bytes without a blank that count as one more word
	lookBack   = 400 // bytes searched for the sentence that two chunks share
)

// A meter counts half words. A word between blanks is two; a character of a
// script without blanks is one; a run without blanks that is far too long for a
// word counts again and again, so that every chunk stays small.
type meter struct {
	half, words int // with and without the extra count for long runs
	inWord      bool
	run         int
}

var blankByte = [256]bool{' ': true, '\t': true, '\n': true, '\r': true, '\v': true, '\f': true}

// step counts what begins at s[i] and returns its size, and whether a new unit
// begins with it.
func (m *meter) step(s string, i int) (size int, begins bool) {
	c := s[i]
	if c < utf8.RuneSelf {
		if blankByte[c] {
			m.inWord = false
			return 1, false
		}
		return 1, m.word(1)
	}
	r, size := utf8.DecodeRuneInString(s[i:])
	switch {
	case unbroken(r):
		m.half++
		m.words++
		m.inWord = false
		return size, true
	case unicode.IsSpace(r):
		m.inWord = false
		return size, false
	}
	return size, m.word(size)
}

func (m *meter) word(size int) bool {
	if !m.inWord {
		m.inWord, m.run = true, size
		m.half += 2
		m.words += 2
		return true
	}
	if m.run += size; m.run > longRun {
		m.run = size
		m.half += 2
		return true
	}
	return false
}

// unbroken reports whether r belongs to a script that is written without blanks
// between words.
func unbroken(r rune) bool {
	switch {
	case r < 0x0E00:
		return false
	case r <= 0x0EFF, r >= 0x1000 && r <= 0x109F, r >= 0x1780 && r <= 0x17FF:
		return true
	case r < 0x2E80 || r == 0x3000:
		return false
	}
	return r <= 0x9FFF || r >= 0xAC00 && r <= 0xD7AF || r >= 0xF900 && r <= 0xFAFF || r >= 0xFF00 && r <= 0xFFEF || r >= 0x20000 && r <= 0x3FFFF
}

func measure(s string) meter {
	var m meter
	for i := 0; i < len(s); {
		size, _ := m.step(s, i)
		i += size
	}
	return m
}

// A section is the text from one heading to the next, whatever their levels.
type section struct {
	Span
	path  []string
	level int
	half  int
}

// chunk divides the body, which begins at from. A section that fits is one
// chunk; a tiny one takes in the sections below its heading while they fit; a
// long one is cut.
func (n *Note) chunk(from int) {
	secs := n.splitSections(from)
	words := 0
	for i := range secs {
		m := measure(n.text[secs[i].Start:secs[i].End])
		secs[i].half = m.half
		words += m.words
	}
	n.Words = (words + 1) / 2
	for i := 0; i < len(secs); i++ {
		s := secs[i]
		if s.half > maxChunk {
			n.cut(s)
			continue
		}
		for s.half < tinyChunk && i+1 < len(secs) && secs[i+1].level > s.level && s.half+secs[i+1].half <= maxChunk {
			i++
			s.half += secs[i].half
			s.End = secs[i].End
		}
		n.addChunk(s.path, s.Start, s.End)
	}
}

// splitSections cuts the body at its headings. Headings inside lists and quotes
// count only where a note has no others, as in Logseq.
func (n *Note) splitSections(from int) []section {
	nested := true
	for _, h := range n.Headings {
		nested = nested && h.Nested
	}
	secs := []section{{Span: Span{from, n.end}}}
	var open []section
	for _, h := range n.Headings {
		if h.Nested && !nested {
			continue
		}
		for len(open) > 0 && open[len(open)-1].level >= h.Level {
			open = open[:len(open)-1]
		}
		var path []string
		if len(open) > 0 {
			up := open[len(open)-1].path
			path = append(make([]string, 0, len(up)+1), up...)
		}
		s := section{Span: Span{n.starts[h.Line-1], n.end}, path: append(path, h.Text), level: h.Level}
		secs[len(secs)-1].End = s.Start
		secs = append(secs, s)
		open = append(open, s)
	}
	return secs
}

func (n *Note) addChunk(path []string, start, end int) {
	for start < end && blankByte[n.text[start]] {
		start++
	}
	for end > start && blankByte[n.text[end-1]] {
		end--
	}
	if start == end {
		return
	}
	n.Chunks = append(n.Chunks, Chunk{Headings: path, Text: n.text[start:end], Span: Span{start, end}, Line: n.line(start)})
}

// A place is where a long section may be cut, and how much stands before it.
type place struct{ pos, half int }

// cut divides a section that is too long: at a paragraph, else at a sentence,
// else between words. Neighbours share a sentence where one is short enough.
func (n *Note) cut(s section) {
	text := n.text[:s.End]
	for start := s.Start; start < s.End; {
		end := nextCut(text, start)
		n.addChunk(s.path, start, end)
		if end == s.End {
			return
		}
		start = max(overlap(text, start, end), start+1)
	}
}

// nextCut returns where the chunk that begins at start ends.
func nextCut(text string, start int) int {
	var m meter
	var para, sentence place
	b := boundary{text: text}
	for i := start; i < len(text); {
		had := m.half
		size, begins := m.step(text, i)
		if begins && m.half > maxChunk {
			switch {
			case para.half >= minCut:
				return para.pos
			case sentence.half >= minCut:
				return sentence.pos
			}
			return i
		}
		switch b.at(i, size) {
		case 2:
			para, sentence = place{i, had}, place{i, had}
		case 1:
			sentence = place{i, had}
		}
		i += size
	}
	return len(text)
}

// A boundary watches for the beginnings of sentences and paragraphs.
type boundary struct {
	text  string
	lines int // line ends since the last character
	ended bool
	last  rune
}

// at is told every character in turn. It returns 2 where a paragraph begins, 1
// where a sentence, a list item or a table row does, else 0.
func (b *boundary) at(i, size int) int {
	c := b.text[i]
	if blankByte[c] {
		if c == '\n' || c == '\r' && (i+1 >= len(b.text) || b.text[i+1] != '\n') {
			b.lines++
		}
		if b.last == '.' || b.last == '!' || b.last == '?' {
			b.ended = true
		}
		return 0
	}
	kind := 0
	switch {
	case b.lines > 1:
		kind = 2
	case b.ended, b.lines == 1 && (strings.IndexByte("-*+|>#`~", c) >= 0 || c >= '0' && c <= '9'):
		kind = 1
	}
	r := rune(c)
	if c >= utf8.RuneSelf {
		r, _ = utf8.DecodeRuneInString(b.text[i : i+size])
	}
	b.lines, b.ended = 0, r == '。' || r == '！' || r == '？'
	// A closing mark behind the full stop does not hide it.
	if strings.IndexRune(")\"'*_”’）」", r) < 0 {
		b.last = r
	}
	return kind
}

// overlap returns where the chunk behind end begins: at the last sentence
// before it, if that is short, and for a cut inside a sentence some words
// earlier; else at end.
func overlap(text string, start, end int) int {
	from := max(start+1, end-lookBack)
	for from < end && !utf8.RuneStart(text[from]) {
		from++
	}
	b := boundary{text: text[:end], lines: 0}
	best, word := end, end
	tail := end
	for tail > from && blankByte[text[tail-1]] {
		tail--
	}
	var m meter
	for i := from; i < tail; {
		inWord := m.inWord
		size, begins := m.step(text, i)
		if b.at(i, size) > 0 {
			best = i
		}
		if begins && !inWord && word == end && i >= end-lookBack/4 {
			word = i
		}
		i += size
	}
	if best == end && tail == end || best == end && !sentenceEnd(text[:tail]) {
		best = word
	}
	if best <= start || measure(text[best:end]).half > maxOverlap {
		return end
	}
	return best
}

func sentenceEnd(s string) bool {
	r, _ := utf8.DecodeLastRuneInString(strings.TrimRight(s, ")\"'*_"))
	return strings.ContainsRune(".!?。！？", r)
}
