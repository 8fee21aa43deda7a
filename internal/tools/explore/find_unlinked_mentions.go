package explore

import (
	"context"
	"fmt"
	"path"
	"regexp"
	"strings"

	"lore/internal/graph/mention"
	"lore/internal/index"
	"lore/internal/note"
	"lore/internal/search"
	"lore/internal/tool"
	"lore/internal/tool/paging"
	"lore/internal/tools/toolkit"
)

// FindUnlinkedMentions: List where other notes mention a note, by title, file
// name or alias, without a link.
type FindUnlinkedMentions struct {
	// Path, name, title or alias.
	Path string `json:"path"`
	// Max mentions.
	Limit int `json:"limit,omitempty" default:"20" min:"1" max:"200"`
	// Mentions to skip.
	Offset int `json:"offset,omitempty" min:"0"`
}

// Help is the text for people.
func (FindUnlinkedMentions) Help() tool.Help {
	return tool.Help{
		Short: "List where notes mention a note without linking to it",
		Long:  "lore link-mentions turns them into links.",
		Examples: []string{
			"Caffeine",
			"Oxidation --limit 5",
		},
	}
}

// Mentions are places that mention a note, by path and line.
type Mentions struct {
	Path  string `json:"path"`
	Title string `json:"title"`
	// Names that were searched for.
	Names    []string  `json:"names"`
	Mentions []Mention `json:"mentions"`
	// Total number of places, including those not shown.
	Total int `json:"total"`
	// Skipped counts the notes that were not searched because there were too many.
	Skipped int `json:"skipped,omitempty"`
	// More says how to get the next places.
	More  string          `json:"more,omitempty"`
	Index index.Freshness `json:"index"`
}

// Mention is one place that mentions the note.
type Mention struct {
	SourcePath  string `json:"source_path"`
	SourceTitle string `json:"source_title"`
	// Text as it is written there.
	Text string `json:"text"`
	Line int    `json:"line"`
	// Excerpt is the line around it.
	Excerpt string `json:"excerpt"`
}

// Run looks into every note that has the words of a name.
func (in FindUnlinkedMentions) Run(ctx context.Context, env Env) (Mentions, error) {
	row, err := toolkit.Locate(ctx, env.Store, "path", in.Path)
	if err != nil {
		return Mentions{}, err
	}
	out := Mentions{Path: row.File.Path, Title: row.Title, Names: mention.Names(&row), Mentions: []Mention{}, Index: env.Fresh(ctx)}
	if len(out.Names) == 0 {
		return out, nil
	}
	found, expr, err := mention.Candidates(ctx, env.Store, row.File.Path, out.Names)
	if err != nil {
		return Mentions{}, err
	}
	out.Skipped = max(0, len(found)-mention.MaxNotes)
	var all []Mention
	for _, f := range found[:min(len(found), mention.MaxNotes)] {
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

func mentionsIn(n *note.Note, expr *regexp.Regexp) []Mention {
	var out []Mention
	text := n.Text()
	line, counted := 1, 0
	for _, s := range mention.Spans(n, expr) {
		line += strings.Count(text[counted:s.Start], "\n")
		counted = s.Start
		out = append(out, Mention{
			SourcePath: n.Path, SourceTitle: n.Title, Text: text[s.Start:s.End], Line: line, Excerpt: search.Around(text, s.Start, s.End, previewWidth),
		})
	}
	return out
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
		skipped = toolkit.Count(m.Skipped, "note") + " not searched"
	}
	v.Foot = toolkit.Foot(m.Index, fmt.Sprintf("%s without a link to %s", toolkit.Count(m.Total, "mention"), m.Title), m.More, skipped)
	return v
}
