package note

import (
	"math"
	"math/bits"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Sizes of chunks, counted in half words: see size.
const (
	maxChunk   = 2 * 200
	tinyChunk  = 2 * 30
	minCut     = 2 * 60 // a cut at a paragraph or sentence leaves at least this
	maxOverlap = 2 * 40
	longRun    = 24  // bytes without a blank that count as one more word
	lookBack   = 400 // bytes searched for the sentence that two chunks share
)

// A size is how much a text holds, in half words. A word between blanks is two;
// a character of a script without blanks is one; a run without blanks that is
// far too long for a word counts again and again, so that a chunk stays small.
type size struct {
	half int
	// Where the text reached minCut, and where it would pass the limit: its
	// length when it does not.
	floor, end int
}

var blankByte = [256]bool{' ': true, '\t': true, '\n': true, '\r': true, '\v': true, '\f': true}

// Masks for eight bytes looked at together. Every byte gets its high bit set, so
// that subtracting borrows from no neighbour; the bit stays where the byte is no
// blank, that is above ' '.
const (
	highBits = 0x8080808080808080
	aboveAll = 0x2121212121212121
	ones     = 0x0101010101010101
)

func load8(s string, i int) uint64 {
	s = s[i : i+8]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// wordStarts counts the words that begin in eight bytes of ASCII; blank is 1
// when a blank stands before them. It returns the mask of bytes that are none.
func wordStarts(x, blank uint64) (n int, word uint64) {
	word = ((x | highBits) - aboveAll) & highBits >> 7
	return bits.OnesCount64(word & ((word^ones)<<8 | blank)), word
}

// measure counts s until it would hold more than limit half words. Ordinary text
// is counted eight bytes at a time; long runs, other scripts and the places
// that are asked for are walked word by word.
func measure(s string, limit int) size {
	z := size{floor: len(s), end: len(s)}
	blank, full := uint64(1), false
	for i := 0; i < len(s); {
		for i+8 <= len(s) {
			x := load8(s, i)
			if x&highBits != 0 {
				break
			}
			n, word := wordStarts(x, blank)
			if now := z.half + 2*n; now > limit || z.half < minCut && now >= minCut || full && word == ones {
				break
			} else {
				z.half = now
			}
			blank, full = word>>56^1, word == ones
			i += 8
		}
		if blank == 0 {
			z.half -= 2 // the word that goes on here is counted below, whole
			for i > 0 && s[i-1] > ' ' && s[i-1] < utf8.RuneSelf {
				i--
			}
		}
		for i < len(s) && s[i] <= ' ' {
			i++
		}
		blank, full = 1, false
		if i == len(s) {
			break
		}
		var stop bool
		if i, stop = z.word(s, i, limit); stop {
			break
		}
	}
	return z
}

// word counts what begins at s[i] and returns its end, or that the limit would
// be passed.
func (z *size) word(s string, i, limit int) (end int, stop bool) {
	had := z.half
	// A run is not followed further than the limit can reach.
	to := len(s)
	if limit <= maxChunk {
		to = min(to, i+maxChunk*longRun)
	}
	j, single, other := wordEnd(s[:to], i)
	switch {
	case single:
		z.half++
	case other:
		return j, false
	default:
		z.half += 2 + 2*((j-i-1)/longRun)
	}
	if had < minCut && z.half >= minCut {
		z.floor = i
	}
	if z.half <= limit {
		return j, false
	}
	z.end = i
	if fit := (limit - had) / 2; fit > 0 && !single {
		for z.end = i + fit*longRun; z.end > i+1 && !utf8.RuneStart(s[z.end]); z.end-- {
		}
	}
	return j, true
}

// wordEnd returns the end of the word at s[i], or of the one character there
// when it is a word of its own (single) or a blank (other).
func wordEnd(s string, i int) (end int, single, other bool) {
	for j := i; j < len(s); {
		c := s[j]
		if c < utf8.RuneSelf {
			if c <= ' ' {
				return j, false, false
			}
			j++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[j:])
		single = unbroken(r)
		if other = !single && unicode.IsSpace(r); single || other {
			if j > i {
				return j, false, false
			}
			return j + n, single, other
		}
		j += n
	}
	return len(s), false, false
}

// countWords counts words, two characters of a script without blanks as one.
// Eight bytes of ASCII are looked at together.
func countWords(s string) int {
	half, blank := 0, uint64(1)
	for i := 0; i < len(s); {
		if i+8 <= len(s) {
			if x := load8(s, i); x&highBits == 0 {
				n, word := wordStarts(x, blank)
				half += 2 * n
				blank = word>>56 ^ 1
				i += 8
				continue
			}
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		i += n
		switch {
		case r <= ' ' || unicode.IsSpace(r):
			blank = 1
		case unbroken(r):
			half++
			blank = 1
		default:
			half += 2 * int(blank)
			blank = 0
		}
	}
	return (half + 1) / 2
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

// A section is the text from one heading to the next, whatever their levels.
type section struct {
	Span
	path  []string
	level int
	head  int // the end of its heading
	half  int
}

// chunk divides the body, which begins at from. A section that fits is one
// chunk; a tiny one takes in the sections below its heading while they fit, so
// its path stays true; a long one is cut.
func (n *Note) chunk(from int) {
	secs := n.splitSections(from)
	for i := range secs {
		secs[i].half = measure(n.text[secs[i].Start:secs[i].End], maxChunk).half
	}
	n.Words = countWords(n.text[from:n.end])
	n.Chunks = make([]Chunk, 0, len(secs))
	for i := 0; i < len(secs); i++ {
		s := secs[i]
		if s.half > maxChunk {
			n.cut(s)
			continue
		}
		for s.half < tinyChunk && s.level > 0 && i+1 < len(secs) && secs[i+1].level > s.level && s.half+secs[i+1].half <= maxChunk {
			i++
			// Below a bare heading the next one says more truly where the text is.
			if strings.TrimSpace(n.text[s.head:s.End]) == "" {
				s.path, s.head, s.level = secs[i].path, secs[i].head, secs[i].level
			}
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
	secs := append(make([]section, 0, len(n.Headings)+1), section{Span: Span{from, n.end}})
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
		s := section{Span: Span{n.starts[h.Line-1], n.end}, path: append(path, h.Text), level: h.Level, head: h.Span.End}
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
	z := measure(text[start:], maxChunk)
	if start+z.end == len(text) {
		return len(text)
	}
	if i := lastParagraph(text, start+z.floor, start+z.end); i > 0 {
		return i
	}
	if i := lastSentence(text, start+z.floor, start+z.end); i > 0 {
		return i
	}
	return start + z.end
}

// lastParagraph finds the last place in (from, to] where text follows a blank
// line, or 0.
func lastParagraph(text string, from, to int) int {
	seen := 0 // where the text after the line end last looked at begins
	for i := to; i > from; i-- {
		switch c := text[i-1]; {
		case c == '\n' || c == '\r' && (i == len(text) || text[i] != '\n'):
			switch {
			case seen == 0:
				seen = i
			case endsBlock(text, seen):
				seen = 0 // the id names what stands before the blank line
			default:
				return seen
			}
		case c != ' ' && c != '\t' && c != '\r':
			seen = 0
		}
	}
	return 0
}

// lastSentence finds the last place in (from, to] where a sentence, a list item
// or a table row begins, or 0.
func lastSentence(text string, from, to int) int {
	for i := to; i > from; i-- {
		if i < len(text) && (blankByte[text[i]] || !utf8.RuneStart(text[i])) {
			continue
		}
		if c := text[i-1]; c < utf8.RuneSelf && !blankByte[c] {
			continue
		}
		if startsSentence(text, from, i) {
			return i
		}
	}
	return 0
}

// endsBlock reports whether a block id stands at i, the last of its line. It
// belongs to the block before it.
func endsBlock(text string, i int) bool {
	if i >= len(text) || text[i] != '^' {
		return false
	}
	for j := i + 1; j < len(text); j++ {
		switch c := text[j]; {
		case c == '\n' || c == '\r':
			return j > i+1
		case c != '-' && !(c >= '0' && c <= '9') && !(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z'):
			return false
		}
	}
	return len(text) > i+1
}

// beforeBlockID returns the end of the text before the block id that ends at j,
// or j when there is none.
func beforeBlockID(text string, from, j int) int {
	i := j
	for i > from && !blankByte[text[i-1]] {
		i--
	}
	if i == from || i == j || !endsBlock(text[:j], i) {
		return j
	}
	for i > from && blankByte[text[i-1]] {
		i--
	}
	return i
}

// startsSentence looks at what stands before the word at i.
func startsSentence(text string, from, i int) bool {
	if endsBlock(text, i) {
		return false
	}
	j, line := i, false
	for j > from && blankByte[text[j-1]] {
		j--
		line = line || text[j] == '\n' || text[j] == '\r'
	}
	if line {
		j = beforeBlockID(text, from, j)
	}
	if line && i < len(text) && (strings.IndexByte("-*+|>#`~", text[i]) >= 0 || text[i] >= '0' && text[i] <= '9') {
		return true
	}
	gap := j < i
	for j > from && strings.IndexByte(")\"'*_", text[j-1]) >= 0 {
		j--
	}
	if j == from {
		return false
	}
	if c := text[j-1]; c < utf8.RuneSelf {
		return gap && (c == '.' || c == '!' || c == '?')
	}
	r, _ := utf8.DecodeLastRuneInString(text[:j])
	return r == '。' || r == '！' || r == '？'
}

// overlap returns where the chunk behind end begins: at the last sentence
// before it, if that is short; for a cut inside a sentence some words earlier;
// else at end.
func overlap(text string, start, end int) int {
	tail := end
	for tail > start && blankByte[text[tail-1]] {
		tail--
	}
	from := max(start, tail-lookBack)
	at := 0
	if tail > from {
		at = lastSentence(text, from, tail-1)
	}
	if at == 0 && !startsSentence(text, from, end) {
		at = strings.IndexByte(text[max(from, tail-lookBack/4):tail], ' ') + 1 + max(from, tail-lookBack/4)
	}
	if at <= start || at >= end || measure(text[at:end], math.MaxInt).half > maxOverlap {
		return end
	}
	return at
}
