package stance

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// maxText is how much of a text is looked at: where a note says what it thinks
// is rarely further down.
const maxText = 16 << 10

// longest is how many words a sentence has at the most; more are another one.
const longest = 200

// A meaning is what the lexicons say of a word.
type meaning struct {
	feel feeling
	robs bool
	side int8 // 1 for, -1 against
}

// A token is one word of a text.
type token struct {
	text string // in small letters
	root string // what words of one family share; "" for words without meaning of their own
	asks bool   // it is the last of a question
	meaning
}

// A dictionary holds words and beginnings of words. Of the beginnings it knows
// the longest by their first three letters, which most words do not have.
type dictionary struct {
	words, starts map[string]meaning
	longest       map[[3]byte]int
}

var lexicon = sync.OnceValue(func() *dictionary {
	d := &dictionary{map[string]meaning{}, map[string]meaning{}, map[[3]byte]int{}}
	for _, l := range []struct {
		words string
		feel  feeling
	}{{goodWords, good}, {badWords, bad}, {lessening, lessens}, {hindering, hinders}, {solving, solves}, {negators, negates}} {
		d.add(l.words, func(m *meaning) { m.feel = l.feel })
	}
	d.add(robbing, func(m *meaning) { m.robs = true })
	d.add(siding, func(m *meaning) { m.side = 1 })
	d.add(opposing, func(m *meaning) { m.side = -1 })
	return d
})

func (d *dictionary) add(words string, set func(*meaning)) {
	for w := range strings.FieldsSeq(words) {
		in := d.words
		if start, ok := strings.CutSuffix(w, "*"); ok {
			w, in = start, d.starts
			three := [3]byte([]byte(w))
			d.longest[three] = max(d.longest[three], len(w))
		}
		m := in[w]
		set(&m)
		in[w] = m
	}
}

// of merges what is said of the word with what is said of its beginnings, the
// longest first.
func (d *dictionary) of(w string) meaning {
	m := d.words[w]
	if len(w) < 3 {
		return m
	}
	for n := min(len(w), d.longest[[3]byte{w[0], w[1], w[2]}]); n > 2; n-- {
		s, ok := d.starts[w[:n]]
		if !ok {
			continue
		}
		if m.feel == flat {
			m.feel = s.feel
		}
		if m.side == 0 {
			m.side = s.side
		}
		m.robs = m.robs || s.robs
	}
	return m
}

// A sentence is the words of one.
type sentence []token

// read takes a text apart into sentences of words.
func read(text string) []sentence {
	d := lexicon()
	text = strings.ReplaceAll(strings.ToLower(clip(text)), "’", "'")
	var out []sentence
	all := make([]token, 0, len(text)/6+8)
	from := 0 // in all, where the sentence begins
	flush := func() {
		if n := len(all); n > from {
			out = append(out, all[from:n:n])
			from = n
		}
	}
	start := -1
	for i := 0; i <= len(text); {
		r, size := rune(-1), 1
		if i < len(text) {
			r, size = utf8.DecodeRuneInString(text[i:])
		}
		switch {
		case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r):
			if start < 0 {
				start = i
			}
		case start >= 0 && inside(text, i, r): // don't, 3.5, well-known
		default:
			if start >= 0 {
				all = append(all, d.token(text[start:i]))
				start = -1
			}
			if len(all)-from == longest {
				flush()
			}
			if (r == '?' || r == '？') && len(all) > from {
				all[len(all)-1].asks = true
			}
			if r == '\n' || strings.ContainsRune(".!?;。！？", r) {
				flush()
			}
		}
		i += size
	}
	flush()
	return out
}

// inside reports whether a mark at i joins two parts of one word.
func inside(text string, i int, r rune) bool {
	if r != '\'' && r != '-' && r != '.' && r != ',' || i+1 >= len(text) {
		return false
	}
	next, last := text[i+1], text[i-1]
	digits := next >= '0' && next <= '9' && last >= '0' && last <= '9'
	letter := next >= 'a' && next <= 'z' || next >= utf8.RuneSelf
	return digits || letter && (r == '\'' || r == '-')
}

func clip(text string) string {
	if len(text) <= maxText {
		return text
	}
	i := maxText
	for i > 0 && !utf8.RuneStart(text[i]) {
		i--
	}
	return text[:i]
}

func (d *dictionary) token(w string) token {
	w = strings.TrimSuffix(w, "'s")
	t := token{text: w, meaning: d.of(w)}
	if !empty[w] && t.feel != negates && len(w) > 1 {
		t.root = root(w)
	}
	return t
}

// root cuts a word down to what its family shares. It need not be a word, and
// joins a few that do not belong together.
func root(w string) string {
	if w[0] >= '0' && w[0] <= '9' {
		return w
	}
	for _, s := range endings {
		if len(w)-len(s) >= 4 && strings.HasSuffix(w, s) {
			w = w[:len(w)-len(s)]
			break
		}
	}
	n := 0
	for i := range w {
		if n++; n > 6 {
			return w[:i]
		}
	}
	return w
}

var endings = strings.Fields("ization isation ational ations ation ements ement ments ment ingly ings ing ies ied ers er ed es ly s e y")

// empty are words that say nothing of their own about a subject.
var empty = set(`a an the of to in on for and or is are was were be been being am that this these those it its as by at with from has have had will would should can could
	may might must shall do does did house believes believe there their they we our us i you your he she his her him them than then also who whom whose which what when where how why so such if but
	more most much many very some any all each every both other another own same only just even still yet too however although though while because since until into onto over under up down out off about
	between through during before after above below again once here one two first new case thing things way ways s t re ve ll d m`)
