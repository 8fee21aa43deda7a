package explore

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"lore/internal/index"
	"lore/internal/search"
	"lore/internal/tool"
	"lore/internal/tool/paging"
	"lore/internal/tools/toolkit"
)

// FindBrokenLinks: List broken links, with files of a similar name. To fix
// them, use repair_links.
type FindBrokenLinks struct {
	// Only links in this note.
	Path string `json:"path,omitempty"`
	// Only links in notes in this folder.
	Folder string `json:"folder,omitempty"`
	// Max links.
	Limit int `json:"limit,omitempty" default:"50" min:"1" max:"200"`
	// Links to skip.
	Offset int `json:"offset,omitempty" min:"0"`
}

// Help is the text for people.
func (FindBrokenLinks) Help() tool.Help {
	return tool.Help{
		Short: "List broken links",
		Long:  "Files with a similar name are suggested. lore repair-links fixes links with one clear target.",
		Examples: []string{
			"",
			"--folder Notes",
		},
	}
}

// BrokenLinks are links without a target, by the note that contains them.
type BrokenLinks struct {
	Links []BrokenLink `json:"links"`
	// Total number of broken links, including those not shown.
	Total int `json:"total"`
	// More says how to get the next links.
	More  string          `json:"more,omitempty"`
	Index index.Freshness `json:"index"`
}

// BrokenLink is one link without a target.
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
	broken, err := toolkit.BrokenLinks(ctx, env.Vault, env.Store, in.Path, in.Folder)
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

// View is a table of the links.
func (b BrokenLinks) View() tool.View {
	v := tool.View{Head: []string{"location", "broken link", "similar files"}}
	for _, l := range b.Links {
		v.Rows = append(v.Rows, []string{fmt.Sprintf("%s:%d", l.SourcePath, l.Line), l.Target, strings.Join(l.Suggestions, ", ")})
	}
	v.Foot = toolkit.Foot(b.Index, toolkit.Count(b.Total, "broken link"), b.More)
	return v
}
