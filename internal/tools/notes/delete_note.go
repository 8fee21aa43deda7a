package notes

import (
	"context"
	"fmt"

	"lore/internal/change"
	"lore/internal/graph"
	"lore/internal/tool"
	"lore/internal/tools/toolkit"
)

// DeleteNote: Move a note to the trash, where it stays 30 days.
type DeleteNote struct {
	// Path, name, title or alias.
	Path string `json:"path"`
	// Expected hash, from a read.
	IfHash string `json:"if_hash,omitempty"`
}

// Help is the text for people.
func (DeleteNote) Help() tool.Help {
	return tool.Help{
		Short: "Move a note to the trash",
		Long:  "The note stays in the trash for 30 days. You see which links will break before you confirm.",
		Examples: []string{
			"Hojicha",
			`"Bamboo whisk" --dry-run`,
		},
	}
}

// Deleted is a note that was moved to the trash.
type Deleted struct {
	Path  string `json:"path"`
	Title string `json:"title"`
	Bytes int    `json:"bytes"`
	// Dangling are the links that are broken now.
	Dangling []Dangling `json:"dangling,omitempty"`

	preview string
}

// Dangling is a link to a deleted note.
type Dangling struct {
	Path string `json:"path"`
	Line int    `json:"line"`
	Text string `json:"text"`
}

// Plan looks at what depends on the note.
func (in DeleteNote) Plan(ctx context.Context, env Env) (Deleted, change.Set, error) {
	n, err := env.open(ctx, in.Path)
	if err != nil {
		return Deleted{}, nil, err
	}
	if err := env.expect(ctx, n, in.IfHash); err != nil {
		return Deleted{}, nil, err
	}
	out := Deleted{Path: n.File.Path, Title: n.Title, Bytes: len(n.Data), preview: toolkit.Truncate(n.Text(), 160)}
	links, err := graph.Backlinks(ctx, env.Store, n.File.Path)
	if err != nil {
		return Deleted{}, nil, err
	}
	for _, l := range links {
		out.Dangling = append(out.Dangling, Dangling{Path: l.From, Line: l.Line, Text: linkText(&l)})
	}
	return out, change.Set{change.Delete(n.File.Path, string(n.Data))}, nil
}

// Preview counts what will dangle.
func (d Deleted) Preview() tool.Preview {
	p := tool.Preview{
		Summary: fmt.Sprintf("Delete %s (%s)", d.Path, toolkit.Count(d.Bytes, "byte")),
		Details: map[string]any{"path": d.Path, "title": d.Title, "bytes": d.Bytes, "content_preview": d.preview, "links_affected": len(d.Dangling), "dangling": d.Dangling},
	}
	if n := len(d.Dangling); n > 0 {
		p.Warnings = []string{toolkit.Count(n, "link") + " in other notes will break"}
	}
	return p
}

// View lists the links that lead nowhere now.
func (d Deleted) View() tool.View {
	v := tool.View{Text: fmt.Sprintf("moved %s to the trash for 30 days\n", d.Path)}
	for _, l := range d.Dangling {
		v.Items = append(v.Items, tool.Item{Path: l.Path, Line: l.Line, Text: l.Text})
	}
	if len(v.Items) > 0 {
		v.Foot = toolkit.Count(len(v.Items), "broken link") + " in other notes"
	}
	return v
}
