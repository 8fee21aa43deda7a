// Package task holds the tool by which a model says that its task is done. It is
// a set of its own: whoever runs a task needs it, and nothing beside it.
package task

import "lore/internal/tool"

//go:generate go run lore/internal/tool/tooldoc/gendoc

// Env is what these tools may touch: nothing.
type Env struct{}

// Tools returns every tool of this package, bound to env.
func Tools(env Env) []*tool.Tool {
	return tool.Toolset("task", docs,
		tool.Read[TaskComplete](env, tool.Drawn(tool.Text), tool.EndsRun()),
	)
}
