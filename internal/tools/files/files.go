// Package files holds the tools for small local models that work on a task by
// themselves. One file is one tool.
package files

import "lore/internal/tool"

//go:generate go run lore/internal/tool/tooldoc/gendoc

// Env is what these tools may touch: nothing yet.
type Env struct{}

// Tools returns every tool of this package, bound to env.
func Tools(env Env) []*tool.Tool {
	return tool.Toolset("files", docs,
		tool.Read[TaskComplete](env, tool.Drawn(tool.Text), tool.EndsRun()),
	)
}
