package knowledge

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"

	"lore/internal/change"
	"lore/internal/fault"
	"lore/internal/graph"
	"lore/internal/note/relation"
	"lore/internal/tool"
)

// CreateRelationship: Relate a node to another, as a line in the first: it
// supports, contradicts, cites or is derived from it.
type CreateRelationship struct {
	// Node that states it: id, path, title or alias.
	FromID string `json:"from_id"`
	// Node it is about.
	ToID string `json:"to_id"`
	// SUPPORTS, CONTRADICTS, RELATES_TO, CITES, DERIVED_FROM, PART_OF, CAUSES, SIMILAR_TO, or your own.
	RelationshipType string `json:"relationship_type"`
	// Confidence, 0 to 1.
	Confidence float64 `json:"confidence,omitempty" default:"1" min:"0" max:"1"`
	// Why, in a few words.
	Notes string `json:"notes,omitempty"`
}

// Help is the text for people.
func (CreateRelationship) Help() tool.Help {
	return tool.Help{
		Short: "Relate one node to another",
		Long:  "The relationship is written as a line in the first node's note.",
		Flags: map[string]string{
			"from-id":           "node that the relationship starts from: ID, path, title or alias",
			"to-id":             "node the relationship points to",
			"relationship-type": "SUPPORTS, CONTRADICTS, RELATES_TO, CITES, DERIVED_FROM, PART_OF, CAUSES, SIMILAR_TO, or a type of your own",
			"confidence":        "confidence, 0 to 1",
			"notes":             "the reason, in a few words",
		},
		Examples: []string{
			"obs-4t1c hyp-3b8d SUPPORTS --confidence 0.6",
			`clm-8w1j "The Book of Tea" CITES`,
		},
	}
}

// RelationshipCreated is a relation that was written.
type RelationshipCreated struct {
	EdgeID           string  `json:"edge_id"`
	FromID           string  `json:"from_id"`
	ToID             string  `json:"to_id"`
	RelationshipType string  `json:"relationship_type"`
	Confidence       float64 `json:"confidence"`
	// Path of the note that states it.
	Path string `json:"path"`

	fromTitle, toTitle string
	warnings           []string
}

// Plan adds a line to the first note.
func (in CreateRelationship) Plan(ctx context.Context, env Env) (RelationshipCreated, change.Set, error) {
	var none RelationshipCreated
	typ, err := relationType("relationship_type", in.RelationshipType)
	if err != nil {
		return none, nil, err
	}
	if ownField.MatchString(in.Notes) {
		return none, nil, fault.Field("notes", "use the \"confidence\" argument", "Lore would read a confidence in the notes as the confidence of the relationship")
	}
	from, err := env.open(ctx, "from_id", in.FromID)
	if err != nil {
		return none, nil, err
	}
	to, err := env.locate(ctx, "to_id", in.ToID)
	if err != nil {
		return none, nil, err
	}
	if from.Path == to.File.Path {
		return none, nil, fault.Field("to_id", "name another node", "%s cannot be related to itself", from.id())
	}
	edges, err := graph.Edges(ctx, env.Store, []string{from.Path}, graph.Hop{}, false)
	if err != nil {
		return none, nil, err
	}
	out := RelationshipCreated{FromID: from.id(), ToID: idOf(&to), RelationshipType: typ, Confidence: in.Confidence, Path: from.Path, fromTitle: from.row.Title, toTitle: to.Title}
	for _, e := range edges {
		if e.From != from.Path || e.To != to.File.Path {
			continue
		}
		if e.Type == typ {
			return none, nil, fault.Fix(fault.Conflict, "change that one, or delete it first", "%s already %s %s: %s", from.id(), typ, idOf(&to), e.Name())
		}
		if opposite(e.Type, typ) {
			out.warnings = append(out.warnings, fmt.Sprintf("%s states the opposite: %s", e.Name(), e.Type))
		}
	}
	if !slices.Contains(relation.Known(), typ) {
		if used, err := env.usedType(ctx, typ); err != nil || !used {
			if err != nil {
				return none, nil, err
			}
			out.warnings = append(out.warnings, typ+" is a new type of relationship in this vault")
		}
	}
	e := env.edit(from)
	random := seed(ctx, "relate", from.Path, to.File.Path, typ)
	if out.EdgeID, err = env.relate(ctx, e, random, to.File.Path, relation.Relation{Type: typ, Confidence: &in.Confidence, Notes: in.Notes}); err != nil {
		return none, nil, err
	}
	set, err := e.set()
	return out, set, err
}

// ownField is a field that a relation has itself: with another one in the notes,
// programs that query fields would see two values.
var ownField = regexp.MustCompile(`(?i)[\[(]\s*(confidence|prior)\s*::`)

// opposite reports whether two types cannot both be right.
func opposite(a, b string) bool {
	return a == "SUPPORTS" && b == "CONTRADICTS" || a == "CONTRADICTS" && b == "SUPPORTS"
}

// Preview says who states what.
func (r RelationshipCreated) Preview() tool.Preview {
	return tool.Preview{
		Summary: fmt.Sprintf("Relate %s %s %s", r.fromTitle, r.RelationshipType, r.toTitle), Warnings: r.warnings,
		Details: map[string]any{"from_id": r.FromID, "to_id": r.ToID, "relationship_type": r.RelationshipType, "confidence": r.Confidence, "path": r.Path},
	}
}

// View says what was written.
func (r RelationshipCreated) View() tool.View {
	return tool.View{Text: fmt.Sprintf("%s: %s %s %s\n", r.EdgeID, cmp.Or(r.fromTitle, r.FromID), r.RelationshipType, cmp.Or(r.toTitle, r.ToID))}
}
