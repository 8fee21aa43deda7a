package workflow

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"lore/internal/tools/automation/workflow/cron"
	"lore/internal/vault/pattern"
)

// A Trigger says when a workflow runs by itself: at times, or when files change.
type Trigger struct {
	Times []cron.Schedule
	Zone  *time.Location
	// Files are the patterns of files by what happens to them.
	Files map[Event][]string
}

// An Event is what happens to a file.
type Event string

// The events.
const (
	Created Event = "created"
	Changed Event = "changed"
	Renamed Event = "renamed"
	Deleted Event = "deleted"
)

// An Allowance is what a workflow may do by itself without asking.
type Allowance struct {
	// Paths are patterns of the notes that it may create and change. Deletions and
	// large losses are asked about all the same.
	Paths []string
	// Files is how many files one run may change, and Runs how often it runs in a
	// day.
	Files int
	Runs  int
}

// What a workflow may do that says nothing about it.
const (
	usualFiles = 20
	usualRuns  = 100
)

// IsEmpty reports whether a workflow runs only when somebody runs it.
func (t Trigger) IsEmpty() bool { return len(t.Times) == 0 && len(t.Files) == 0 }

// Next is when the workflow runs next after a time; zero when no time is set.
func (t Trigger) Next(after time.Time) time.Time {
	var out time.Time
	for _, s := range t.Times {
		if at := s.Next(after); !at.IsZero() && (out.IsZero() || at.Before(out)) {
			out = at
		}
	}
	return out
}

// Fits reports whether something that happens to a file triggers the workflow.
func (t Trigger) Fits(e Event, path string) bool {
	list, err := pattern.Compile(t.Files[e])
	return err == nil && len(t.Files[e]) > 0 && list.Covers(path)
}

// String says in words when the workflow runs.
func (t Trigger) String() string {
	var out []string
	for _, s := range t.Times {
		out = append(out, "at "+s.String())
	}
	if len(t.Times) > 0 {
		out[len(out)-1] += " (" + t.Zone.String() + ")"
	}
	for _, e := range []Event{Created, Changed, Renamed, Deleted} {
		if len(t.Files[e]) > 0 {
			out = append(out, "when "+strings.Join(t.Files[e], ", ")+" is "+string(e))
		}
	}
	return strings.Join(out, "; ")
}

// String says in words what is allowed.
func (a Allowance) String() string {
	text := "each change asks"
	if len(a.Paths) > 0 {
		text = "changes to " + strings.Join(a.Paths, ", ") + " do not ask; deletions always ask"
	}
	return text + fmt.Sprintf("; at most %d files in a run and %d runs a day", a.Files, a.Runs)
}

func (p *parser) trigger(n *yaml.Node) Trigger {
	t := Trigger{Zone: time.Local, Files: map[Event][]string{}}
	var times []string
	var at *yaml.Node
	p.fields(n, "on", []string{"schedule", "time_zone", "created", "changed", "renamed", "deleted"}, func(key string, _, v *yaml.Node) {
		switch key {
		case "schedule":
			times, at = p.texts(v, "schedule"), v
		case "time_zone":
			loc, err := time.LoadLocation(p.text(v, "time_zone"))
			if err != nil {
				p.wrong(v, "write a name such as Europe/Berlin", "%q is not a time zone", v.Value)
				return
			}
			t.Zone = loc
		default:
			t.Files[Event(key)] = p.patterns(v, key)
		}
	})
	for _, text := range times {
		s, err := cron.Parse(text, t.Zone)
		if err != nil {
			p.wrong(at, `write for example "0 3 * * *" for 3:00 every night`, "%v", err)
			continue
		}
		t.Times = append(t.Times, s)
	}
	if t.IsEmpty() && len(times) == 0 {
		p.wrong(n, "add schedule:, created:, changed:, renamed: or deleted:", "on names nothing that starts the workflow")
	}
	return t
}

// texts is one text, or a list of them.
func (p *parser) texts(n *yaml.Node, what string) []string {
	if n.Kind == yaml.ScalarNode {
		return []string{n.Value}
	}
	var out []string
	for _, e := range n.Content {
		out = append(out, p.text(e, what))
	}
	if n.Kind != yaml.SequenceNode || slices.Contains(out, "") {
		p.wrong(n, "write a text, or a list of texts", "%s must be text", what)
	}
	return out
}

func (p *parser) patterns(n *yaml.Node, what string) []string {
	list := p.texts(n, what)
	if _, err := pattern.Compile(list); err != nil {
		p.wrong(n, `write a pattern such as "Inbox/**"`, "%v", err)
		return nil
	}
	return list
}

func (p *parser) allowance(n *yaml.Node) Allowance {
	a := Allowance{Files: usualFiles, Runs: usualRuns}
	p.fields(n, "allow", []string{"paths", "files", "runs_per_day"}, func(key string, _, v *yaml.Node) {
		switch key {
		case "paths":
			a.Paths = p.patterns(v, "paths")
			for _, one := range a.Paths {
				if one = strings.Trim(one, "/"); one == "**" || one == "*" {
					p.wrong(v, `name a folder such as "Journal/**"`, "a workflow cannot be allowed to change everything")
				}
			}
		case "files":
			p.count(v, "files", &a.Files)
		case "runs_per_day":
			p.count(v, "runs_per_day", &a.Runs)
		}
	})
	return a
}

func (p *parser) count(n *yaml.Node, what string, to *int) {
	if err := n.Decode(to); err != nil || *to < 1 || *to > 1000 {
		p.wrong(n, "write a number from 1 to 1000", "%s must be a number", what)
	}
}
