package automation

import (
	"context"
	"fmt"
	"path"
	"strings"

	"lore/internal/fault"
	"lore/internal/tool"
	"lore/internal/tools/automation/workflow"
	"lore/internal/tools/toolkit"
)

// AddOwnTool: Offer a tool that the person wrote in a file. The person is shown the
// file and decides.
type AddOwnTool struct {
	// Its name, or the path of its file.
	Tool string `json:"tool"`
}

// Help is the text for people.
func (AddOwnTool) Help() tool.Help {
	return tool.Help{
		Short: "Add a tool that you wrote",
		Long:  "Tools are YAML files, or notes with a block of YAML, in the folder Tools (setting: automation.tools). Lore shows the file and asks whether the tool may be used. If the file changes, the tool is gone until you add it again.",
		Flags: map[string]string{"tool": "name of the tool, or path of its file"},
	}
}

// OwnTool is one of them.
type OwnTool struct {
	Name string `json:"name"`
	Path string `json:"path"`
	// Kind is "command", "http" or "workflow".
	Kind        string           `json:"kind"`
	Description string           `json:"description,omitempty"`
	Inputs      []workflow.Input `json:"inputs"`
	// Allowed says that a person allowed it as it is now.
	Allowed  bool               `json:"allowed"`
	Problems []workflow.Problem `json:"problems,omitempty"`
}

// Gather asks the person about the file; it makes no calls.
func (in AddOwnTool) Gather(ctx context.Context, env Env, calls *tool.Calls) (OwnTool, error) {
	list, err := env.declarations(ctx)
	if err != nil {
		return OwnTool{}, err
	}
	var names []string
	for _, d := range list {
		names = append(names, d.Name)
		file := strings.TrimSuffix(path.Base(d.path), path.Ext(d.path))
		if in.Tool != d.path && in.Tool != d.Name && in.Tool != tool.OwnPrefix+d.Name && in.Tool != file {
			continue
		}
		if len(d.problems) > 0 {
			return OwnTool{}, fault.New(fault.Invalid, "%s, %s", d.path, d.problems[0])
		}
		if err := calls.Confirm(ctx, d.content()); err != nil {
			return OwnTool{}, err
		}
		out := d.info()
		out.Allowed = true
		return out, env.RefreshOwn(ctx, env.Registry(), env.Off)
	}
	fix := "write a file into the folder " + env.ToolFolder
	if len(names) > 0 {
		fix = "tools: " + strings.Join(names, ", ")
	}
	return OwnTool{}, &fault.Report{Kind: fault.NotFound, Field: "tool", Message: fmt.Sprintf("there is no file for the tool %q", in.Tool), Fix: fix}
}

func (d declared) info() OwnTool {
	return OwnTool{Name: tool.OwnPrefix + d.Name, Path: d.path, Kind: d.kind(), Description: d.Description, Inputs: append([]workflow.Input{}, d.Inputs...), Problems: d.problems}
}

// Preview says that it can be called.
func (t OwnTool) Preview() tool.Preview { return tool.Preview{Summary: t.Name + " is available"} }

// View says how to call it.
func (t OwnTool) View() tool.View {
	return tool.View{Text: fmt.Sprintf("%s is available: lore call %s '{…}'\n", t.Name, t.Name)}
}

// ListOwnTools: List the tools that the person wrote, also those not allowed yet.
type ListOwnTools struct{}

// Help is the text for people.
func (ListOwnTools) Help() tool.Help {
	return tool.Help{
		Short:    "List the tools that you wrote",
		Long:     "Lists the files in the folder Tools (setting: automation.tools), and whether you allowed them as they are now.",
		Examples: []string{""},
	}
}

// OwnTools are all that there are.
type OwnTools struct {
	Folder string    `json:"folder"`
	Tools  []OwnTool `json:"tools"`
}

// Run lists them.
func (ListOwnTools) Run(ctx context.Context, env Env) (OwnTools, error) {
	out := OwnTools{Folder: env.ToolFolder, Tools: []OwnTool{}}
	list, err := env.declarations(ctx)
	if err != nil {
		return out, err
	}
	for _, d := range list {
		info := d.info()
		if env.Registry != nil && env.Registry() != nil {
			if info.Allowed, err = env.Registry().IsAllowed(ctx, d.content()); err != nil {
				return out, err
			}
		}
		out.Tools = append(out.Tools, info)
	}
	return out, nil
}

// View is a table.
func (l OwnTools) View() tool.View {
	v := tool.View{Head: []string{"tool", "kind", "state", "description"}, Foot: toolkit.Count(len(l.Tools), "tool") + " in " + l.Folder}
	for _, t := range l.Tools {
		state := "not allowed yet"
		switch {
		case len(t.Problems) > 0:
			state = t.Problems[0].String()
		case t.Allowed:
			state = "allowed"
		}
		v.Rows = append(v.Rows, []string{t.Name, t.Kind, state, t.Description})
	}
	return v
}
