package knowledge

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"lore/internal/change"
	"lore/internal/fault"
	"lore/internal/graph"
	"lore/internal/note/relation"
	"lore/internal/tool"
	"lore/internal/tools/toolkit"
)

// ReclassifyNode: Change the type of a node, say from Observation to
// Hypothesis. Its id and path stay, so references keep working.
type ReclassifyNode struct {
	// Id, path, title or alias.
	NodeID string `json:"node_id"`
	// Observation, Hypothesis, Claim, Source, Concept, Question, Entity, Task, Note, or your own.
	NewType string `json:"new_type"`
	// If false, every relationship with it is removed.
	PreserveRelationships bool `json:"preserve_relationships,omitempty" default:"true"`
}

// Help is the text for people.
func (ReclassifyNode) Help() tool.Help {
	return tool.Help{
		Short: "Change the type of a node",
		Long:  "Its ID and path stay the same, so references keep working.",
		Flags: map[string]string{
			"new-type":               "Observation, Hypothesis, Claim, Source, Concept, Question, Entity, Task, Note, or a type of your own",
			"preserve-relationships": "keep its relationships; =false removes all of them",
		},
		Examples: []string{
			"obs-2f6z Hypothesis",
			"clm-5r0e Question",
		},
	}
}

// NodeReclassified is a node of another type.
type NodeReclassified struct {
	NodeID  string `json:"node_id"`
	OldType string `json:"old_type"`
	NewType string `json:"new_type"`
	// Warning says what is lost.
	Warning string `json:"warning,omitempty"`
	// Removed counts the relationships that are gone.
	Removed int `json:"relationships_removed"`

	title    string
	affected []Relationship
	warnings []string
}

// Plan sets the property, and removes relations when it is asked to.
func (in ReclassifyNode) Plan(ctx context.Context, env Env) (NodeReclassified, change.Set, error) {
	var none NodeReclassified
	typ, err := nodeType("new_type", in.NewType)
	if err != nil {
		return none, nil, err
	}
	n, err := env.open(ctx, "node_id", in.NodeID)
	if err != nil {
		return none, nil, err
	}
	out := NodeReclassified{NodeID: n.id(), OldType: typeOf(&n.row), NewType: typ, title: n.row.Title}
	e := env.edit(n)
	if typ != n.row.Type {
		if err := e.property("type", typ); err != nil {
			return none, nil, err
		}
	}
	if in.PreserveRelationships {
		set, err := e.set()
		return out, set, err
	}
	edges, err := graph.Edges(ctx, env.Store, []string{n.Path}, graph.Hop{}, true)
	if err != nil {
		return none, nil, err
	}
	if out.affected, err = env.related(ctx, n.Path, edges[:min(len(edges), mostAffected)]); err != nil {
		return none, nil, err
	}
	set, err := out.clear(ctx, e, edges)
	if err != nil {
		return none, nil, err
	}
	if out.Removed > 0 {
		out.Warning = toolkit.Count(out.Removed, "relationship") + " removed"
		out.warnings = append([]string{toolkit.Count(out.Removed, "relationship") + " will be removed"}, out.warnings...)
	}
	return out, set, nil
}

// clear removes the relations of the node, its own and those of others.
func (r *NodeReclassified) clear(ctx context.Context, e *edit, edges []graph.Edge) (change.Set, error) {
	of := map[string][]graph.Edge{}
	var left []string
	for _, edge := range edges {
		if !changeable(&edge) {
			left = append(left, edge.Name())
			continue
		}
		of[edge.From] = append(of[edge.From], edge)
	}
	was := e.now
	for _, edge := range of[e.now.Path] {
		if standing(was, &edge) == nil {
			return nil, fault.Fix(fault.Conflict, "try again when the index is up to date", "%s has changed, and Lore can no longer find %s in it", e.now.Path, edge.ID)
		}
		if err := e.do(relation.Remove(e.now, edge.ID)); err != nil {
			return nil, err
		}
		r.Removed++
	}
	set, err := e.set()
	if err != nil {
		return nil, err
	}
	var others []string
	for p := range of {
		if p != e.now.Path {
			others = append(others, p)
		}
	}
	slices.Sort(others)
	for _, p := range others {
		edits, gone, why, err := e.env.unrelate(ctx, p, of[p])
		if err != nil {
			return nil, err
		}
		set = append(set, edits...)
		r.Removed += gone
		if why != "" {
			r.warnings = append(r.warnings, why)
		}
	}
	if len(left) > 0 {
		r.warnings = append(r.warnings, fmt.Sprintf("%s not removed, because Lore does not rewrite their form: %s", toolkit.Count(len(left), "relationship"), strings.Join(left[:min(len(left), 5)], ", ")))
	}
	return set, nil
}

// Preview says what becomes of it.
func (r NodeReclassified) Preview() tool.Preview {
	return tool.Preview{
		Summary: fmt.Sprintf("Change %s from %s to %s", r.title, r.OldType, r.NewType), Warnings: r.warnings, Destroys: r.Removed > 0,
		Details: map[string]any{
			"node_id": r.NodeID, "node_type": r.OldType, "new_type": r.NewType, "content_preview": r.title,
			"relationships_affected": r.Removed, "relationships": r.affected,
		},
	}
}

// View says what it is now.
func (r NodeReclassified) View() tool.View {
	if r.OldType == r.NewType && r.Removed == 0 {
		return tool.View{Text: fmt.Sprintf("%s is already of type %s\n", r.NodeID, r.NewType)}
	}
	return tool.View{Text: fmt.Sprintf("changed %s from %s to %s\n", r.NodeID, r.OldType, r.NewType), Foot: r.Warning}
}
