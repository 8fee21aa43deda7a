package knowledge

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"lore/internal/fault"
	"lore/internal/graph/stance"
	"lore/internal/index"
	"lore/internal/search"
	"lore/internal/tool"
	"lore/internal/tools/toolkit"
)

// FindDuplicateNodes: Find nodes that seem to say the same, to merge them.
type FindDuplicateNodes struct {
	// Only duplicates of this node: id, path, title or alias.
	NodeID string `json:"node_id,omitempty"`
	// Only nodes of these types.
	Types []string `json:"types,omitempty" alias:"type"`
	// Lowest similarity, 0 to 1.
	MinSimilarity float64 `json:"min_similarity,omitempty" default:"0.8" min:"0.5" max:"1"`
	// Max pairs.
	Limit int `json:"limit,omitempty" default:"20" min:"1" max:"200"`
	// Nodes to skip, for the next ones of a large vault.
	Offset int `json:"offset,omitempty" min:"0"`
}

// Help is the text for people.
func (FindDuplicateNodes) Help() tool.Help {
	return tool.Help{
		Short: "Find nodes that say the same thing",
		Flags: map[string]string{
			"node-id":        "only duplicates of this node",
			"min-similarity": "lowest similarity, 0 to 1",
			"offset":         "nodes to skip, to continue in a large vault",
		},
		Examples: []string{
			"",
			"--types Hypothesis --min-similarity 0.5",
		},
	}
}

// Duplicates are pairs of nodes that seem to say the same, most similar
// first.
type Duplicates struct {
	Pairs []DuplicatePair `json:"pairs"`
	// Looked counts the nodes that were compared with all others.
	Looked int `json:"nodes_compared"`
	// Unknown are types that no note has.
	Unknown []search.Unknown `json:"unknown,omitempty"`
	// More says how to continue.
	More   string          `json:"more,omitempty"`
	Method string          `json:"method"`
	Index  index.Freshness `json:"index"`
}

// DuplicatePair is one pair; the first is the one with more to it.
type DuplicatePair struct {
	Primary    NodeRef `json:"primary"`
	Secondary  NodeRef `json:"secondary"`
	Similarity float64 `json:"similarity_score"`
	Reasoning  string  `json:"reasoning"`
}

// How many nodes are compared in one call, and how many notes each is held
// against closely.
const (
	compared  = 500
	closeOnes = 8
)

// Run compares nodes by meaning, then looks whether their words differ in what
// matters.
func (in FindDuplicateNodes) Run(ctx context.Context, env Env) (Duplicates, error) {
	out := Duplicates{Pairs: []DuplicatePair{}, Method: "meaning and words", Index: env.Fresh(ctx)}
	model, err := env.model(ctx)
	if err != nil {
		return out, err
	}
	if model == "" {
		return out, fault.Fix(fault.Unavailable, "set embed.model, or run lore index", "semantic search is not ready, so nodes cannot be compared by meaning")
	}
	rows, err := in.nodes(ctx, env, &out)
	if err != nil {
		return out, err
	}
	if out.Unknown, err = search.Unknowns(ctx, env.Store, index.Filter{Types: in.Types}); err != nil {
		return out, err
	}
	seen := map[string]bool{}
	texts := map[string]string{}
	for i := range rows {
		if err := ctx.Err(); err != nil {
			return out, err
		}
		tool.Progress(ctx, i, len(rows), "comparing nodes")
		near, _, err := env.near(ctx, &rows[i], closeOnes, in.MinSimilarity)
		if err != nil {
			return out, err
		}
		for _, n := range near {
			if err := ctx.Err(); err != nil {
				return out, err
			}
			if in.NodeID == "" && n.row.Type == "" || len(in.Types) > 0 && !hasFold(in.Types, n.row.Type) {
				continue
			}
			a, b := &rows[i], &n.row
			key := min(a.File.Path, b.File.Path) + "\x00" + max(a.File.Path, b.File.Path)
			if seen[key] {
				continue
			}
			seen[key] = true
			if err := out.pair(ctx, env, a, b, n.cosine, texts); err != nil {
				return out, err
			}
		}
	}
	out.Looked = len(rows)
	slices.SortStableFunc(out.Pairs, func(a, b DuplicatePair) int {
		return cmp.Or(-cmp.Compare(a.Similarity, b.Similarity), strings.Compare(a.Primary.Path, b.Primary.Path), strings.Compare(a.Secondary.Path, b.Secondary.Path))
	})
	if len(out.Pairs) > in.Limit {
		out.Pairs = out.Pairs[:in.Limit]
	}
	return out, nil
}

func hasFold(list []string, s string) bool {
	return slices.ContainsFunc(list, func(x string) bool { return strings.EqualFold(strings.TrimSpace(x), s) })
}

// nodes are those that are compared in this call.
func (in FindDuplicateNodes) nodes(ctx context.Context, env Env, out *Duplicates) ([]index.Row, error) {
	if in.NodeID != "" {
		row, err := env.locate(ctx, "node_id", in.NodeID)
		return []index.Row{row}, err
	}
	filter := index.Filter{Kinds: []index.Kind{index.KindNote}, Typed: true, Types: in.Types}
	rows, err := env.Store.Notes(ctx, index.Select{Filter: filter, Limit: compared + 1, Offset: in.Offset})
	if len(rows) > compared {
		rows = rows[:compared]
		out.More = fmt.Sprintf("compared %d nodes with all others; call again with offset %d", compared, in.Offset+compared)
	}
	return rows, err
}

// pair keeps two nodes unless their words say that they differ.
func (d *Duplicates) pair(ctx context.Context, env Env, a, b *index.Row, cosine float64, texts map[string]string) error {
	for _, r := range []*index.Row{a, b} {
		if _, have := texts[r.File.Path]; have {
			continue
		}
		doc, err := env.doc(ctx, r)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			return nil // one of them went away or cannot be read
		}
		texts[r.File.Path] = doc.Title + ". " + doc.Text
	}
	one, two := texts[a.File.Path], texts[b.File.Path]
	if stance.Differ(one, two) != "" {
		return nil
	}
	first, second := a, b
	if b.Words > a.Words || b.Words == a.Words && b.File.Path < a.File.Path {
		first, second = b, a
	}
	d.Pairs = append(d.Pairs, DuplicatePair{
		Primary: refOf(first), Secondary: refOf(second), Similarity: cosine,
		Reasoning: fmt.Sprintf("similar meaning (%.2f), %.0f%% of the words in common, and no number or negation that differs", cosine, 100*stance.Overlap(one, two)),
	})
	return nil
}

// View is a table.
func (d Duplicates) View() tool.View {
	v := tool.View{Foot: toolkit.Foot(d.Index, append([]string{toolkit.Count(len(d.Pairs), "pair"), toolkit.Count(d.Looked, "node") + " compared", d.More}, search.Hints(d.Unknown)...)...)}
	if len(d.Pairs) > 0 {
		v.Head = []string{"similarity", "node", "title", "node", "title"}
	}
	for _, p := range d.Pairs {
		v.Rows = append(v.Rows, []string{fmt.Sprintf("%.2f", p.Similarity), p.Primary.NodeID, p.Primary.Title, p.Secondary.NodeID, p.Secondary.Title})
	}
	return v
}
