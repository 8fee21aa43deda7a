package notes

import (
	"context"
	"fmt"
	"strconv"

	"lore/internal/graph"
	"lore/internal/index"
	"lore/internal/search"
	"lore/internal/tool"
	"lore/internal/tool/paging"
	"lore/internal/tools/toolkit"
)

// ListForwardLinks: List a note's links in order, broken ones too.
type ListForwardLinks struct {
	// Path, name, title or alias.
	Path string `json:"path"`
	// Max links.
	Limit int `json:"limit,omitempty" default:"50" min:"1" max:"500"`
	// Links to skip.
	Offset int `json:"offset,omitempty" min:"0"`
}

// Help is the text for people.
func (ListForwardLinks) Help() tool.Help {
	return tool.Help{
		Short: "List the links in a note",
		Long:  "Broken links are listed too, and marked.",
		Examples: []string{
			"Oolong",
			`"Start here" --limit 5`,
		},
	}
}

// ForwardLinks are the links of one note, in order.
type ForwardLinks struct {
	// Path of the note that contains the links.
	Path  string        `json:"path"`
	Title string        `json:"title"`
	Links []ForwardLink `json:"links"`
	// Total number of links, including those not shown.
	Total int `json:"total"`
	// Unresolved counts the broken links, including those not shown.
	Unresolved int `json:"unresolved"`
	// More says how to get the next links.
	More  string          `json:"more,omitempty"`
	Index index.Freshness `json:"index"`
}

// ForwardLink is one link of the note.
type ForwardLink struct {
	// TargetPath is empty for a broken link.
	TargetPath  string `json:"target_path,omitempty"`
	TargetTitle string `json:"target_title,omitempty"`
	// Target as it is written.
	Target string `json:"target"`
	// Fragment is the heading or block that the link names.
	Fragment string `json:"fragment,omitempty"`
	LinkText string `json:"link_text"`
	// LinkType is wikilink, markdown, embed, property, relation, canvas or blockref.
	LinkType string `json:"link_type"`
	// Field that contains the link, for properties and relations.
	Field string `json:"field,omitempty"`
	Line  int    `json:"line"`
	// Unresolved says that no file has this name.
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
	v := tool.View{Head: []string{"line", "text", "target", "type"}}
	for _, l := range f.Links {
		to := l.TargetPath
		if l.Unresolved {
			to = "(nothing)"
		}
		v.Rows = append(v.Rows, []string{strconv.Itoa(l.Line), l.LinkText, to, l.LinkType})
	}
	v.Foot = toolkit.Foot(f.Index, fmt.Sprintf("%s in %s, %d broken", toolkit.Count(f.Total, "link"), f.Title, f.Unresolved), f.More)
	return v
}
