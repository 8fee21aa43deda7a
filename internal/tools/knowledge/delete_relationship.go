package knowledge

import (
	"cmp"
	"context"
	"fmt"

	"lore/internal/change"
	"lore/internal/note/relation"
	"lore/internal/tool"
)

// DeleteRelationship: Remove a relationship from the note that states it.
// Always asks.
type DeleteRelationship struct {
	// Relationship id, from get_node.
	EdgeID string `json:"edge_id"`
}

// Help is the text for people.
func (DeleteRelationship) Help() tool.Help {
	return tool.Help{
		Short: "Remove a relationship",
		Examples: []string{
			"rel-2k7q",
			"rel-7n8b --dry-run",
		},
	}
}

// RelationshipDeleted is a relation that is gone.
type RelationshipDeleted struct {
	Operation        string   `json:"operation"`
	EdgeID           string   `json:"edge_id"`
	FromID           string   `json:"from_id"`
	ToID             string   `json:"to_id"`
	RelationshipType string   `json:"relationship_type"`
	Confidence       *float64 `json:"confidence"`
	Notes            string   `json:"notes,omitempty"`

	fromTitle, toTitle string
}

// Plan removes the line.
func (in DeleteRelationship) Plan(ctx context.Context, env Env) (RelationshipDeleted, change.Set, error) {
	var none RelationshipDeleted
	e, from, err := env.edge(ctx, in.EdgeID)
	if err != nil {
		return none, nil, err
	}
	out := RelationshipDeleted{
		Operation: "delete_relationship", EdgeID: e.Name(), FromID: from.id(), RelationshipType: e.Type, Confidence: e.Confidence, Notes: e.Notes, fromTitle: from.row.Title, toTitle: e.Target,
	}
	_, to, err := env.ends(ctx, &e)
	if err != nil {
		return none, nil, err
	}
	if to != nil {
		out.ToID, out.toTitle = idOf(to), to.Title
	}
	ed := env.edit(from)
	if err := ed.do(relation.Remove(from.Note, e.ID)); err != nil {
		return none, nil, err
	}
	set, err := ed.set()
	return out, set, err
}

// Preview says what goes.
func (r RelationshipDeleted) Preview() tool.Preview {
	return tool.Preview{
		Summary: fmt.Sprintf("Delete the relationship %s %s %s", r.fromTitle, r.RelationshipType, r.toTitle), Destroys: true,
		Details: map[string]any{
			"edge_id": r.EdgeID, "from_id": r.FromID, "to_id": r.ToID, "relationship_type": r.RelationshipType, "confidence": r.Confidence,
			"content_preview": r.Notes, "relationships_affected": 1,
		},
	}
}

// View says what is gone.
func (r RelationshipDeleted) View() tool.View {
	return tool.View{Text: fmt.Sprintf("deleted %s: %s %s %s\n", r.EdgeID, cmp.Or(r.fromTitle, r.FromID), r.RelationshipType, cmp.Or(r.toTitle, r.ToID))}
}
