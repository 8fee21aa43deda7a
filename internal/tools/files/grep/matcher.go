// Package grep searches the text of many files for a pattern: it looks for the
// words that every match must contain before it asks the expression, and reads
// several files at once.
//
// It knows no vault: which folders and files may be read, its caller decides.
package grep

import (
	"bytes"
	"regexp"
	"regexp/syntax"
	"strings"

	"lore/internal/fault"
)

// A Matcher decides which lines match. It may be used by several goroutines.
type Matcher struct {
	line *regexp.Regexp // of one line; nil when the words decide alone
	text *regexp.Regexp // of many lines, where no word is known
	// words: one of them is in every line that matches.
	words []word
}

// Compile makes a matcher of an RE2 expression, or of words as they are.
func Compile(pattern string, literal, ignoreCase bool) (*Matcher, error) {
	if pattern == "" {
		return nil, fault.Field("pattern", "give the text to find", "is empty")
	}
	if literal && !strings.Contains(pattern, "\n") && (!ignoreCase || isPlain(pattern)) {
		return &Matcher{words: []word{newWord(pattern, ignoreCase)}}, nil
	}
	if literal {
		pattern = regexp.QuoteMeta(pattern)
	}
	flags := ""
	if ignoreCase {
		flags = "(?i)"
	}
	line, err := regexp.Compile(flags + pattern)
	if err != nil {
		return nil, fault.Field("pattern", "write an RE2 expression, or set literal", "%v", strings.TrimPrefix(err.Error(), "error parsing regexp: "))
	}
	tree, err := syntax.Parse(flags+pattern, syntax.Perl)
	if err != nil {
		return nil, fault.Field("pattern", "write an RE2 expression, or set literal", "%v", err)
	}
	m := &Matcher{line: line}
	list := required(tree.Simplify())
	for _, l := range list {
		m.words = append(m.words, newWord(l.text, l.fold))
	}
	if len(m.words) == 0 {
		m.text, err = regexp.Compile("(?m)" + flags + pattern)
	}
	return m, err
}

// A literal is a text that must be there.
type literal struct {
	text string
	fold bool // in any case
}

// mostWords bounds how many alternatives are looked for one by one.
const mostWords = 16

// required are literals of which one is in every match; none when nobody knows.
func required(re *syntax.Regexp) []literal {
	switch re.Op {
	case syntax.OpLiteral:
		l := literal{string(re.Rune), re.Flags&syntax.FoldCase != 0}
		if l.fold {
			l.text = plainPart(l.text)
		}
		if l.text == "" || strings.Contains(l.text, "\n") {
			return nil
		}
		return []literal{l}
	case syntax.OpCapture, syntax.OpPlus:
		return required(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return required(re.Sub[0])
		}
	case syntax.OpConcat:
		var best []literal
		for _, sub := range re.Sub {
			if list := required(sub); shortest(list) > shortest(best) {
				best = list
			}
		}
		return best
	case syntax.OpAlternate:
		var all []literal
		for _, sub := range re.Sub {
			list := required(sub)
			if len(list) == 0 || len(all)+len(list) > mostWords {
				return nil
			}
			all = append(all, list...)
		}
		return all
	}
	return nil
}

func shortest(list []literal) int {
	if len(list) == 0 {
		return 0
	}
	n := len(list[0].text)
	for _, l := range list {
		n = min(n, len(l.text))
	}
	return n
}

// isPlain reports whether the case of a text is decided by ASCII alone: k and s
// have further forms in Unicode.
func isPlain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c >= 0x80 || c|0x20 == 'k' || c|0x20 == 's' {
			return false
		}
	}
	return true
}

// plainPart is the longest part of a text that is plain.
func plainPart(s string) string {
	best, from := "", 0
	for i := 0; i <= len(s); i++ {
		if i < len(s) && isPlain(s[i:i+1]) {
			continue
		}
		if i-from > len(best) {
			best = s[from:i]
		}
		from = i + 1
	}
	return best
}

// A word is a literal that is looked for.
type word struct {
	text []byte // in lower case, when fold
	fold bool
	rare int // the byte of it that texts have least of
}

func newWord(s string, fold bool) word {
	if !fold {
		return word{text: []byte(s)}
	}
	w := word{text: bytes.ToLower([]byte(s)), fold: true}
	for i, c := range w.text {
		if rarity(c) > rarity(w.text[w.rare]) {
			w.rare = i
		}
	}
	return w
}

// common are the bytes that texts have most of, the most common first.
const common = " etaoinsrhldcumfpgwybvkxjqz"

// rarity grows with how seldom a byte is in texts.
func rarity(c byte) int {
	if i := strings.IndexByte(common, c); i >= 0 {
		return i
	}
	return len(common)
}

// A cursor looks for one word in one text, from its beginning to its end.
type cursor struct {
	word
	at           int // of the last place that was found; -1 before
	lower, upper int // where the rare byte is next, in either case
}

// next is the first place at or after from where the word is, or -1.
func (c *cursor) next(text []byte, from int) int {
	if c.at >= from || c.at == len(text) {
		if c.at == len(text) {
			return -1
		}
		return c.at
	}
	if !c.fold {
		c.at = len(text)
		if i := bytes.Index(text[from:], c.text); i >= 0 {
			c.at = from + i
			return c.at
		}
		return -1
	}
	small := c.text[c.rare]
	large := small
	if 'a' <= small && small <= 'z' {
		large -= 'a' - 'A'
	}
	for at := from + c.rare; ; at++ {
		c.lower = ahead(text, small, c.lower, at)
		next := c.lower
		if large != small {
			c.upper = ahead(text, large, c.upper, at)
			next = min(next, c.upper)
		}
		at = next
		if at >= len(text) {
			c.at = len(text)
			return -1
		}
		if start := at - c.rare; start+len(c.text) <= len(text) && equalFold(text[start:start+len(c.text)], c.text) {
			c.at = start
			return start
		}
	}
}

// ahead is where a byte is at or after from; known is a place where it is, unless
// it lies before.
func ahead(text []byte, c byte, known, from int) int {
	if known >= from && known >= 0 {
		return known
	}
	if from < len(text) {
		if i := bytes.IndexByte(text[from:], c); i >= 0 {
			return from + i
		}
	}
	return len(text)
}

// equalFold compares with a text in lower case, by ASCII.
func equalFold(a, lower []byte) bool {
	for i, c := range a {
		if 'A' <= c && c <= 'Z' {
			c |= 0x20
		}
		if c != lower[i] {
			return false
		}
	}
	return true
}

// A scan goes through the matching lines of one text.
type scan struct {
	m       *Matcher
	text    []byte
	cursors []cursor
	from    int
}

func (m *Matcher) scan(s *scan, text []byte) {
	s.m, s.text, s.from, s.cursors = m, text, 0, s.cursors[:0]
	for _, w := range m.words {
		s.cursors = append(s.cursors, cursor{word: w, at: -1, lower: -1, upper: -1})
	}
}

// next is the next line that matches, without its end; ok is false at the end of
// the text.
func (s *scan) next() (start, end int, ok bool) {
	for s.from < len(s.text) {
		at := s.candidate()
		if at < 0 {
			return 0, 0, false
		}
		start = bytes.LastIndexByte(s.text[:at], '\n') + 1
		end = len(s.text)
		if i := bytes.IndexByte(s.text[at:], '\n'); i >= 0 {
			end = at + i
		}
		s.from = end + 1
		if end > start && s.text[end-1] == '\r' {
			end--
		}
		if s.m.line == nil || s.m.line.Match(s.text[start:end]) {
			return start, end, true
		}
	}
	return 0, 0, false
}

// candidate is a place in the next line that may match, or -1.
func (s *scan) candidate() int {
	if s.m.text != nil {
		loc := s.m.text.FindIndex(s.text[s.from:])
		switch last := len(s.text) - 1; {
		case loc == nil:
			return -1
		case s.from+loc[0] <= last:
			return s.from + loc[0]
		case s.text[last] != '\n': // at the end of the last line
			return last
		}
		return -1
	}
	best := -1
	for i := range s.cursors {
		if at := s.cursors[i].next(s.text, s.from); at >= 0 && (best < 0 || at < best) {
			best = at
		}
	}
	return best
}
