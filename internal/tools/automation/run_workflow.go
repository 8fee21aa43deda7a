package automation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"lore/internal/tool"
	"lore/internal/tool/access"
	"lore/internal/tools/automation/workflow"
	"lore/internal/tools/toolkit"
)

// RunWorkflow: Run a workflow. A person allows new ones first; its changes are
// one approval and one undo.
type RunWorkflow struct {
	// Name or path.
	Workflow string `json:"workflow"`
	// Its inputs by name.
	Inputs map[string]any `json:"inputs,omitempty"`
}

// Help is the text for people.
func (RunWorkflow) Help() tool.Help {
	return tool.Help{
		Short: "Run a workflow",
		Long:  "The first time, and whenever the file has changed, Lore shows the workflow and asks whether it may run. The changes of all steps are shown together, applied together and undone together; if a step fails, nothing changes. With --dry-run, Lore shows what would change.",
		Flags: map[string]string{
			"workflow": "name or path of the workflow",
			"inputs":   "its inputs, as NAME=VALUE (repeatable)",
		},
	}
}

// WorkflowRun is what came of a workflow.
type WorkflowRun struct {
	Workflow string         `json:"workflow"`
	Path     string         `json:"path"`
	Calls    int            `json:"calls"`
	Outputs  map[string]any `json:"outputs"`
	// Files that the workflow changes, and bytes that it writes.
	Files int `json:"files"`
	Bytes int `json:"bytes"`
	// Untrusted says that the outputs can show text from outside.
	Untrusted bool `json:"shows_outside,omitempty"`

	batch Batch
}

// Gather walks through the steps.
func (in RunWorkflow) Gather(ctx context.Context, env Env, calls *tool.Calls) (WorkflowRun, error) {
	w, err := env.open(ctx, in.Workflow)
	if err != nil {
		return WorkflowRun{}, err
	}
	if err := w.problem(); err != nil {
		return WorkflowRun{}, err
	}
	if _, err := w.Given(in.Inputs); err != nil {
		return WorkflowRun{}, err
	}
	if err := calls.Confirm(ctx, w.content()); err != nil {
		return WorkflowRun{}, err
	}
	calls.Chain()
	out := WorkflowRun{Workflow: w.Name, Path: w.path}
	out.Outputs, err = w.Run(ctx, in.Inputs, func(ctx context.Context, s workflow.Step, args json.RawMessage) (json.RawMessage, error) {
		tool.Progress(ctx, out.Calls, 0, s.ID)
		out.Calls++
		p, err := calls.Make(ctx, toolName(s.Tool), args)
		if err != nil {
			return nil, err
		}
		r := BatchResult{Call: out.Calls, Tool: s.ID, OK: true, files: p.Files, warnings: append(p.Warnings, p.Notices...)}
		if p.Effect != access.Reads {
			r.Summary = p.Summary
		}
		out.batch.Results = append(out.batch.Results, r)
		out.Untrusted = out.Untrusted || p.Untrusted
		return p.Result, nil
	})
	if err != nil {
		if errors.Is(err, context.Canceled) {
			return WorkflowRun{}, err
		}
		return WorkflowRun{}, fmt.Errorf("%s: nothing was changed, because %w", w.Name, err)
	}
	if err := w.withinAllowance(ctx, len(calls.Set())); err != nil {
		return WorkflowRun{}, err
	}
	err = out.batch.measure(ctx, calls)
	out.batch.Calls, out.Files, out.Bytes = out.Calls, out.batch.Files, out.batch.Bytes
	return out, err
}

// ShowsOutside reports whether the outputs can show text from outside.
func (r WorkflowRun) ShowsOutside() bool { return r.Untrusted }

// Preview lists the steps that change something.
func (r WorkflowRun) Preview() tool.Preview {
	p := r.batch.Preview()
	p.Summary = r.Workflow + ", " + p.Summary
	return p
}

// View is what the workflow answers.
func (r WorkflowRun) View() tool.View {
	var v tool.View
	for _, name := range sortedKeys(r.Outputs) {
		v.Pairs = append(v.Pairs, [2]string{name, toolkit.Truncate(workflow.Text(r.Outputs[name]), 2000)})
	}
	v.Foot = fmt.Sprintf("%s: %s", r.Workflow, toolkit.Count(r.Calls, "call"))
	return v
}
