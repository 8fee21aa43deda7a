// Package knowledge holds the tools of the knowledge graph: notes that say what
// type they are and how sure one is of them, and the typed relations between
// them, all in plain Markdown. One file is one tool.
//
// To add one: write a file with an input struct, an output struct and a Run or
// Plan method; add its line to [Tools]; add testdata/<name>.txtar; run go
// generate.
package knowledge

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"lore/internal/fault"
	"lore/internal/graph/judge"
	"lore/internal/index"
	"lore/internal/note"
	"lore/internal/note/relation"
	"lore/internal/outside/websearch"
	"lore/internal/search"
	"lore/internal/tool"
	"lore/internal/tool/access"
	"lore/internal/vault"
)

//go:generate go run lore/internal/tool/tooldoc/gendoc

// Env is what these tools may touch.
type Env struct {
	Vault  *vault.Vault
	Store  index.Store
	Search *search.Searcher
	// Fresh tells how current the index is.
	Fresh func(context.Context) index.Freshness
	Parse note.Options // the dialect of the vault
	// Judge finds types and words, with a model where there is one.
	Judge judge.Judge
	// Web is what searches the web; it gives nil until a person has chosen one.
	Web func() (websearch.Searcher, error)
	// Folder is where new nodes go, each type into a folder of its own.
	Folder string
}

// Tools returns every tool of this package, bound to env.
func Tools(env Env) []*tool.Tool {
	return tool.Toolset("knowledge", docs,
		tool.Read[ListNodes](env, tool.Drawn(tool.Table), tool.Short("node list"), tool.Plays(tool.ListsNodes)),
		tool.Read[GetNode](env, tool.Short("node get")),
		tool.Change[CreateNode](env, tool.Short("node create"), tool.AsksModel(model)),
		tool.Change[UpdateNode](env, tool.Short("node update"), tool.AsksModel(model)),
		tool.Change[DeleteNode](env, tool.Short("node delete")),
		tool.Change[MergeNodes](env, tool.Short("node merge")),
		tool.Change[ReclassifyNode](env, tool.Short("node reclassify")),
		tool.Change[RecalculateNodeConfidence](env, tool.Short("node confidence")),
		tool.Read[SummarizeNode](env, tool.Drawn(tool.Text), tool.Short("node summary"), tool.AsksModel(model)),
		tool.Read[SummarizeNodeWithContext](env, tool.Drawn(tool.Text), tool.Short("node context"), tool.AsksModel(model)),
		tool.Change[FindRelatedNodes](env, tool.Drawn(tool.Notes), tool.Short("find-related"), tool.ChangesWith("auto_link"), tool.AsksModel(model)),
		tool.Read[FindDuplicateNodes](env, tool.Drawn(tool.Table), tool.Short("node duplicates"), tool.AsksModel(model)),
		tool.Read[FindContradictions](env, tool.Drawn(tool.Table), tool.Short("graph contradictions"), tool.AsksModel(model), tool.Plays(tool.TellsContradictions)),
		tool.Act[SearchWebForEvidence](env, tool.Drawn(tool.Notes), tool.Short("node evidence"), tool.Needs(access.Egress), tool.Untrusted(), tool.Rate(20, time.Minute), tool.AsksModel(model)),
		tool.Change[CreateRelationship](env, tool.Short("relationship create")),
		tool.Change[DeleteRelationship](env, tool.Short("relationship delete")),
		tool.Change[ReclassifyRelationship](env, tool.Short("relationship reclassify"), tool.AsksModel(model)),
		tool.Change[RecalculateEdgeConfidence](env, tool.Short("relationship confidence")),
		tool.Read[SummarizeRelationship](env, tool.Drawn(tool.Text), tool.Short("relationship summary"), tool.AsksModel(model)),
		tool.Read[GetNeighbourhood](env, tool.Drawn(tool.Table), tool.Short("graph around"), tool.Plays(tool.TellsNeighbourhood)),
		tool.Read[ExportGraph](env, tool.Drawn(tool.Text), tool.Short("graph export"), tool.Plays(tool.TellsGraph)),
	)
}

// model is how long a call may take that asks a model several times.
const model = 5 * time.Minute

// A node is a note that was read as a node of the graph.
type node struct {
	*note.Note
	row  index.Row
	data string // the file as it is
	hash string
}

// id is what the node is called: its own id, or its path.
func (n *node) id() string { return idOf(&n.row) }

func idOf(r *index.Row) string {
	if r.Node != "" {
		return r.Node
	}
	return r.File.Path
}

// plain is the type of notes that state none.
const plain = "Note"

func typeOf(r *index.Row) string {
	if r.Type != "" {
		return r.Type
	}
	return plain
}

// locate finds the node that an id means; a path, a name, a title and an alias
// do as well. An id counts before all of these.
func (env Env) locate(ctx context.Context, field, id string) (index.Row, error) {
	key := index.Key(id)
	names, err := env.Store.Names(ctx, index.NameQuery{Keys: []string{key}})
	if err != nil {
		return index.Row{}, err
	}
	var paths []string
	for _, n := range names {
		if n.Kind == index.NameNode && n.Key == key {
			paths = append(paths, n.Path)
		}
	}
	var row index.Row
	switch len(paths) {
	case 0:
		row, err = search.Locate(ctx, env.Store, id)
	case 1:
		var rows []index.Row
		if rows, err = env.Store.Notes(ctx, index.Select{Paths: paths}); err == nil && len(rows) == 0 {
			err = fault.New(fault.NotFound, "the index has just changed; try again")
		}
		if err == nil {
			row = rows[0]
		}
	default:
		err = &fault.Report{
			Kind: fault.Ambiguous, Field: "path", Message: fmt.Sprintf("several notes have the ID %q: %s", id, strings.Join(paths, ", ")),
			Fix: "give one of these paths, and change the ID of the copies",
		}
	}
	if err != nil {
		return index.Row{}, fault.Rename(err, "path", field)
	}
	if row.Kind != index.KindNote {
		return index.Row{}, fault.Field(field, "name a Markdown note", "%s is not a note", row.File.Path)
	}
	return row, nil
}

// open finds a node and reads its file as it is now.
func (env Env) open(ctx context.Context, field, id string) (*node, error) {
	row, err := env.locate(ctx, field, id)
	if err != nil {
		return nil, err
	}
	return env.read(ctx, row)
}

func (env Env) read(ctx context.Context, row index.Row) (*node, error) {
	f, err := env.Vault.Read(ctx, row.File.Path)
	if err != nil {
		return nil, err
	}
	n := env.Parse.Parse(row.File.Path, f.Data)
	// The file may be newer than the index.
	now := relation.NodeOf(n)
	row.Type, row.Node, row.Sure, row.Title = now.Type, now.ID, now.Confidence, cmp.Or(now.Title, row.Title)
	return &node{Note: n, row: row, data: string(f.Data), hash: f.Hash.String()}, nil
}

// rows reads what the index knows of the notes, by path.
func (env Env) rows(ctx context.Context, paths []string) (map[string]*index.Row, error) {
	found, err := env.Store.Notes(ctx, index.Select{Paths: append([]string{}, paths...)})
	if err != nil {
		return nil, err
	}
	out := make(map[string]*index.Row, len(found))
	for i := range found {
		if err := index.Interrupted(ctx, i); err != nil {
			return nil, err
		}
		out[found[i].File.Path] = &found[i]
	}
	return out, nil
}

// sure writes a confidence for people.
func sure(c *float64) string {
	if c == nil {
		return "unknown"
	}
	return fmt.Sprintf("%.2f", *c)
}
