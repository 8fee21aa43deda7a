package knowledge

import (
	"context"
	"fmt"

	"lore/internal/change"
	"lore/internal/fault"
	"lore/internal/graph"
	"lore/internal/note/relation"
	"lore/internal/note/summarize"
	"lore/internal/tool"
)

// ReclassifyRelationship: Change the type of a relationship. Without a new
// type, suggest one from the two texts.
type ReclassifyRelationship struct {
	// Relationship id, from get_node.
	EdgeID string `json:"edge_id"`
	// SUPPORTS, CONTRADICTS, RELATES_TO, CITES, DERIVED_FROM, PART_OF, CAUSES, SIMILAR_TO, or your own.
	NewType string `json:"new_type,omitempty"`
	// Keep the text beside it.
	PreserveNotes bool `json:"preserve_notes,omitempty" default:"true"`
}

// Help is the text for people.
func (ReclassifyRelationship) Help() tool.Help {
	return tool.Help{
		Short: "Change the type of a relationship",
		Long:  "Without a new type, suggests one from the text of the two nodes.",
		Flags: map[string]string{
			"new-type":       "SUPPORTS, CONTRADICTS, RELATES_TO, CITES, DERIVED_FROM, PART_OF, CAUSES, SIMILAR_TO, or a type of your own",
			"preserve-notes": "keep the relationship's notes",
		},
		Examples: []string{
			"rel-8d0n --new-type PART_OF",
			"rel-5h1w",
		},
	}
}

// RelationshipReclassified is a relation of another type.
type RelationshipReclassified struct {
	EdgeID  string `json:"edge_id"`
	OldType string `json:"old_type"`
	NewType string `json:"new_type"`
	// Confidence of the relationship; of a suggested type, how clear it is.
	Confidence *float64 `json:"confidence"`
	Reasoning  string   `json:"reasoning"`
	Basis

	fromTitle, toTitle string
	lostNotes          string
	warnings           []string
	guides             []string
}

// GuidedBy are the notes whose text decided about the type, where nobody gave it.
func (r RelationshipReclassified) GuidedBy() []string { return r.guides }

// Plan rewrites the name of the type, and nothing else of the line.
func (in ReclassifyRelationship) Plan(ctx context.Context, env Env) (RelationshipReclassified, change.Set, error) {
	var none RelationshipReclassified
	e, from, err := env.edge(ctx, in.EdgeID)
	if err != nil {
		return none, nil, err
	}
	_, to, err := env.ends(ctx, &e)
	if err != nil {
		return none, nil, err
	}
	out := RelationshipReclassified{
		EdgeID: e.Name(), OldType: e.Type, Confidence: e.Confidence, Reasoning: "you chose the type", Basis: Basis{Method: "stated"},
		fromTitle: from.row.Title, toTitle: e.Target,
	}
	if to != nil {
		out.toTitle = to.Title
	}
	if in.NewType != "" {
		if out.NewType, err = relationType("new_type", in.NewType); err != nil {
			return none, nil, err
		}
	} else {
		if to == nil {
			return none, nil, fault.Field("new_type", "give the new type", "the target of %s does not exist, so no type can be suggested", e.Name())
		}
		if err := out.suggest(ctx, env, from, to); err != nil {
			return none, nil, err
		}
	}
	if !in.PreserveNotes && e.Notes != "" {
		out.lostNotes = e.Notes
		out.warnings = append(out.warnings, "its notes will be removed: "+summarize.Clip(e.Notes, 120))
	}
	ed := env.edit(from)
	if err := ed.do(relation.Retype(ed.now, e.ID, out.NewType, in.PreserveNotes)); err != nil {
		return none, nil, err
	}
	if same, err := env.twin(ctx, &e, out.NewType); err != nil {
		return none, nil, err
	} else if same != "" {
		return none, nil, fault.Fix(fault.Conflict, "delete one of the two", "the relationship %s already has the type %s and points to %s", same, out.NewType, out.toTitle)
	}
	set, err := ed.set()
	return out, set, err
}

// twin is another relation that says the same as e would with another type.
func (env Env) twin(ctx context.Context, e *graph.Edge, typ string) (string, error) {
	edges, err := graph.Edges(ctx, env.Store, []string{e.From}, graph.Hop{Types: []string{typ}}, false)
	if err != nil {
		return "", err
	}
	for _, other := range edges {
		if other.From == e.From && other.To == e.To && other.To != "" && other.Start != e.Start {
			return other.Name(), nil
		}
	}
	return "", nil
}

// Preview says what becomes of it.
func (r RelationshipReclassified) Preview() tool.Preview {
	return tool.Preview{
		Summary:  fmt.Sprintf("Change %s %s %s to %s", r.fromTitle, r.OldType, r.toTitle, r.NewType),
		Warnings: r.warnings, Destroys: r.lostNotes != "",
		Details: map[string]any{"edge_id": r.EdgeID, "old_type": r.OldType, "new_type": r.NewType, "confidence": r.Confidence, "reasoning": r.Reasoning, "method": r.Method},
	}
}

// View says what it is now.
func (r RelationshipReclassified) View() tool.View {
	if r.OldType == r.NewType {
		return tool.View{Text: fmt.Sprintf("%s stays %s\n%s\n", r.EdgeID, r.NewType, r.Reasoning)}
	}
	return tool.View{Text: fmt.Sprintf("changed %s from %s to %s\n%s\n", r.EdgeID, r.OldType, r.NewType, r.Reasoning)}
}
