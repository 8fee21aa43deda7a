package automation

import (
	"context"

	"lore/internal/tool"
	"lore/internal/tools/automation/workflow"
	"lore/internal/tools/toolkit"
)

// CheckWorkflow: Check one workflow, or all, and list problems by line.
type CheckWorkflow struct {
	// Name or path; default: all.
	Workflow string `json:"workflow,omitempty" word:"true"`
}

// Help is the text for people.
func (CheckWorkflow) Help() tool.Help {
	return tool.Help{
		Short:    "Check workflows",
		Long:     "Checks one workflow, or all of them. Each problem is listed with its line and how to fix it. The exit code is 1 if there are problems.",
		Flags:    map[string]string{"workflow": "name or path of the workflow (default: all)"},
		Examples: []string{""},
	}
}

// Checked are the problems that were found.
type Checked struct {
	Workflows int            `json:"workflows"`
	Problems  []FoundProblem `json:"problems"`
}

// FoundProblem is a problem of one workflow.
type FoundProblem struct {
	Path string `json:"path"`
	workflow.Problem
}

// Run checks them.
func (in CheckWorkflow) Run(ctx context.Context, env Env) (Checked, error) {
	var list []workflowFile
	if in.Workflow != "" {
		w, err := env.open(ctx, in.Workflow)
		if err != nil {
			return Checked{}, err
		}
		list = append(list, w)
	} else {
		files, err := env.files(ctx)
		if err != nil {
			return Checked{}, err
		}
		for _, p := range files {
			w, err := env.read(ctx, p)
			if err != nil {
				return Checked{}, err
			}
			list = append(list, w)
		}
	}
	out := Checked{Workflows: len(list), Problems: []FoundProblem{}}
	for _, w := range list {
		for _, p := range w.problems {
			out.Problems = append(out.Problems, FoundProblem{w.path, p})
		}
	}
	return out, nil
}

// View lists the problems.
func (c Checked) View() tool.View {
	v := tool.View{Foot: toolkit.Count(c.Workflows, "workflow") + " checked, " + toolkit.Count(len(c.Problems), "problem")}
	for _, p := range c.Problems {
		v.Text += p.Path + ", " + p.String() + "\n"
		v.Exit = 1
	}
	return v
}
