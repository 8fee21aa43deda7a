package search

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"lore/internal/fault"
	"lore/internal/index"
)

// A Query is a question in its parts.
type Query struct {
	Text    string       // what was asked, without filters and exclusions
	Words   []string     // words that should occur
	Phrases []string     // phrases that must occur
	Not     []string     // words and phrases that must not
	Filter  index.Filter // what tag:, path:, type:, before:, after: and [property:value] said
}

// Parse reads the query language:
//
//	words            should occur; more of them is better
//	"a phrase"       must occur as it is
//	-word -"phrase"  must not occur; alone, it leaves every other note
//	tag:tea -tag:x   has the tag, or one nested in it
//	path:folder/*    lies there; without a wild card: the path contains it
//	type:Hypothesis  has this type
//	after:2026-01-31 is of that day or later; before: of an earlier one
//	[status:open]    has the property, with that value; also [rating>=4], [status]
//	                 and whatever [Condition] reads
//
// A value with spaces is quoted: tag:"two words". Whatever has another form is
// a word.
func Parse(text string, now time.Time) (Query, error) {
	p := parser{rest: text, now: now}
	for p.skipSpace(); p.rest != ""; p.skipSpace() {
		if err := p.term(); err != nil {
			return Query{}, err
		}
	}
	p.q.Text = strings.Join(p.said, " ")
	if n := p.q.conditions(); n > maxConditions {
		return Query{}, fault.Field("query", "use fewer conditions", "has %d conditions; the limit is %d", n, maxConditions)
	}
	for _, s := range slices.Concat(p.q.Phrases, p.q.Not) {
		if len(s) > maxPhrase {
			return Query{}, fault.Field("query", "use a shorter phrase", "the phrase %q has %d bytes; the limit is %d", cut(s, 40), len(s), maxPhrase)
		}
	}
	return p.q, nil
}

// What a question may ask at once. Beyond it, words are left out and the answer
// says so; a condition cannot be left out without changing the answer.
const (
	maxWords      = 100
	maxText       = 4000 // bytes; no model reads more of a question
	maxConditions = 50
	maxPhrase     = 1000 // bytes
)

// conditions counts what must hold.
func (q *Query) conditions() int {
	f := &q.Filter
	return len(q.Phrases) + len(q.Not) + len(f.Tags) + len(f.NoTags) + len(f.Folders) + len(f.Globs) + len(f.NoGlobs) +
		len(f.Types) + len(f.NoTypes) + len(f.Props)
}

// Conditions is everything that a note must be or have to be an answer: the
// filter with the phrases and the exclusions.
func (q *Query) Conditions() index.Filter {
	f := q.Filter
	for _, p := range q.Phrases {
		f.Has = append(f.Has, index.Term{Words: strings.Fields(p)})
	}
	for _, n := range q.Not {
		f.Without = append(f.Without, excluded(n))
	}
	return f
}

// excluded is the term of an exclusion. A word excludes what it would find:
// "father's" the father. Where a stop word would be left, it stays whole.
func excluded(s string) index.Term {
	words := strings.Fields(s)
	if len(words) == 1 {
		if p := pieces(s); len(p) > 1 || len(p) == 1 && !stopWords[strings.ToLower(p[0])] {
			words = p
		}
	}
	return index.Term{Words: words}
}

// bounded is the question without the words that are too many.
func (q Query) bounded() Query {
	q.Words = q.Words[:min(len(q.Words), maxWords)]
	if len(q.Text) > maxText {
		q.Text = cut(q.Text, maxText)
	}
	return q
}

type parser struct {
	q    Query
	rest string
	said []string
	now  time.Time
}

func (p *parser) skipSpace() { p.rest = strings.TrimLeftFunc(p.rest, unicode.IsSpace) }

func (p *parser) term() error {
	not := false
	if strings.HasPrefix(p.rest, "-") && len(p.rest) > 1 {
		r, _ := utf8.DecodeRuneInString(p.rest[1:])
		if unicode.IsLetter(r) || r == '[' || r == '#' || strings.ContainsRune(openQuotes, r) {
			not = true
			p.rest = p.rest[1:]
		}
	}
	if strings.HasPrefix(p.rest, "[") && !strings.HasPrefix(p.rest, "[[") {
		return p.property(not)
	}
	if field, ok := p.field(); ok {
		value, err := p.value(field)
		if err != nil {
			return err
		}
		return p.filter(field, value, not)
	}
	if phrase, ok, err := p.quoted(); ok || err != nil {
		p.phrase(phrase, not)
		return err
	}
	p.word(p.bare(), not)
	return nil
}

func (p *parser) phrase(s string, not bool) {
	if strings.TrimSpace(s) == "" {
		return
	}
	if not {
		p.q.Not = append(p.q.Not, s)
		return
	}
	p.q.Phrases = append(p.q.Phrases, s)
	p.said = append(p.said, s)
}

func (p *parser) word(s string, not bool) {
	if tag, ok := strings.CutPrefix(s, "#"); ok && tag != "" && !unicode.IsDigit(rune(tag[0])) {
		p.tag(tag, not)
		return
	}
	if not {
		p.q.Not = append(p.q.Not, s)
		return
	}
	p.q.Words = append(p.q.Words, s)
	p.said = append(p.said, s)
}

var fields = []string{"tag:", "path:", "folder:", "type:", "before:", "after:"}

func (p *parser) field() (string, bool) {
	for _, f := range fields {
		if len(p.rest) >= len(f) && strings.EqualFold(p.rest[:len(f)], f) {
			p.rest = p.rest[len(f):]
			return strings.TrimSuffix(f, ":"), true
		}
	}
	return "", false
}

func (p *parser) value(field string) (string, error) {
	v, ok, err := p.quoted()
	if err != nil {
		return "", err
	}
	if !ok {
		v = p.bare()
	}
	if strings.TrimSpace(v) == "" {
		return "", fault.Field("query", fmt.Sprintf("write %s:value without a space, or remove it", field), "%s: has no value", field)
	}
	return v, nil
}

// bare takes everything up to the next space.
func (p *parser) bare() string {
	i := strings.IndexFunc(p.rest, unicode.IsSpace)
	if i < 0 {
		i = len(p.rest)
	}
	s := p.rest[:i]
	p.rest = p.rest[i:]
	return s
}

// openQuotes begin a phrase. The typographic ones are what a phone writes for
// the plain one; they are closed by any of closeQuotes.
const (
	openQuotes  = "\"“„"
	closeQuotes = "\"“”"
)

// quoted takes a phrase in quotes, if one follows. A plain quote must be closed;
// a typographic one that is not is part of a word.
func (p *parser) quoted() (string, bool, error) {
	r, size := utf8.DecodeRuneInString(p.rest)
	if p.rest == "" || !strings.ContainsRune(openQuotes, r) {
		return "", false, nil
	}
	ends := closeQuotes
	if r == '"' {
		ends = `"`
	}
	inner := p.rest[size:]
	near := inner
	if r != '"' {
		// A typographic quote that is not closed is no mistake, so the rest of the
		// text must not be looked through for each of them.
		near = inner[:min(len(inner), 2*maxPhrase)]
	}
	end := strings.IndexFunc(near, func(r rune) bool { return r == '"' || ends != `"` && (r == '“' || r == '”') })
	if end < 0 && r != '"' {
		return "", false, nil
	}
	if end < 0 {
		return "", false, fault.Field("query", `close it with another ", or remove it`, `the quote in %q is not closed`, cut(p.rest, 40))
	}
	_, last := utf8.DecodeRuneInString(inner[end:])
	p.rest = inner[end+last:]
	return inner[:end], true, nil
}

func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}

func (p *parser) tag(tag string, not bool) {
	tag = strings.TrimRight(strings.TrimPrefix(tag, "#"), "/")
	if not {
		p.q.Filter.NoTags = append(p.q.Filter.NoTags, tag)
	} else {
		p.q.Filter.Tags = append(p.q.Filter.Tags, tag)
	}
}

func (p *parser) filter(field, value string, not bool) error {
	f := &p.q.Filter
	switch field {
	case "tag":
		p.tag(value, not)
	case "path":
		if not {
			f.NoGlobs = append(f.NoGlobs, value)
		} else {
			f.Globs = append(f.Globs, value)
		}
	case "folder":
		if not {
			f.NoGlobs = append(f.NoGlobs, strings.Trim(value, "/")+"/*")
		} else {
			f.Folders = append(f.Folders, value)
		}
	case "type":
		if not {
			f.NoTypes = append(f.NoTypes, value)
		} else {
			f.Types = append(f.Types, value)
		}
	case "before", "after":
		if not {
			return fault.Field("query", "use before: and after: without a minus", "-%s:%s is not supported", field, value)
		}
		t, err := p.day(field, value)
		if err != nil {
			return err
		}
		if field == "before" {
			f.Before = t.Unix()
		} else {
			f.After = t.Unix()
		}
	}
	return nil
}

func (p *parser) day(field, value string) (time.Time, error) {
	midnight := time.Date(p.now.Year(), p.now.Month(), p.now.Day(), 0, 0, 0, 0, p.now.Location())
	switch strings.ToLower(value) {
	case "today":
		return midnight, nil
	case "yesterday":
		return midnight.AddDate(0, 0, -1), nil
	}
	if len(value) == 4 {
		value += "-01-01"
	}
	t, ok := index.ParseDate(value)
	if !ok {
		return t, fault.Field("query", "write it as 2026-01-31, 2026-01 or 2026, or use today or yesterday", "%s:%s is not a date", field, value)
	}
	return t, nil
}

// property reads [key], [key:value], [key>=value].
func (p *parser) property(not bool) error {
	end := strings.IndexByte(p.rest, ']')
	if end < 0 {
		return fault.Field("query", "close it with ], or remove it", "the bracket in %q is not closed", cut(p.rest, 40))
	}
	inside := p.rest[1:end]
	p.rest = p.rest[end+1:]
	c, err := Condition(inside)
	if err != nil {
		return fault.Field("query", "write [key], [key:value] or [key>=value]", "[%s] has no property name", inside)
	}
	c.Not = c.Not != not
	p.q.Filter.Props = append(p.q.Filter.Props, c)
	return nil
}
