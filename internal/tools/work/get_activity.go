package work

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"lore/internal/fault"
	"lore/internal/tool"
	"lore/internal/tool/access"
	"lore/internal/tool/history"
	"lore/internal/tool/paging"
)

// GetActivity: List calls with the caller and outcome, newest first. Use it
// to see what happened in the vault. A program sees arguments and results
// only of its own calls.
type GetActivity struct {
	// Only calls of this tool.
	Tool string `json:"tool,omitempty"`
	// Only calls with this outcome.
	Status string `json:"status,omitempty" enum:"started,done,pending,denied,failed,cancelled,dry_run"`
	// Only calls by this kind of caller.
	InitiatedBy string `json:"initiated_by,omitempty" enum:"person,agent,mcp,rest,schedule"`
	// Only calls of this run, token or session.
	By string `json:"run,omitempty"`
	// Only calls about this file or folder.
	Path string `json:"path,omitempty"`
	// Leave out what people read on the page.
	Quiet bool `json:"quiet,omitempty"`
	// First day or time, as 2026-01-31 or 2026-01-31T10:00.
	Since string `json:"since,omitempty"`
	// Last day or time, inclusive.
	Until string `json:"until,omitempty"`
	// Max calls.
	Limit int `json:"limit,omitempty" default:"20" min:"1" max:"200"`
	// Calls to skip.
	Offset int `json:"offset,omitempty" min:"0"`
	// Only calls after this sequence number, oldest first; take it from "next".
	After int64 `json:"after,omitempty" min:"0"`
}

// Help is the text for people.
func (GetActivity) Help() tool.Help {
	return tool.Help{
		Short: "List recent calls and changes",
		Long:  "Shows who called which tool and how it ended, newest first.",
		Flags: map[string]string{
			"status":       "only calls with this outcome",
			"initiated-by": "only calls by this kind of caller",
			"after":        "only calls after this sequence number, oldest first",
			"tool":         "only calls to this tool",
			"quiet":        "omit reads made on the web page",
			"since":        "first day or time, such as 2026-01-31 or 2026-01-31T10:00",
		},
		Examples: []string{
			"",
			"--status done --limit 5",
			"--path Notes",
		},
	}
}

// Activity is a list of calls.
type Activity struct {
	Activity []Called `json:"activity"`
	// Next is the value of "after" for the next call.
	Next int64 `json:"next"`
	// More says how to get earlier calls.
	More string `json:"more,omitempty"`

	outside bool
}

// ShowsOutside reports whether arguments or results among them come from outside.
func (a Activity) ShowsOutside() bool { return a.outside }

// Called is one recorded call.
type Called struct {
	Seq         int64          `json:"seq"`
	Time        time.Time      `json:"time"`
	InitiatedBy string         `json:"initiated_by"`
	Run         string         `json:"run"`
	Surface     string         `json:"surface"`
	Tool        string         `json:"tool"`
	Target      []string       `json:"target,omitempty"`
	Args        map[string]any `json:"args,omitempty"`
	ArgsHash    string         `json:"args_hash,omitempty"`
	Decision    string         `json:"decision,omitempty"`
	Reason      string         `json:"reason,omitempty"`
	Status      string         `json:"status"`
	Summary     string         `json:"result_summary,omitempty"`
	Kind        string         `json:"kind,omitempty"`
	Error       string         `json:"error,omitempty"`
	DurationMS  int64          `json:"duration_ms"`
	Tokens      int            `json:"tokens,omitempty"`
	// Cost in US dollars; missing when it is unknown.
	Cost      *float64 `json:"cost,omitempty"`
	Operation string   `json:"operation_id,omitempty"`
	Question  string   `json:"pending_operation_id,omitempty"`
	// Undone says that the change was undone since.
	Undone bool `json:"undone,omitempty"`
}

// Run reads the list.
func (in GetActivity) Run(ctx context.Context, env Env) (Activity, error) {
	since, err := day("since", in.Since, false)
	if err != nil {
		return Activity{}, err
	}
	until, err := day("until", in.Until, true)
	if err != nil {
		return Activity{}, err
	}
	who := tool.Caller(ctx)
	run := in.By
	if in.Path != "" && !seesAll(ctx) {
		if run != "" && run != who.ID {
			return Activity{Activity: []Called{}, Next: in.After}, nil
		}
		run = who.ID // which files others touched is theirs to know
	}
	list, err := env.History.Calls(ctx, history.Filter{
		Tool: in.Tool, Status: in.Status, Kind: access.Kind(in.InitiatedBy), Run: run, Path: in.Path, Quiet: in.Quiet,
		Since: since, Until: until, After: in.After, Limit: in.Limit + 1, Offset: in.Offset,
	})
	if err != nil {
		return Activity{}, err
	}
	out := Activity{Activity: []Called{}, Next: in.After}
	if len(list) > in.Limit {
		list = list[:in.Limit]
		out.More = paging.After(in.Offset, in.Limit)
		if in.After > 0 {
			out.More = fmt.Sprintf("more entries follow; call again with after %d", list[in.Limit-1].Seq)
		}
	}
	for _, c := range list {
		one := called(c)
		if !sees(ctx, c.Who) || hides(ctx, c.Targets...) {
			one = Called{Seq: one.Seq, Time: one.Time, InitiatedBy: one.InitiatedBy, Surface: one.Surface, Tool: one.Tool, Status: one.Status}
		} else {
			out.outside = out.outside || c.Outside
		}
		out.Activity = append(out.Activity, one)
		out.Next = max(out.Next, c.Seq)
	}
	return out, nil
}

func called(c history.Call) Called {
	out := Called{
		Seq: c.Seq, Time: c.Time, InitiatedBy: string(c.Who.Kind), Run: c.Who.ID, Surface: c.Who.Surface, Tool: c.Tool, Target: c.Targets,
		Args: arguments(c.Args), ArgsHash: c.ArgsHash, Decision: string(c.Decision), Reason: c.Reason, Status: string(c.Status), Summary: c.Summary,
		Kind: string(c.Kind), Error: c.Error, DurationMS: c.Duration.Milliseconds(), Tokens: c.Tokens, Operation: c.Operation, Question: c.Question, Undone: c.Undone,
	}
	if c.Cost >= 0 {
		out.Cost = &c.Cost
	}
	return out
}

// day reads a day or a moment; the end of a day is its last instant.
func day(field, s string, end bool) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	for _, form := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04", "2006-01-02"} {
		t, err := time.ParseInLocation(form, s, time.Local)
		if err != nil {
			continue
		}
		if end && len(s) == len("2006-01-02") {
			t = t.AddDate(0, 0, 1).Add(-1)
		}
		return t, nil
	}
	return time.Time{}, fault.Field(field, "write it as 2026-01-31 or 2026-01-31T10:00", "%q is not a date", s)
}

// View is a table, one call a line.
func (a Activity) View() tool.View {
	v := tool.View{Head: []string{"time", "who", "tool", "status", "id", "what"}, Foot: a.More}
	if len(a.Activity) == 0 {
		return tool.View{Text: "No activity yet.\n"}
	}
	for _, c := range a.Activity {
		what := c.Summary
		switch {
		case c.Error != "":
			what = c.Error
		case what == "" && len(c.Target) > 0:
			what = some(c.Target)
		}
		v.Rows = append(v.Rows, []string{at(c.Time), by(access.Principal{Kind: access.Kind(c.InitiatedBy), ID: c.Run}), c.Tool, c.Status, short(cmp.Or(c.Operation, c.Question)), what})
	}
	return v
}
