package explore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"lore/internal/fault"
	"lore/internal/index"
	"lore/internal/note"
	"lore/internal/tool"
	"lore/internal/tool/paging"
	"lore/internal/tools/toolkit"
)

// ListTasks: List open tasks by due date. To check one off, use complete_task.
type ListTasks struct {
	// Due until this day (YYYY-MM-DD); default today.
	Until string `json:"until,omitempty"`
	// Also tasks without a due date.
	Undated bool `json:"undated,omitempty"`
	// In this folder, at any depth.
	Folder string `json:"folder,omitempty"`
	// Max tasks.
	Limit int `json:"limit,omitempty" default:"50" min:"1" max:"200"`
	// Tasks to skip.
	Offset int `json:"offset,omitempty" min:"0"`
}

// Help is the text for people.
func (ListTasks) Help() tool.Help {
	return tool.Help{
		Short: "List open tasks by due date",
		Long:  "A due date is written as 📅 2026-01-31, [due:: 2026-01-31] or @due(2026-01-31) in the task.",
		Flags: map[string]string{
			"until":   "list tasks due until this day (YYYY-MM-DD); default: today",
			"undated": "also list tasks without a due date",
			"folder":  "only tasks in this folder, at any depth",
		},
		Examples: []string{"", "--until 2026-12-31", "--undated --folder Daily"},
	}
}

// TaskList is one page of tasks.
type TaskList struct {
	Tasks []TaskRef `json:"tasks"`
	// Total number of tasks, including those not shown.
	Total int `json:"total"`
	// More says how to get the next tasks.
	More  string          `json:"more,omitempty"`
	Index index.Freshness `json:"index"`
}

// TaskRef is one open task.
type TaskRef struct {
	Path  string `json:"path"`
	Title string `json:"title"`
	Line  int    `json:"line"`
	// Text without its due date.
	Text string `json:"text"`
	Due  string `json:"due,omitempty"`
	// Overdue reports whether it was due before today.
	Overdue bool `json:"overdue,omitempty"`
	// Hash of the note, for complete_task.
	Hash string `json:"hash"`
}

// dueDate is how people write when a task is due.
var dueDate = regexp.MustCompile(`(?i)[\[(]?(?:📅|📆|🗓\x{FE0F}?|\bdue::?|@due\()\s*(\d{4}-\d{2}-\d{2})[\])]?`)

// dueOf takes the due date out of a task. A day that does not exist is none.
func dueOf(text string) (due, rest string) {
	at := dueDate.FindStringSubmatchIndex(text)
	if at == nil {
		return "", strings.TrimSpace(text)
	}
	due = text[at[2]:at[3]]
	if _, err := time.Parse(time.DateOnly, due); err != nil {
		return "", strings.TrimSpace(text)
	}
	return due, strings.Join(strings.Fields(text[:at[0]]+" "+text[at[1]:]), " ")
}

// Run reads the notes that have an open task.
func (in ListTasks) Run(ctx context.Context, env Env) (TaskList, error) {
	now := time.Now
	if env.Now != nil {
		now = env.Now
	}
	today := now().Local().Format(time.DateOnly)
	until := cmp.Or(strings.TrimSpace(in.Until), today)
	if _, err := time.Parse(time.DateOnly, until); err != nil {
		return TaskList{}, fault.Field("until", "write it as 2026-01-31", "%q is not a date", in.Until)
	}
	filter, err := env.filter(ctx, in.Folder, "", nil)
	if err != nil {
		return TaskList{}, err
	}
	filter.Kinds, filter.Tasks = []index.Kind{index.KindNote}, true
	rows, err := env.Store.Notes(ctx, index.Select{Filter: filter})
	if err != nil {
		return TaskList{}, err
	}
	var all []TaskRef
	for i := range rows {
		if err := index.Interrupted(ctx, i); err != nil {
			return TaskList{}, err
		}
		found, err := env.tasksOf(ctx, &rows[i])
		if err != nil {
			return TaskList{}, err
		}
		for _, t := range found {
			if t.Due == "" && !in.Undated || t.Due > until {
				continue
			}
			t.Overdue = t.Due != "" && t.Due < today
			all = append(all, t)
		}
	}
	// By day; tasks without one at the end.
	slices.SortStableFunc(all, func(a, b TaskRef) int {
		return cmp.Or(cmp.Compare(cmp.Or(a.Due, "9999"), cmp.Or(b.Due, "9999")), strings.Compare(a.Path, b.Path), a.Line-b.Line)
	})
	from := min(in.Offset, len(all))
	page := all[from:min(from+in.Limit, len(all))]
	return TaskList{Tasks: append([]TaskRef{}, page...), Total: len(all), More: paging.More(in.Offset, len(page), len(all)), Index: env.Fresh(ctx)}, nil
}

// tasksOf are the open tasks of a note as it is on disk. A note that is gone has none.
func (env Env) tasksOf(ctx context.Context, r *index.Row) ([]TaskRef, error) {
	f, err := env.Vault.Read(ctx, r.File.Path)
	if errors.Is(err, fault.NotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []TaskRef
	for _, t := range note.Parse(r.File.Path, f.Data).Tasks {
		if !t.IsOpen() {
			continue
		}
		due, text := dueOf(t.Text)
		out = append(out, TaskRef{Path: r.File.Path, Title: r.Title, Line: t.Line, Text: text, Due: due, Hash: f.Hash.String()})
	}
	return out, nil
}

// View is a table of the tasks.
func (l TaskList) View() tool.View {
	v := tool.View{Head: []string{"due", "task", "note", "line"}}
	for _, t := range l.Tasks {
		due := t.Due
		if t.Overdue {
			due = fmt.Sprintf("%s (overdue)", due)
		}
		v.Rows = append(v.Rows, []string{due, t.Text, t.Path, strconv.Itoa(t.Line)})
	}
	v.Foot = toolkit.Foot(l.Index, toolkit.Count(l.Total, "task"), l.More)
	return v
}
