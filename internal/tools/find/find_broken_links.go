package find

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"lore/internal/graph"
	"lore/internal/index"
	"lore/internal/paging"
	"lore/internal/search"
	"lore/internal/tool"
)

// FindBrokenLinks lists the links that lead nowhere, with the names that may
// have been meant.
type FindBrokenLinks struct {
	// Only links in this note.
	Path string `json:"path,omitempty"`
	// Only links in notes of this folder.
	Folder string `json:"folder,omitempty"`
	// Most links.
	Limit int `json:"limit,omitempty" default:"50" min:"1" max:"200"`
	// Links to skip.
	Offset int `json:"offset,omitempty" min:"0"`
}

// BrokenLinks are links that lead nowhere, by the note they stand in.
type BrokenLinks struct {
	Links []BrokenLink `json:"links"`
	// Total number of broken links, shown or not.
	Total int `json:"total"`
	// More tells how to read on when there are further links.
	More  string          `json:"more,omitempty"`
	Index index.Freshness `json:"index"`
}

// BrokenLink is one link that leads nowhere.
type BrokenLink struct {
	SourcePath string `json:"source_path"`
	// Target as it is written.
	Target   string `json:"target"`
	LinkText string `json:"link_text"`
	// LinkType is wikilink, markdown, embed, property, relation, canvas or blockref.
	LinkType string `json:"link_type"`
	Line     int    `json:"line"`
	// Suggestions are files with a similar name, most likely first.
	Suggestions []string `json:"suggestions"`
}

// Run collects the links.
func (in FindBrokenLinks) Run(ctx context.Context, env Env) (BrokenLinks, error) {
	broken, err := in.collect(ctx, env)
	if err != nil {
		return BrokenLinks{}, err
	}
	page, more := paging.Cut(broken, in.Offset, in.Limit)
	out := BrokenLinks{Links: []BrokenLink{}, Total: len(broken), More: more, Index: env.Fresh(ctx)}
	names, err := search.LoadSpellings(ctx, env.Store)
	if err != nil {
		return BrokenLinks{}, err
	}
	for _, l := range page {
		if err := ctx.Err(); err != nil { // each is compared with every name
			return BrokenLinks{}, err
		}
		near := names.Near(l.Target)
		out.Links = append(out.Links, BrokenLink{
			SourcePath: l.From, Target: l.Target, LinkText: cmp.Or(l.Text, l.Target), LinkType: l.Type(), Line: l.Line,
			Suggestions: append([]string{}, near[:min(3, len(near))]...),
		})
	}
	return out, nil
}

func (in FindBrokenLinks) collect(ctx context.Context, env Env) ([]graph.Link, error) {
	folder, err := env.folder(ctx, in.Folder)
	if err != nil {
		return nil, err
	}
	var links []graph.Link
	if in.Path != "" {
		row, err := env.locate(ctx, "path", in.Path)
		if err != nil {
			return nil, err
		}
		if links, err = graph.Forward(ctx, env.Store, row.File.Path); err != nil {
			return nil, err
		}
	} else {
		g, err := graph.Load(ctx, env.Store)
		if err != nil {
			return nil, err
		}
		links = g.Broken
	}
	var out []graph.Link
	for i, l := range links {
		if err := index.Interrupted(ctx, i); err != nil {
			return nil, err
		}
		if l.To == "" && lies(l.From, folder) {
			out = append(out, l)
		}
	}
	return out, nil
}

// View is a table of the links.
func (b BrokenLinks) View() tool.View {
	v := tool.View{Head: []string{"where", "leads nowhere", "meant?"}}
	for _, l := range b.Links {
		v.Rows = append(v.Rows, []string{fmt.Sprintf("%s:%d", l.SourcePath, l.Line), l.Target, strings.Join(l.Suggestions, ", ")})
	}
	v.Foot = foot(b.Index, many(b.Total, "broken link"), b.More)
	return v
}
