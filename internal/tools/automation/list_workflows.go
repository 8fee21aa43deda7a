package automation

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"lore/internal/tool"
	"lore/internal/tools/automation/workflow"
	"lore/internal/tools/toolkit"
)

// ListWorkflows: List the workflows with their inputs.
type ListWorkflows struct{}

// Help is the text for people.
func (ListWorkflows) Help() tool.Help {
	return tool.Help{
		Short:    "List workflows",
		Long:     "Workflows are YAML files, or notes with a block of YAML, in the folder Workflows (setting: automation.folder).",
		Examples: []string{""},
	}
}

// Workflows are all that there are.
type Workflows struct {
	Folder    string         `json:"folder"`
	Workflows []WorkflowInfo `json:"workflows"`
}

// WorkflowInfo is one of them.
type WorkflowInfo struct {
	Name        string           `json:"name"`
	Path        string           `json:"path"`
	Description string           `json:"description,omitempty"`
	Inputs      []workflow.Input `json:"inputs"`
	// Allowed says that a person allowed it as it is now.
	Allowed bool `json:"allowed"`
	// Problems that it has; it cannot run before they are fixed.
	Problems []workflow.Problem `json:"problems,omitempty"`
}

// Run lists them.
func (ListWorkflows) Run(ctx context.Context, env Env) (Workflows, error) {
	files, err := env.files(ctx)
	if err != nil {
		return Workflows{}, err
	}
	out := Workflows{Folder: env.Folder, Workflows: []WorkflowInfo{}}
	for _, p := range files {
		w, err := env.read(ctx, p)
		if err != nil {
			return Workflows{}, err
		}
		info, err := env.info(ctx, w)
		if err != nil {
			return Workflows{}, err
		}
		out.Workflows = append(out.Workflows, info)
	}
	return out, nil
}

func (env Env) info(ctx context.Context, w workflowFile) (WorkflowInfo, error) {
	out := WorkflowInfo{Name: w.Name, Path: w.path, Description: w.Description, Inputs: append([]workflow.Input{}, w.Inputs...), Problems: w.problems}
	var err error
	if env.Registry != nil && env.Registry() != nil {
		out.Allowed, err = env.Registry().IsAllowed(ctx, w.content())
	}
	return out, err
}

// state says in a word whether it can run.
func (w WorkflowInfo) state() string {
	switch {
	case len(w.Problems) > 0:
		return toolkit.Count(len(w.Problems), "problem")
	case w.Allowed:
		return "allowed"
	}
	return "asks first"
}

// View is a table.
func (l Workflows) View() tool.View {
	v := tool.View{Head: []string{"workflow", "inputs", "state", "description"}, Foot: toolkit.Count(len(l.Workflows), "workflow") + " in " + l.Folder}
	for _, w := range l.Workflows {
		var names []string
		for _, in := range w.Inputs {
			names = append(names, in.Name)
		}
		v.Rows = append(v.Rows, []string{w.Name, strings.Join(names, ", "), w.state(), w.Description})
	}
	return v
}

// ShowWorkflow: Show a workflow: steps, diagram (Mermaid), problems.
type ShowWorkflow struct {
	// Name or path.
	Workflow string `json:"workflow"`
}

// Help is the text for people.
func (ShowWorkflow) Help() tool.Help {
	return tool.Help{
		Short: "Show a workflow and check it",
		Long:  "Shows the inputs, steps and outputs, and every problem with its line. The exit code is 1 if there are problems. With --json, the output has a Mermaid diagram.",
		Flags: map[string]string{"workflow": "name or path of the workflow"},
	}
}

// WorkflowShown is a workflow with its diagram.
type WorkflowShown struct {
	WorkflowInfo
	Text    string `json:"text"`
	Steps   string `json:"steps"`
	Mermaid string `json:"mermaid"`
	SHA256  string `json:"sha256"`
}

// Run reads and checks it.
func (in ShowWorkflow) Run(ctx context.Context, env Env) (WorkflowShown, error) {
	w, err := env.open(ctx, in.Workflow)
	if err != nil {
		return WorkflowShown{}, err
	}
	out := WorkflowShown{Text: w.Text, Steps: w.Draw(), Mermaid: w.Mermaid(), SHA256: w.Hash}
	out.WorkflowInfo, err = env.info(ctx, w)
	return out, err
}

// View draws it as text.
func (w WorkflowShown) View() tool.View {
	text := fmt.Sprintf("%s (%s)\n", w.Name, w.Path)
	if w.Description != "" {
		text += w.Description + "\n"
	}
	v := tool.View{Text: text + "\n" + w.Steps, Foot: w.state()}
	if len(w.Problems) == 0 {
		return v
	}
	v.Exit = 1
	v.Text += "\n"
	for _, p := range w.Problems {
		v.Text += p.String() + "\n"
	}
	return v
}

func sortedKeys(m map[string]any) []string { return slices.Sorted(maps.Keys(m)) }
