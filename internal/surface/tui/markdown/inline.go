package markdown

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"lore/internal/surface/cli/draw"
)

// A look is how a piece of text is painted.
type look uint8

const (
	bold look = 1 << iota
	italic
	strike
	under
	mono // code
	cite // a note that is named
	dim
)

// A span is a piece of text with one look.
type span struct {
	text string
	look look
}

// A delim is a mark of emphasis, as long as nobody knows its partner.
type delim struct {
	span    int // where it stands
	mark    string
	look    look
	opens   bool
	closes  bool
	partner int // the other one, or -1
}

// inline reads the marks inside a paragraph.
type inline struct {
	st     Style
	spans  []span
	delims []delim
	text   strings.Builder
	none   map[int]bool // lengths of runs of backticks that nobody closes
}

// inline cuts a text into spans; base is the look that all of it has.
func (st Style) inline(text string, base look) []span {
	in := &inline{st: st, none: map[int]bool{}}
	for at := 0; at < len(text); {
		n := in.mark(text, at)
		if n == 0 {
			n = 1
			if text[at] == '\\' && at+1 < len(text) && strings.IndexByte("\\`*_~[]()#+-.!|<>{}=", text[at+1]) >= 0 {
				at++
			}
			in.text.WriteByte(text[at])
		}
		at += n
	}
	in.flush(0)
	in.match()
	for i := range in.spans {
		in.spans[i].look |= base
	}
	return in.spans
}

// flush ends the text that is being read.
func (in *inline) flush(l look) {
	if in.text.Len() > 0 {
		in.spans = append(in.spans, span{in.text.String(), l})
		in.text.Reset()
	}
}

func (in *inline) add(text string, l look) {
	in.flush(0)
	in.spans = append(in.spans, span{text, l})
}

// mark reads a mark, and returns how long it is; 0 when there is none.
func (in *inline) mark(text string, at int) int {
	switch text[at] {
	case '`':
		return in.ticks(text, at)
	case '[':
		if strings.HasPrefix(text[at:], "[[") {
			return in.note(text, at)
		}
		return in.link(text, at)
	case '!':
		if strings.HasPrefix(text[at:], "![[") {
			if n := in.note(text, at+1); n > 0 {
				return n + 1
			}
		}
	case '*', '_', '~', '=':
		return in.emphasis(text, at)
	}
	return 0
}

// ticks reads code between backticks.
func (in *inline) ticks(text string, at int) int {
	n := len(text[at:]) - len(strings.TrimLeft(text[at:], "`"))
	for i := at + n; i < len(text) && !in.none[n]; {
		k := strings.IndexByte(text[i:], '`')
		if k < 0 {
			break
		}
		i += k
		m := len(text[i:]) - len(strings.TrimLeft(text[i:], "`"))
		if m == n {
			inside := strings.ReplaceAll(text[at+n:i], "\n", " ")
			if t := strings.TrimSpace(inside); t != "" {
				inside = t
			}
			if !in.st.Screen.Colour {
				inside = "`" + inside + "`"
			}
			in.add(inside, mono)
			return i + m - at
		}
		i += m
	}
	in.none[n] = true
	in.text.WriteString(text[at : at+n])
	return n
}

// mostLink bounds what a link may be, as the check of citations does.
const mostLink = 400

// note reads a link to a note, which is a citation.
func (in *inline) note(text string, at int) int {
	rest := text[at+2 : min(len(text), at+2+mostLink)]
	end := strings.Index(rest, "]]")
	if end <= 0 || strings.ContainsAny(rest[:end], "[]\n") {
		return 0
	}
	target, shown, ok := strings.Cut(rest[:end], "|")
	target = strings.TrimSpace(target)
	if !ok || strings.TrimSpace(shown) == "" {
		shown = target
	} else if shown = strings.TrimSpace(shown); shown != target {
		shown += " → " + target // what is said must not hide where it leads
	}
	in.add("[["+shown+"]]", cite)
	if in.st.Doubt != nil {
		if why := in.st.Doubt(target); why != "" {
			in.add(" ("+why+")", dim)
		}
	}
	return end + 4
}

// link reads a link with its address, and shows both.
func (in *inline) link(text string, at int) int {
	rest := text[at:min(len(text), at+mostLink)]
	mid := strings.Index(rest, "](")
	if mid < 0 || strings.ContainsAny(rest[1:mid], "[]") {
		return 0
	}
	end := strings.IndexByte(rest[mid:], ')')
	if end < 0 {
		return 0
	}
	address, _, _ := strings.Cut(strings.TrimSpace(rest[mid+2:mid+end]), " ")
	if words := rest[1:mid]; words != "" && words != address {
		in.add(words, under)
		in.add(" ("+address+")", dim)
	} else {
		in.add(address, under)
	}
	return mid + end + 1
}

// emphasis reads a run of marks that may begin or end an emphasis.
func (in *inline) emphasis(text string, at int) int {
	c := text[at]
	n := len(text[at:]) - len(strings.TrimLeft(text[at:], string(c)))
	var l look
	switch {
	case c == '~' || c == '=':
		if n != 2 {
			break
		}
		l = strike
		if c == '=' {
			l = under
		}
	case n == 1:
		l = italic
	case n == 2:
		l = bold
	case n == 3:
		l = bold | italic
	}
	before, _ := utf8.DecodeLastRuneInString(text[:at])
	after, _ := utf8.DecodeRuneInString(text[at+n:])
	opens := at+n < len(text) && !unicode.IsSpace(after)
	closes := at > 0 && !unicode.IsSpace(before)
	if c == '_' { // names_with_it are one word
		opens, closes = opens && !isWord(before, at > 0), closes && !isWord(after, at+n < len(text))
	}
	if l == 0 || !opens && !closes {
		in.text.WriteString(text[at : at+n])
		return n
	}
	in.add(text[at:at+n], 0)
	in.delims = append(in.delims, delim{span: len(in.spans) - 1, mark: text[at : at+n], look: l, opens: opens, closes: closes, partner: -1})
	return n
}

func isWord(r rune, there bool) bool {
	return there && (unicode.IsLetter(r) || unicode.IsDigit(r))
}

// match finds the partners of the marks, and paints what stands between them.
func (in *inline) match() {
	open := map[string][]int{} // marks that wait, by what they are
	for i := range in.delims {
		d := &in.delims[i]
		if list := open[d.mark]; d.closes && len(list) > 0 {
			from := list[len(list)-1]
			d.partner, in.delims[from].partner = from, i
			// What was opened since then is text: emphasis does not cross.
			for m, l := range open {
				k := len(l)
				for k > 0 && l[k-1] >= from {
					k--
				}
				open[m] = l[:k]
			}
			continue
		}
		if d.opens {
			open[d.mark] = append(open[d.mark], i)
		}
	}
	var now [8]int
	next := 0
	for i := range in.spans {
		if next < len(in.delims) && in.delims[next].span == i {
			d := in.delims[next]
			next++
			if d.partner < 0 {
				in.spans[i].look |= looks(now)
				continue
			}
			step := 1
			if d.partner < next-1 {
				step = -1
			}
			for b := range now {
				if d.look&(1<<b) != 0 {
					now[b] += step
				}
			}
			if in.st.Screen.Colour { // else the marks tell
				in.spans[i].text = ""
			}
			continue
		}
		in.spans[i].look |= looks(now)
	}
}

func looks(now [8]int) look {
	var l look
	for b, n := range now {
		if n > 0 {
			l |= 1 << b
		}
	}
	return l
}

// codes are the numbers by which a terminal paints a look.
var codes = [...]string{"1", "3", "9", "4", "33", "36", "2"}

// paint writes a piece with its look.
func (st Style) paint(b *strings.Builder, text string, l look) {
	if l == 0 || !st.Screen.Colour || text == "" {
		b.WriteString(text)
		return
	}
	b.WriteString("\x1b[")
	first := true
	for i, c := range codes {
		if l&(1<<i) != 0 {
			if !first {
				b.WriteByte(';')
			}
			b.WriteString(c)
			first = false
		}
	}
	b.WriteString("m" + text + "\x1b[0m")
}

// cells is how many columns a text takes at the most, whatever stands beside it.
func cells(s string) int {
	n := 0
	for i, r := range s {
		switch {
		case r < 0x300:
			n++
		case r == 0xfe0f:
			n++
		default:
			n += draw.Cells(s[i : i+max(1, utf8.RuneLen(r))])
		}
	}
	return n
}
