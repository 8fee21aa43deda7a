package notes

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"lore/internal/graph"
	"lore/internal/index"
	"lore/internal/search"
	"lore/internal/tool"
	"lore/internal/tool/paging"
	"lore/internal/tools/toolkit"
)

// ListBacklinks: List the links to a note, with the line around each.
type ListBacklinks struct {
	// Path, name, title or alias.
	Path string `json:"path"`
	// Max links.
	Limit int `json:"limit,omitempty" default:"20" min:"1" max:"200"`
	// Links to skip.
	Offset int `json:"offset,omitempty" min:"0"`
}

// Help is the text for people.
func (ListBacklinks) Help() tool.Help {
	return tool.Help{
		Short: "List the notes that link to a note",
		Examples: []string{
			"Oxidation",
			"Oxidation --limit 3",
		},
	}
}

// Backlinks are links to one note, by the title of the note that contains
// them.
type Backlinks struct {
	// Path of the note that is linked to.
	Path  string     `json:"path"`
	Title string     `json:"title"`
	Links []Backlink `json:"links"`
	// Total number of links, including those not shown.
	Total int `json:"total"`
	// More says how to get the next links.
	More  string          `json:"more,omitempty"`
	Index index.Freshness `json:"index"`
}

// Backlink is one link to the note.
type Backlink struct {
	SourcePath  string `json:"source_path"`
	SourceTitle string `json:"source_title"`
	LinkText    string `json:"link_text"`
	// LinkType is wikilink, markdown, embed, property, relation, canvas or blockref.
	LinkType string `json:"link_type"`
	// Field that contains the link, for properties and relations.
	Field string `json:"field,omitempty"`
	Line  int    `json:"line"`
	// Excerpt is the line around the link.
	Excerpt string `json:"excerpt"`
}

// Run collects the links.
func (in ListBacklinks) Run(ctx context.Context, env Env) (Backlinks, error) {
	row, err := search.Locate(ctx, env.Store, in.Path)
	if err != nil {
		return Backlinks{}, err
	}
	links, err := graph.Backlinks(ctx, env.Store, row.File.Path)
	if err != nil {
		return Backlinks{}, err
	}
	sources, err := env.rows(ctx, links, func(l *graph.Link) string { return l.From })
	if err != nil {
		return Backlinks{}, err
	}
	slices.SortStableFunc(links, func(a, b graph.Link) int {
		return cmp.Or(
			strings.Compare(strings.ToLower(sources[a.From].Title), strings.ToLower(sources[b.From].Title)),
			strings.Compare(a.From, b.From),
			cmp.Compare(a.Start, b.Start),
		)
	})
	out := Backlinks{Path: row.File.Path, Title: row.Title, Links: []Backlink{}, Total: len(links), Index: env.Fresh(ctx)}
	page, more := paging.Cut(links, in.Offset, in.Limit)
	out.More = more
	excerpts, err := env.excerpts(ctx, page, sources)
	if err != nil {
		return Backlinks{}, err
	}
	for i, l := range page {
		out.Links = append(out.Links, Backlink{
			SourcePath: l.From, SourceTitle: sources[l.From].Title, LinkText: linkText(&l), LinkType: l.Type(),
			Field: l.Field, Line: l.Line, Excerpt: excerpts[i],
		})
	}
	return out, nil
}

// linkText is what a reader sees of a link.
func linkText(l *graph.Link) string {
	text := cmp.Or(l.Text, l.Target)
	if l.Text == "" && l.Fragment != "" {
		text += "#" + l.Fragment
	}
	return text
}

// rows reads the notes at one end of the links, by path.
func (env Env) rows(ctx context.Context, links []graph.Link, end func(*graph.Link) string) (map[string]index.Row, error) {
	var paths []string
	for i := range links {
		if p := end(&links[i]); p != "" {
			paths = append(paths, p)
		}
	}
	slices.Sort(paths)
	out := map[string]index.Row{}
	for group := range slices.Chunk(slices.Compact(paths), 500) {
		rows, err := env.Store.Notes(ctx, index.Select{Paths: group})
		if err != nil {
			return nil, err
		}
		for _, r := range rows {
			out[r.File.Path] = r
		}
	}
	return out, nil
}

// excerptWidth is how much of a line is shown around a link.
const excerptWidth = 200

// excerpts finds the line around each link in the passages of the index, so
// that it is the text in which the link was seen.
func (env Env) excerpts(ctx context.Context, links []graph.Link, sources map[string]index.Row) ([]string, error) {
	var ids []int64
	for _, l := range links {
		ids = append(ids, sources[l.From].ID)
	}
	slices.Sort(ids)
	passages, err := env.Store.Passages(ctx, index.PassageQuery{IDs: slices.Compact(ids)})
	if err != nil {
		return nil, err
	}
	of := map[string][]index.Passage{}
	for _, p := range passages {
		of[p.Path] = append(of[p.Path], p)
	}
	out := make([]string, len(links))
	for i := range links {
		out[i] = excerpt(&links[i], of[links[i].From])
	}
	return out, nil
}

func excerpt(l *graph.Link, passages []index.Passage) string {
	for _, p := range passages {
		line, ok := lineOf(p.Text, l.Line-p.Line)
		if !ok {
			continue
		}
		if at := strings.Index(line, cmp.Or(l.Target, l.Text)); at >= 0 {
			return search.Around(line, at, at+len(cmp.Or(l.Target, l.Text)), excerptWidth)
		}
		if at := strings.Index(line, l.Text); at >= 0 && l.Text != "" {
			return search.Around(line, at, at+len(l.Text), excerptWidth)
		}
	}
	if l.Field != "" {
		return search.Around(l.Field+": "+linkText(l), 0, 0, excerptWidth)
	}
	return ""
}

// lineOf is the line that lies n lines below the first of a text.
func lineOf(text string, n int) (string, bool) {
	if n < 0 {
		return "", false
	}
	for ; n > 0; n-- {
		i := strings.IndexByte(text, '\n')
		if i < 0 {
			return "", false
		}
		text = text[i+1:]
	}
	line, _, _ := strings.Cut(text, "\n")
	return line, true
}

// View lists the links.
func (b Backlinks) View() tool.View {
	var v tool.View
	for _, l := range b.Links {
		detail := ""
		if l.LinkType != "wikilink" {
			detail = l.LinkType
		}
		if l.Field != "" {
			detail += " " + l.Field
		}
		v.Items = append(v.Items, tool.Item{Title: l.SourceTitle, Path: l.SourcePath, Line: l.Line, Detail: detail, Text: l.Excerpt})
	}
	count := toolkit.Count(b.Total, "link") + " to " + b.Title
	v.Foot = toolkit.Foot(b.Index, count, b.More)
	return v
}
