package citation

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"lore/internal/note"
	"lore/internal/note/invisible"
)

// A quotation is a piece of an answer that claims to be word for word, with the
// links that say of which note. Without any, it may be of any note.
type quotation struct {
	text  string // as it stands in the answer
	words string // without a link behind it that only says where it is from
	cited []note.Link
}

// A block is a paragraph of an answer, an item of a list, or a quote.
type block struct {
	quote bool
	text  string
}

// blocksOf cuts an answer into blocks and leaves out code.
func blocksOf(parts []string) []block {
	var out []block
	var now block
	end := func() {
		if strings.TrimSpace(now.text) != "" {
			out = append(out, now)
		}
		now = block{}
	}
	for _, p := range parts {
		fence := ""
		for line := range strings.Lines(p) {
			bare := strings.TrimSpace(line)
			if f := fenceOf(bare); f != "" && (fence == "" || strings.HasPrefix(f, fence)) {
				end()
				if fence == "" {
					fence = f
				} else {
					fence = ""
				}
				continue
			}
			inner, quote := strings.CutPrefix(bare, ">")
			switch {
			case fence != "":
				continue
			case bare == "", quote != now.quote, !quote && listItem.MatchString(line):
				end()
			}
			now.quote = quote
			if quote {
				line = strings.TrimPrefix(inner, " ") + "\n"
			}
			now.text += line
		}
		end()
	}
	return out
}

var listItem = regexp.MustCompile(`^\s*([-*+]|\d{1,9}[.)])\s`)

// fenceOf is the run of marks that a line of code begins or ends with, or "".
func fenceOf(line string) string {
	if !strings.HasPrefix(line, "```") && !strings.HasPrefix(line, "~~~") {
		return ""
	}
	return line[:len(line)-len(strings.TrimLeft(line, line[:1]))]
}

// quotations are what an answer quotes, in order, and its text without the
// quotes, which have links of their own.
func quotations(parts []string) (prose string, quotes []quotation) {
	blocks := blocksOf(parts)
	var rest strings.Builder
	for i, b := range blocks {
		if !b.quote {
			rest.WriteString(b.text + "\n\n")
			quotes = append(quotes, spoken(b.text)...)
			continue
		}
		q := quotation{text: strings.TrimSpace(b.text)}
		q.words = q.text
		if at := attribution.FindStringIndex(q.text); at != nil {
			q.words, q.cited = q.text[:at[0]], linksOf(q.text[at[0]:])
			rest.WriteString(q.text[at[0]:] + "\n\n")
		} else {
			q.cited = beside(blocks, i)
		}
		quotes = append(quotes, q)
	}
	return rest.String(), quotes
}

// attribution is a link at the end of a quote that says where it is from: on a
// line of its own, behind a dash or in brackets.
var attribution = regexp.MustCompile(`(?:\n\s*|\s[—–-]+\s*|\s\()(?:[—–-]+\s*)?\(?\[\[[^\[\]\n]+\]\]\)?[.\s]*$`)

// linksOf are the links of a text that can say where a quote is from.
func linksOf(text string) []note.Link {
	return slices.DeleteFunc(note.Parse("", []byte(text)).Links, func(l note.Link) bool {
		return l.Definition || l.Target == "" || l.Field != ""
	})
}

// beside are the links that stand next to a quote of lines: in the words that
// introduce it, or in those that follow.
func beside(blocks []block, i int) []note.Link {
	before, after := "", ""
	if i > 0 && !blocks[i-1].quote {
		before = strings.TrimSpace(blocks[i-1].text)
	}
	if i+1 < len(blocks) && !blocks[i+1].quote {
		after = blocks[i+1].text
	}
	said, says := linksOf(before), linksOf(after)
	last := sentence(before, said, len(before), len(before))
	switch {
	case strings.HasSuffix(before, ":") && len(last) > 0:
		return last
	case len(says) > 0 && !hasWords(after[:says[0].Span.Start]):
		return following(after, says)
	case len(last) > 0:
		return last
	case len(said) > 0:
		return said[len(said)-1:]
	}
	return says[:min(1, len(says))]
}

// following are the first of the links and those that follow it without a word
// between them.
func following(text string, links []note.Link) []note.Link {
	n := 1
	for n < len(links) && !hasWords(text[links[n-1].Span.End:links[n].Span.Start]) {
		n++
	}
	return links[:n]
}

func hasWords(s string) bool { return strings.ContainsFunc(s, isWordRune) }

func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r) }

// sentence are the links of the sentence around the bytes from start to end.
func sentence(text string, links []note.Link, start, end int) []note.Link {
	masked := mask(text, links)
	from, to := 0, len(text)
	for _, m := range sentenceEnd.FindAllStringIndex(masked, -1) {
		if m[1] <= start && m[1] < len(text) {
			from = m[1]
		}
		if m[0]+1 >= end && end < len(text) {
			to = min(to, m[1])
		}
	}
	var out []note.Link
	for _, l := range links {
		if l.Span.Start >= from && l.Span.End <= to {
			out = append(out, l)
		}
	}
	return out
}

var sentenceEnd = regexp.MustCompile(`[.!?…][)"'”’»]*\s+|[。！？]`)

// mask replaces links by as many bytes that no sentence ends with and no quote
// is made of.
func mask(text string, links []note.Link) string {
	b := []byte(text)
	for _, l := range links {
		for i := l.Span.Start; i < min(l.Span.End, len(b)); i++ {
			b[i] = 'x'
		}
	}
	return string(b)
}

// quoteMarks are the pairs that words are quoted with inside a sentence.
var quoteMarks = [][2]string{{"“", "”"}, {"„", "“"}, {"«", "»"}, {"»", "«"}, {"\"", "\""}}

// fewWords are too few to be a quote: a name or a term stands in quotes too.
const fewWords = 5

// spoken are the quotes inside the sentences of a paragraph.
func spoken(text string) []quotation {
	links := linksOf(text)
	masked := mask(text, links)
	var spans [][2]int // of the words between the marks
	for at := 0; at < len(masked); {
		first, marks := -1, [2]string{}
		for _, m := range quoteMarks {
			if i := strings.Index(masked[at:], m[0]); i >= 0 && (first < 0 || i < first) {
				first, marks = i, m
			}
		}
		if first < 0 {
			break
		}
		at += first + len(marks[0])
		if n := strings.Index(masked[at:], marks[1]); n >= 0 {
			spans = append(spans, [2]int{at, at + n})
			at += n + len(marks[1])
		}
	}
	var out []quotation
	for i, s := range spans {
		words := text[s[0]:s[1]]
		if len(strings.Fields(note.Plain(words))) < fewWords {
			continue
		}
		low, high := 0, len(text)
		if i > 0 {
			low = spans[i-1][1]
		}
		if i+1 < len(spans) {
			high = spans[i+1][0]
		}
		out = append(out, quotation{text: words, words: words, cited: citedIn(text, links, s, low, high)})
	}
	return out
}

// citedIn are the links that say where the quote at span is from: those right
// behind it, else the nearest of its sentence on both sides, else all of the
// paragraph. Other quotes stand before low and from high on.
func citedIn(text string, links []note.Link, span [2]int, low, high int) []note.Link {
	outside := slices.DeleteFunc(slices.Clone(links), func(l note.Link) bool { return l.Span.Start >= span[0] && l.Span.End <= span[1] })
	behind := slices.IndexFunc(outside, func(l note.Link) bool { return l.Span.Start >= span[1] })
	if behind >= 0 && !hasWords(text[span[1]:outside[behind].Span.Start]) {
		return following(text, outside[behind:])
	}
	var near []note.Link
	for _, l := range sentence(text, outside, span[0], span[1]) {
		switch {
		case l.Span.Start >= span[1] && l.Span.End <= high:
			return append(near, l)
		case l.Span.End <= span[0] && l.Span.Start >= low:
			near = []note.Link{l}
		}
	}
	if len(near) > 0 {
		return near
	}
	return outside
}

// texts are what was read, in the form in which words are compared.
type texts struct {
	sources []Source
	paths   []string
	even    map[sectionOf]string
}

// A sectionOf names a part of a source.
type sectionOf struct {
	source   int
	fragment string
}

func (t *texts) at(source int, fragment string) string {
	k := sectionOf{source, fragment}
	s, ok := t.even[k]
	if !ok {
		s = even(section(t.sources[source].Text, fragment))
		t.even[k] = s
	}
	return s
}

// find looks for the words of a quote in the notes that it is cited for.
func (t *texts) find(q quotation) (path string, found bool) {
	if len(q.cited) == 0 {
		return t.anywhere(q)
	}
	for _, l := range q.cited {
		if l.External {
			if path, ok := t.anywhere(q); ok {
				return path, true
			}
			continue
		}
		p, ok := match(t.paths, l.Target)
		for i := range t.sources {
			if ok && t.sources[i].Path == p && within(t.at(i, l.Fragment), q.words) {
				return p, true
			}
		}
	}
	return "", false
}

func (t *texts) anywhere(q quotation) (string, bool) {
	for i := range t.sources {
		if within(t.at(i, ""), q.words) {
			return t.sources[i].Path, true
		}
	}
	return "", false
}

// section is what stands under the heading that a link names. A text without
// that heading is a part of the note, and stays whole.
func section(text, fragment string) string {
	if i := strings.LastIndexAny(fragment, "#>"); i >= 0 {
		fragment = fragment[i+1:]
	}
	want := strings.ToLower(even(fragment))
	if want == "" || strings.HasPrefix(want, "^") {
		return text
	}
	var parts []string
	for _, h := range note.Parse("", []byte(text)).Headings {
		if strings.ToLower(even(h.Text)) == want {
			parts = append(parts, text[h.Section.Start:h.Section.End])
		}
	}
	if len(parts) == 0 {
		return text
	}
	return strings.Join(parts, "\n\n")
}

// even is a text in the form in which words are compared: without markup and
// invisible characters, with single blanks, plain marks, and no hyphens inside
// words, which may stand there because a line ended.
func even(s string) string {
	s, _ = invisible.Strip(norm.NFC.String(note.Plain(s)))
	s = strings.Join(strings.Fields(marks.Replace(s)), " ")
	s = hyphen.ReplaceAllString(s, "$1$2")
	return numberDash.ReplaceAllString(s, "$1-$2")
}

var (
	marks = strings.NewReplacer("’", "'", "‘", "'", "‚", "'", "“", "'", "”", "'", "„", "'", "«", "'", "»", "'", "‹", "'", "›", "'", `"`, "'", "`", "'",
		"–", " - ", "—", " - ", "‐", "-", "‑", "-", "\u00a0", " ", "\u00ad", "",
		"[...]", "…", "(...)", "…", "[…]", "…", "(…)", "…", "...", "…", ". . .", "…")
	hyphen     = regexp.MustCompile(`(\pL)- ?(\pL)`)
	numberDash = regexp.MustCompile(`(\pN) ?- ?(\pN)`)
	// aLetter is a first letter that was put into brackets because its case
	// was changed.
	aLetter = regexp.MustCompile(`^\[(\pL)\]`)
)

// within reports whether a text, made even, has the words of a quote, one after
// the other. Where the quote says that it leaves something out, it may.
func within(text, quote string) bool {
	said := false
	for piece := range strings.SplitSeq(even(quote), "…") {
		piece = strings.Trim(aLetter.ReplaceAllString(strings.TrimSpace(piece), "$1"), ` .,;:!?'-`)
		if piece == "" {
			continue
		}
		end := after(text, piece)
		if end < 0 {
			return false
		}
		text, said = text[end:], true
	}
	return said
}

// after is where the first occurrence of piece in text ends, or -1. It begins and
// ends where words do; the case of its first letter does not count.
func after(text, piece string) int {
	first, size := utf8.DecodeRuneInString(piece)
	rest := piece[size:]
	for at := 0; at < len(text); {
		i := strings.Index(text[at:], rest)
		if i < 0 {
			return -1
		}
		i += at
		before, n := utf8.DecodeLastRuneInString(text[:i])
		end := i + len(rest)
		next, _ := utf8.DecodeRuneInString(text[end:])
		last, _ := utf8.DecodeLastRuneInString(piece)
		outer, _ := utf8.DecodeLastRuneInString(text[:i-n])
		if n > 0 && unicode.ToLower(before) == unicode.ToLower(first) && !joined(outer, before) && (end == len(text) || !joined(last, next)) {
			return end
		}
		_, step := utf8.DecodeRuneInString(text[i:])
		at = i + max(step, 1)
	}
	return -1
}

// joined reports whether two characters belong to one word. Scripts that are
// written without spaces have no such words.
func joined(a, b rune) bool {
	return a != utf8.RuneError && b != utf8.RuneError && isWordRune(a) && isWordRune(b) && !unspaced(a) && !unspaced(b)
}

func unspaced(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}
