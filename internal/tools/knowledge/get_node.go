package knowledge

import (
	"context"
	"fmt"

	"lore/internal/graph"
	"lore/internal/index"
	"lore/internal/note/summarize"
	"lore/internal/tool"
	"lore/internal/tools/toolkit"
)

// GetNode: Get a node with its text, confidence and relationships.
type GetNode struct {
	// Id, path, title or alias.
	NodeID string `json:"node_id"`
	// Max relationships.
	Limit int `json:"limit,omitempty" default:"50" min:"1" max:"500"`
	// Relationships to skip.
	Offset int `json:"offset,omitempty" min:"0"`
}

// Help is the text for people.
func (GetNode) Help() tool.Help {
	return tool.Help{
		Short: "Show a node with its relationships",
		Examples: []string{
			"hyp-3b8d",
			`"Tea gives calm alertness"`,
		},
	}
}

// NodeShown is one node with what it is related to.
type NodeShown struct {
	NodeID     string         `json:"node_id"`
	Path       string         `json:"path"`
	Type       string         `json:"type"`
	Title      string         `json:"title"`
	Content    string         `json:"content"`
	Properties map[string]any `json:"properties"`
	// Confidence is null when the node states none.
	Confidence    *float64       `json:"confidence"`
	Relationships []Relationship `json:"relationships"`
	// Total counts all relationships.
	Total int    `json:"relationships_total"`
	Hash  string `json:"hash"`
	// More says how to read the rest.
	More  string          `json:"more,omitempty"`
	Index index.Freshness `json:"index"`
}

// mostContent is how much of a text get_node shows, in characters.
const mostContent = 8000

// Run reads the note and asks the index for its relations.
func (in GetNode) Run(ctx context.Context, env Env) (NodeShown, error) {
	n, err := env.open(ctx, "node_id", in.NodeID)
	if err != nil {
		return NodeShown{}, err
	}
	out := NodeShown{
		NodeID: n.id(), Path: n.Path, Type: typeOf(&n.row), Title: n.row.Title, Content: says(n.Note), Confidence: n.row.Sure,
		Properties: map[string]any{}, Hash: n.hash, Index: env.Fresh(ctx),
	}
	for _, p := range n.Front.Props {
		out.Properties[p.Key] = p.Value
	}
	if r := []rune(out.Content); len(r) > mostContent {
		out.Content = string(r[:mostContent])
		out.More = fmt.Sprintf("%d of %d characters; read the rest with read_note", mostContent, len(r))
	}
	edges, err := graph.Edges(ctx, env.Store, []string{n.Path}, graph.Hop{}, true)
	if err != nil {
		return NodeShown{}, err
	}
	out.Total = len(edges)
	from := min(in.Offset, len(edges))
	to := min(from+in.Limit, len(edges))
	if out.Relationships, err = env.related(ctx, n.Path, edges[from:to]); err != nil {
		return NodeShown{}, err
	}
	if to < len(edges) {
		if out.More != "" {
			out.More += "; "
		}
		out.More += fmt.Sprintf("showing relationships %d to %d of %d; call again with offset %d", from+1, to, len(edges), to)
	}
	return out, nil
}

// View shows the node as facts and its relationships as a table.
func (n NodeShown) View() tool.View {
	v := tool.View{
		Text: fmt.Sprintf("%s: %s\n%s, confidence %s, in %s\n\n%s\n", n.NodeID, n.Title, n.Type, sure(n.Confidence), n.Path, summarize.Clip(n.Content, 600)),
		Foot: toolkit.Foot(n.Index, toolkit.Count(n.Total, "relationship"), n.More),
	}
	if len(n.Relationships) > 0 {
		v.Head = []string{"edge", "direction", "type", "node", "title", "confidence", "notes"}
	}
	for _, r := range n.Relationships {
		v.Rows = append(v.Rows, []string{r.EdgeID, r.Direction, r.Type, r.NodeID, r.Title, sure(r.Confidence), r.Notes})
	}
	return v
}
