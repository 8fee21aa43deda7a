package change

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// A Loss is what of a file's old text is in none of the new ones.
type Loss struct {
	Path  string
	Words int // of the old text
	Gone  int // of them
	size  int // the old text's words in characters: one long word can hold as much as many short ones
	gone  int
}

// Share is how much is gone, from 0 to 1.
func (l Loss) Share() float64 {
	if l.size == 0 {
		return 0
	}
	return max(float64(l.Gone)/float64(l.Words), float64(l.gone)/float64(l.size))
}

// String says it in words.
func (l Loss) String() string {
	if l.Words == 1 {
		return fmt.Sprintf("%d of 1 word in %s would be lost", l.Gone, l.Path)
	}
	return fmt.Sprintf("%d of %d words in %s would be lost", l.Gone, l.Words, l.Path)
}

// Losses measures what every file loses that s changes, most of it first. What
// moved to another line, or to another file of the set, is not lost. A file that
// s removes whole is no loss here: see [Set.Destroys]. The cost is linear in the
// texts.
func (s Set) Losses() []Loss {
	kept := newRemains(s)
	var texts []oldText
	for _, e := range s {
		if e.Before != nil && e.After != nil {
			texts = append(texts, oldText{path: cmp.Or(e.From, e.Path), lines: textLines(*e.Before)})
		}
	}
	for i := range texts {
		kept.takeLines(&texts[i])
	}
	kept.countRuns()
	var out []Loss
	for i := range texts {
		if l := kept.lossOf(&texts[i]); l.Gone > 0 {
			out = append(out, l)
		}
	}
	slices.SortStableFunc(out, func(a, b Loss) int { return cmp.Compare(b.Share(), a.Share()) })
	return out
}

// An oldText is what a file held, line by line.
type oldText struct {
	path  string
	lines []string
	left  []string // the lines that are in no new text as they are
}

// remains is what the new texts have that old ones can have gone into. It is
// counted, so that one line does not stand for two.
type remains struct {
	lines map[string]int
	order []string // the lines of all new texts, in order
	runs  map[string]int
}

func newRemains(s Set) *remains {
	r := &remains{lines: map[string]int{}, runs: map[string]int{}}
	for _, e := range s {
		if e.After == nil {
			continue
		}
		for _, l := range textLines(*e.After) {
			r.lines[l]++
			r.order = append(r.order, l)
		}
		r.order = append(r.order, "") // a run of words does not go over the end of a text
	}
	return r
}

// takeLines takes the lines out that are still there.
func (r *remains) takeLines(t *oldText) {
	for _, l := range t.lines {
		if r.lines[l] > 0 {
			r.lines[l]--
			continue
		}
		t.left = append(t.left, l)
	}
}

// countRuns counts the runs of words in the new lines that no old line is.
func (r *remains) countRuns() {
	var words []string
	flush := func() {
		for i := range words {
			r.runs[runAt(words, i)]++
		}
		words = words[:0]
	}
	for _, l := range r.order {
		switch {
		case l == "":
			flush()
		case r.lines[l] > 0:
			r.lines[l]--
			words = append(words, wordsOf(l)...)
		}
	}
	flush()
}

// run is how many words in a row must still be there to be the same text. Single
// words prove nothing: all notes are made of the same ones.
const run = 3

// runAt is the run of words that begins at i; at the end of a text shorter ones
// count too.
func runAt(words []string, i int) string {
	return strings.Join(words[i:min(i+run, len(words))], " ")
}

// lossOf counts the words of an old text that are in no run that is still there.
func (r *remains) lossOf(t *oldText) Loss {
	l := Loss{Path: t.path}
	for _, line := range t.lines {
		for _, w := range wordsOf(line) {
			l.Words++
			l.size += len(w)
		}
	}
	var words []string
	for _, line := range t.left {
		words = append(words, wordsOf(line)...)
	}
	covered := 0 // words before this one are still there
	for i, w := range words {
		key := runAt(words, i)
		if r.runs[key] > 0 && (len(words)-i >= run || covered > i || len(words) < run) {
			r.runs[key]--
			covered = max(covered, i+run)
		}
		if i >= covered {
			l.Gone++
			l.gone += len(w)
		}
	}
	return l
}

// textLines are the lines of a text that say something, without the space
// around them and without a carriage return.
func textLines(s string) []string {
	var out []string
	for l := range strings.FieldsFuncSeq(s, func(r rune) bool { return r == '\n' || r == '\r' }) {
		if l = strings.TrimSpace(l); l != "" {
			out = append(out, l)
		}
	}
	return out
}

// wordsOf are the words of a line. Where there is none, what is there counts: a
// line of a table, a drawing.
func wordsOf(line string) []string {
	var words, rest []string
	for _, t := range tokens(line) {
		switch r := []rune(t)[0]; {
		case unicode.IsSpace(r):
		case unicode.IsLetter(r), unicode.IsDigit(r), unicode.IsMark(r), unicode.IsSymbol(r), r == '_':
			words = append(words, t)
		default:
			rest = append(rest, t)
		}
	}
	if len(words) == 0 {
		return rest
	}
	return words
}
