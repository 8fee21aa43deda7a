package summarize

import (
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Weights of the choice. They were set by reading digests of notes, not by a
// measurement; none of them decides more than the order of near equals.
const (
	leads     = 0.20 // the first sentence of a text; half of it the second
	begins    = 0.05 // the first of a paragraph
	titled    = 0.25 // times the likeness to the title
	headed    = 0.10 // times the likeness to its heading
	listed    = 0.10 // an item: more as a key point, less in a summary
	diversity = 1.0  // times the likeness to what was picked
	spoken    = 0.25 // another sentence of the same text was picked
	same      = 0.60 // likeness from which a sentence says nothing new
)

// A term is a word of a sentence with its weight.
type term struct {
	id     int
	weight float64
}

// A picker chooses sentences one after the other.
type picker struct {
	all    []sentence
	terms  [][]term // of each sentence, by id, of length 1
	worth  []float64
	runes  []int
	like   []float64 // likeness to the nearest picked sentence
	docs   int
	spoke  []int // sentences picked of each text
	chosen []int // of the summary, in the order of the choice
}

func newPicker(all []sentence, docs []Doc, title string) *picker {
	p := &picker{all: all, docs: len(docs), spoke: make([]int, len(docs)), like: make([]float64, len(all))}
	v := vocabulary{ids: map[string]int{}}
	for _, s := range all {
		p.terms = append(p.terms, v.count(s.text))
		p.runes = append(p.runes, utf8.RuneCountInString(s.text))
	}
	sum := make([]float64, len(v.seen))
	for _, t := range p.terms {
		v.weigh(t, len(all))
		for _, x := range t {
			sum[x.id] += x.weight
		}
	}
	p.worth = make([]float64, len(all))
	top := 0.0
	for i, t := range p.terms {
		for _, x := range t {
			p.worth[i] += x.weight * (sum[x.id] - x.weight) // the likeness to all others, added up
		}
		top = max(top, p.worth[i])
	}
	titles := make([][]term, len(docs))
	for i, d := range docs {
		titles[i] = v.known(d.Title+" "+title, len(all))
	}
	heading, under := []term(nil), ""
	for i, s := range all {
		if top > 0 {
			p.worth[i] /= top
		}
		if s.heading != under {
			heading, under = v.known(s.heading, len(all)), s.heading
		}
		p.worth[i] = p.worth[i]*fullness(s.text, len(p.terms[i])) + p.bonus(i, titles[s.doc], heading)
	}
	return p
}

func (p *picker) bonus(i int, title, heading []term) float64 {
	s := p.all[i]
	b := titled*dot(p.terms[i], title) + headed*dot(p.terms[i], heading)
	if s.place < 4 {
		b += leads / float64(s.place+1)
	}
	if s.first {
		b += begins
	}
	return b
}

// fullness is less than 1 for what can hardly stand alone.
func fullness(text string, terms int) float64 {
	f := 1.0
	switch {
	case terms < 2:
		f = 0.2
	case terms < 4:
		f = 0.6
	}
	if last, _ := utf8.DecodeLastRuneInString(text); last == ':' || last == '?' || last == '：' || last == '？' {
		f *= 0.6
	}
	return f
}

// pick takes the best sentence that ok accepts, or gives -1.
func (p *picker) pick(extra func(int) float64, ok func(int) bool) int {
	best, score := -1, math.Inf(-1)
	for i := range p.all {
		if p.like[i] >= same || !ok(i) {
			continue
		}
		s := p.worth[i] - diversity*p.like[i] + extra(i)
		if p.docs > 1 {
			s -= spoken * float64(p.spoke[p.all[i].doc])
		}
		if s > score {
			best, score = i, s
		}
	}
	if best < 0 {
		return best
	}
	p.spoke[p.all[best].doc]++
	for i := range p.all {
		p.like[i] = max(p.like[i], dot(p.terms[i], p.terms[best]))
	}
	p.like[best] = 1
	return best
}

// prose is what a summary would rather be made of.
func (p *picker) prose(i int) float64 {
	if p.all[i].item {
		return -listed
	}
	return 0
}

// summary fills the limit with the best sentences.
func (p *picker) summary(limit int) string {
	left := limit
	for {
		at := p.pick(p.prose, func(i int) bool { return p.runes[i] <= left && (len(p.terms[i]) >= 2 || len(p.all) == 1) })
		if at < 0 {
			break
		}
		p.chosen = append(p.chosen, at)
		left -= p.runes[at] + 2
	}
	if len(p.chosen) == 0 {
		return p.clip(limit)
	}
	return join(ordered(p.all, slices.Clone(p.chosen)))
}

// join puts sentences into one line; items of lists often end in no mark.
func join(sentences []string) string {
	var b strings.Builder
	for i, s := range sentences {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(s)
		last, _ := utf8.DecodeLastRuneInString(s)
		if i < len(sentences)-1 && (unicode.IsLetter(last) || unicode.IsDigit(last)) {
			b.WriteByte(';')
		}
	}
	return b.String()
}

// clip shortens the best sentence of which anything fits.
func (p *picker) clip(limit int) string {
	for {
		at := p.pick(p.prose, func(int) bool { return true })
		if at < 0 {
			return ""
		}
		if s := Shorten(p.all[at].text, limit); s != "" {
			p.chosen = []int{at}
			return s
		}
	}
}

// points are the best of what the summary left out.
func (p *picker) points(count int) []string {
	var got []int
	extra := func(i int) float64 { return -p.prose(i) }
	for len(got) < count {
		at := p.pick(extra, func(i int) bool { return p.runes[i] <= maxPoint && len(p.terms[i]) >= 2 })
		if at < 0 {
			break
		}
		got = append(got, at)
	}
	if len(got) == 0 {
		for _, at := range p.chosen {
			if p.runes[at] <= maxPoint && len(got) < count {
				got = append(got, at)
			}
		}
	}
	if len(got) == 0 {
		return nil
	}
	return ordered(p.all, got)
}

// dot multiplies two lists of terms that are sorted by id.
func dot(a, b []term) float64 {
	sum := 0.0
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i].id < b[j].id:
			i++
		case a[i].id > b[j].id:
			j++
		default:
			sum += a[i].weight * b[j].weight
			i, j = i+1, j+1
		}
	}
	return sum
}

// A vocabulary numbers words and counts the sentences they stand in.
type vocabulary struct {
	ids  map[string]int
	seen []int
}

// count reads the words of a sentence that counts for how rare words are.
func (v *vocabulary) count(text string) []term {
	var out []term
	eachWord(text, func(w string) {
		id, ok := v.ids[w]
		if !ok {
			id = len(v.seen)
			v.ids[w] = id
			v.seen = append(v.seen, 0)
		}
		out = append(out, term{id, 1})
	})
	out = merge(out)
	for _, t := range out {
		v.seen[t.id]++
	}
	return out
}

// known reads the words of a title: those that no sentence has do not count.
func (v *vocabulary) known(text string, sentences int) []term {
	var out []term
	eachWord(text, func(w string) {
		if id, ok := v.ids[w]; ok {
			out = append(out, term{id, 1})
		}
	})
	out = merge(out)
	v.weigh(out, sentences)
	return out
}

func merge(t []term) []term {
	slices.SortFunc(t, func(a, b term) int { return a.id - b.id })
	out := t[:0]
	for _, x := range t {
		if n := len(out); n > 0 && out[n-1].id == x.id {
			out[n-1].weight++
		} else {
			out = append(out, x)
		}
	}
	return out
}

// weigh turns counts into weights of a vector of length 1: a word counts with
// the logarithm of its repetitions, and the more the rarer it is.
func (v *vocabulary) weigh(t []term, sentences int) {
	norm := 0.0
	for i, x := range t {
		w := (1 + math.Log(x.weight)) * math.Log(1+float64(sentences)/float64(v.seen[x.id]))
		t[i].weight = w
		norm += w * w
	}
	if norm = math.Sqrt(norm); norm > 0 {
		for i := range t {
			t[i].weight /= norm
		}
	}
}

// eachWord hands over the words that carry meaning, in one form: small letters,
// no plural s; each character of a script without blanks.
func eachWord(text string, use func(string)) {
	text = strings.ToLower(text)
	start := -1
	end := func(at int) {
		if start >= 0 {
			if w := stem(text[start:at]); !empty[w] {
				use(w)
			}
			start = -1
		}
	}
	for i, r := range text {
		switch {
		case unbroken(r):
			end(i)
			if unicode.IsLetter(r) {
				use(text[i : i+utf8.RuneLen(r)])
			}
		case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r):
			if start < 0 {
				start = i
			}
		default:
			end(i)
		}
	}
	end(len(text))
}

func stem(w string) string {
	if len(w) > 3 && w[len(w)-1] == 's' && w[len(w)-2] != 's' && w[len(w)-2] != 'u' {
		return w[:len(w)-1]
	}
	return w
}

// empty are the words of English that carry no meaning of their own.
var empty = setOf(`a an and are as at be been but by can could did do does for from had has ha have he her his how i if in into is it it its just me more most
	my no nor not of on or our out she should so some such than that the their them then there these they thi this those to too us very wa was we were what
	when where which while who whom why will with would you your s t re ve ll d m don also may might must about over under only own same other each both any all`)
