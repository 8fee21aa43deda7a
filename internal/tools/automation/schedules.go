package automation

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"lore/internal/fault"
	"lore/internal/tool"
	"lore/internal/tool/access"
	"lore/internal/tool/policy"
	"lore/internal/tools/toolkit"
)

// scheduled is a workflow as a person allows it to run by itself.
func (w workflowFile) scheduled() tool.Content {
	c := w.content()
	c.Name, c.Job = "schedule "+w.path, w.job().ID
	c.Summary = fmt.Sprintf("Let the workflow %s run by itself: %s", w.Name, w.On)
	c.Lines = append([]string{"Runs " + w.On.String() + ".", "What it may do: " + w.Allow.String() + "."}, c.Lines...)
	return c
}

// job is who a workflow is when it runs by itself: it may read, and change what a
// person allows or has allowed; it cannot use a remote model, commands or the web.
func (w workflowFile) job() access.Principal {
	sum := sha256.Sum256([]byte(w.path))
	return access.Principal{
		Kind: access.Schedule, ID: "job-" + hex.EncodeToString(sum[:6]), Surface: "schedule", Name: w.Name, Scopes: []access.Scope{access.Read, access.Write},
	}
}

// rules are what a person allows together with the text.
func (w workflowFile) rules() []policy.Rule {
	out := []policy.Rule{{Verdict: policy.Allow, Tool: w.content().Name, Definition: w.Hash}}
	for _, p := range w.Allow.Paths {
		out = append(out, policy.Rule{Verdict: policy.Allow, Tool: "*", Paths: p, Run: w.job().ID, Kind: string(access.Schedule)})
	}
	return out
}

// AddSchedule: Let a workflow with on: run by itself, at times or when files change.
// The person is shown it and decides.
type AddSchedule struct {
	// Name or path.
	Workflow string `json:"workflow"`
}

// Help is the text for people.
func (AddSchedule) Help() tool.Help {
	return tool.Help{
		Short: "Let a workflow run by itself",
		Long:  "The workflow's own text says when it runs (on:) and what it may change without asking (allow:). Lore shows the text and asks. If the file changes, the workflow no longer runs by itself until you add it again. Schedules run while lore serve runs; a run that was missed is made up for once.",
		Flags: map[string]string{"workflow": "name or path of the workflow"},
	}
}

// Schedule is a workflow that can run by itself.
type Schedule struct {
	Workflow string `json:"workflow"`
	Path     string `json:"path"`
	// On says when it runs, Allow what it may do.
	On    string `json:"on"`
	Allow string `json:"allow"`
	// State is "on", "off", or "changed" since a person added it.
	State string `json:"state"`
	// Next is when it runs next; empty for events.
	Next string `json:"next,omitempty"`
	// Last is when it ran last, and Result what came of it.
	Last   string `json:"last,omitempty"`
	Result string `json:"result,omitempty"`
}

// Gather asks the person about the text; it makes no calls.
func (in AddSchedule) Gather(ctx context.Context, env Env, calls *tool.Calls) (Schedule, error) {
	w, err := env.open(ctx, in.Workflow)
	if err == nil {
		err = w.problem()
	}
	if err != nil {
		return Schedule{}, err
	}
	if w.On.IsEmpty() {
		return Schedule{}, fault.Field("workflow", `add on: with schedule: "0 3 * * *", or created: "Inbox/**"`, "%s does not say when it runs", w.path)
	}
	for _, i := range w.Inputs {
		if i.Required && i.Name != "path" && i.Name != "event" && i.Name != "from" {
			return Schedule{}, fault.Field("workflow", "give it a default", "%s needs the input %s, which nobody gives when it runs by itself", w.path, i.Name)
		}
	}
	if err := calls.Confirm(ctx, w.scheduled(), w.rules()...); err != nil {
		return Schedule{}, err
	}
	return env.schedule(w, "on", env.Now()), nil
}

func (env Env) schedule(w workflowFile, state string, after time.Time) Schedule {
	out := Schedule{Workflow: w.Name, Path: w.path, On: w.On.String(), Allow: w.Allow.String(), State: state}
	st := env.Jobs.read()[w.path]
	if !st.Last.IsZero() {
		out.Last, out.Result = st.Last.Format(time.RFC3339), st.Result
	}
	if next := w.On.Next(after); !next.IsZero() && state == "on" {
		out.Next = next.Format(time.RFC3339)
	}
	return out
}

// Preview says what was decided.
func (s Schedule) Preview() tool.Preview {
	return tool.Preview{Summary: s.Workflow + " runs by itself: " + s.On}
}

// View says when it runs.
func (s Schedule) View() tool.View {
	if s.State != "on" {
		return tool.View{Text: s.Workflow + " no longer runs by itself\n"}
	}
	text := s.Workflow + " runs by itself: " + s.On + "\n"
	if s.Next != "" {
		text += "Next: " + s.Next + "\n"
	}
	return tool.View{Text: text, Foot: "runs while lore serve runs"}
}

// ListSchedules: List workflows that run by themselves: when, last result.
type ListSchedules struct{}

// Help is the text for people.
func (ListSchedules) Help() tool.Help {
	return tool.Help{
		Short:    "List workflows that can run by themselves",
		Long:     "Lists the workflows that have on:, whether they are on, when they run next and what came of the last run.",
		Examples: []string{""},
	}
}

// Schedules are all of them.
type Schedules struct {
	Schedules []Schedule `json:"schedules"`
}

// Run lists them.
func (ListSchedules) Run(ctx context.Context, env Env) (Schedules, error) {
	out := Schedules{Schedules: []Schedule{}}
	list, err := env.triggered(ctx)
	if err != nil {
		return out, err
	}
	rules, err := env.Registry().Rules(ctx)
	if err != nil {
		return out, err
	}
	for _, w := range list {
		state, _ := w.state(rules)
		out.Schedules = append(out.Schedules, env.schedule(w, state, env.Now()))
	}
	return out, nil
}

// triggered are the workflows that say when they run.
func (env Env) triggered(ctx context.Context) ([]workflowFile, error) {
	files, err := env.files(ctx)
	if err != nil {
		return nil, err
	}
	var out []workflowFile
	for _, p := range append(files, builtins()...) {
		if w, err := env.read(ctx, p); err == nil && !w.On.IsEmpty() && len(w.problems) == 0 {
			out = append(out, w)
		}
	}
	return out, nil
}

// state tells from the rules whether a person lets the workflow run by itself, and
// since when.
func (w workflowFile) state(rules []policy.Rule) (string, time.Time) {
	c := w.scheduled()
	state := "off"
	for _, r := range rules {
		switch {
		case r.Verdict != policy.Allow || r.Tool != c.Name:
		case r.Definition == c.Hash:
			return "on", r.Made
		default:
			state = "changed"
		}
	}
	return state, time.Time{}
}

// View is a table.
func (l Schedules) View() tool.View {
	v := tool.View{Head: []string{"workflow", "runs", "state", "next", "last", "result"}, Foot: toolkit.Count(len(l.Schedules), "schedule")}
	for _, s := range l.Schedules {
		v.Rows = append(v.Rows, []string{s.Workflow, s.On, s.State, s.Next, s.Last, s.Result})
	}
	return v
}

// RemoveSchedule: Stop a workflow from running by itself.
type RemoveSchedule struct {
	// Name or path.
	Workflow string `json:"workflow"`
}

// Help is the text for people.
func (RemoveSchedule) Help() tool.Help {
	return tool.Help{
		Short: "Stop a workflow from running by itself",
		Long:  "Also removes what the workflow was allowed to change without asking. The file stays.",
		Flags: map[string]string{"workflow": "name or path of the workflow"},
	}
}

// Run takes back what the person allowed.
func (in RemoveSchedule) Run(ctx context.Context, env Env) (Schedule, error) {
	w, err := env.open(ctx, in.Workflow)
	if err != nil {
		return Schedule{}, err
	}
	rules, err := env.Registry().Rules(ctx)
	if err != nil {
		return Schedule{}, err
	}
	found := false
	for _, r := range rules {
		if r.Tool != w.scheduled().Name && r.Run != w.job().ID {
			continue
		}
		found = true
		if err := env.Registry().Forget(ctx, tool.Caller(ctx), r.ID); err != nil {
			return Schedule{}, err
		}
	}
	if !found {
		return Schedule{}, fault.New(fault.NotFound, "%s does not run by itself", w.Name)
	}
	out := env.schedule(w, "off", env.Now())
	return out, nil
}

// RunSchedule: Run a scheduled workflow now.
type RunSchedule struct {
	// Name or path.
	Workflow string `json:"workflow"`
}

// Help is the text for people.
func (RunSchedule) Help() tool.Help {
	return tool.Help{
		Short: "Run a scheduled workflow now",
		Long:  "Runs the workflow once, as if you started it: what it wants to change is decided about as for you.",
		Flags: map[string]string{"workflow": "name or path of the workflow"},
	}
}

// Gather runs it.
func (in RunSchedule) Gather(ctx context.Context, env Env, calls *tool.Calls) (WorkflowRun, error) {
	return RunWorkflow{Workflow: in.Workflow}.Gather(ctx, env, calls)
}
