package knowledge

import (
	"context"
	"fmt"
	"slices"

	"lore/internal/change"
	"lore/internal/graph"
	"lore/internal/note/relation"
	"lore/internal/note/summarize"
	"lore/internal/tool"
	"lore/internal/tools/toolkit"
)

// DeleteNode: Move a node to the trash, where it stays 30 days. Always asks.
type DeleteNode struct {
	// Id, path, title or alias.
	NodeID string `json:"node_id"`
	// Also remove the relationships that other notes state with it.
	Cascade bool `json:"cascade,omitempty"`
}

// Help is the text for people.
func (DeleteNode) Help() tool.Help {
	return tool.Help{
		Short: "Move a node to the trash",
		Long:  "The note stays in the trash for 30 days.",
		Flags: map[string]string{
			"cascade": "also remove relationships to it from other notes",
		},
		Examples: []string{
			"qst-2v5o",
			"clm-5r0e --cascade",
		},
	}
}

// NodeDeleted is a node that was moved to the trash.
type NodeDeleted struct {
	Operation string `json:"operation"`
	NodeID    string `json:"node_id"`
	Path      string `json:"path"`
	Type      string `json:"node_type"`
	// Removed counts the relationships that are gone: those the node stated, and with cascade those of others.
	Removed int `json:"relationships_removed"`
	// Left counts the relationships in other notes that are broken now.
	Left int `json:"relationships_left"`
	// Affected lists all of them.
	Affected []Relationship `json:"relationships,omitempty"`
	// LinksLeft counts the other links that are broken now.
	LinksLeft int `json:"links_left"`

	title, preview string
	warnings       []string
}

// mostAffected is how many relationships the answer lists.
const mostAffected = 50

// Plan looks at what depends on the node.
func (in DeleteNode) Plan(ctx context.Context, env Env) (NodeDeleted, change.Set, error) {
	var none NodeDeleted
	n, err := env.open(ctx, "node_id", in.NodeID)
	if err != nil {
		return none, nil, err
	}
	edges, err := graph.Edges(ctx, env.Store, []string{n.Path}, graph.Hop{}, true)
	if err != nil {
		return none, nil, err
	}
	out := NodeDeleted{Operation: "delete_node", NodeID: n.id(), Path: n.Path, Type: typeOf(&n.row), title: n.row.Title, preview: summarize.Clip(says(n.Note), 160)}
	if out.Affected, err = env.related(ctx, n.Path, edges[:min(len(edges), mostAffected)]); err != nil {
		return none, nil, err
	}
	set := change.Set{change.Delete(n.Path, n.data)}
	of := map[string][]graph.Edge{}
	var others []string
	for _, e := range edges {
		switch {
		case e.From == n.Path:
			out.Removed++
		case in.Cascade && changeable(&e):
			if of[e.From] == nil {
				others = append(others, e.From)
			}
			of[e.From] = append(of[e.From], e)
		default:
			out.Left++
		}
	}
	for _, p := range others {
		edits, removed, why, err := env.unrelate(ctx, p, of[p])
		if err != nil {
			return none, nil, err
		}
		out.Removed += removed
		out.Left += len(of[p]) - removed
		set = append(set, edits...)
		if why != "" {
			out.warnings = append(out.warnings, why)
		}
	}
	return out, set, out.links(ctx, env, len(edges))
}

// unrelate removes relations from one note. What cannot be removed stays, with
// the reason.
func (env Env) unrelate(ctx context.Context, p string, edges []graph.Edge) (set change.Set, removed int, why string, err error) {
	rows, err := env.rows(ctx, []string{p})
	if err != nil || rows[p] == nil {
		return nil, 0, "", err
	}
	n, err := env.read(ctx, *rows[p])
	if err != nil {
		return nil, 0, "", err
	}
	e := env.edit(n)
	for _, edge := range edges {
		if standing(n.Note, &edge) == nil {
			why = fmt.Sprintf("the relationship %s stays: %s has changed since it was indexed", edge.Name(), p)
			continue
		}
		if err := e.do(relation.Remove(e.now, edge.ID)); err != nil {
			why = fmt.Sprintf("the relationship %s stays: %v", edge.Name(), err)
			continue
		}
		removed++
	}
	set, err = e.set()
	for i := range set {
		set[i].Relinks = true
	}
	return set, removed, why, err
}

// links counts what else will dangle.
func (d *NodeDeleted) links(ctx context.Context, env Env, edges int) error {
	links, err := graph.Edges(ctx, env.Store, []string{d.Path}, graph.Hop{Types: []string{graph.LinksTo}, Links: true}, false)
	if err != nil {
		return err
	}
	links = slices.DeleteFunc(links, func(e graph.Edge) bool { return e.From == d.Path })
	d.LinksLeft = len(links)
	if d.Left > 0 {
		d.warnings = append(d.warnings, toolkit.Count(d.Left, "relationship")+" in other notes will break")
	}
	if d.LinksLeft > 0 {
		d.warnings = append(d.warnings, toolkit.Count(d.LinksLeft, "link")+" in other notes will break")
	}
	return nil
}

// Preview shows what it is and what it touches.
func (d NodeDeleted) Preview() tool.Preview {
	return tool.Preview{
		Summary: fmt.Sprintf("Delete %s %s (%s)", d.Type, d.title, toolkit.Count(d.Removed+d.Left, "relationship")), Warnings: d.warnings, Destroys: true,
		Details: map[string]any{
			"node_id": d.NodeID, "node_type": d.Type, "path": d.Path, "content_preview": d.preview, "relationships_affected": d.Removed + d.Left,
			"relationships_removed": d.Removed, "relationships_left": d.Left, "links_left": d.LinksLeft, "relationships": d.Affected,
		},
	}
}

// View says what is gone.
func (d NodeDeleted) View() tool.View {
	v := tool.View{Text: fmt.Sprintf("moved %s to the trash for 30 days\n", d.Path)}
	v.Foot = toolkit.Count(d.Removed, "relationship") + " removed"
	if d.Left+d.LinksLeft > 0 {
		v.Foot += fmt.Sprintf("; %s and %s in other notes are broken", toolkit.Count(d.Left, "relationship"), toolkit.Count(d.LinksLeft, "link"))
	}
	return v
}
