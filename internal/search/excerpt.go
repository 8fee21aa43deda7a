package search

import (
	"math"
	"strings"
	"unicode"
	"unicode/utf8"

	"lore/internal/index"
	"lore/internal/note"
)

func wordSet(s string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(s) {
		out[w] = true
	}
	return out
}

func notLetter(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) }

// notInWord lets the accents stand that Unicode writes after their letter.
func notInWord(r rune) bool { return notLetter(r) && !unicode.IsMark(r) }

// asked is what an excerpt should show: stems of words, and grams of scripts
// without spaces.
type asked struct {
	stems map[string]int // stem or gram to its number
}

func newAsked(q Query) *asked {
	a := &asked{stems: map[string]int{}}
	words := content(q.Words)
	for _, p := range q.Phrases {
		words = append(words, strings.FieldsFunc(p, notInWord)...)
	}
	for _, g := range grams(words) {
		if s := stem(g); s != "" {
			if _, ok := a.stems[s]; !ok {
				a.stems[s] = len(a.stems)
			}
		}
	}
	return a
}

// each hands over what of a text was asked for, by its number and its place. A
// character may be part of several grams.
func (a *asked) each(text string, f func(which, start, end int)) {
	var starts, ends [3]int // of the last characters of a script without spaces
	var run [3]rune
	n := 0 // how many of them stand together
	eachWord(text, func(w string, start, end int) {
		r, _ := utf8.DecodeRuneInString(w)
		if !index.Unspaced(r) {
			n = 0
			if i, ok := a.stems[stem(w)]; ok {
				f(i, start, end)
			}
			return
		}
		if n > 0 && ends[2] != start && text[ends[2]:start] != "\n" {
			n = 0
		}
		if unicode.IsMark(r) { // it belongs to the letter before it
			ends[2] = end
			return
		}
		copy(starts[:], starts[1:])
		copy(ends[:], ends[1:])
		copy(run[:], run[1:])
		starts[2], ends[2], run[2] = start, end, r
		n = min(n+1, len(run))
		for size := n; size > 0; size-- {
			if i, ok := a.stems[string(run[len(run)-size:])]; ok {
				f(i, starts[len(run)-size], end)
			}
		}
	})
}

// choose picks the passage that a hit is shown by: the one that has most of the
// words, with a lead for the one nearest in meaning.
func (a *asked) choose(h *Hit, ps []index.Passage) {
	best, top := -1, -1.0
	for i, p := range ps {
		score := a.score(p.Heading + "\n" + p.Text)
		if p.Seq == h.seq {
			score += 0.8
		}
		if score > top {
			best, top = i, score
		}
	}
	if best < 0 {
		return
	}
	p := ps[best]
	h.Heading, h.Line, h.Passage = p.Heading, p.Line, p.Text
	h.asked = a
	h.Excerpt, h.Marks = a.excerpt(note.Plain(p.Text))
}

// score counts the different words that occur, and a little their repetition.
func (a *asked) score(text string) float64 {
	times := make([]int, len(a.stems))
	a.each(text, func(which, _, _ int) { times[which]++ })
	s := 0.0
	for _, n := range times {
		if n > 0 {
			s += 1 + 0.2*math.Log(float64(n))
		}
	}
	return s
}

// excerptBytes is how long an excerpt is, about three lines of a terminal.
const excerptBytes = 240

// excerpt cuts the part of a text that shows most of what was asked.
func (a *asked) excerpt(text string) (string, []Mark) {
	var marks []Mark
	var which []int
	a.each(text, func(i, start, end int) {
		marks = append(marks, Mark{start, end})
		which = append(which, i)
	})
	from, to := window(text, marks, which)
	out := text[from:to]
	shift := from
	if from > 0 {
		out = "… " + strings.TrimLeft(out, " ")
		shift = from + (to - from) - len(strings.TrimLeft(text[from:to], " ")) - len("… ")
	}
	if to < len(text) {
		out = strings.TrimRight(out, " ") + " …"
	}
	var shown []Mark
	for _, m := range marks {
		if m.Start < from || m.End > to {
			continue
		}
		m = Mark{m.Start - shift, m.End - shift}
		if last := len(shown) - 1; last >= 0 && m.Start < shown[last].End { // grams overlap
			shown[last] = Mark{min(shown[last].Start, m.Start), max(shown[last].End, m.End)}
			continue
		}
		shown = append(shown, m)
	}
	return out, shown
}

// window finds the stretch of the text with the most different words, earliest
// first, and moves its ends to the gaps between words.
func window(text string, marks []Mark, which []int) (from, to int) {
	if len(text) <= excerptBytes {
		return 0, len(text)
	}
	best, bestAt := 0, 0
	for i := range marks {
		seen := map[int]bool{}
		for j := i; j < len(marks) && marks[j].End-marks[i].Start <= excerptBytes*3/4; j++ {
			seen[which[j]] = true
		}
		if len(seen) > best {
			best, bestAt = len(seen), i
		}
	}
	if best == 0 {
		return 0, wordEnd(text, excerptBytes)
	}
	from = max(0, marks[bestAt].Start-excerptBytes/5)
	if from > 0 {
		from = wordStart(text, from, marks[bestAt].Start)
	}
	return from, wordEnd(text, min(len(text), from+excerptBytes))
}

func wordStart(text string, at, before int) int {
	if i := strings.IndexByte(text[at:before], ' '); i >= 0 {
		return at + i + 1
	}
	for at < before && !utf8.RuneStart(text[at]) {
		at++
	}
	return at
}

func wordEnd(text string, at int) int {
	if at >= len(text) {
		return len(text)
	}
	if i := strings.LastIndexByte(text[:at], ' '); i > at-40 && i > 0 {
		return i
	}
	for at > 0 && !utf8.RuneStart(text[at]) {
		at--
	}
	return at
}

// eachWord hands every word of a text to f with its place. Characters of
// unspaced scripts are words of their own.
func eachWord(text string, f func(word string, start, end int)) {
	start := -1
	flush := func(end int) {
		if start >= 0 {
			f(text[start:end], start, end)
			start = -1
		}
	}
	for i, r := range text {
		switch {
		case index.Unspaced(r):
			flush(i)
			f(string(r), i, i+utf8.RuneLen(r))
		case unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r):
			if start < 0 {
				start = i
			}
		default:
			flush(i)
		}
	}
	flush(len(text))
}

// stem is a light form of what the full-text index does to words, good enough
// to mark them: it need only bring the forms of a word together.
func stem(w string) string {
	w = strings.ToLower(w)
	if len(w) <= 3 {
		return w
	}
	for _, s := range [][2]string{{"ies", "y"}, {"sses", "ss"}, {"ing", ""}, {"edly", ""}, {"ed", ""}, {"ly", ""}, {"es", ""}, {"s", ""}} {
		if rest, ok := strings.CutSuffix(w, s[0]); ok && len(rest) >= 3 {
			if s[0] == "s" && strings.HasSuffix(rest, "s") {
				break
			}
			w = rest + s[1]
			break
		}
	}
	if n := len(w); n > 3 && w[n-1] == w[n-2] && w[n-1] != 's' && w[n-1] != 'l' && w[n-1] < 0x80 {
		w = w[:n-1] // running → run
	}
	return strings.TrimSuffix(w, "e")
}
