// Package notes holds the tools that every client starts with: read, search and
// follow links. One file is one tool.
//
// To add one: write a file with an input struct, an output struct and a Run
// method; add its line to [Tools]; add testdata/<name>.txtar; run go generate.
package notes

import (
	"lore/internal/index"
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
	Fresh func() index.Freshness
}

// Tools returns every tool of this package, bound to env.
func Tools(env Env) []*tool.Tool {
	return tool.Toolset("notes", docs,
		tool.Read[ReadNote](env, tool.Drawn(tool.Text), tool.Short("read")),
		tool.Read[SearchNotes](env, tool.Drawn(tool.Notes), tool.Short("search")),
	)
}
