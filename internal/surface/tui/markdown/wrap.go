package markdown

import (
	"strings"
	"unicode/utf8"
)

// A flow lays spans into lines.
type flow struct {
	st    Style
	out   []string
	line  strings.Builder
	used  int // columns of the line
	bare  int // of these, what stands before the text
	next  string
	word  []span // the word that is being read
	wide  int
	space bool // a blank belongs before the word
	look  look // of the blank
}

// wrap draws a paragraph.
func (st Style) wrap(text, first, next string) []string {
	return st.spread(st.inline(strings.TrimSuffix(text, "\n"), 0), first, next)
}

// spread lays spans into lines that fit.
func (st Style) spread(spans []span, first, next string) []string {
	f := &flow{st: st, next: next}
	f.begin(first)
	for _, s := range spans {
		f.span(s)
	}
	f.put()
	f.end()
	return f.out
}

func (f *flow) begin(prefix string) {
	f.line.WriteString(prefix)
	f.used = cells(prefix)
	f.bare = f.used
}

func (f *flow) end() {
	if f.used > f.bare || len(f.out) == 0 {
		f.out = append(f.out, f.line.String())
	}
	f.line.Reset()
}

// turn begins the next line.
func (f *flow) turn() {
	f.out = append(f.out, f.line.String())
	f.line.Reset()
	f.begin(f.next)
}

// span reads the words of a span.
func (f *flow) span(s span) {
	for s.text != "" {
		i := strings.IndexAny(s.text, " \n")
		if i < 0 {
			i = len(s.text)
		}
		if i > 0 {
			f.word = append(f.word, span{s.text[:i], s.look})
			f.wide += cells(s.text[:i])
		}
		if i == len(s.text) {
			return
		}
		f.put()
		if s.text[i] == '\n' {
			f.turn()
			f.space = false
		} else {
			f.space, f.look = true, s.look
		}
		s.text = s.text[i+1:]
	}
}

// put sets the word on the line, or on the next one, or breaks it.
func (f *flow) put() {
	if len(f.word) == 0 {
		return
	}
	blank := 0
	if f.space && f.used > f.bare {
		blank = 1
	}
	if f.used+blank+f.wide > f.st.Width && f.used > f.bare {
		f.turn()
		blank = 0
	}
	if blank == 1 {
		f.st.paint(&f.line, " ", f.look&(under|strike))
		f.used++
	}
	for _, s := range f.word {
		for s.text != "" {
			n, w := fits(s.text, f.st.Width-f.used)
			if n == 0 {
				if f.used == f.bare { // not even one character: it is left out
					_, size := utf8.DecodeRuneInString(s.text)
					s.text = s.text[size:]
					continue
				}
				f.turn()
				continue
			}
			f.st.paint(&f.line, s.text[:n], s.look)
			f.used += w
			s.text = s.text[n:]
		}
	}
	f.word, f.wide, f.space = f.word[:0], 0, false
}

// fits is how much of a text fits into so many columns, and how many it takes.
func fits(text string, room int) (n, used int) {
	for i := 0; i < len(text); {
		_, size := utf8.DecodeRuneInString(text[i:])
		w := cells(text[i : i+size])
		if used+w > room {
			return i, used
		}
		used += w
		i += size
	}
	return len(text), used
}

// fit is the beginning of a text that fits on a line.
func (st Style) fit(text string) string {
	n, _ := fits(text, st.Width)
	return text[:n]
}

// broken draws a line of code: what does not fit goes on below.
func (st Style) broken(line, indent string) []string {
	line = strings.TrimRight(line, " ")
	var out []string
	for {
		n, _ := fits(line, st.Width-len(indent))
		if n == 0 && line != "" {
			_, n = utf8.DecodeRuneInString(line)
			line = line[n:]
			continue
		}
		var b strings.Builder
		b.WriteString(indent)
		st.paint(&b, line[:n], mono)
		out = append(out, strings.TrimRight(b.String(), " "))
		if line = line[n:]; line == "" {
			return out
		}
	}
}
