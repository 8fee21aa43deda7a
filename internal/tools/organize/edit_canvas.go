package organize

import (
	"context"
	"fmt"
	"path"
	"regexp"
	"strings"

	"lore/internal/change"
	"lore/internal/fault"
	"lore/internal/note/jsoncanvas"
	"lore/internal/tool"
	"lore/internal/tools/toolkit"
	"lore/internal/vault"
)

// EditCanvas: Add, change and remove nodes and edges of a canvas. Read the file
// with read_attachment first: it has the ids.
type EditCanvas struct {
	// Path of the .canvas file.
	Path string `json:"path"`
	// The canvas is new.
	Create bool `json:"create,omitempty"`
	// New nodes.
	AddNodes []CanvasNode `json:"add_nodes,omitempty"`
	// New edges.
	AddEdges []CanvasEdge `json:"add_edges,omitempty"`
	// Nodes to change.
	Update []CanvasUpdate `json:"update,omitempty"`
	// Ids of nodes or edges. Edges of a node go with it.
	Remove []string `json:"remove,omitempty"`
	// Expected hash, from a read.
	IfHash string `json:"if_hash,omitempty"`
}

// CanvasNode is a node to add: a text, a file, a link or a group.
type CanvasNode struct {
	// To name it in add_edges.
	ID string `json:"id,omitempty"`
	// Markdown of a text node.
	Text string `json:"text,omitempty" size:"prose"`
	// Path of a file.
	File string `json:"file,omitempty"`
	// Address of a link.
	URL string `json:"url,omitempty"`
	// Name of a group.
	Group string `json:"group,omitempty"`
	// "1" to "6", or "#rrggbb".
	Color string `json:"color,omitempty"`
	// Position; default: beside the others.
	X      *int `json:"x,omitempty"`
	Y      *int `json:"y,omitempty"`
	Width  int  `json:"width,omitempty"`
	Height int  `json:"height,omitempty"`
}

// CanvasEdge is an edge to add.
type CanvasEdge struct {
	// Id of a node.
	From  string `json:"from"`
	To    string `json:"to"`
	Label string `json:"label,omitempty"`
	Color string `json:"color,omitempty"`
}

// CanvasUpdate is a change of a node or an edge. What is left out stays.
type CanvasUpdate struct {
	ID     string  `json:"id"`
	Text   *string `json:"text,omitempty" size:"prose"`
	File   *string `json:"file,omitempty"`
	URL    *string `json:"url,omitempty"`
	Label  *string `json:"label,omitempty"`
	Color  *string `json:"color,omitempty"`
	X      *int    `json:"x,omitempty"`
	Y      *int    `json:"y,omitempty"`
	Width  *int    `json:"width,omitempty"`
	Height *int    `json:"height,omitempty"`
}

// Help is the text for people.
func (EditCanvas) Help() tool.Help {
	return tool.Help{
		Short: "Add, change or remove cards on a canvas",
		Long:  "Nodes and edges are given as JSON. Nodes without a position are placed beside the others. Fields that other programs added stay as they are.",
		Flags: map[string]string{
			"path":      "path of the .canvas file",
			"create":    "create the canvas",
			"add-nodes": `nodes to add, as JSON: [{"text": "A card"}, {"file": "Notes/Matcha.md"}]`,
			"add-edges": `edges to add, as JSON: [{"from": "id", "to": "id"}]`,
			"update":    `nodes or edges to change, as JSON: [{"id": "…", "text": "…"}]`,
			"remove":    "ids of nodes or edges to remove",
		},
		Examples: []string{
			`"Tea map.canvas" --add-nodes '[{"text": "Try gyokuro"}]'`,
			`"Tea map.canvas" --remove f6a5b8c7d9ea4b2d`,
		},
	}
}

// CanvasEdited is a canvas that was changed.
type CanvasEdited struct {
	Path string `json:"path"`
	Hash string `json:"hash"`
	// Nodes and Edges are the ids of the new ones, in the order of the call.
	Nodes []string `json:"nodes,omitempty"`
	Edges []string `json:"edges,omitempty"`
	// Changed and Removed count nodes and edges.
	Changed int `json:"changed,omitempty"`
	Removed int `json:"removed,omitempty"`
	// Total nodes and edges of the canvas now.
	TotalNodes int `json:"total_nodes"`
	TotalEdges int `json:"total_edges"`

	created bool
}

// Limits of one call and of one node.
const (
	maxCanvasItems = 500
	maxCoordinate  = 1_000_000
	maxSide        = 20_000
)

// Plan edits the text of the canvas.
func (in EditCanvas) Plan(ctx context.Context, env Env) (CanvasEdited, change.Set, error) {
	n := len(in.AddNodes) + len(in.AddEdges) + len(in.Update) + len(in.Remove)
	switch {
	case n == 0 && !in.Create:
		return CanvasEdited{}, nil, fault.Field("add_nodes", "give add_nodes, add_edges, update or remove", "there is nothing to change")
	case n > maxCanvasItems:
		return CanvasEdited{}, nil, fault.Field("add_nodes", "make several calls", "%d nodes and edges are too many; the limit is %d", n, maxCanvasItems)
	}
	out, before, c, err := in.open(ctx, env)
	if err != nil {
		return out, nil, err
	}
	for _, step := range []func(context.Context, Env, *jsoncanvas.Canvas, *CanvasEdited) error{in.remove, in.update, in.addNodes, in.addEdges} {
		if err := step(ctx, env, c, &out); err != nil {
			return out, nil, err
		}
	}
	after := c.String()
	out.Hash, out.TotalNodes, out.TotalEdges = vault.Sum([]byte(after)).String(), len(c.Nodes), len(c.Edges)
	if out.created {
		return out, change.Set{change.Create(out.Path, after)}, nil
	}
	return out, change.Set{change.Replace(out.Path, before, after)}, nil
}

// open reads the canvas, or begins a new one.
func (in EditCanvas) open(ctx context.Context, env Env) (out CanvasEdited, before string, c *jsoncanvas.Canvas, err error) {
	if !strings.EqualFold(path.Ext(in.Path), ".canvas") {
		return out, "", nil, fault.Field("path", `give the path of a file that ends in ".canvas"`, "%q is not a canvas", in.Path)
	}
	f, err := env.Vault.Read(ctx, in.Path)
	if fault.Of(err) == fault.NotFound && in.Create {
		if out.Path, err = vault.CleanNew(in.Path); err == nil {
			out.Path, err = env.Vault.Visible(out.Path, false)
		}
		out.created = true
		return out, "", jsoncanvas.New(), fault.Rename(err, "", "path")
	}
	if err != nil {
		return out, "", nil, err
	}
	if in.Create {
		return out, "", nil, &fault.Report{Kind: fault.Conflict, Field: "create", Message: f.Path + " already exists", Fix: "leave create out to change it"}
	}
	if in.IfHash != "" && !strings.EqualFold(in.IfHash, f.Hash.String()) {
		return out, "", nil, &fault.Report{Kind: fault.Conflict, Field: "if_hash", Message: f.Path + " changed since you read it", Fix: "read it again"}
	}
	if c, err = jsoncanvas.Parse(string(f.Data)); err != nil {
		return out, "", nil, fault.Fix(fault.ReadOnly, "repair it in another program first", "%s: %v", f.Path, err)
	}
	out.Path = f.Path
	return out, string(f.Data), c, nil
}

func (in EditCanvas) remove(_ context.Context, _ Env, c *jsoncanvas.Canvas, out *CanvasEdited) error {
	for _, id := range in.Remove {
		edges, ok := c.Remove(id)
		if !ok {
			return unknownID("remove", id)
		}
		out.Removed += 1 + edges
	}
	return nil
}

func unknownID(field, id string) error {
	return fault.Field(field, "read the canvas again for its ids", "no node or edge has the id %q", id)
}

func (in EditCanvas) update(ctx context.Context, env Env, c *jsoncanvas.Canvas, out *CanvasEdited) error {
	for _, u := range in.Update {
		item := c.Node(u.ID)
		if item == nil {
			item = c.Edge(u.ID)
		}
		if item == nil {
			return unknownID("update", u.ID)
		}
		if u.File != nil {
			if err := env.fileOfNode(ctx, "update", *u.File); err != nil {
				return err
			}
		}
		if u.Color != nil {
			if err := checkColor("update", *u.Color); err != nil {
				return err
			}
		}
		if u.URL != nil {
			if err := checkAddress("update", *u.URL); err != nil {
				return err
			}
		}
		for _, v := range []struct {
			key  string
			text *string
		}{{"text", u.Text}, {"file", u.File}, {"url", u.URL}, {"label", u.Label}, {"color", u.Color}} {
			if v.text == nil {
				continue
			}
			if want := fieldOf[item.Text("type")]; v.key != "label" && v.key != "color" && v.key != want {
				return fault.Field("update", "change another field", "%q has no %s", u.ID, v.key)
			}
			item.Set(v.key, *v.text)
		}
		for _, v := range []struct {
			key string
			n   *int
		}{{"x", u.X}, {"y", u.Y}, {"width", u.Width}, {"height", u.Height}} {
			if v.n == nil {
				continue
			}
			if err := checkNumber("update", v.key, *v.n); err != nil {
				return err
			}
			item.Set(v.key, *v.n)
		}
		out.Changed++
	}
	return nil
}

// fieldOf is the field with the content of each type of node.
var fieldOf = map[string]string{"text": "text", "file": "file", "link": "url", "group": "label"}

func checkNumber(field, key string, n int) error {
	if side := key == "width" || key == "height"; side && (n < 1 || n > maxSide) {
		return fault.Field(field, fmt.Sprintf("use 1 to %d", maxSide), "%s cannot be %d", key, n)
	} else if !side && (n < -maxCoordinate || n > maxCoordinate) {
		return fault.Field(field, fmt.Sprintf("use -%d to %d", maxCoordinate, maxCoordinate), "%s cannot be %d", key, n)
	}
	return nil
}

var color = regexp.MustCompile(`^([1-6]|#[0-9a-fA-F]{6})$`)

func checkColor(field, c string) error {
	if c != "" && !color.MatchString(c) {
		return fault.Field(field, `use "1" to "6", or "#rrggbb"`, "%q is not a color", c)
	}
	return nil
}

func checkAddress(field, url string) error {
	if !strings.HasPrefix(url, "https://") && !strings.HasPrefix(url, "http://") {
		return fault.Field(field, "begin it with https://", "%q is not a web address", url)
	}
	return nil
}

// fileOfNode checks that a file is there and that the caller may see it.
func (env Env) fileOfNode(ctx context.Context, field, p string) error {
	_, err := env.Vault.Stat(ctx, p)
	if fault.Of(err) == fault.NotFound {
		return fault.Field(field, "give the path of a file of the vault", "file not found: %q", p)
	}
	return err
}

func (in EditCanvas) addNodes(ctx context.Context, env Env, c *jsoncanvas.Canvas, out *CanvasEdited) error {
	there := len(c.Nodes)
	for i, n := range in.AddNodes {
		kind, content, err := n.kind(ctx, env)
		if err != nil {
			return err
		}
		if n.ID == "" {
			n.ID = c.NewID(out.Path, kind, content, fmt.Sprint(i))
		}
		if len(n.ID) > 64 || c.Node(n.ID) != nil || c.Edge(n.ID) != nil {
			return fault.Field("add_nodes", "choose another id, or leave it out", "the id %q exists already or is too long", n.ID)
		}
		box, err := n.box(c, kind, there)
		if err != nil {
			return err
		}
		item := c.AddNode(n.ID, kind)
		item.Set(fieldOf[kind], content)
		for _, v := range []struct {
			key string
			n   int
		}{{"x", box.X}, {"y", box.Y}, {"width", box.Width}, {"height", box.Height}} {
			item.Set(v.key, v.n)
		}
		item.Set("color", n.Color)
		out.Nodes = append(out.Nodes, n.ID)
	}
	return nil
}

// kind is the type of a node by the one field that is given.
func (n CanvasNode) kind(ctx context.Context, env Env) (kind, content string, err error) {
	given := 0
	for _, f := range []struct{ kind, content string }{{"text", n.Text}, {"file", n.File}, {"link", n.URL}, {"group", n.Group}} {
		if f.content != "" {
			given++
			kind, content = f.kind, f.content
		}
	}
	if given != 1 {
		return "", "", fault.Field("add_nodes", "give each node one of them", "a node needs exactly one of text, file, url and group")
	}
	if kind == "file" {
		err = env.fileOfNode(ctx, "add_nodes", content)
	}
	if kind == "link" {
		err = checkAddress("add_nodes", content)
	}
	if err == nil {
		err = checkColor("add_nodes", n.Color)
	}
	return kind, content, err
}

// box is where a node goes; there is how many were on the canvas before.
func (n CanvasNode) box(c *jsoncanvas.Canvas, kind string, there int) (jsoncanvas.Box, error) {
	size := map[string][2]int{"text": {300, 140}, "file": {400, 220}, "link": {400, 300}, "group": {600, 400}}[kind]
	if n.Width != 0 {
		size[0] = n.Width
	}
	if n.Height != 0 {
		size[1] = n.Height
	}
	for i, key := range []string{"width", "height"} {
		if err := checkNumber("add_nodes", key, size[i]); err != nil {
			return jsoncanvas.Box{}, err
		}
	}
	b := c.Free(size[0], size[1], there)
	if (n.X == nil) != (n.Y == nil) {
		return b, fault.Field("add_nodes", "give both or none", "x and y belong together")
	}
	if n.X == nil {
		return b, nil
	}
	b.X, b.Y = *n.X, *n.Y
	if err := checkNumber("add_nodes", "x", b.X); err != nil {
		return b, err
	}
	return b, checkNumber("add_nodes", "y", b.Y)
}

func (in EditCanvas) addEdges(_ context.Context, _ Env, c *jsoncanvas.Canvas, out *CanvasEdited) error {
	for i, e := range in.AddEdges {
		for _, id := range []string{e.From, e.To} {
			if c.Node(id) == nil {
				return fault.Field("add_edges", "read the canvas again for its ids, or give the new node this id", "no node has the id %q", id)
			}
		}
		if err := checkColor("add_edges", e.Color); err != nil {
			return err
		}
		id := c.NewID(out.Path, e.From, e.To, fmt.Sprint(i))
		item := c.AddEdge(id, e.From, e.To)
		item.Set("label", e.Label)
		item.Set("color", e.Color)
		out.Edges = append(out.Edges, id)
	}
	return nil
}

func (c CanvasEdited) summary(create, edit string) string {
	if c.created {
		return fmt.Sprintf("%s the canvas %s with %s", create, c.Path, toolkit.Count(c.TotalNodes, "node"))
	}
	var did []string
	for _, p := range []struct {
		n    int
		verb string
	}{{len(c.Nodes) + len(c.Edges), "added"}, {c.Changed, "changed"}, {c.Removed, "removed"}} {
		if p.n > 0 {
			did = append(did, fmt.Sprintf("%d %s", p.n, p.verb))
		}
	}
	return fmt.Sprintf("%s the canvas %s: %s", edit, c.Path, strings.Join(did, ", "))
}

// Preview says what changes.
func (c CanvasEdited) Preview() tool.Preview {
	return tool.Preview{Summary: c.summary("Create", "Edit"), Details: c}
}

// View is one line.
func (c CanvasEdited) View() tool.View { return tool.View{Text: c.summary("Created", "Edited") + "\n"} }
