package task

import (
	"context"
	"strings"

	"lore/internal/fault"
	"lore/internal/tool"
)

// TaskComplete: Say that the task is done and end the run. Call it when
// nothing is left to do, never before.
type TaskComplete struct {
	// What was done, in a few sentences.
	Summary string `json:"summary"`
}

// Help is the text for people.
func (TaskComplete) Help() tool.Help {
	return tool.Help{
		Short: "End a run with a summary",
		Flags: map[string]string{
			"summary": "a short summary of the work",
		},
		Examples: []string{
			`"Filed three notes."`,
		},
		Hidden: true,
	}
}

// Completed is the end of a task.
type Completed struct {
	Summary string `json:"summary"`
}

// Run repeats the summary: the record of what was done stands beside it.
func (in TaskComplete) Run(context.Context, Env) (Completed, error) {
	s := strings.TrimSpace(in.Summary)
	if s == "" {
		return Completed{}, fault.Field("summary", "say what was done", "is empty")
	}
	return Completed{Summary: s}, nil
}

// View is the summary.
func (c Completed) View() tool.View { return tool.View{Text: c.Summary + "\n"} }
