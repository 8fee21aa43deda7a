package knowledge

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"lore/internal/fault"
	"lore/internal/graph"
	"lore/internal/graph/confidence"
	"lore/internal/graph/judge"
	"lore/internal/index"
	"lore/internal/tool"
	"lore/internal/tools/toolkit"
)

// FindContradictions: List nodes that contradict each other: by a stated
// relationship, by a note that supports both sides, and on request by their
// texts.
type FindContradictions struct {
	// Only those of this node: id, path, title or alias.
	NodeID string `json:"node_id,omitempty"`
	// Also compare the texts of similar nodes.
	Suspect bool `json:"suspect,omitempty"`
	// Max contradictions.
	Limit int `json:"limit,omitempty" default:"20" min:"1" max:"200"`
}

// Help is the text for people.
func (FindContradictions) Help() tool.Help {
	return tool.Help{
		Short: "List contradictions between nodes",
		Flags: map[string]string{
			"node-id": "only contradictions that involve this node",
			"suspect": "also compare the text of similar nodes",
		},
		Examples: []string{
			"",
			"--node-id clm-5r0e",
		},
	}
}

// Contradictions are pairs of nodes that disagree, strongest first.
type Contradictions struct {
	Contradictions []Contradiction `json:"contradictions"`
	// Total counts those that are stated.
	Total int    `json:"total"`
	More  string `json:"more,omitempty"`
	Basis
	Index index.Freshness `json:"index"`
}

// Contradiction is one pair.
type Contradiction struct {
	// Kind is "stated", "both_sides" (a note states support and contradiction), or "suspected".
	Kind   string  `json:"kind"`
	EdgeID string  `json:"edge_id,omitempty"`
	From   NodeRef `json:"from"`
	To     NodeRef `json:"to"`
	// Tension is 0 to 1: the confidence in both nodes and in the contradiction.
	Tension    float64  `json:"tension"`
	Confidence *float64 `json:"confidence"`
	Reasoning  string   `json:"reasoning"`
}

// Run asks the index for contradictions and weighs them.
func (in FindContradictions) Run(ctx context.Context, env Env) (Contradictions, error) {
	out := Contradictions{Contradictions: []Contradiction{}, Basis: Basis{Method: "stated"}, Index: env.Fresh(ctx)}
	var edges []graph.Edge
	var err error
	var row index.Row
	if in.NodeID != "" {
		if row, err = env.locate(ctx, "node_id", in.NodeID); err != nil {
			return out, err
		}
		edges, err = graph.Edges(ctx, env.Store, []string{row.File.Path}, graph.Hop{Types: []string{"CONTRADICTS"}}, false)
	} else {
		edges, err = graph.All(ctx, env.Store, graph.Hop{Types: []string{"CONTRADICTS"}})
	}
	if err != nil {
		return out, err
	}
	if err := out.stated(ctx, env, edges); err != nil {
		return out, err
	}
	out.Total = len(out.Contradictions)
	if in.Suspect {
		if in.NodeID == "" {
			return out, fault.Field("suspect", "name a node to compare it with similar ones", "needs node_id")
		}
		if err := out.suspected(ctx, env, &row, edges); err != nil {
			return out, err
		}
	}
	slices.SortStableFunc(out.Contradictions, func(a, b Contradiction) int { return -cmp.Compare(a.Tension, b.Tension) })
	if n := len(out.Contradictions); n > in.Limit {
		out.More = fmt.Sprintf("showing the strongest %d of %d; raise limit for more", in.Limit, n)
		out.Contradictions = out.Contradictions[:in.Limit]
	}
	return out, nil
}

// stated turns edges into contradictions.
func (c *Contradictions) stated(ctx context.Context, env Env, edges []graph.Edge) error {
	var paths []string
	for _, e := range edges {
		paths = append(paths, e.From, e.To)
	}
	rows, err := env.rows(ctx, paths)
	if err != nil {
		return err
	}
	backed, err := env.backing(ctx, paths)
	if err != nil {
		return err
	}
	for _, e := range edges {
		if err := ctx.Err(); err != nil { // what supports both sides may be much
			return err
		}
		from, to := rows[e.From], rows[e.To]
		if from == nil || to == nil {
			continue
		}
		x := Contradiction{
			Kind: "stated", EdgeID: e.Name(), From: refOf(from), To: refOf(to), Confidence: e.Confidence,
			Tension: tension(e.Confidence, from.Sure, to.Sure), Reasoning: cmp.Or(e.Notes, fmt.Sprintf("%s states it on line %d", e.From, e.Line)),
		}
		switch both := shared(backed[e.From], backed[e.To]); {
		case slices.Contains(backed[e.To], e.From) || slices.Contains(backed[e.From], e.To):
			x.Kind, x.Reasoning = "both_sides", "one supports the other and contradicts it"
		case len(both) > 0:
			x.Kind, x.Reasoning = "both_sides", strings.Join(both, ", ")+" supports both"
		}
		c.Contradictions = append(c.Contradictions, x)
	}
	return nil
}

// backing finds for each note the notes that support it.
func (env Env) backing(ctx context.Context, paths []string) (map[string][]string, error) {
	out := map[string][]string{}
	if len(paths) == 0 {
		return out, nil
	}
	slices.Sort(paths)
	edges, err := graph.Edges(ctx, env.Store, slices.Compact(paths), graph.Hop{Types: []string{"SUPPORTS"}}, false)
	for _, e := range edges {
		out[e.To] = append(out[e.To], e.From)
	}
	return out, err
}

func shared(a, b []string) []string {
	in := make(map[string]bool, len(b))
	for _, x := range b {
		in[x] = true
	}
	var out []string
	for _, x := range a {
		if in[x] {
			out = append(out, x)
		}
	}
	return out
}

// tension is how much a contradiction matters: what nobody believes disturbs
// nobody.
func tension(all ...*float64) float64 {
	t := 1.0
	for _, c := range all {
		if c == nil {
			t *= confidence.Prior
			continue
		}
		t *= *c
	}
	return toolkit.Round(t)
}

// suspectLike is how near two nodes must be to be compared, and suspects how
// many are.
const (
	suspectLike = 0.5
	suspects    = 15
)

// suspected compares a node with those near to it.
func (c *Contradictions) suspected(ctx context.Context, env Env, row *index.Row, known []graph.Edge) error {
	near, _, err := env.near(ctx, row, suspects, suspectLike)
	if err != nil {
		return err
	}
	from, err := env.doc(ctx, row)
	if err != nil {
		return err
	}
	c.Basis = Basis{Method: judge.ByCues}
	for _, n := range near {
		if slices.ContainsFunc(known, func(e graph.Edge) bool { return e.Other(row.File.Path) == n.row.File.Path }) {
			continue
		}
		to, err := env.doc(ctx, &n.row)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			continue // it went away or cannot be read
		}
		v := env.Judge.Relation(ctx, from, to, n.cosine)
		c.Basis = sum(c.Basis, basisOf(v.Basis))
		if v.Type != "CONTRADICTS" {
			continue
		}
		sure := confidence.Round(v.Confidence)
		c.Contradictions = append(c.Contradictions, Contradiction{
			Kind: "suspected", From: refOf(row), To: refOf(&n.row), Confidence: &sure, Tension: tension(&sure, row.Sure, n.row.Sure), Reasoning: v.Reasoning,
		})
	}
	return nil
}

// View is a table.
func (c Contradictions) View() tool.View {
	v := tool.View{Foot: toolkit.Foot(c.Index, toolkit.Count(len(c.Contradictions), "contradiction"), c.More, said(c.Basis))}
	if len(c.Contradictions) > 0 {
		v.Head = []string{"tension", "node", "contradicts", "kind", "why"}
	}
	for _, x := range c.Contradictions {
		v.Rows = append(v.Rows, []string{fmt.Sprintf("%.2f", x.Tension), x.From.Title, x.To.Title, strings.ReplaceAll(x.Kind, "_", " "), x.Reasoning})
	}
	return v
}
