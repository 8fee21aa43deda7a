// Package find holds the tools for looking around in a vault: by tag, by name,
// by neighbourhood, and for what is broken. One file is one tool.
//
// To add one: write a file with an input struct, an output struct and a Run
// method; add its line to [Tools]; add testdata/<name>.txtar; run go generate.
package find

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
	return tool.Toolset("find", docs)
}
