package files

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"lore/internal/tool"
	"lore/internal/tool/access"
	"lore/internal/tool/paging"
)

// ListProcesses: List the running processes of the user.
type ListProcesses struct {
	// Only names with this text.
	Filter string `json:"filter,omitempty"`
	// Skip this many.
	Offset int `json:"offset,omitempty" min:"0"`
	// Max processes.
	Limit int `json:"limit,omitempty" default:"200" min:"1" max:"2000"`
}

// Help is the text for people.
func (ListProcesses) Help() tool.Help {
	return tool.Help{
		Short: "List your running processes",
		Long:  "Lists the processes of your own user. Models and apps see the names of programs, but not their arguments, which can contain passwords.",
		Flags: map[string]string{
			"filter": "only processes whose name contains this text",
			"offset": "skip this many processes",
			"limit":  "maximum number of processes",
		},
		Hidden: true,
	}
}

// Processes are running processes, by their id.
type Processes struct {
	Processes []Process `json:"processes"`
	Total     int       `json:"total"`
	More      string    `json:"more,omitempty"`
}

// Process is one running process.
type Process struct {
	PID    int    `json:"pid"`
	Parent int    `json:"parent"`
	Name   string `json:"name"`
	// State is as ps writes it: R runs, S sleeps, Z has ended.
	State string `json:"state,omitempty"`
	// Memory in use, in bytes.
	Memory int64 `json:"memory,omitempty"`
	// Command is the whole command line; only a person sees it.
	Command string `json:"command,omitempty"`
}

// Run lists the processes.
func (in ListProcesses) Run(ctx context.Context, _ Env) (Processes, error) {
	list, err := ownProcesses()
	if err != nil {
		return Processes{}, err
	}
	person := tool.Caller(ctx).Kind == access.Person
	filter := strings.ToLower(in.Filter)
	var kept []Process
	for _, p := range list {
		if !person {
			p.Command = "" // a secret is often an argument
		}
		if strings.Contains(strings.ToLower(p.Name+"\n"+p.Command), filter) {
			kept = append(kept, p)
		}
	}
	slices.SortFunc(kept, func(a, b Process) int { return a.PID - b.PID })
	page, more := paging.Cut(kept, in.Offset, in.Limit)
	return Processes{Processes: append([]Process{}, page...), Total: len(kept), More: more}, ctx.Err()
}

// View is a table like that of ps.
func (p Processes) View() tool.View {
	v := tool.View{Head: []string{"pid", "parent", "state", "memory", "name"}, Foot: p.More}
	for _, one := range p.Processes {
		name := one.Name
		if one.Command != "" {
			name = one.Command
		}
		v.Rows = append(v.Rows, []string{fmt.Sprint(one.PID), fmt.Sprint(one.Parent), one.State, fmt.Sprintf("%d KB", one.Memory>>10), name})
	}
	return v
}
