package knowledge

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"lore/internal/graph"
	"lore/internal/index"
	"lore/internal/search"
	"lore/internal/tool"
	"lore/internal/tools/toolkit"
)

// GetNeighbourhood: Get the nodes around a node and the relationships among
// them.
type GetNeighbourhood struct {
	// Id, path, title or alias.
	NodeID string `json:"node_id"`
	// How many steps away.
	Depth int `json:"depth,omitempty" default:"1" min:"1" max:"5"`
	// Relationship types to follow; LINKS_TO means untyped links, * all others. Default *.
	Types []string `json:"relationship_types,omitempty" alias:"types"`
	// Max nodes.
	Limit int `json:"limit,omitempty" default:"100" min:"1" max:"2000"`
}

// Help is the text for people.
func (GetNeighbourhood) Help() tool.Help {
	return tool.Help{
		Short: "Show the nodes around a node",
		Flags: map[string]string{
			"relationship-types": "follow only these types of relationships; LINKS_TO means plain links, * all others",
		},
		Examples: []string{
			"hyp-3b8d",
			"Caffeine --depth 2 --relationship-types LINKS_TO",
		},
	}
}

// Neighbourhood is a part of the graph.
type Neighbourhood struct {
	NodeID string      `json:"node_id"`
	Nodes  []NearNode  `json:"nodes"`
	Edges  []GraphEdge `json:"edges"`
	// Unknown are types of relationships that no note states.
	Unknown []search.Unknown `json:"unknown,omitempty"`
	// More says that nodes were left out.
	More  string          `json:"more,omitempty"`
	Index index.Freshness `json:"index"`
}

// NearNode is a node and how far away it is.
type NearNode struct {
	NodeRef
	Depth int `json:"depth"`
}

// GraphEdge is a relationship between two nodes of an answer.
type GraphEdge struct {
	EdgeID     string   `json:"edge_id"`
	FromID     string   `json:"from_id"`
	ToID       string   `json:"to_id"`
	Type       string   `json:"relationship_type"`
	Confidence *float64 `json:"confidence"`
	Notes      string   `json:"notes,omitempty"`
}

// hopOf reads the types of relationships that a caller asks for.
func hopOf(types []string) (graph.Hop, error) {
	var hop graph.Hop
	every := false
	for _, name := range types {
		if strings.TrimSpace(name) == "*" {
			every = true
			continue
		}
		if strings.EqualFold(strings.TrimSpace(name), graph.LinksTo) {
			hop.Links = true
			hop.Types = append(hop.Types, graph.LinksTo)
			continue
		}
		typ, err := relationType("relationship_types", name)
		if err != nil {
			return hop, err
		}
		hop.Types = append(hop.Types, typ)
	}
	if every {
		hop.Types = nil
	}
	return hop, nil
}

// unknownTypes are the types of relationships in hop that no note states.
func (env Env) unknownTypes(ctx context.Context, hop graph.Hop) ([]search.Unknown, error) {
	types := slices.DeleteFunc(slices.Clone(hop.Types), func(t string) bool { return t == graph.LinksTo })
	return search.UnknownRelations(ctx, env.Store, types)
}

// Run walks from the node, level by level.
func (in GetNeighbourhood) Run(ctx context.Context, env Env) (Neighbourhood, error) {
	row, err := env.locate(ctx, "node_id", in.NodeID)
	if err != nil {
		return Neighbourhood{}, err
	}
	hop, err := hopOf(in.Types)
	if err != nil {
		return Neighbourhood{}, err
	}
	region, err := graph.Around(ctx, env.Store, row.File.Path, in.Depth, in.Limit, hop)
	if err != nil {
		return Neighbourhood{}, err
	}
	out := Neighbourhood{NodeID: idOf(&row), Nodes: []NearNode{}, Edges: []GraphEdge{}, Index: env.Fresh(ctx)}
	if out.Unknown, err = env.unknownTypes(ctx, hop); err != nil {
		return out, err
	}
	rows, err := env.rows(ctx, slices.Sorted(maps.Keys(region.Depth)))
	if err != nil {
		return Neighbourhood{}, err
	}
	for p, r := range rows {
		out.Nodes = append(out.Nodes, NearNode{NodeRef: refOf(r), Depth: region.Depth[p]})
	}
	slices.SortFunc(out.Nodes, func(a, b NearNode) int {
		if a.Depth != b.Depth {
			return a.Depth - b.Depth
		}
		return strings.Compare(a.Path, b.Path)
	})
	for i, e := range region.Edges {
		if err := index.Interrupted(ctx, i); err != nil {
			return Neighbourhood{}, err
		}
		if from, to := rows[e.From], rows[e.To]; from != nil && to != nil {
			out.Edges = append(out.Edges, edgeRef(&e, from, to))
		}
	}
	if region.Cut {
		out.More = fmt.Sprintf("showing the nearest %d nodes; raise limit, or narrow relationship_types", len(out.Nodes))
	}
	return out, nil
}

func edgeRef(e *graph.Edge, from, to *index.Row) GraphEdge {
	return GraphEdge{EdgeID: e.Name(), FromID: idOf(from), ToID: idOf(to), Type: e.Type, Confidence: e.Confidence, Notes: e.Notes}
}

// View is a table of relationships.
func (n Neighbourhood) View() tool.View {
	titles := map[string]string{}
	for _, x := range n.Nodes {
		titles[x.NodeID] = x.Title
	}
	v := tool.View{Head: []string{"from", "type", "to", "confidence", "edge"}, Foot: toolkit.Foot(n.Index, append([]string{toolkit.Count(len(n.Nodes), "node"), toolkit.Count(len(n.Edges), "relationship"), n.More}, search.Hints(n.Unknown)...)...)}
	for _, e := range n.Edges {
		v.Rows = append(v.Rows, []string{titles[e.FromID], e.Type, titles[e.ToID], sure(e.Confidence), e.EdgeID})
	}
	if len(n.Edges) == 0 {
		v.Head = []string{"steps", "node", "type", "title"}
		for _, x := range n.Nodes {
			v.Rows = append(v.Rows, []string{strconv.Itoa(x.Depth), x.NodeID, x.Type, x.Title})
		}
	}
	return v
}
