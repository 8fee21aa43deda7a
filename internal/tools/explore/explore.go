// Package explore holds the tools that find notes: by tag, name, text and
// similarity, and by what is missing or broken. All of them only read. One file
// is one tool.
//
// To add one: write a file with an input struct, an output struct and a Run
// method; add its line to [Tools]; add testdata/<name>.txtar; run go generate.
package explore

import (
	"context"
	"strings"
	"time"

	"lore/internal/index"
	"lore/internal/search"
	"lore/internal/tool"
	"lore/internal/tools/toolkit"
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
	// Now is the clock; nil is the computer's.
	Now func() time.Time
}

// Tools returns every tool of this package, bound to env.
func Tools(env Env) []*tool.Tool {
	return tool.Toolset("explore", docs,
		tool.Read[SearchByTag](env, tool.Drawn(tool.Notes), tool.Alias("searchByTag")),
		tool.Read[GetRandomNote](env, tool.Drawn(tool.Notes), tool.Short("random"), tool.Alias("getRandomNote")),
		tool.Read[ListNotes](env, tool.Drawn(tool.Table), tool.Short("list"), tool.Plays(tool.ListsNotes), tool.Everyday()),
		tool.Read[ListTags](env, tool.Drawn(tool.Table), tool.Short("tags"), tool.Plays(tool.ListsTags), tool.Everyday(), tool.Try("--limit 5", `{"limit": 5}`)),
		tool.Read[GetFileTree](env, tool.Drawn(tool.Text), tool.Short("tree"), tool.Plays(tool.ListsFiles), tool.Alias("getFileTree")),
		tool.Read[ListTasks](env, tool.Drawn(tool.Table), tool.Short("tasks"), tool.Plays(tool.ListsTasks)),
		tool.Read[VaultSearch](env, tool.Drawn(tool.Notes), tool.Alias("vaultSearch")),
		tool.Read[LocalSearch](env, tool.Drawn(tool.Notes), tool.Alias("localSearch")),
		tool.Read[FindSimilar](env, tool.Drawn(tool.Notes), tool.Short("similar"),
			tool.Try("Matcha --limit 3", `{"path": "Matcha", "limit": 3}`)),
		tool.Read[FindOrphans](env, tool.Drawn(tool.Notes), tool.Short("orphans")),
		tool.Read[FindBrokenLinks](env, tool.Drawn(tool.Table), tool.Short("broken")),
		tool.Read[FindUnlinkedMentions](env, tool.Drawn(tool.Notes), tool.Short("mentions"), tool.Plays(tool.ListsMentions)),
		tool.Read[FindPath](env, tool.Drawn(tool.Notes), tool.Short("graph path")),
		tool.Read[AnalyzeLinks](env, tool.Drawn(tool.Notes)),
		tool.Read[InferSchema](env, tool.Drawn(tool.Text)),
		tool.Read[QueryNotes](env, tool.Drawn(tool.Table), tool.Short("query")),
		tool.Read[VaultHealth](env, tool.Drawn(tool.Table), tool.Short("health"), tool.Plays(tool.TellsHealth)),
	)
}

// NoteRef is one note of a list.
type NoteRef struct {
	Path  string `json:"path"`
	Title string `json:"title"`
	// Other names of the note.
	Aliases  []string `json:"aliases,omitempty"`
	Type     string   `json:"type,omitempty"`
	Tags     []string `json:"tags,omitempty"`
	Words    int      `json:"words"`
	Modified string   `json:"modified"`
	// Properties that were selected; a list has several values.
	Properties map[string][]string `json:"properties,omitempty"`
}

func refOf(r *index.Row) NoteRef {
	return NoteRef{Path: r.File.Path, Title: r.Title, Type: r.Type, Tags: r.Tags, Words: r.Words, Modified: toolkit.Stamp(r.File.ModTime)}
}

func (n *NoteRef) item() tool.Item {
	detail := []string{n.Modified[:10]}
	if n.Type != "" {
		detail = append(detail, n.Type)
	}
	for _, t := range n.Tags {
		detail = append(detail, "#"+t)
	}
	return tool.Item{Title: n.Title, Path: n.Path, Detail: strings.Join(detail, "  ")}
}

// filter is what several tools have as arguments.
func (env Env) filter(ctx context.Context, folder, kind string, tags []string) (index.Filter, error) {
	f := index.Filter{Tags: tagNames(tags)}
	if kind != "" {
		f.Types = []string{kind}
	}
	var err error
	f.Folders, err = toolkit.Folder(ctx, env.Vault, env.Store, folder)
	return f, err
}

// tagNames takes the # from tags and drops empty ones.
func tagNames(tags []string) []string {
	var out []string
	for _, t := range tags {
		if t = strings.Trim(strings.TrimSpace(t), "#/"); t != "" {
			out = append(out, t)
		}
	}
	return out
}
