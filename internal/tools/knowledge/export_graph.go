package knowledge

import (
	"context"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"lore/internal/fault"
	"lore/internal/graph"
	"lore/internal/index"
	"lore/internal/note/summarize"
	"lore/internal/search"
	"lore/internal/tool"
	"lore/internal/tools/toolkit"
)

// ExportGraph: Export the knowledge graph, or the part around a node, for
// other programs.
type ExportGraph struct {
	// json, graphml (yEd, Gephi), mermaid (Markdown), canvas (Obsidian).
	Format string `json:"format,omitempty" default:"json" enum:"json,graphml,mermaid,canvas"`
	// Only around this node.
	NodeID string `json:"node_id,omitempty"`
	// How many steps around it.
	Depth int `json:"depth,omitempty" default:"2" min:"1" max:"5"`
	// Relationship types to follow; LINKS_TO means untyped links, * all others. Default *.
	Types []string `json:"relationship_types,omitempty" alias:"types"`
	// Max nodes.
	Limit int `json:"limit,omitempty" default:"2000" min:"1" max:"200000"`
	// In json: when each was created and modified.
	Dates bool `json:"dates,omitempty"`
}

// Help is the text for people.
func (ExportGraph) Help() tool.Help {
	return tool.Help{
		Short: "Export the knowledge graph",
		Flags: map[string]string{
			"format":             "output format",
			"node-id":            "only the part around this node",
			"depth":              "how many steps from --node-id to include",
			"relationship-types": "include only these types of relationships; LINKS_TO means plain links, * all others",
			"dates":              "in JSON, add when each note was created and modified",
		},
		Examples: []string{
			"--format mermaid",
			"--node-id hyp-3b8d --depth 1",
		},
	}
}

// GraphExport is the graph as text.
type GraphExport struct {
	Format string `json:"format"`
	Nodes  int    `json:"nodes"`
	Edges  int    `json:"edges"`
	// Content is the file.
	Content string `json:"content"`
	// Unknown are types of relationships that no note states.
	Unknown []search.Unknown `json:"unknown,omitempty"`
	// More says that nodes were left out.
	More  string          `json:"more,omitempty"`
	Index index.Freshness `json:"index"`
}

// A picture is the part of the graph that is written.
type picture struct {
	rows  []*index.Row // by path
	edges []graph.Edge
	at    map[string]int // of each path, its place in rows
	cut   bool
}

// Run gathers the graph and writes it.
func (in ExportGraph) Run(ctx context.Context, env Env) (GraphExport, error) {
	hop, err := hopOf(in.Types)
	if err != nil {
		return GraphExport{}, err
	}
	var p *picture
	if in.NodeID != "" {
		p, err = in.around(ctx, env, hop)
	} else {
		p, err = in.whole(ctx, env, hop)
	}
	if err != nil {
		return GraphExport{}, err
	}
	out := GraphExport{Format: in.Format, Nodes: len(p.rows), Edges: len(p.edges), Index: env.Fresh(ctx)}
	if out.Unknown, err = env.unknownTypes(ctx, hop); err != nil {
		return out, err
	}
	if p.cut {
		out.More = fmt.Sprintf("showing %d nodes; raise limit for more", len(p.rows))
	}
	switch in.Format {
	case "graphml":
		out.Content, err = p.graphml()
	case "mermaid":
		out.Content = p.mermaid()
	case "canvas":
		out.Content, err = p.canvas()
	default:
		out.Content, err = p.json(in.Dates)
	}
	return out, err
}

// around is the part near a node.
func (in ExportGraph) around(ctx context.Context, env Env, hop graph.Hop) (*picture, error) {
	row, err := env.locate(ctx, "node_id", in.NodeID)
	if err != nil {
		return nil, err
	}
	region, err := graph.Around(ctx, env.Store, row.File.Path, in.Depth, in.Limit, hop)
	if err != nil {
		return nil, err
	}
	return env.picture(ctx, slices.Sorted(maps.Keys(region.Depth)), region.Edges, region.Cut)
}

// whole is every node and every note that is related to something.
func (in ExportGraph) whole(ctx context.Context, env Env, hop graph.Hop) (*picture, error) {
	edges, err := graph.All(ctx, env.Store, hop)
	if err != nil {
		return nil, err
	}
	typed, err := env.Store.Notes(ctx, index.Select{Filter: index.Filter{Kinds: []index.Kind{index.KindNote}, Typed: true}, Limit: in.Limit + 1})
	if err != nil {
		return nil, err
	}
	there := map[string]bool{}
	for _, r := range typed {
		there[r.File.Path] = true
	}
	for _, e := range edges {
		there[e.From], there[e.To] = true, true
	}
	paths := slices.Sorted(maps.Keys(there))
	cut := len(paths) > in.Limit
	return env.picture(ctx, paths[:min(len(paths), in.Limit)], edges, cut)
}

func (env Env) picture(ctx context.Context, paths []string, edges []graph.Edge, cut bool) (*picture, error) {
	rows, err := env.rows(ctx, paths)
	if err != nil {
		return nil, err
	}
	p := &picture{at: map[string]int{}, cut: cut}
	for _, path := range paths {
		if r := rows[path]; r != nil {
			p.at[path] = len(p.rows)
			p.rows = append(p.rows, r)
		}
	}
	for i, e := range edges {
		if err := index.Interrupted(ctx, i); err != nil {
			return nil, err
		}
		_, a := p.at[e.From]
		_, b := p.at[e.To]
		if a && b {
			p.edges = append(p.edges, e)
		}
	}
	return p, nil
}

// A pictureNode is a node of an exported graph, with the days that a time line needs when asked.
type pictureNode struct {
	NodeRef
	Created  string `json:"created,omitempty"` // as the note itself says
	Modified string `json:"modified,omitempty"`
}

func pictureNodeOf(r *index.Row, dates bool) pictureNode {
	n := pictureNode{NodeRef: refOf(r)}
	if !dates {
		return n
	}
	n.Modified = time.Unix(0, r.File.ModTime).UTC().Format(time.RFC3339)
	if r.Date != 0 {
		n.Created = time.Unix(r.Date, 0).UTC().Format(time.RFC3339)
	}
	return n
}

func (p *picture) json(dates bool) (string, error) {
	nodes, edges := []pictureNode{}, []GraphEdge{}
	for _, r := range p.rows {
		nodes = append(nodes, pictureNodeOf(r, dates))
	}
	for _, e := range p.edges {
		edges = append(edges, edgeRef(&e, p.rows[p.at[e.From]], p.rows[p.at[e.To]]))
	}
	b, err := json.MarshalIndent(map[string]any{"nodes": nodes, "edges": edges}, "", "  ")
	return string(b) + "\n", err
}

// The elements of GraphML.
type (
	graphML struct {
		XMLName xml.Name `xml:"graphml"`
		Space   string   `xml:"xmlns,attr"`
		Keys    []xmlKey `xml:"key"`
		Graph   xmlGraph `xml:"graph"`
	}
	xmlKey struct {
		ID   string `xml:"id,attr"`
		For  string `xml:"for,attr"`
		Name string `xml:"attr.name,attr"`
		Type string `xml:"attr.type,attr"`
	}
	xmlGraph struct {
		Direction string    `xml:"edgedefault,attr"`
		Nodes     []xmlNode `xml:"node"`
		Edges     []xmlEdge `xml:"edge"`
	}
	xmlNode struct {
		ID   string    `xml:"id,attr"`
		Data []xmlData `xml:"data"`
	}
	xmlEdge struct {
		ID     string    `xml:"id,attr"`
		Source string    `xml:"source,attr"`
		Target string    `xml:"target,attr"`
		Data   []xmlData `xml:"data"`
	}
	xmlData struct {
		Key  string `xml:"key,attr"`
		Text string `xml:",chardata"`
	}
)

func (p *picture) graphml() (string, error) {
	doc := graphML{Space: "http://graphml.graphdrawing.org/xmlns", Graph: xmlGraph{Direction: "directed"}}
	for _, k := range [][3]string{{"title", "node", "string"}, {"type", "node", "string"}, {"path", "node", "string"}, {"confidence", "node", "double"}, {"relationship", "edge", "string"}, {"weight", "edge", "double"}, {"notes", "edge", "string"}} {
		doc.Keys = append(doc.Keys, xmlKey{ID: k[0], For: k[1], Name: k[0], Type: k[2]})
	}
	for i, r := range p.rows {
		n := xmlNode{ID: fmt.Sprintf("n%d", i), Data: []xmlData{{"title", r.Title}, {"type", typeOf(r)}, {"path", r.File.Path}}}
		if r.Sure != nil {
			n.Data = append(n.Data, xmlData{"confidence", fmt.Sprint(*r.Sure)})
		}
		doc.Graph.Nodes = append(doc.Graph.Nodes, n)
	}
	for i, e := range p.edges {
		x := xmlEdge{ID: fmt.Sprintf("e%d", i), Source: fmt.Sprintf("n%d", p.at[e.From]), Target: fmt.Sprintf("n%d", p.at[e.To]), Data: []xmlData{{"relationship", e.Type}}}
		if e.Confidence != nil {
			x.Data = append(x.Data, xmlData{"weight", fmt.Sprint(*e.Confidence)})
		}
		if e.Notes != "" {
			x.Data = append(x.Data, xmlData{"notes", e.Notes})
		}
		doc.Graph.Edges = append(doc.Graph.Edges, x)
	}
	b, err := xml.MarshalIndent(doc, "", "  ")
	return xml.Header + string(b) + "\n", err
}

// label writes text for a label of Mermaid, which knows entities.
func label(s string) string {
	var b strings.Builder
	for _, r := range summarize.Clip(s, 80) {
		if strings.ContainsRune("\"#<>&;|`[]{}()\\", r) {
			fmt.Fprintf(&b, "#%d;", r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

func (p *picture) mermaid() string {
	var b strings.Builder
	b.WriteString("flowchart LR\n")
	for i, r := range p.rows {
		fmt.Fprintf(&b, "  n%d[\"%s<br><i>%s %s</i>\"]\n", i, label(r.Title), label(typeOf(r)), sure(r.Sure))
	}
	for _, e := range p.edges {
		words := strings.ToLower(strings.ReplaceAll(e.Type, "_", " "))
		if e.Confidence != nil {
			words += " " + sure(e.Confidence)
		}
		arrow := "-->"
		if e.Type == "CONTRADICTS" {
			arrow = "-.->"
		}
		fmt.Fprintf(&b, "  n%d %s|\"%s\"| n%d\n", p.at[e.From], arrow, label(words), p.at[e.To])
	}
	return b.String()
}

// The parts of a JSON Canvas.
type (
	canvasNode struct {
		ID     string `json:"id"`
		Type   string `json:"type"`
		File   string `json:"file"`
		X      int    `json:"x"`
		Y      int    `json:"y"`
		Width  int    `json:"width"`
		Height int    `json:"height"`
		Color  string `json:"color,omitempty"`
	}
	canvasEdge struct {
		ID    string `json:"id"`
		From  string `json:"fromNode"`
		To    string `json:"toNode"`
		Label string `json:"label,omitempty"`
		Color string `json:"color,omitempty"`
	}
)

// canvas lays the nodes out in columns, one for each type.
func (p *picture) canvas() (string, error) {
	const width, height, gap, most = 360, 160, 60, 24
	nodes, edges := []canvasNode{}, []canvasEdge{}
	column := map[string][]int{} // of each type, its columns
	used := map[int]int{}
	next := 0
	colors := []string{"", "4", "5", "6", "3", "2"}
	for i, r := range p.rows {
		typ := strings.ToLower(typeOf(r))
		cols := column[typ]
		if len(cols) == 0 || used[cols[len(cols)-1]] == most {
			cols = append(cols, next)
			column[typ] = cols
			next++
		}
		c := cols[len(cols)-1]
		nodes = append(nodes, canvasNode{
			ID: fmt.Sprintf("n%d", i), Type: "file", File: r.File.Path, X: c * (width + 3*gap), Y: used[c] * (height + gap), Width: width, Height: height,
			Color: colors[cols[0]%len(colors)],
		})
		used[c]++
	}
	for i, e := range p.edges {
		x := canvasEdge{ID: fmt.Sprintf("e%d", i), From: fmt.Sprintf("n%d", p.at[e.From]), To: fmt.Sprintf("n%d", p.at[e.To]), Label: strings.ToLower(strings.ReplaceAll(e.Type, "_", " "))}
		switch e.Type {
		case "CONTRADICTS":
			x.Color = "1"
		case "SUPPORTS":
			x.Color = "4"
		}
		edges = append(edges, x)
	}
	b, err := json.MarshalIndent(map[string]any{"nodes": nodes, "edges": edges}, "", "\t")
	if err != nil {
		return "", fault.New(fault.Internal, "the canvas could not be written: %v", err)
	}
	return string(b) + "\n", nil
}

// View is the file itself.
func (g GraphExport) View() tool.View {
	return tool.View{Text: g.Content, Foot: toolkit.Foot(g.Index, append([]string{toolkit.Count(g.Nodes, "node"), toolkit.Count(g.Edges, "relationship"), g.More}, search.Hints(g.Unknown)...)...)}
}
