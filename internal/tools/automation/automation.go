// Package automation holds the tools that make other calls: batches and
// workflows. Each call that they make passes the registry like a call of its own.
package automation

import (
	"context"
	"time"

	"lore/internal/change"
	"lore/internal/outside/egress"
	"lore/internal/tool"
	"lore/internal/vault"
)

//go:generate go run lore/internal/tool/tooldoc/gendoc

// Env is what these tools may touch.
type Env struct {
	Vault *vault.Vault
	// Folder is where workflows are.
	Folder string
	// ToolFolder is where the tools are that a person wrote, and Off are the tools
	// that the settings switch off.
	ToolFolder string
	Off        []string
	// Command runs a command in the jail, on a copy of the files.
	Command func(ctx context.Context, argv []string, seconds int) (any, change.Set, error)
	// Client reaches the internet.
	Client func() (*egress.Client, error)
	// Jobs remembers when workflows ran by themselves.
	Jobs Jobs
	Now  func() time.Time
	// Registry has all tools, and knows what persons allowed.
	Registry func() *tool.Registry
}

// Tools returns every tool of this package, bound to env.
func Tools(env Env) []*tool.Tool {
	return tool.Toolset("automation", docs,
		tool.Gather[RunBatch](env, tool.Drawn(tool.Table), tool.Within(longest)),
		tool.Gather[RunWorkflow](env, tool.Drawn(tool.Text), tool.Within(longest), tool.Short("workflow run")),
		tool.Read[ListWorkflows](env, tool.Drawn(tool.Table), tool.Short("workflow list")),
		tool.Read[ShowWorkflow](env, tool.Drawn(tool.Text), tool.Short("workflow show"), tool.Plays(tool.TellsWorkflow)),
		tool.Read[CheckWorkflow](env, tool.Drawn(tool.Text), tool.Short("workflow check")),
		tool.Gather[AddOwnTool](env, tool.Drawn(tool.Text), tool.Short("own add")),
		tool.Read[ListOwnTools](env, tool.Drawn(tool.Table), tool.Short("own list")),
		tool.Gather[AddSchedule](env, tool.Drawn(tool.Text), tool.Short("schedule add")),
		tool.Read[ListSchedules](env, tool.Drawn(tool.Table), tool.Short("schedule list")),
		tool.Read[RemoveSchedule](env, tool.Drawn(tool.Text), tool.Short("schedule remove"), tool.PersonsOnly()),
		tool.Gather[RunSchedule](env, tool.Drawn(tool.Text), tool.Short("schedule run"), tool.Within(longest)),
	)
}
