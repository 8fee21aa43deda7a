// Package summarize makes short texts out of long ones without a model: it picks
// whole sentences of the text and never writes one of its own.
//
// A sentence is worth the more, the more it shares with the others (its words
// weighed by how rare they are), the earlier it stands and the nearer it is to
// the title and to its heading; what says the same as a sentence that was picked
// already is worth less. Everything is deterministic and linear: of a text the
// first 256 KB and the first 400 sentences are looked at, and no two sentences
// are compared unless one of them is picked.
//
// Front matter, code, mathematics, tables, comments, footnotes and lines of the
// form "key:: value" are no sentences; items of lists are. Headings count where
// there is nothing else. Sentences are told apart in any script; the words that
// count for nothing are English.
package summarize

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"lore/internal/note"
)

// Limits and defaults.
const (
	DefaultMax    = 200 // characters of a summary
	DefaultPoints = 3

	maxText      = 256 << 10 // bytes of one text
	maxSentences = 400       // of all texts together
	maxPoint     = 160       // characters of a key point
)

// Options say how much is wanted.
type Options struct {
	Max    int    // characters of the summary; 0: DefaultMax
	Points int    // key points; 0: DefaultPoints, less: none
	Title  string // of the text; what is near to it counts more
}

// A Digest is what a text says, in its own words.
type Digest struct {
	// Summary holds sentences in the order of the text and at most Max
	// characters; a semicolon stands where one without a mark at its end meets the
	// next. Where not even one sentence fits, the best is shortened between
	// two words and ends in "…". A word that is longer than Max is never cut: a
	// text of which nothing fits has an empty summary.
	Summary string
	// KeyPoints are whole sentences of at most 160 characters that are not in
	// the summary; where the summary says it all, its own.
	KeyPoints []string
}

// A Doc is one of several texts.
type Doc struct {
	Title string
	Text  string // Markdown
}

// Of makes a digest of one text.
func Of(text string, o Options) Digest {
	return Several([]Doc{{Title: o.Title, Text: text}}, o)
}

// Several makes one digest of several texts, the most important first: each
// has a say in what is central, and one that has spoken steps back. The title in
// the options belongs to all of them.
func Several(docs []Doc, o Options) Digest {
	if o.Max <= 0 {
		o.Max = DefaultMax
	}
	if o.Points == 0 {
		o.Points = DefaultPoints
	}
	all := collect(docs)
	if len(all) == 0 {
		return Digest{Summary: leftovers(docs, o.Max)}
	}
	p := newPicker(all, docs, o.Title)
	summary := p.summary(o.Max)
	return Digest{Summary: summary, KeyPoints: p.points(o.Points)}
}

// collect reads the sentences of all texts, each once. Several texts share the
// limit, so that the first does not use it up.
func collect(docs []Doc) []sentence {
	var out []sentence
	seen := map[string]bool{}
	for i, d := range docs {
		limit := (maxSentences - len(out)) / (len(docs) - i)
		for _, s := range read(d.Text, limit) {
			key := strings.ToLower(strings.TrimRightFunc(s.text, unicode.IsPunct))
			if !seen[key] {
				seen[key] = true
				s.doc = i
				out = append(out, s)
			}
		}
	}
	return out
}

// leftovers is the best that can be said of texts without a sentence: what
// stands in their tables and code.
func leftovers(docs []Doc, limit int) string {
	for _, d := range docs {
		if s := Shorten(note.Plain(head(d.Text)), limit); s != "" {
			return s
		}
	}
	return ""
}

// head is as much of a text as is read, to the end of a word.
func head(text string) string {
	if len(text) <= maxText {
		return text
	}
	if i := strings.LastIndexAny(text[:maxText], " \n"); i > 0 {
		return text[:i]
	}
	i := maxText
	for i > 0 && !utf8.RuneStart(text[i]) {
		i--
	}
	return text[:i]
}

// Shorten cuts a text between two words, so that it has at most limit characters
// with the "…" that shows the cut. It is empty when the first word is too long.
// Scripts that write no blanks between words may be cut at any character.
func Shorten(s string, limit int) string {
	s = strings.TrimSpace(s)
	if len(s) <= limit || utf8.RuneCountInString(s) <= limit {
		return s
	}
	good, count := 0, 0
	last := ' '
	for i, r := range s {
		if count++; count > limit { // s[:i] has limit characters: one too many beside the mark
			break
		}
		if i > 0 && (unicode.IsSpace(r) || unbroken(r) || unbroken(last)) {
			good = i
		}
		last = r
	}
	out := strings.TrimRightFunc(s[:good], func(r rune) bool {
		return unicode.IsSpace(r) || strings.ContainsRune(",;:–—-([{“‘\"'", r)
	})
	if out == "" {
		return ""
	}
	return out + "…"
}

// Cut is the beginning of a text, as [Shorten] has it; a first word that is too
// long is cut itself.
func Cut(s string, limit int) string {
	s = strings.TrimSpace(s)
	if out := Shorten(s, limit); out != "" || s == "" || limit < 1 {
		return out
	}
	return string([]rune(s)[:limit-1]) + "…"
}

// Clip is [Cut] on one line.
func Clip(s string, limit int) string { return Cut(strings.Join(strings.Fields(s), " "), limit) }

// Title is [Clip] for a name that is stored: whoever shows it adds the ellipsis
// where it does not fit.
func Title(s string, limit int) string { return strings.TrimSuffix(Clip(s, limit), "…") }

// unbroken reports whether a rune belongs to a script without blanks between
// words.
func unbroken(r rune) bool {
	return r >= 0x0E00 && (unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar) ||
		r >= 0x3000 && r <= 0x303F || r >= 0xFF00 && r <= 0xFFEF)
}

// ordered are the texts of chosen sentences in the order in which they stand.
func ordered(all []sentence, chosen []int) []string {
	slices.Sort(chosen)
	out := make([]string, len(chosen))
	for i, at := range chosen {
		out[i] = all[at].text
	}
	return out
}
