package knowledge

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"

	"lore/internal/fault"
	"lore/internal/graph"
	"lore/internal/index"
	"lore/internal/note"
	"lore/internal/note/relation"
	"lore/internal/tool"
	"lore/internal/tools/toolkit"
)

// Relationship is one relation of a node, seen from it.
type Relationship struct {
	EdgeID string `json:"edge_id"`
	Type   string `json:"type"`
	// Direction is "out" when the node states it, "in" when the other does.
	Direction string `json:"direction"`
	// NodeID is the other end: its id or path; empty if the target does not exist.
	NodeID     string   `json:"node_id"`
	Title      string   `json:"title"`
	Confidence *float64 `json:"confidence"`
	Notes      string   `json:"notes,omitempty"`
	// Fixed says that its form is never rewritten by tools.
	Fixed bool `json:"fixed,omitempty"`
}

// related turns edges into relationships as seen from a note.
func (env Env) related(ctx context.Context, path string, edges []graph.Edge) ([]Relationship, error) {
	var others []string
	for _, e := range edges {
		others = append(others, e.Other(path))
	}
	rows, err := env.rows(ctx, others)
	if err != nil {
		return nil, err
	}
	out := []Relationship{}
	for _, e := range edges {
		r := Relationship{
			EdgeID: e.Name(), Type: e.Type, Direction: "in", Confidence: e.Confidence, Notes: e.Notes, Title: e.Target, Fixed: !changeable(&e),
		}
		if e.From == path {
			r.Direction = "out"
		}
		if row := rows[e.Other(path)]; row != nil {
			r.NodeID, r.Title = idOf(row), row.Title
		}
		out = append(out, r)
	}
	return out, nil
}

// changeable reports whether the edge is written in the one form that is ever
// rewritten.
func changeable(e *graph.Edge) bool { return e.Form == string(relation.FormLine) && e.ID != "" }

// edge finds a relation that can be changed, with the note it stands in.
func (env Env) edge(ctx context.Context, id string) (graph.Edge, *node, error) {
	e, err := graph.Find(ctx, env.Store, strings.TrimSpace(id))
	if err != nil {
		return e, nil, fault.Rename(err, "", "edge_id")
	}
	rows, err := env.rows(ctx, []string{e.From})
	if err != nil {
		return e, nil, err
	}
	row := rows[e.From]
	if row == nil {
		return e, nil, fault.New(fault.NotFound, "the index has just changed; try again")
	}
	n, err := env.read(ctx, *row)
	if err != nil {
		return e, nil, err
	}
	if !changeable(&e) {
		return e, n, &fault.Report{
			Kind: fault.Invalid, Field: "edge_id",
			Message: fmt.Sprintf("the relationship on line %d of %s has a form that Lore reads but does not rewrite", e.Line, e.From),
			Fix:     "edit the note, or write it as \"- type:: [[note]] ^id\" under a \"Relations\" heading",
		}
	}
	now := standing(n.Note, &e)
	if now == nil {
		return e, nil, fault.Fix(fault.Conflict, "try again when the index is up to date", "%s has changed, and Lore can no longer find %s in it", e.From, e.ID)
	}
	e.Confidence, e.Notes = now.Confidence, now.Notes
	return e, n, nil
}

// standing is the relation of an edge in the note as it is now, or nil when the
// note changed since it was indexed and says something else there.
func standing(n *note.Note, e *graph.Edge) *relation.Relation {
	if r := find(n, e.ID); r != nil && r.Type == e.Type && r.Target == e.Target {
		return r
	}
	return nil
}

// ends are the nodes of an edge; to is nil when the link leads nowhere.
func (env Env) ends(ctx context.Context, e *graph.Edge) (from, to *index.Row, err error) {
	rows, err := env.rows(ctx, []string{e.From, e.To})
	if err != nil {
		return nil, nil, err
	}
	return rows[e.From], rows[e.To], nil
}

// seed is randomness that a plan made again for the same moment draws again, so
// that what was shown is what is done.
func seed(ctx context.Context, words ...string) io.Reader {
	h := sha256.New()
	var moment [8]byte
	binary.LittleEndian.PutUint64(moment[:], uint64(tool.Moment(ctx).UnixNano()))
	_, _ = h.Write(moment[:])
	for _, w := range words {
		_, _ = io.WriteString(h, w+"\x00")
	}
	return rand.NewChaCha8([32]byte(h.Sum(nil)))
}

// newEdgeID makes an id that no relation and no block of the note has.
func (env Env) newEdgeID(ctx context.Context, random io.Reader, n *note.Note) (string, error) {
	var failed error
	id := relation.NewID(random, func(id string) bool {
		found, err := env.Store.Relations(ctx, index.RelationQuery{IDs: []string{id}, Limit: 1})
		if err != nil {
			failed = err
		}
		return err != nil || len(found) > 0 || slices.ContainsFunc(n.Blocks, func(b note.Block) bool { return strings.EqualFold(b.ID, id) })
	})
	if id == "" && failed == nil {
		failed = fault.New(fault.Internal, "no free ID was found for the relationship")
	}
	return id, failed
}

// newNodeID makes an id that no note has.
func (env Env) newNodeID(ctx context.Context, typ string, random io.Reader, taken map[string]bool) (string, error) {
	var failed error
	id := relation.NewNodeID(typ, random, func(id string) bool {
		names, err := env.Store.Names(ctx, index.NameQuery{Keys: []string{index.Key(id)}})
		if err != nil {
			failed = err
		}
		return err != nil || len(names) > 0 || taken[id]
	})
	if id == "" && failed == nil {
		failed = fault.New(fault.Internal, "no free ID was found for the node")
	}
	return id, failed
}

// relate adds a relation from one note to another as a line of the first.
func (env Env) relate(ctx context.Context, e *edit, random io.Reader, to string, r relation.Relation) (string, error) {
	id, err := env.newEdgeID(ctx, random, e.now)
	if err != nil {
		return "", err
	}
	if r.Target, err = toolkit.Planner(env.Vault, env.Store, env.Parse).Spell(ctx, e.now.Path, to); err != nil {
		return "", err
	}
	r.ID = id
	return id, e.do(relation.Add(e.now, r))
}

// relationType gives the name of a type its one form.
func relationType(field, name string) (string, error) {
	typ, ok := relation.Normal(name)
	if !ok || typ == graph.LinksTo || typ == "CONFIDENCE" {
		return "", fault.Field(field, "use "+strings.Join(relation.Known(), ", ")+" or a type of your own", "%q is not a relationship type", name)
	}
	return typ, nil
}

// usedType reports whether some note states a relation of the type.
func (env Env) usedType(ctx context.Context, typ string) (bool, error) {
	found, err := env.Store.Relations(ctx, index.RelationQuery{Types: []string{typ}, Limit: 1})
	return len(found) > 0, err
}
