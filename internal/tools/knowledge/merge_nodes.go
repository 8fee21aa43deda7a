package knowledge

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"lore/internal/change"
	"lore/internal/fault"
	"lore/internal/graph"
	"lore/internal/graph/confidence"
	"lore/internal/graph/merge"
	"lore/internal/graph/relink"
	"lore/internal/note"
	"lore/internal/note/relation"
	"lore/internal/note/summarize"
	"lore/internal/tool"
	"lore/internal/tools/toolkit"
)

// MergeNodes: Merge two nodes: texts are joined, links to the second point to
// the first, its title becomes an alias, relationships are transferred
// without duplicates. Always asks.
type MergeNodes struct {
	// Node to keep: id, path, title or alias.
	PrimaryNodeID string `json:"primary_node_id"`
	// Node to merge into it.
	SecondaryNodeID string `json:"secondary_node_id"`
	// Whose properties win and whose text comes first; no text is lost. combine averages the confidences.
	MergeStrategy string `json:"merge_strategy,omitempty" default:"combine" enum:"combine,prefer_primary,prefer_secondary"`
}

// Help is the text for people.
func (MergeNodes) Help() tool.Help {
	return tool.Help{
		Short: "Merge one node into another",
		Long:  "Merges the secondary node into the primary node. Their text is joined, links to the secondary node point to the primary node, and relationships are transferred without duplicates.",
		Flags: map[string]string{
			"primary-node-id":   "node to keep",
			"secondary-node-id": "node to merge into the primary node",
			"merge-strategy":    "which properties are kept and which text comes first; no text is lost",
		},
		Examples: []string{
			"hyp-7k3f hyp-3b8d",
			"hyp-7k3f hyp-3b8d --merge-strategy prefer_primary",
		},
	}
}

// NodesMerged are two nodes that became one.
type NodesMerged struct {
	Operation       string `json:"operation"`
	PrimaryNodeID   string `json:"primary_node_id"`
	SecondaryNodeID string `json:"secondary_node_id"`
	// Path of the node that is kept.
	Path string `json:"path"`
	// MergedContent is its text, the beginning of a long one.
	MergedContent string `json:"merged_content"`
	// Transferred counts the relationships of the second that are the first's now, in both directions.
	Transferred int `json:"relationships_transferred"`
	// Joined counts those that the first had already.
	Joined int `json:"relationships_joined"`
	// Dropped counts those between the two.
	Dropped      int      `json:"relationships_dropped"`
	LinksUpdated int      `json:"links_updated"`
	Files        []string `json:"files"`
	Aliases      []string `json:"aliases,omitempty"`
	Confidence   *float64 `json:"confidence"`
	// RequiresConfirmation is always true: a person was asked.
	RequiresConfirmation bool `json:"requires_confirmation"`

	kept, other string // titles
	skipped     []relink.Skip
	warnings    []string
}

// Plan joins the two notes and everything that names the second.
func (in MergeNodes) Plan(ctx context.Context, env Env) (NodesMerged, change.Set, error) {
	var none NodesMerged
	kept, err := env.open(ctx, "primary_node_id", in.PrimaryNodeID)
	if err != nil {
		return none, nil, err
	}
	other, err := env.open(ctx, "secondary_node_id", in.SecondaryNodeID)
	if err != nil {
		return none, nil, err
	}
	switch {
	case kept.Path == other.Path:
		return none, nil, fault.Field("secondary_node_id", "name another node", "%s cannot be merged with itself", other.id())
	case kept.ReadOnly || other.ReadOnly:
		return none, nil, fault.Fix(fault.ReadOnly, "save them as UTF-8 first", "%s and %s must both be valid UTF-8", kept.Path, other.Path)
	}
	g := &merging{env: env, in: in, kept: kept, other: other}
	g.out = NodesMerged{
		Operation: "merge_nodes", PrimaryNodeID: kept.id(), SecondaryNodeID: other.id(), Path: kept.Path, RequiresConfirmation: true,
		kept: kept.row.Title, other: other.row.Title, Files: []string{},
	}
	set, err := g.plan(ctx)
	return g.out, set, err
}

// merging is a merge on its way.
type merging struct {
	env         Env
	in          MergeNodes
	kept, other *node
	edges       []graph.Edge // of both
	out         NodesMerged
}

func (g *merging) plan(ctx context.Context) (change.Set, error) {
	var err error
	if g.edges, err = graph.Edges(ctx, g.env.Store, []string{g.kept.Path, g.other.Path}, graph.Hop{}, true); err != nil {
		return nil, err
	}
	var id []string
	if g.other.row.Node != "" && g.other.row.Node != g.kept.row.Node {
		id = append(id, g.other.row.Node) // who knows the second by its id finds the first
	}
	aliases := merge.Names(g.kept.Note, g.other.Note, id...)
	m, err := toolkit.Planner(g.env.Vault, g.env.Store, g.env.Parse).Merge(ctx, g.kept.Path, g.other.Path, merge.AllNames(g.kept.Note, aliases))
	if err != nil {
		return nil, err
	}
	g.out.LinksUpdated, g.out.skipped = m.Links, m.Skipped
	for _, f := range m.Files {
		g.out.Files = append(g.out.Files, f.Path)
	}
	text, err := g.text(ctx, &m, aliases)
	if err != nil {
		return nil, err
	}
	others := g.elsewhere(m.Set)
	for _, s := range m.Skipped {
		g.out.warnings = append(g.out.warnings, fmt.Sprintf("%s in %s not changed: %s", toolkit.Count(s.Links, "link"), s.Path, s.Reason))
	}
	set := change.Set{change.Replace(g.kept.Path, m.KeptWas, text), change.Delete(g.other.Path, m.OtherWas)}
	return append(set, others...), nil
}

// text joins the two notes, their relations apart from the rest.
func (g *merging) text(ctx context.Context, m *relink.Merge, aliases []string) (string, error) {
	kept := &edit{env: g.env, now: g.env.Parse.Parse(g.kept.Path, []byte(m.Kept))}
	other := &edit{env: g.env, now: g.env.Parse.Parse(g.other.Path, []byte(m.Other))}
	mine, err := g.take(kept, g.kept)
	if err != nil {
		return "", err
	}
	yours, err := g.take(other, g.other)
	if err != nil {
		return "", err
	}
	second := g.in.MergeStrategy == "prefer_secondary"
	one, err := merge.Notes(kept.now, other.now, aliases, merge.Options{
		Parse: func(p string, data []byte) *note.Note { return g.env.Parse.Parse(p, data) }, First: second, Prefer: second,
		Drop: map[string]bool{"id": true, priorKey: true},
	})
	if err != nil {
		return "", err
	}
	g.out.Aliases, g.out.warnings = one.Aliases, append(g.out.warnings, one.Warnings...)
	e := &edit{env: g.env, now: g.env.Parse.Parse(g.kept.Path, []byte(one.Text))}
	if err := g.confidence(e); err != nil {
		return "", err
	}
	if err := g.put(ctx, e, mine, yours); err != nil {
		return "", err
	}
	body := []rune(says(e.now))
	g.out.MergedContent = string(body[:min(len(body), mostContent)])
	return e.now.Text(), nil
}

// A carried relation is one that is taken out of a note and put into the merged
// one.
type carried struct {
	relation.Relation
	to    string // the path it leads to
	words string // what stays in the text when the relation cannot
}

// take removes the relations of a note that can be rewritten, and returns them.
func (g *merging) take(e *edit, of *node) ([]carried, error) {
	to := map[string]string{}
	for _, edge := range g.edges {
		if edge.From == of.Path && changeable(&edge) && standing(of.Note, &edge) != nil {
			to[edge.ID] = edge.To
		}
	}
	var out []carried
	for _, r := range relation.Of(e.now) {
		target, known := to[r.ID]
		if r.ID == "" || r.Form != relation.FormLine || !known {
			continue
		}
		if !relation.Whole(e.now, r.ID) || e.do(relation.Remove(e.now, r.ID)) != nil {
			g.stays(of.Path, target) // where it is, and is read there
			continue
		}
		out = append(out, carried{Relation: r, to: target})
	}
	return out, nil
}

// stays counts a relation that is not taken out of its note, because of words
// that would be lost.
func (g *merging) stays(from, to string) {
	switch {
	case to == g.kept.Path || to == g.other.Path:
		g.out.Dropped++
		g.out.warnings = append(g.out.warnings, "a relationship between the two stays as a link from the note to itself, because it has notes")
	case from == g.other.Path:
		g.out.Transferred++
	}
}

// put writes the relations into the merged note, each once.
func (g *merging) put(ctx context.Context, e *edit, mine, yours []carried) error {
	var all []carried
	for i, c := range slices.Concat(mine, yours) {
		second := i >= len(mine)
		if c.to == g.kept.Path || c.to == g.other.Path {
			g.out.Dropped++
			if c.Notes != "" {
				all = append(all, carried{words: fmt.Sprintf("%s between the merged notes: %s", strings.ToLower(c.Type), c.Notes)})
			}
			continue
		}
		k := slices.IndexFunc(all, func(o carried) bool {
			return o.words == "" && o.Type == c.Type && o.Fragment == c.Fragment && (o.to == c.to && c.to != "" || o.Target == c.Target)
		})
		switch {
		case k >= 0:
			all[k] = together(all[k], c)
			g.out.Joined++
			continue
		case second:
			g.out.Transferred++
		}
		all = append(all, c)
	}
	random := seed(ctx, "merge", g.kept.Path, g.other.Path)
	for _, c := range all {
		if c.words != "" {
			if err := e.do(note.InsertUnder(e.now, "", c.words, note.AtEnd)); err != nil {
				return err
			}
			g.out.warnings = append(g.out.warnings, "a relationship between the two is kept as text")
		}
	}
	for _, c := range all {
		if c.words != "" {
			continue
		}
		if slices.ContainsFunc(e.now.Blocks, func(b note.Block) bool { return strings.EqualFold(b.ID, c.ID) }) {
			id, err := g.env.newEdgeID(ctx, random, e.now)
			if err != nil {
				return err
			}
			c.ID = id
		}
		if err := e.do(relation.Add(e.now, c.Relation)); err != nil {
			return err
		}
	}
	return nil
}

// together is what two relations of one type with one target say: the surer
// confidence, and the words of both.
func together(a, b carried) carried {
	if a.Confidence == nil || b.Confidence != nil && *b.Confidence > *a.Confidence {
		a.Confidence, a.Prior = b.Confidence, b.Prior
	}
	switch {
	case b.Notes == "" || strings.Contains(a.Notes, b.Notes):
	case a.Notes == "" || strings.Contains(b.Notes, a.Notes):
		a.Notes = b.Notes
	default:
		a.Notes += "; " + b.Notes
	}
	return a
}

// confidence decides how sure to be of the one node, and what was stated before
// that was calculated.
func (g *merging) confidence(e *edit) error {
	g.out.Confidence = g.choose(g.kept.row.Sure, g.other.row.Sure)
	if g.out.Confidence == nil {
		return nil
	}
	if err := e.property("confidence", *g.out.Confidence); err != nil {
		return err
	}
	stated := func(n *node) *float64 {
		if p, err := priorOf(n); err == nil && p != nil {
			return p
		}
		return n.row.Sure
	}
	prior := g.choose(stated(g.kept), stated(g.other))
	if prior == nil || *prior == *g.out.Confidence {
		return e.property(priorKey, nil)
	}
	return e.property(priorKey, *prior)
}

// choose is the one of two confidences, or their mean, that the strategy asks
// for.
func (g *merging) choose(a, b *float64) *float64 {
	switch {
	case a == nil || b != nil && g.in.MergeStrategy == "prefer_secondary":
		return b
	case b != nil && g.in.MergeStrategy == "combine":
		mean := confidence.Round((*a + *b) / 2)
		return &mean
	}
	return a
}

// elsewhere mends the other notes whose links were rewritten: what they state
// about both is stated once.
func (g *merging) elsewhere(set change.Set) change.Set {
	of := map[string][]graph.Edge{}
	was := map[string]*note.Note{}
	for _, ed := range set {
		if ed.Before != nil {
			was[ed.Path] = g.env.Parse.Parse(ed.Path, []byte(*ed.Before))
		}
	}
	for _, e := range g.edges {
		if e.From == g.kept.Path || e.From == g.other.Path {
			continue
		}
		if n := was[e.From]; n != nil && changeable(&e) && standing(n, &e) == nil {
			continue // the note changed since it was indexed
		}
		of[e.From] = append(of[e.From], e)
		if e.To == g.other.Path {
			g.out.Transferred++
		}
	}
	out := slices.Clone(set)
	for i, ed := range out {
		if ed.Before == nil || ed.After == nil || len(of[ed.Path]) < 2 {
			continue
		}
		e := &edit{env: g.env, now: g.env.Parse.Parse(ed.Path, []byte(*ed.After))}
		g.once(e, of[ed.Path])
		out[i] = change.Replace(ed.Path, *ed.Before, e.now.Text()).Relinking()
	}
	return out
}

// once joins the relations of one note that lead to the merged node and say the
// same.
func (g *merging) once(e *edit, edges []graph.Edge) {
	first := map[string]*graph.Edge{}
	for i := range edges {
		x := &edges[i]
		same := x.Type + "#" + x.Fragment
		f := first[same]
		if f == nil {
			first[same] = x
			continue
		}
		if f.To == x.To || !changeable(f) || !changeable(x) || !relation.Whole(e.now, f.ID) || !relation.Whole(e.now, x.ID) {
			continue // twice before the merge too, or in a form or with words that stay
		}
		one := together(carried{Relation: *find(e.now, f.ID)}, carried{Relation: *find(e.now, x.ID)})
		try := *e
		if try.do(relation.Remove(try.now, f.ID)) != nil || try.do(relation.Remove(try.now, x.ID)) != nil || try.do(relation.Add(try.now, one.Relation)) != nil {
			continue // both stay: lines below one of them, say
		}
		*e = try
		g.out.Joined++
		g.out.Transferred--
	}
}

// find is the relation of a note with an id.
func find(n *note.Note, id string) *relation.Relation {
	for _, r := range relation.Of(n) {
		if r.ID == id {
			return &r
		}
	}
	return nil
}

// Preview says what becomes of both.
func (m NodesMerged) Preview() tool.Preview {
	return tool.Preview{
		Summary:  fmt.Sprintf("Merge %s into %s (%s)", m.other, m.kept, toolkit.Count(m.Transferred+m.Joined+m.Dropped, "relationship")),
		Warnings: m.warnings, Destroys: true,
		Details: map[string]any{
			"primary_node_id": m.PrimaryNodeID, "secondary_node_id": m.SecondaryNodeID, "content_preview": summarize.Clip(m.MergedContent, 300),
			"relationships_affected": m.Transferred + m.Joined + m.Dropped, "relationships_transferred": m.Transferred, "relationships_joined": m.Joined,
			"relationships_dropped": m.Dropped, "links_updated": m.LinksUpdated, "files": m.Files[:min(len(m.Files), mostAffected)], "aliases": m.Aliases,
		},
	}
}

// View says what became of both.
func (m NodesMerged) View() tool.View {
	return tool.View{
		Text: fmt.Sprintf("merged %s into %s\n", cmp.Or(m.other, m.SecondaryNodeID), cmp.Or(m.kept, m.PrimaryNodeID)),
		Foot: fmt.Sprintf("%s transferred, %d merged, %d between the two removed; %s updated", toolkit.Count(m.Transferred, "relationship"), m.Joined, m.Dropped, toolkit.Count(m.LinksUpdated, "link")),
	}
}
