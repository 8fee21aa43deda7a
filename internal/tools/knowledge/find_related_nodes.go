package knowledge

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"lore/internal/change"
	"lore/internal/graph"
	"lore/internal/graph/confidence"
	"lore/internal/graph/judge"
	"lore/internal/graph/stance"
	"lore/internal/index"
	"lore/internal/note"
	"lore/internal/note/relation"
	"lore/internal/search"
	"lore/internal/tool"
	"lore/internal/tools/toolkit"
)

// FindRelatedNodes: Find the nodes closest to a node in meaning and suggest
// how they are related. Links nothing unless auto_link is set, which asks a
// person.
type FindRelatedNodes struct {
	// Id, path, title or alias.
	NodeID string `json:"node_id"`
	// Max nodes.
	Limit int `json:"limit,omitempty" default:"10" min:"1" max:"50"`
	// Lowest similarity, 0 to 1.
	MinSimilarity float64 `json:"min_similarity,omitempty" default:"0.5" min:"0" max:"1"`
	// Propose the suggested relationships as edits of the node.
	AutoLink bool `json:"auto_link,omitempty"`
}

// Help is the text for people.
func (FindRelatedNodes) Help() tool.Help {
	return tool.Help{
		Short: "Find nodes related to a node",
		Long:  "Suggests how they are related. Nothing is linked unless you pass --auto-link.",
		Flags: map[string]string{
			"auto-link":      "propose the suggested relationships as edits to the node",
			"min-similarity": "lowest similarity, 0 to 1",
		},
		Examples: []string{
			"hyp-3b8d",
			"obs-9x2m --limit 3 --min-similarity 0.2",
		},
	}
}

// RelatedNodes are the nodes near to one.
type RelatedNodes struct {
	NodeID  string        `json:"node_id"`
	Related []RelatedNode `json:"related_nodes"`
	// LinksCreated counts the relationships that auto_link made.
	LinksCreated int `json:"links_created"`
	// Similarity says what similarity_score measures: "meaning", or "words" where there are no vectors.
	Similarity string `json:"similarity"`
	Basis
	Index index.Freshness `json:"index"`

	title string
	path  string
}

// GuidedBy are the notes whose text decided which relationships are made, and of
// which type.
func (r RelatedNodes) GuidedBy() []string {
	out := []string{r.path}
	for i := range r.Related {
		if r.Related[i].made {
			out = append(out, r.Related[i].Path)
		}
	}
	return out
}

// RelatedNode is one node near to another.
type RelatedNode struct {
	ID         string  `json:"id"`
	Type       string  `json:"type"`
	Title      string  `json:"title"`
	Path       string  `json:"path"`
	Content    string  `json:"content"`
	Similarity float64 `json:"similarity_score"`
	Suggested  string  `json:"suggested_relationship"`
	Sure       float64 `json:"suggestion_confidence"`
	Reasoning  string  `json:"reasoning"`
	// Linked says that a relationship or a link connects the two.
	Linked bool `json:"linked"`
	// EdgeID is the relationship, if there is one.
	EdgeID string `json:"edge_id,omitempty"`

	made bool // by this call
}

// Plan looks, and with auto_link adds a line for each node that is not related
// yet.
func (in FindRelatedNodes) Plan(ctx context.Context, env Env) (RelatedNodes, change.Set, error) {
	n, err := env.open(ctx, "node_id", in.NodeID)
	if err != nil {
		return RelatedNodes{}, nil, err
	}
	found, how, err := env.near(ctx, &n.row, in.Limit, in.MinSimilarity)
	if err != nil {
		return RelatedNodes{}, nil, err
	}
	out := RelatedNodes{NodeID: n.id(), Similarity: how, Basis: Basis{Method: judge.ByCues}, Index: env.Fresh(ctx), title: n.row.Title, path: n.Path}
	if out.Related, out.Basis, err = env.suggestions(ctx, docOf(n), found); err != nil {
		return RelatedNodes{}, nil, err
	}
	if err := env.markLinked(ctx, out.Related, n.Note); err != nil {
		return RelatedNodes{}, nil, err
	}
	if !in.AutoLink {
		return out, nil, nil
	}
	set, err := out.link(ctx, env, n)
	return out, set, err
}

// markLinked tells of each node whether something connects it with the note n,
// whose text need not be written yet: what n says counts, not what the index
// knows of it.
func (env Env) markLinked(ctx context.Context, list []RelatedNode, n *note.Note) error {
	if len(list) == 0 {
		return nil
	}
	edges, err := graph.Edges(ctx, env.Store, []string{n.Path}, graph.Hop{Links: true}, false)
	if err != nil {
		return err
	}
	edges = slices.DeleteFunc(edges, func(e graph.Edge) bool { return e.From == n.Path })
	d := index.NewDocument(index.File{Path: n.Path}, index.KindNote, n)
	says := d.Relations
	for _, l := range d.Links {
		if l.Target != "" {
			says = append(says, index.Relation{From: n.Path, Type: graph.LinksTo, Kind: l.Kind, Target: l.Target})
		}
	}
	own, err := graph.Resolve(ctx, env.Store, says)
	if err != nil {
		return err
	}
	names := map[string]string{}
	for _, e := range append(edges, own...) {
		other := e.Other(n.Path)
		if name := names[other]; e.Type == graph.LinksTo {
			names[other] = name
		} else {
			names[other] = e.Name()
		}
	}
	for i := range list {
		name, linked := names[list[i].Path]
		list[i].EdgeID, list[i].Linked = name, linked
	}
	return nil
}

// link adds the suggested relations to the node.
func (r *RelatedNodes) link(ctx context.Context, env Env, n *node) (change.Set, error) {
	e := env.edit(n)
	random := seed(ctx, "auto", n.Path)
	for i := range r.Related {
		x := &r.Related[i]
		if x.EdgeID != "" {
			continue
		}
		sure := confidence.Round(x.Sure)
		rel := relation.Relation{Type: x.Suggested, Confidence: &sure}
		if r.Method == judge.ByCues && (x.Suggested == stance.Supports || x.Suggested == stance.Contradicts) {
			// Words alone are too often wrong about who is right.
			rel.Type, rel.Notes = stance.RelatesTo, "perhaps "+strings.ToLower(x.Suggested)
		}
		id, err := env.relate(ctx, e, random, x.Path, rel)
		if err != nil {
			return nil, err
		}
		x.EdgeID, x.Linked, x.made = id, true, true
		r.LinksCreated++
	}
	return e.set()
}

// suggestions judges how each of the nodes found relates to a text.
func (env Env) suggestions(ctx context.Context, from judge.Doc, found []nearby) ([]RelatedNode, Basis, error) {
	out := []RelatedNode{}
	basis := Basis{Method: judge.ByCues}
	for i, f := range found {
		tool.Progress(ctx, i, len(found), "comparing related nodes")
		to, err := env.doc(ctx, &f.row)
		if ctx.Err() != nil {
			return nil, basis, ctx.Err()
		}
		if err != nil {
			continue // it went away or cannot be read, and is nobody's neighbour now
		}
		v := env.Judge.Relation(ctx, from, to, f.cosine)
		basis = sum(basis, basisOf(v.Basis))
		out = append(out, RelatedNode{
			ID: idOf(&f.row), Type: typeOf(&f.row), Title: f.row.Title, Path: f.row.File.Path, Content: shown(&to, f.excerpt), Similarity: f.cosine,
			Suggested: v.Type, Sure: confidence.Round(v.Confidence), Reasoning: v.Reasoning,
		})
	}
	return out, basis, nil
}

// shown is what of a node is shown: all of a short one, else the passage that is
// near.
func shown(d *judge.Doc, excerpt string) string {
	text := note.Plain(d.Text)
	if len(text) > 0 && len(text) <= 2*excerptWidth {
		return search.Around(text, 0, 0, excerptWidth)
	}
	return excerpt
}

// sum joins how several judgements came about: a model's only when all are.
func sum(a, b Basis) Basis {
	if a.Usage != nil && b.Usage != nil {
		u := a.Usage.Add(*b.Usage)
		b.Usage = &u
	} else if b.Usage == nil {
		b.Usage = a.Usage
	}
	b.Model, b.Fallback = cmp.Or(b.Model, a.Model), cmp.Or(a.Fallback, b.Fallback)
	if b.Fallback != "" {
		b.Method = judge.ByCues
	}
	return b
}

// Preview says what would be linked.
func (r RelatedNodes) Preview() tool.Preview {
	if r.LinksCreated == 0 {
		return tool.Preview{Summary: fmt.Sprintf("Found %s related to %s", toolkit.Count(len(r.Related), "node"), r.title)}
	}
	return tool.Preview{
		Summary: fmt.Sprintf("Relate %s to %s", r.title, toolkit.Count(r.LinksCreated, "node")),
		Details: map[string]any{"node_id": r.NodeID, "links_created": r.LinksCreated, "related_nodes": r.Related, "method": r.Method},
	}
}

// View lists the nodes.
func (r RelatedNodes) View() tool.View {
	v := tool.View{Foot: toolkit.Foot(r.Index, fmt.Sprintf("%s related to %s, by %s", toolkit.Count(len(r.Related), "node"), cmp.Or(r.title, r.NodeID), r.Similarity))}
	if r.LinksCreated > 0 {
		v.Foot += "; " + toolkit.Count(r.LinksCreated, "relationship") + " made"
	}
	for _, x := range r.Related {
		item := tool.Item{Title: x.Title, Path: x.Path, Detail: x.ID + "  " + x.Type, Text: x.Content, Score: x.Similarity, Notes: []string{x.Suggested + ": " + x.Reasoning}}
		switch {
		case x.made:
		case x.EdgeID != "":
			item.Notes = append(item.Notes, "already related: "+x.EdgeID)
		case x.Linked:
			item.Notes = append(item.Notes, "already linked")
		}
		v.Items = append(v.Items, item)
	}
	return v
}
