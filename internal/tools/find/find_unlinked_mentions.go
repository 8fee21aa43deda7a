package find

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
	"lore/internal/paging"
	"lore/internal/search"
	"lore/internal/tool"
)

// FindUnlinkedMentions lists the places where other notes name a note, by its
// title, file name or alias, without linking to it.
type FindUnlinkedMentions struct {
	// Path, file name, title or alias of the note.
	Path string `json:"path"`
	// Most places.
	Limit int `json:"limit,omitempty" default:"20" min:"1" max:"200"`
	// Places to skip.
	Offset int `json:"offset,omitempty" min:"0"`
}

// Mentions are places that name a note, by path and line.
type Mentions struct {
	Path  string `json:"path"`
	Title string `json:"title"`
	// Names that were looked for.
	Names    []string  `json:"names"`
	Mentions []Mention `json:"mentions"`
	// Total number of places, shown or not.
	Total int `json:"total"`
	// Skipped counts the notes that were not looked into because there were too many.
	Skipped int `json:"skipped,omitempty"`
	// More tells how to read on when there are further places.
	More  string          `json:"more,omitempty"`
	Index index.Freshness `json:"index"`
}

// Mention is one place that names the note.
type Mention struct {
	SourcePath  string `json:"source_path"`
	SourceTitle string `json:"source_title"`
	// Text as it is written there.
	Text string `json:"text"`
	Line int    `json:"line"`
	// Excerpt is the line around it.
	Excerpt string `json:"excerpt"`
}

// mentionNotes is how many notes are opened to look for mentions.
const mentionNotes = 500

// Run looks into every note that has the words of a name.
func (in FindUnlinkedMentions) Run(ctx context.Context, env Env) (Mentions, error) {
	row, err := env.locate(ctx, "path", in.Path)
	if err != nil {
		return Mentions{}, err
	}
	out := Mentions{Path: row.File.Path, Title: row.Title, Names: mentionNames(&row), Mentions: []Mention{}, Index: env.Fresh(ctx)}
	if len(out.Names) == 0 {
		return out, nil
	}
	found, expr, err := env.mentioning(ctx, row.File.Path, out.Names)
	if err != nil {
		return Mentions{}, err
	}
	out.Skipped = max(0, len(found)-mentionNotes)
	var all []Mention
	for _, f := range found[:min(len(found), mentionNotes)] {
		if err := ctx.Err(); err != nil {
			return Mentions{}, err
		}
		if f.Path == row.File.Path || !strings.EqualFold(path.Ext(f.Path), ".md") {
			continue
		}
		file, err := env.Vault.Head(ctx, f.Path)
		if ctx.Err() != nil {
			return Mentions{}, ctx.Err()
		}
		if err != nil {
			continue // gone since, or not readable
		}
		all = append(all, mentionsIn(note.Parse(f.Path, file.Data), expr)...)
	}
	page, more := paging.Cut(all, in.Offset, in.Limit)
	out.Mentions, out.Total, out.More = append(out.Mentions, page...), len(all), more
	return out, nil
}

// mentioning lists the notes that have the words of one of the names, by path,
// and makes the expression that finds the names in them.
func (env Env) mentioning(ctx context.Context, p string, names []string) ([]index.Scored, *regexp.Regexp, error) {
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
	found, err := env.Store.Match(ctx, match)
	slices.SortFunc(found, func(a, b index.Scored) int { return strings.Compare(a.Path, b.Path) })
	return found, expr, err
}

// mentionNames are the names that are worth looking for, longest first, so
// that the longest one is seen where several fit.
func mentionNames(r *index.Row) []string {
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

func mentionsIn(n *note.Note, expr *regexp.Regexp) []Mention {
	var out []Mention
	text := n.Text()
	line, counted := 1, 0
	for _, s := range mentionSpans(n, expr) {
		line += strings.Count(text[counted:s.Start], "\n")
		counted = s.Start
		out = append(out, Mention{
			SourcePath: n.Path, SourceTitle: n.Title, Text: text[s.Start:s.End], Line: line, Excerpt: search.Around(text, s.Start, s.End, previewWidth),
		})
	}
	return out
}

// mentionSpans are the places of a note's text that name another note outside
// of links, properties and code.
func mentionSpans(n *note.Note, expr *regexp.Regexp) []note.Span {
	var out []note.Span
	text := n.Text()
	links := slices.Clone(n.Links)
	slices.SortFunc(links, func(a, b note.Link) int { return a.Span.Start - b.Span.Start })
	linkEnd := 0 // of the links that begin before the place looked at
	for _, at := range expr.FindAllStringIndex(text, -1) {
		start, end := at[0], at[1]
		for len(links) > 0 && links[0].Span.Start < end {
			linkEnd = max(linkEnd, links[0].Span.End)
			links = links[1:]
		}
		if start < linkEnd || start < n.Front.Span.End || n.InCode(start) || !wholeWord(text, start, end) {
			continue
		}
		out = append(out, note.Span{Start: start, End: end})
	}
	return out
}

// wholeWord reports whether a range does not begin or end inside a word.
func wholeWord(text string, start, end int) bool {
	before, _ := utf8.DecodeLastRuneInString(text[:start])
	first, _ := utf8.DecodeRuneInString(text[start:])
	last, _ := utf8.DecodeLastRuneInString(text[:end])
	after, _ := utf8.DecodeRuneInString(text[end:])
	return !joined(before, first) && !joined(last, after)
}

func joined(a, b rune) bool {
	word := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) || r == '_' }
	return word(a) && word(b) && !index.Unspaced(a) && !index.Unspaced(b)
}

// View lists the places.
func (m Mentions) View() tool.View {
	var v tool.View
	for _, x := range m.Mentions {
		item := tool.Item{Title: x.SourceTitle, Path: x.SourcePath, Line: x.Line, Text: x.Excerpt}
		if i := strings.Index(x.Excerpt, x.Text); i >= 0 {
			item.Marks = []tool.Mark{{Start: i, End: i + len(x.Text)}}
		}
		v.Items = append(v.Items, item)
	}
	skipped := ""
	if m.Skipped > 0 {
		skipped = many(m.Skipped, "note") + " not looked into"
	}
	v.Foot = foot(m.Index, fmt.Sprintf("%s without a link to %s", many(m.Total, "mention"), m.Title), m.More, skipped)
	return v
}
