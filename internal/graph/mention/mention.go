// Package mention finds where notes name another note, by its title, file name
// or alias, without linking to it.
package mention

import (
	"context"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"lore/internal/index"
	"lore/internal/note"
)

// MaxNotes is how many notes one call opens to look for mentions.
const MaxNotes = 500

// Names are the names that are worth looking for, longest first, so that the
// longest one is seen where several fit.
func Names(r *index.Row) []string {
	names := append([]string{r.Title, strings.TrimSuffix(path.Base(r.File.Path), path.Ext(r.File.Path))}, r.Aliases...)
	out := []string{}
	for _, n := range names {
		n = strings.Join(strings.Fields(n), " ")
		first, _ := utf8.DecodeRuneInString(n)
		least := 3 // shorter ones are found everywhere
		if index.Unspaced(first) {
			least = 2
		}
		if utf8.RuneCountInString(n) >= least && !slices.ContainsFunc(out, func(o string) bool { return strings.EqualFold(o, n) }) {
			out = append(out, n)
		}
	}
	slices.SortStableFunc(out, func(a, b string) int { return len(b) - len(a) })
	return out
}

// Candidates lists the notes that have the words of one of the names of the note
// at p, by path, and makes the expression that finds the names in them.
func Candidates(ctx context.Context, s index.Store, p string, names []string) ([]index.Scored, *regexp.Regexp, error) {
	match := index.Match{Limit: 1 << 20}
	var parts []string
	for _, n := range names {
		match.Any = append(match.Any, index.Term{Words: strings.Fields(n)})
		parts = append(parts, strings.ReplaceAll(regexp.QuoteMeta(n), " ", `[ \t]+`))
	}
	expr, err := regexp.Compile("(?i)(?:" + strings.Join(parts, "|") + ")")
	if err != nil {
		return nil, nil, fmt.Errorf("names of %s: %w", p, err)
	}
	found, err := s.Match(ctx, match)
	slices.SortFunc(found, func(a, b index.Scored) int { return strings.Compare(a.Path, b.Path) })
	return found, expr, err
}

// Spans are the ranges of a note's text that name another note outside of
// links, properties and code.
func Spans(n *note.Note, expr *regexp.Regexp) []note.Span {
	var out []note.Span
	text := n.Text()
	links := slices.Clone(n.Links)
	slices.SortFunc(links, func(a, b note.Link) int { return a.Span.Start - b.Span.Start })
	linkEnd := 0 // of the links that begin before this match ends
	for _, at := range expr.FindAllStringIndex(text, -1) {
		start, end := at[0], at[1]
		for len(links) > 0 && links[0].Span.Start < end {
			linkEnd = max(linkEnd, links[0].Span.End)
			links = links[1:]
		}
		if start < linkEnd || start < n.Front.Span.End || n.InCode(start) || !isWholeWord(text, start, end) {
			continue
		}
		out = append(out, note.Span{Start: start, End: end})
	}
	return out
}

// isWholeWord reports whether a range does not begin or end inside a word.
func isWholeWord(text string, start, end int) bool {
	before, _ := utf8.DecodeLastRuneInString(text[:start])
	first, _ := utf8.DecodeRuneInString(text[start:])
	last, _ := utf8.DecodeLastRuneInString(text[:end])
	after, _ := utf8.DecodeRuneInString(text[end:])
	return !areJoined(before, first) && !areJoined(last, after)
}

// areJoined reports whether two neighbors belong to one word.
func areJoined(a, b rune) bool {
	isWord := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) || r == '_' }
	return isWord(a) && isWord(b) && !index.Unspaced(a) && !index.Unspaced(b)
}
