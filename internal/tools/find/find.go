// Package find holds the tools for looking around in a vault: by tag, by name,
// by neighbourhood, and for what is broken. One file is one tool.
//
// To add one: write a file with an input struct, an output struct and a Run
// method; add its line to [Tools]; add testdata/<name>.txtar; run go generate.
package find

import (
	"context"
	"fmt"
	"strings"
	"time"

	"lore/internal/fault"
	"lore/internal/index"
	"lore/internal/note"
	"lore/internal/search"
	"lore/internal/tool"
	"lore/internal/vault"
)

//go:generate go run lore/internal/tool/tooldoc/gendoc

// Env is what these tools may touch.
type Env struct {
	Vault  *vault.Vault
	Store  index.Store
	Search *search.Searcher
	// Fresh tells how far the index can be believed.
	Fresh func(context.Context) index.Freshness
	Parse note.Options // the dialect of the vault
}

// Tools returns every tool of this package, bound to env.
func Tools(env Env) []*tool.Tool {
	return tool.Toolset("find", docs,
		tool.Read[SearchByTag](env, tool.Drawn(tool.Notes), tool.Alias("searchByTag")),
		tool.Read[GetRandomNote](env, tool.Drawn(tool.Notes), tool.Short("random"), tool.Alias("getRandomNote")),
		tool.Read[ListNotes](env, tool.Drawn(tool.Table), tool.Short("list"), tool.Plays(tool.ListsNotes)),
		tool.Read[ListTags](env, tool.Drawn(tool.Table), tool.Short("tags"), tool.Plays(tool.ListsTags), tool.Try("--limit 5", `{"limit": 5}`)),
		tool.Read[GetFileTree](env, tool.Drawn(tool.Text), tool.Short("tree"), tool.Alias("getFileTree")),
		tool.Read[VaultSearch](env, tool.Drawn(tool.Notes), tool.Alias("vaultSearch")),
		tool.Read[FileRead](env, tool.Selects("file_paths"), tool.Drawn(tool.Text), tool.Alias("fileRead")),
		tool.Read[LocalSearch](env, tool.Drawn(tool.Notes), tool.Alias("localSearch")),
		tool.Read[ReadAttachment](env, tool.Drawn(tool.Text)),
		tool.Read[FindSimilar](env, tool.Drawn(tool.Notes), tool.Short("similar"),
			tool.Try("Matcha --limit 3", `{"path": "Matcha", "limit": 3}`)),
		tool.Read[FindOrphans](env, tool.Drawn(tool.Notes), tool.Short("orphans")),
		tool.Read[FindBrokenLinks](env, tool.Drawn(tool.Table), tool.Short("broken")),
		tool.Read[FindUnlinkedMentions](env, tool.Drawn(tool.Notes), tool.Short("mentions"), tool.Plays(tool.ListsMentions)),
		tool.Read[FindPath](env, tool.Drawn(tool.Notes), tool.Short("graph path")),
		tool.Change[MoveFolder](env, tool.Drawn(tool.Notes)),
		tool.Change[RenameTag](env, tool.Drawn(tool.Notes)),
		tool.Change[RepairLinks](env, tool.Drawn(tool.Table)),
		tool.Change[LinkMentions](env, tool.Drawn(tool.Notes)),
		tool.Change[MergeNotes](env, tool.Drawn(tool.Notes)),
		tool.Read[VaultHealth](env, tool.Drawn(tool.Table), tool.Short("health"), tool.Plays(tool.TellsHealth)),
	)
}

// NoteRef is one note of a list.
type NoteRef struct {
	Path     string   `json:"path"`
	Title    string   `json:"title"`
	Type     string   `json:"type,omitempty"`
	Tags     []string `json:"tags,omitempty"`
	Words    int      `json:"words"`
	Modified string   `json:"modified"`
}

func refOf(r *index.Row) NoteRef {
	return NoteRef{Path: r.File.Path, Title: r.Title, Type: r.Type, Tags: r.Tags, Words: r.Words, Modified: stamp(r.File.ModTime)}
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

// stamp writes a time of the index as people and programs read it.
func stamp(ns int64) string { return time.Unix(0, ns).Local().Format(time.RFC3339) }

// count is the number of notes that a filter lets through. Counting by folder
// is the cheapest question that tells it.
func (env Env) count(ctx context.Context, f index.Filter) (int, error) {
	folders, err := env.Store.Facets(ctx, index.FacetFolder, f)
	n := 0
	for _, c := range folders {
		n += c.Notes
	}
	return n, err
}

// locate is [search.Locate] for an argument of another name than path.
func (env Env) locate(ctx context.Context, field, name string) (index.Row, error) {
	row, err := search.Locate(ctx, env.Store, name)
	return row, fault.Rename(err, "path", field)
}

// folder checks that a folder exists, so that a wrong name is not taken for an
// empty answer. It returns the filter that keeps to it.
func (env Env) folder(ctx context.Context, name string) ([]string, error) {
	return search.Folder(ctx, env.Store, name, func(name string) (string, func() bool, error) {
		clean, err := vault.Clean(name)
		exists := func() bool {
			_, err := env.Vault.Stat(ctx, clean)
			return fault.Of(err) == fault.Invalid // it is no file, but a folder
		}
		return clean, exists, err
	})
}

// filter is what several tools have as arguments.
func (env Env) filter(ctx context.Context, folder, kind string, tags []string) (index.Filter, error) {
	f := index.Filter{Tags: tagNames(tags)}
	if kind != "" {
		f.Types = []string{kind}
	}
	var err error
	f.Folders, err = env.folder(ctx, folder)
	return f, err
}

// lies reports whether a path lies in the folder that [Env.folder] returned.
func lies(path string, folder []string) bool {
	return len(folder) == 0 || strings.HasPrefix(strings.ToLower(path), strings.ToLower(folder[0])+"/")
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

// many counts things whose name takes an s.
func many(n int, name string) string {
	if n == 1 {
		return "1 " + name
	}
	return fmt.Sprintf("%d %ss", n, name)
}

// foot joins what should be said about a whole answer.
func foot(f index.Freshness, parts ...string) string {
	var out []string
	for _, p := range parts {
		if p != "" {
			out = append(out, p)
		}
	}
	if !f.Fresh && f.Reason != "" {
		out = append(out, "index: "+f.Reason)
	}
	return strings.Join(out, "; ")
}

// round keeps four digits: more would change with the machine.
func round(f float64) float64 { return float64(int(f*1e4+0.5)) / 1e4 }
