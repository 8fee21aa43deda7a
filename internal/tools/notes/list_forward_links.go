package notes

import (
	"context"
	"fmt"
	"strconv"

	"lore/internal/graph"
	"lore/internal/index"
	"lore/internal/paging"
	"lore/internal/search"
	"lore/internal/tool"
)

// ListForwardLinks returns the links of a note in their order, those that lead
// nowhere too.
type ListForwardLinks struct {
	// Path, name, title or alias.
	Path string `json:"path"`
	// Most links.
	Limit int `json:"limit,omitempty" default:"50" min:"1" max:"500"`
	// Links to skip.
	Offset int `json:"offset,omitempty" min:"0"`
}

// ForwardLinks are the links of one note, as they stand in it.
type ForwardLinks struct {
	// Path of the note that the links stand in.
	Path  string        `json:"path"`
	Title string        `json:"title"`
	Links []ForwardLink `json:"links"`
	// Total number of links, shown or not.
	Total int `json:"total"`
	// Unresolved counts the links that lead nowhere, shown or not.
	Unresolved int `json:"unresolved"`
	// More tells how to read on when there are further links.
	More  string          `json:"more,omitempty"`
	Index index.Freshness `json:"index"`
}

// ForwardLink is one link of the note.
type ForwardLink struct {
	// TargetPath is empty when the link leads nowhere.
	TargetPath  string `json:"target_path,omitempty"`
	TargetTitle string `json:"target_title,omitempty"`
	// Target as it is written.
	Target string `json:"target"`
	// Fragment is the heading or block that the link names.
	Fragment string `json:"fragment,omitempty"`
	LinkText string `json:"link_text"`
	// LinkType is wikilink, markdown, embed, property, relation, canvas or blockref.
	LinkType string `json:"link_type"`
	// Field that the link stands in, for properties and relations.
	Field string `json:"field,omitempty"`
	Line  int    `json:"line"`
	// Unresolved says that nothing carries the name.
	Unresolved bool `json:"unresolved,omitempty"`
}

// Run collects the links.
func (in ListForwardLinks) Run(ctx context.Context, env Env) (ForwardLinks, error) {
	row, err := search.Locate(ctx, env.Store, in.Path)
	if err != nil {
		return ForwardLinks{}, err
	}
	links, err := graph.Forward(ctx, env.Store, row.File.Path)
	if err != nil {
		return ForwardLinks{}, err
	}
	out := ForwardLinks{Path: row.File.Path, Title: row.Title, Links: []ForwardLink{}, Total: len(links), Index: env.Fresh(ctx)}
	for _, l := range links {
		if l.To == "" {
			out.Unresolved++
		}
	}
	page, more := paging.Cut(links, in.Offset, in.Limit)
	out.More = more
	targets, err := env.rows(ctx, page, func(l *graph.Link) string { return l.To })
	if err != nil {
		return ForwardLinks{}, err
	}
	for _, l := range page {
		out.Links = append(out.Links, ForwardLink{
			TargetPath: l.To, TargetTitle: targets[l.To].Title, Target: l.Target, Fragment: l.Fragment, LinkText: linkText(&l),
			LinkType: l.Type(), Field: l.Field, Line: l.Line, Unresolved: l.To == "",
		})
	}
	return out, nil
}

// View is a table of the links.
func (f ForwardLinks) View() tool.View {
	v := tool.View{Head: []string{"line", "text", "leads to", "type"}}
	for _, l := range f.Links {
		to := l.TargetPath
		if l.Unresolved {
			to = "(nothing)"
		}
		v.Rows = append(v.Rows, []string{strconv.Itoa(l.Line), l.LinkText, to, l.LinkType})
	}
	v.Foot = foot(f.Index, fmt.Sprintf("%d links in %s, %d lead nowhere", f.Total, f.Title, f.Unresolved), f.More)
	return v
}
