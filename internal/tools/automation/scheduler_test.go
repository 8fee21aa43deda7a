package automation

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lore/internal/change"
	"lore/internal/fault"
	"lore/internal/tool"
	"lore/internal/tool/access"
	"lore/internal/tool/history"
	"lore/internal/tool/tooltest"
	"lore/internal/vault"
)

// line appends a line to a file.
type line struct {
	Path string `json:"path"`
	Text string `json:"text"`
}

type lined struct{}

func (in line) Plan(ctx context.Context, v *vault.Vault) (lined, change.Set, error) {
	f, err := v.Read(ctx, in.Path)
	if fault.Of(err) == fault.NotFound {
		return lined{}, change.Set{change.Create(in.Path, in.Text+"\n")}, nil
	}
	return lined{}, change.Set{change.Replace(in.Path, string(f.Data), string(f.Data)+in.Text+"\n")}, err
}

// A nightShift is a vault with a scheduler whose clock the test sets.
type nightShift struct {
	*testing.T
	dir   string
	now   time.Time
	reg   *tool.Registry
	sched *Scheduler
	env   Env
}

func newShift(t *testing.T, files map[string]string) *nightShift {
	t.Helper()
	n := &nightShift{T: t, dir: t.TempDir(), now: time.Date(2026, 6, 15, 12, 0, 0, 0, time.UTC)}
	for name, text := range files {
		n.put(name, text)
	}
	p := tooltest.Open(t, n.dir, nil)
	deps := p.Deps()
	deps.Now = func() time.Time { return n.now }
	n.env = Env{
		Vault: p.Vault, Folder: "Workflows", ToolFolder: "Tools", Now: deps.Now, Jobs: Jobs{File: filepath.Join(t.TempDir(), "schedule.json")},
		Registry: func() *tool.Registry { return n.reg },
	}
	n.reg = tool.NewRegistry(deps, Tools(n.env), tool.Toolset("test", map[string]tool.Comment{"line": {Text: "Add a line to a file."}}, tool.Change[line](p.Vault)))
	n.sched = &Scheduler{
		Door: n.reg, Bus: p.Bus, Log: slog.New(slog.DiscardHandler), Now: deps.Now, Every: time.Hour,
		Open: func(context.Context) (Env, func(), error) { return n.env, func() {}, nil },
		Changed: func(ctx context.Context, job, path string, since time.Time) (bool, error) {
			list, err := p.History.Operations(ctx, history.Filter{Run: job, Kind: access.Schedule, Path: path, Since: since, Status: string(tool.Applied), Limit: 1})
			return len(list) > 0, err
		},
	}
	return n
}

func (n *nightShift) put(name, text string) {
	n.Helper()
	p := filepath.Join(n.dir, name)
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		n.Fatal(err)
	}
	if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
		n.Fatal(err)
	}
}

// add lets a workflow run by itself.
func (n *nightShift) add(name string) {
	n.Helper()
	res, err := n.reg.Call(n.Context(), access.Terminal(), "add_schedule", fmt.Appendf(nil, `{"workflow":%q}`, name))
	if err == nil && res.Question != nil {
		_, err = n.reg.Answer(n.Context(), access.Terminal(), res.Question.ID, tool.Answer{Approve: true})
	}
	if err != nil {
		n.Fatal(err)
	}
}

func (n *nightShift) look(start bool) {
	n.Helper()
	if err := n.sched.runDue(n.Context(), start); err != nil {
		n.Fatal(err)
	}
}

// lines counts those of a file.
func (n *nightShift) lines(name string) int {
	b, err := os.ReadFile(filepath.Join(n.dir, name))
	if err != nil {
		return 0
	}
	return strings.Count(string(b), "\n")
}

func (n *nightShift) want(name string, lines int, why string) {
	n.Helper()
	if got := n.lines(name); got != lines {
		n.Errorf("%s: %s has %d lines, want %d (%+v)", why, name, got, lines, n.env.Jobs.read())
	}
}

const nightly = "on: {schedule: '0 3 * * *', time_zone: UTC}\nallow: {paths: 'Log/**'}\nsteps:\n  - tool: line\n    arguments: {path: Log/runs.md, text: ran}\n"

func TestScheduleRunsWhenDue(t *testing.T) {
	n := newShift(t, map[string]string{"Workflows/Night.yaml": nightly})
	n.now = n.now.Add(24 * time.Hour)
	n.look(true)
	n.want("Log/runs.md", 0, "nobody added it")
	n.add("Night")
	n.look(true)
	n.want("Log/runs.md", 0, "it is not due")
	n.now = n.now.Add(16 * time.Hour)
	n.look(false)
	n.want("Log/runs.md", 1, "it is due")
	n.look(false)
	n.want("Log/runs.md", 1, "it ran")
	n.now = n.now.Add(10 * 24 * time.Hour)
	n.look(true)
	n.look(true)
	n.want("Log/runs.md", 2, "ten runs were missed")
	n.put("Workflows/Night.yaml", strings.Replace(nightly, "text: ran", "text: evil", 1))
	n.now = n.now.Add(24 * time.Hour)
	n.look(false)
	n.want("Log/runs.md", 2, "its text changed")
	n.put("Workflows/Night.yaml", nightly)
	n.look(false)
	n.want("Log/runs.md", 3, "its text is the old one again")
}

// An interrupted run is made again, unless its changes were made.
func TestInterruptedRuns(t *testing.T) {
	n := newShift(t, map[string]string{"Workflows/Night.yaml": nightly})
	n.add("Night")
	n.now = n.now.Add(24 * time.Hour)
	began := map[string]jobState{"Workflows/Night.yaml": {Last: n.now}}
	if err := n.env.Jobs.write(began); err != nil {
		t.Fatal(err)
	}
	n.look(false)
	n.want("Log/runs.md", 0, "it may be running")
	n.look(true)
	n.want("Log/runs.md", 1, "it was interrupted")
	if err := n.env.Jobs.write(began); err != nil {
		t.Fatal(err)
	}
	n.look(true)
	n.want("Log/runs.md", 1, "its changes were made")
	if st := n.env.Jobs.read()["Workflows/Night.yaml"]; st.isInterrupted() || !strings.Contains(st.Result, "before the program was stopped") {
		t.Errorf("%+v", st)
	}
}

// What the person did not allow is asked about, and no second run piles up behind it.
func TestScheduleAsks(t *testing.T) {
	n := newShift(t, map[string]string{"Workflows/Night.yaml": strings.Replace(nightly, "Log/**", "Other/**", 1)})
	n.add("Night")
	for range 3 {
		n.now = n.now.Add(23 * time.Hour)
		n.look(false)
	}
	n.want("Log/runs.md", 0, "nobody allowed it")
	list, err := n.reg.Questions(t.Context(), tool.Pending)
	if err != nil || len(list) != 1 || list[0].Who.Kind != access.Schedule {
		t.Fatal(list, err)
	}
	if _, err := n.reg.Answer(t.Context(), access.Terminal(), list[0].ID, tool.Answer{Approve: true}); err != nil {
		t.Fatal(err)
	}
	n.want("Log/runs.md", 1, "a person allowed it")
}

// A workflow cannot exceed what it allows itself.
func TestAllowance(t *testing.T) {
	n := newShift(t, map[string]string{"Workflows/Many.yaml": "on: {schedule: '* * * * *'}\nallow: {paths: 'Log/**', files: 1, runs_per_day: 2}\nsteps:\n  - tool: line\n    arguments: {path: Log/a.md, text: x}\n  - tool: line\n    arguments: {path: Log/b.md, text: x}\n"})
	n.add("Many")
	n.now = n.now.Add(time.Minute)
	n.look(false)
	n.want("Log/a.md", 0, "it changes too many files")
	n.put("Workflows/Many.yaml", "on: {schedule: '* * * * *'}\nallow: {paths: 'Log/**', runs_per_day: 2}\nsteps:\n  - tool: line\n    arguments: {path: Log/a.md, text: x}\n")
	n.add("Many")
	for range 5 {
		n.now = n.now.Add(time.Minute)
		n.look(false)
	}
	n.want("Log/a.md", 1, "it may run twice a day, and the first run failed")
}

// Files trigger workflows; what workflows write triggers none.
func TestHooks(t *testing.T) {
	hook := "on: {created: 'Inbox/**', changed: ['Inbox/**', 'Log/**'], renamed: 'Done/**', deleted: 'Inbox/**'}\nallow: {paths: ['Log/**', 'Inbox/**']}\ninputs: {path: '', event: '', from: ''}\nsteps:\n  - tool: line\n    arguments: {path: Log/events.md, text: '{{ inputs.event }} {{ inputs.path }} {{ inputs.from }}'}\n"
	n := newShift(t, map[string]string{"Workflows/Hook.yaml": hook, "Workflows/Echo.yaml": strings.ReplaceAll(strings.Replace(hook, "created: 'Inbox/**', ", "", 1), "Log/events.md", "Inbox/echo.md")})
	happen := func(f change.Files) {
		t.Helper()
		if err := n.sched.handleFiles(t.Context(), f); err != nil {
			t.Fatal(err)
		}
	}
	happen(change.Files{Added: []string{"Inbox/a.md"}})
	n.want("Log/events.md", 0, "nobody added it")
	n.add("Hook")
	n.add("Echo")
	happen(change.Files{Added: []string{"Inbox/a.md", "Elsewhere/b.md"}})
	n.want("Log/events.md", 1, "a file came")
	happen(change.Files{Changed: []string{"Log/events.md"}})
	n.want("Log/events.md", 1, "a workflow made the change")
	n.want("Inbox/echo.md", 0, "a workflow made the change")
	happen(change.Files{Removed: []string{"Inbox/a.md"}, Added: []string{"Done/a.md"}})
	n.want("Log/events.md", 2, "a file was renamed")
	b, _ := os.ReadFile(filepath.Join(n.dir, "Log/events.md"))
	if got := string(b); got != "created Inbox/a.md \nrenamed Done/a.md Inbox/a.md\n" {
		t.Errorf("%q", got)
	}
	n.now = n.now.Add(2 * ownChange)
	happen(change.Files{Changed: []string{"Log/events.md"}})
	n.want("Log/events.md", 3, "a person changed it later")
	happen(change.Files{Many: true})
}

// The workflows of the program are good ones, and off.
func TestBuiltins(t *testing.T) {
	n := newShift(t, nil)
	list, err := n.env.triggered(t.Context())
	if err != nil || len(list) != len(builtins()) || len(list) == 0 {
		t.Fatal(list, err)
	}
	for _, w := range list {
		if len(w.problems) > 0 {
			t.Error(w.path, w.problems)
		}
		if state, _ := w.state(nil); state != "off" {
			t.Error(w.path, state)
		}
	}
}

// What a person allowed for an earlier text does not hold for the next one.
func TestAllowanceIsReplaced(t *testing.T) {
	n := newShift(t, map[string]string{"Workflows/Night.yaml": nightly})
	n.add("Night")
	n.put("Workflows/Night.yaml", strings.Replace(nightly, "allow: {paths: 'Log/**'}\n", "", 1))
	n.add("Night")
	n.now = n.now.Add(24 * time.Hour)
	n.look(false)
	n.want("Log/runs.md", 0, "the new text asks for every change")
	if list, err := n.reg.Questions(t.Context(), tool.Pending); err != nil || len(list) != 1 {
		t.Error(list, err)
	}
}
