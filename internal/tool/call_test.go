package tool_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"lore/internal/change"
	"lore/internal/event"
	"lore/internal/fault"
	"lore/internal/machine/state"
	"lore/internal/tool"
	"lore/internal/tool/access"
	"lore/internal/tool/history"
	"lore/internal/tool/policy"
	"lore/internal/tool/tooltest"
	"lore/internal/vault/pattern"
)

// Jot writes a line into a note; the tests' changing tool.
type Jot struct {
	Path string `json:"path"`
	Line string `json:"line"`
	Pin  string `json:"pin,omitempty" secret:"true"`
}

// Jotted is what it answers.
type Jotted struct {
	Path string `json:"path"`
}

// Plan adds the line.
func (in Jot) Plan(_ context.Context, dir string) (Jotted, change.Set, error) {
	if in.Line == "panic" {
		panic("private words: " + in.Line)
	}
	b, err := os.ReadFile(filepath.Join(dir, in.Path))
	if err != nil {
		return Jotted{in.Path}, change.Set{change.Create(in.Path, in.Line+"\n")}, nil
	}
	return Jotted{in.Path}, change.Set{change.Replace(in.Path, string(b), string(b)+in.Line+"\n")}, nil
}

// Fetch is the tests' act: it may want to keep what it got.
type Fetch struct {
	URL  string `json:"url"`
	Save string `json:"save,omitempty"`
}

// Fetched is what it answers.
type Fetched struct {
	Body string `json:"body"`
}

// Foresee tells where it goes.
func (in Fetch) Foresee(context.Context, *int) (tool.Preview, error) {
	return tool.Preview{Summary: "Fetch " + in.URL}, nil
}

// Run counts how often it reached outside.
func (in Fetch) Run(_ context.Context, runs *int) (Fetched, change.Set, error) {
	*runs++
	out := Fetched{fmt.Sprintf("body %d", *runs)}
	if in.Save == "" {
		return out, nil, nil
	}
	return out, change.Set{change.Create(in.Save, out.Body)}, nil
}

// Peek reads nothing.
type Peek struct{}

// Run answers nothing.
func (Peek) Run(context.Context, int) (Jotted, error) { return Jotted{}, nil }

var docs = map[string]tool.Comment{
	"Jot": {Text: "Jot writes a line into a note."}, "Fetch": {Text: "Fetch gets something."}, "Peek": {Text: "Peek reads nothing at all."},
}

// A bench is a registry on a real vault with real stores.
type bench struct {
	dir  string
	at   tooltest.Place
	deps tool.Deps
	reg  *tool.Registry
	runs int
}

func open(t *testing.T, tune func(*tool.Deps)) *bench {
	t.Helper()
	b := &bench{dir: t.TempDir()}
	if err := os.WriteFile(filepath.Join(b.dir, "a.md"), []byte("one\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	b.at = tooltest.Open(t, b.dir, nil)
	b.deps = b.at.Deps()
	if tune != nil {
		tune(&b.deps)
	}
	b.reg = b.registry()
	return b
}

func (b *bench) registry() *tool.Registry {
	return tool.NewRegistry(b.deps, tool.Toolset("bench", docs,
		tool.Change[Jot](b.dir), tool.Act[Fetch](&b.runs, tool.Needs(access.Egress), tool.Rate(3, time.Minute)), tool.Read[Peek](0)))
}

func (b *bench) read(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(b.dir, name))
	if err != nil {
		return "(none)"
	}
	return string(data)
}

func (b *bench) call(t *testing.T, who access.Principal, name, args string) tool.Result {
	t.Helper()
	res, err := b.reg.Call(t.Context(), who, name, json.RawMessage(args))
	if err != nil {
		t.Fatal(err)
	}
	return res
}

var (
	person = access.Terminal()
	agent  = access.Principal{Kind: access.Agent, ID: "run-1", Surface: "test", Scopes: []access.Scope{access.Read, access.Write, access.Destroy, access.Egress, access.Approve}}
)

func TestOnlyAPersonAnswersAndOnlyOnce(t *testing.T) {
	b := open(t, nil)
	res := b.call(t, agent, "jot", `{"path":"a.md","line":"two"}`)
	if res.Success || res.Question == nil || b.read(t, "a.md") != "one\n" {
		t.Fatalf("got %+v", res)
	}
	yes := tool.Answer{Approve: true}
	if _, err := b.reg.Answer(t.Context(), agent, res.Question.ID, yes); fault.Of(err) != fault.Denied {
		t.Errorf("an agent answered: %v", err)
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	done := 0
	for range 20 {
		wg.Go(func() {
			if r, err := b.reg.Answer(context.Background(), person, res.Question.ID, yes); err == nil && r.Success {
				mu.Lock()
				done++
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if done != 1 || b.read(t, "a.md") != "one\ntwo\n" {
		t.Errorf("%d answers were carried out: %q", done, b.read(t, "a.md"))
	}
}

func TestAnAnswerFromAnotherProcessIsCarriedOutByTheOneThatWrites(t *testing.T) {
	b := open(t, nil)
	other := b.deps
	other.Writable = func(context.Context) error { return fault.New(fault.Busy, "another process writes") }
	second := tool.NewRegistry(other, tool.Toolset("bench", docs,
		tool.Change[Jot](b.dir), tool.Act[Fetch](&b.runs, tool.Needs(access.Egress)), tool.Read[Peek](0)))
	if _, err := second.Call(t.Context(), agent, "jot", json.RawMessage(`{"path":"a.md","line":"x"}`)); fault.Of(err) != fault.Busy {
		t.Errorf("the second process wrote or asked: %v", err)
	}
	res := b.call(t, agent, "jot", `{"path":"a.md","line":"two"}`)
	waited := make(chan tool.Result, 1)
	go func() {
		r, err := b.reg.Await(context.Background(), res.Question.ID, 0)
		if err != nil {
			t.Error(err)
		}
		waited <- r
	}()
	r, err := second.Answer(t.Context(), person, res.Question.ID, tool.Answer{Approve: true})
	if err != nil || !r.Success {
		t.Fatalf("the one who answered does not hear of it: %+v, %v", r, err)
	}
	if r := <-waited; !r.Success || r.Operation == "" || b.read(t, "a.md") != "one\ntwo\n" {
		t.Errorf("got %+v, %q", r, b.read(t, "a.md"))
	}
	// Whoever asks later gets the same answer, with the tool's own type.
	again, err := second.Await(t.Context(), res.Question.ID, 0)
	if v, ok := again.Value.(Jotted); err != nil || !ok || v.Path != "a.md" {
		t.Errorf("got %+v, %v", again, err)
	}
}

func TestAnActIsAskedBeforeItRunsAndAgainForItsEdits(t *testing.T) {
	b := open(t, nil)
	if res := b.call(t, agent, "fetch", `{"url":"x","dry_run":true}`); !res.DryRun || b.runs != 0 {
		t.Errorf("a dry run ran: %+v", res)
	}
	res := b.call(t, agent, "fetch", `{"url":"x","save":"new.md"}`)
	if res.Question == nil || b.runs != 0 || res.Question.Risk != policy.Egress {
		t.Fatalf("it ran before it was asked: %+v", res)
	}
	res, err := b.reg.Answer(t.Context(), person, res.Question.ID, tool.Answer{Approve: true})
	if err != nil || res.Question == nil || b.runs != 1 || b.read(t, "new.md") != "(none)" {
		t.Fatalf("its edits were not asked about: %+v, %v", res, err)
	}
	if _, err := b.reg.Answer(t.Context(), person, res.Question.ID, tool.Answer{Approve: true, Revision: 1, Args: json.RawMessage(`{"url":"y"}`)}); fault.Of(err) != fault.Invalid {
		t.Errorf("the arguments of an act that ran were changed: %v", err)
	}
	res, err = b.reg.Answer(t.Context(), person, res.Question.ID, tool.Answer{Approve: true, Revision: 1})
	if err != nil || !res.Success || b.runs != 1 || b.read(t, "new.md") != "body 1" {
		t.Errorf("it ran %d times: %+v, %v", b.runs, res, err)
	}
	b.call(t, agent, "fetch", `{"url":"x"}`)
	if _, err := b.reg.Call(t.Context(), agent, "fetch", json.RawMessage(`{"url":"x"}`)); fault.Of(err) != fault.RateLimited {
		t.Errorf("the tool's own limit does not hold: %v", err)
	}
}

// The edits of an act are made of what it fetched: where that is untrusted, no rule
// allows them, although the caller has read nothing yet.
func TestEditsOfUntrustedActsAreAskedAbout(t *testing.T) {
	for _, untrusted := range []bool{false, true} {
		b := open(t, nil)
		options := []tool.Option{tool.Needs(access.Egress)}
		if untrusted {
			options = append(options, tool.Untrusted())
		}
		b.reg = tool.NewRegistry(b.deps, tool.Toolset("bench", docs, tool.Act[Fetch](&b.runs, options...)))
		if err := b.deps.Questions.AddRule(t.Context(), policy.Rule{ID: "rule-1", Verdict: policy.Allow, Tool: "fetch", Paths: "**", Until: tooltest.Now().Add(time.Hour)}); err != nil {
			t.Fatal(err)
		}
		res := b.call(t, agent, "fetch", `{"url":"x","save":"new.md"}`)
		for res.Question != nil && !res.Question.Ran {
			var err error
			if res, err = b.reg.Answer(t.Context(), person, res.Question.ID, tool.Answer{Approve: true}); err != nil {
				t.Fatal(err)
			}
		}
		if asked := res.Question != nil; asked != untrusted || (b.read(t, "new.md") == "(none)") != untrusted {
			t.Errorf("untrusted %v: asked %v, the note is %q: %+v", untrusted, asked, b.read(t, "new.md"), res)
		}
	}
}

func TestStandingRules(t *testing.T) {
	b := open(t, nil)
	res := b.call(t, agent, "jot", `{"path":"log/a.md","line":"1"}`)
	a := tool.Answer{Approve: true, Always: &policy.Rule{Paths: "log/**", Until: tooltest.Now().Add(time.Hour)}}
	if _, err := b.reg.Answer(t.Context(), person, res.Question.ID, a); err != nil {
		t.Fatal(err)
	}
	if res := b.call(t, agent, "jot", `{"path":"log/a.md","line":"2"}`); !res.Success {
		t.Errorf("the rule does not hold: %+v", res)
	}
	if res := b.call(t, agent, "jot", `{"path":"a.md","line":"2"}`); res.Question == nil {
		t.Error("the rule holds elsewhere")
	}
	rules, err := b.reg.Rules(t.Context())
	if err != nil || len(rules) != 1 || rules[0].Definition == "" {
		t.Fatalf("got %+v, %v", rules, err)
	}
	if err := b.reg.Forget(t.Context(), agent, rules[0].ID); fault.Of(err) != fault.Denied {
		t.Errorf("an agent took a rule back: %v", err)
	}
	if err := b.reg.Forget(t.Context(), person, rules[0].ID); err != nil {
		t.Fatal(err)
	}
	if res := b.call(t, agent, "jot", `{"path":"log/a.md","line":"3"}`); res.Question == nil {
		t.Error("a rule that was taken back still holds")
	}
}

func TestWhatCannotBeRecordedIsNotDone(t *testing.T) {
	b := open(t, nil)
	if err := b.at.History.Close(); err != nil {
		t.Fatal(err)
	}
	mine := person
	mine.Explicit = true
	if _, err := b.reg.Call(t.Context(), mine, "jot", json.RawMessage(`{"path":"a.md","line":"two"}`)); err == nil || b.read(t, "a.md") != "one\n" {
		t.Errorf("it was done: %v, %q", err, b.read(t, "a.md"))
	}
	if _, err := b.reg.Call(t.Context(), agent, "fetch", json.RawMessage(`{"url":"x"}`)); err == nil || b.runs != 0 {
		t.Errorf("it ran: %v", err)
	}
}

func TestEveryCallIsRecorded(t *testing.T) {
	var log bytes.Buffer
	b := open(t, func(d *tool.Deps) {
		d.Log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelInfo}))
	})
	b.call(t, agent, "peek", `{}`)
	res := b.call(t, agent, "jot", `{"path":"a.md","line":"private words","pin":"1234"}`)
	for _, c := range []struct{ name, args string }{{"nope", `{}`}, {"jot", `{"line":5}`}, {"jot", `{"path":"a.md","line":"panic"}`}} {
		if _, err := b.reg.Call(t.Context(), agent, c.name, json.RawMessage(c.args)); err == nil || strings.Contains(err.Error(), "private") {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if _, err := b.reg.Answer(t.Context(), person, res.Question.ID, tool.Answer{Word: "no"}); err != nil {
		t.Fatal(err)
	}
	calls, err := b.at.History.Calls(t.Context(), history.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range calls {
		got = append(got, fmt.Sprintf("%s %s %s", c.Tool, c.Status, string(c.Kind)))
		if strings.Contains(string(c.Args), "1234") {
			t.Error("a secret was recorded")
		}
	}
	slices.Reverse(got)
	want := []string{"peek done ", "jot pending ", "nope failed not_found", "jot failed invalid", "jot failed internal", "jot denied "}
	if !slices.Equal(got, want) {
		t.Errorf("recorded %q, want %q", got, want)
	}
	if strings.Contains(log.String(), "private words") || !strings.Contains(log.String(), "approval asked") {
		t.Errorf("the log: %s", log.String())
	}
}

func TestQuestionsAfterACrash(t *testing.T) {
	b := open(t, nil)
	half := b.call(t, agent, "jot", `{"path":"a.md","line":"never"}`).Question
	whole := b.call(t, agent, "jot", `{"path":"b.md","line":"made"}`).Question
	ask := func(q tool.Question, st tool.State, op string) {
		old := q
		q.State, q.Operation, q.Answer = st, op, &tool.Answer{Approve: true}
		if ok, err := b.at.Questions.Update(t.Context(), q, old.State, old.Revision); !ok || err != nil {
			t.Fatal(ok, err)
		}
	}
	ask(*half, tool.Approved, "")
	ask(*whole, tool.Running, "op-x")
	op := tool.Operation{ID: "op-x", Time: tooltest.Now(), Who: agent, Tool: "jot", Edits: change.Set{change.Create("b.md", "made\n")}}
	if err := errors.Join(b.at.History.Begin(t.Context(), op), b.at.History.Finish(t.Context(), "op-x", tool.Applied, "")); err != nil {
		t.Fatal(err)
	}
	if err := b.registry().Recover(t.Context()); err != nil {
		t.Fatal(err)
	}
	q, err := b.reg.Question(t.Context(), half.ID)
	if err != nil || q.State != tool.Pending || q.Revision != 1 || q.Answer != nil || b.read(t, "a.md") != "one\n" {
		t.Errorf("what was approved and not done: %+v, %v", q, err)
	}
	if q, err = b.reg.Question(t.Context(), whole.ID); err != nil || q.State != tool.Done {
		t.Errorf("what was done: %+v, %v", q, err)
	}
}

func TestQuestionsEnd(t *testing.T) {
	now := tooltest.Now()
	b := open(t, func(d *tool.Deps) { d.Now = func() time.Time { return now } })
	old := b.call(t, agent, "jot", `{"path":"a.md","line":"old"}`).Question.ID
	gone := b.call(t, agent, "jot", `{"path":"a.md","line":"gone"}`).Question.ID
	if err := b.reg.Cancel(t.Context(), access.Principal{Kind: access.Agent, ID: "run-2"}, gone); fault.Of(err) != fault.Denied {
		t.Errorf("another run withdrew it: %v", err)
	}
	if err := b.reg.Cancel(t.Context(), agent, gone); err != nil {
		t.Fatal(err)
	}
	now = now.Add(25 * time.Hour)
	for _, id := range []string{old, gone} {
		if _, err := b.reg.Answer(t.Context(), person, id, tool.Answer{Approve: true}); fault.Of(err) != fault.Conflict {
			t.Errorf("%s was answered: %v", id, err)
		}
		if res, err := b.reg.Await(t.Context(), id, 0); err != nil || res.Success || res.Refused == "" {
			t.Errorf("%s: %+v, %v", id, res, err)
		}
	}
	if b.read(t, "a.md") != "one\n" {
		t.Error("something was done")
	}
}

func TestToolsComeGoAndSwitch(t *testing.T) {
	bus := event.NewBus()
	b := open(t, func(d *tool.Deps) { d.Bus = bus })
	sub := bus.Subscribe(tool.TopicTools)
	defer sub.Close()
	object := &jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{"n": {Type: "integer", Minimum: jsonschema.Ptr(1.0)}}, Required: []string{"n"}}
	f, err := tool.Foreign(tool.ForeignTool{
		Name: "mcp__x__y", Set: "mcp__x", Doc: "Of another server.", Input: object, Needs: access.Egress,
		Run: func(_ context.Context, args json.RawMessage) (any, error) { return map[string]any{"got": args}, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := b.reg.Add(f); err != nil {
		t.Fatal(err)
	}
	if err := b.reg.Add(f); fault.Of(err) != fault.Conflict {
		t.Errorf("twice: %v", err)
	}
	if _, err := b.reg.Call(t.Context(), agent, "mcp__x__y", json.RawMessage(`{"n":0}`)); fault.Of(err) != fault.Invalid {
		t.Errorf("a foreign schema is not checked: %v", err)
	}
	res := b.call(t, agent, "mcp__x__y", `{"n":1}`)
	if res, err = b.reg.Answer(t.Context(), person, res.Question.ID, tool.Answer{Approve: true}); err != nil || !res.Success {
		t.Errorf("got %+v, %v", res, err)
	}
	if err := b.reg.Switch("mcp__x", false); err != nil {
		t.Fatal(err)
	}
	if _, err := b.reg.Call(t.Context(), agent, "mcp__x__y", json.RawMessage(`{"n":1}`)); fault.Of(err) != fault.Denied || len(b.reg.On()) != 3 {
		t.Errorf("it is still on: %v", err)
	}
	b.reg.Remove("mcp__x")
	if _, err := b.reg.Find("mcp__x__y"); fault.Of(err) != fault.NotFound {
		t.Errorf("it is still there: %v", err)
	}
	for range 3 {
		if e, ok := sub.Next(t.Context().Done()); !ok || e.Topic != tool.TopicTools {
			t.Error("nobody was told")
		}
	}
	if err := b.reg.Instruct("jot", "briefly"); err != nil {
		t.Fatal(err)
	}
	jot, err := b.reg.Find("jot")
	if err != nil || b.reg.Instructions(jot) != "briefly" {
		t.Errorf("the instructions are %q, %v", b.reg.Instructions(jot), err)
	}
}

// BenchmarkEmptyRead shows what the door costs around a tool that does nothing:
// with nobody to record, and with the real history.
func BenchmarkEmptyRead(b *testing.B) {
	peek := tool.Toolset("bench", docs, tool.Read[Peek](0))
	dir := b.TempDir()
	file := state.In(dir)
	h := history.New(file, history.Options{})
	b.Cleanup(func() {
		if err := errors.Join(h.Close(), file.Close()); err != nil {
			b.Error(err)
		}
	})
	for name, deps := range map[string]tool.Deps{"bare": {}, "recorded": {Ledger: h}} {
		r := tool.NewRegistry(deps, peek)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := r.Call(b.Context(), person, "peek", nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestAnAnswerIsBoundToWhatWasSeen: what the person looked at is what is done,
// and nothing else.
func TestAnAnswerIsBoundToWhatWasSeen(t *testing.T) {
	b := open(t, nil)
	q := b.call(t, agent, "jot", `{"path":"a.md","line":"two"}`).Question
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(b.dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("a.md", "other\n")
	yes := tool.Answer{Approve: true}
	res, err := b.reg.Answer(t.Context(), person, q.ID, yes)
	if err != nil || res.Question == nil || res.Question.Revision != 1 {
		t.Fatalf("got %+v, %v", res, err)
	}
	if _, err := b.reg.Answer(t.Context(), person, q.ID, yes); fault.Of(err) != fault.Conflict || b.read(t, "a.md") != "other\n" {
		t.Errorf("an answer to the old question was taken: %v, %q", err, b.read(t, "a.md"))
	}
	edit := tool.Answer{Approve: true, Revision: 1, Args: json.RawMessage(`{"path":"a.md","line":"three"}`)}
	next, err := b.reg.Rehearse(t.Context(), person, q.ID, edit)
	if err != nil || len(next.Changes) != 1 || !strings.Contains(next.Changes[0].Diff, "+three") {
		t.Fatalf("got %+v, %v", next, err)
	}
	write("a.md", "again\n")
	edit.Plan = next.Plan
	if res, err = b.reg.Answer(t.Context(), person, q.ID, edit); err != nil || res.Question == nil || b.read(t, "a.md") != "again\n" {
		t.Errorf("another plan than the rehearsed one was carried out: %+v, %v", res, err)
	}
	edit = tool.Answer{Approve: true, Revision: 2, Args: json.RawMessage(`{"path":"a.md","line":"x","dry_run":true}`)}
	if _, err := b.reg.Answer(t.Context(), person, q.ID, edit); fault.Of(err) != fault.Invalid || b.read(t, "a.md") != "again\n" {
		t.Errorf("a dry run changed something: %v, %q", err, b.read(t, "a.md"))
	}
	none := tool.Answer{Approve: true, Revision: 2, Paths: []string{}}
	if res, err = b.reg.Answer(t.Context(), person, q.ID, none); err != nil || res.Operation != "" || b.read(t, "a.md") != "again\n" {
		t.Errorf("no file was chosen: %+v, %v", res, err)
	}
}

// TestAnAnswerThatNobodyCarriesOutIsTakenBack: a process that holds the vault
// and does not attend must not swallow it.
func TestAnAnswerThatNobodyCarriesOutIsTakenBack(t *testing.T) {
	if testing.Short() {
		t.Skip("it waits for seconds")
	}
	b := open(t, nil)
	q := b.call(t, agent, "jot", `{"path":"a.md","line":"two"}`).Question
	other := b.deps
	other.Writable = func(context.Context) error { return fault.New(fault.Busy, "another process writes") }
	second := tool.NewRegistry(other, tool.Toolset("bench", docs, tool.Change[Jot](b.dir)))
	if _, err := second.Answer(t.Context(), person, q.ID, tool.Answer{Approve: true}); fault.Of(err) != fault.Busy {
		t.Errorf("got %v", err)
	}
	now, err := b.reg.Question(t.Context(), q.ID)
	if err != nil || now.State != tool.Pending || now.Answer != nil {
		t.Errorf("got %+v, %v", now, err)
	}
	other.Writable = func(context.Context) error { return fault.New(fault.ReadOnly, "it cannot be written") }
	third := tool.NewRegistry(other, tool.Toolset("bench", docs, tool.Change[Jot](b.dir)))
	if _, err := third.Answer(t.Context(), person, q.ID, tool.Answer{Approve: true}); fault.Of(err) != fault.ReadOnly {
		t.Errorf("got %v", err)
	}
}

func TestAnActIsNeverRunTwice(t *testing.T) {
	b := open(t, nil)
	q := *b.call(t, agent, "fetch", `{"url":"x"}`).Question
	old := q
	q.State, q.Operation, q.Answer = tool.Running, "op-x", &tool.Answer{Approve: true}
	if ok, err := b.at.Questions.Update(t.Context(), q, old.State, old.Revision); !ok || err != nil {
		t.Fatal(ok, err)
	}
	if err := b.registry().Recover(t.Context()); err != nil {
		t.Fatal(err)
	}
	if q, err := b.reg.Question(t.Context(), q.ID); err != nil || q.State != tool.Failed {
		t.Errorf("got %+v, %v", q, err)
	}
}

// TestNothingIsDoneWhenNobodyCouldDecide: rules that cannot be read allow
// nothing.
func TestNothingIsDoneWhenNobodyCouldDecide(t *testing.T) {
	broken := &brokenRules{}
	b := open(t, func(d *tool.Deps) {
		broken.Questions = d.Questions
		d.Questions = broken
	})
	q := b.call(t, agent, "fetch", `{"url":"x","save":"new.md"}`).Question
	broken.err = fault.New(fault.Busy, "the database is locked")
	if _, err := b.reg.Answer(t.Context(), person, q.ID, tool.Answer{Approve: true}); err == nil || b.read(t, "new.md") != "(none)" {
		t.Errorf("got %v, %q", err, b.read(t, "new.md"))
	}
}

// brokenRules is a real store whose rules cannot be read.
type brokenRules struct {
	tool.Questions
	err error
}

func (b *brokenRules) Rules(ctx context.Context) ([]policy.Rule, error) {
	if b.err != nil {
		return nil, b.err
	}
	return b.Questions.Rules(ctx)
}

func TestAFullListAndABrokenOffWrite(t *testing.T) {
	b := open(t, func(d *tool.Deps) {
		apply := d.Apply
		d.Apply = func(ctx context.Context, op string, set change.Set) error {
			if set[0].Path == "half.md" {
				return &unsettled{}
			}
			return apply(ctx, op, set)
		}
	})
	mine := person
	mine.Explicit = true
	if _, err := b.reg.Call(t.Context(), mine, "jot", json.RawMessage(`{"path":"half.md","line":"x"}`)); err == nil {
		t.Error("it was acknowledged")
	}
	ops, err := b.at.History.Unresolved(t.Context())
	if err != nil || len(ops) != 1 {
		t.Errorf("what broke off is not left to recovery: %v, %v", ops, err)
	}
	for i := range 20 {
		b.call(t, agent, "jot", fmt.Sprintf(`{"path":"%d.md","line":"x"}`, i))
	}
	if _, err := b.reg.Call(t.Context(), agent, "jot", json.RawMessage(`{"path":"a.md","line":"x"}`)); fault.Of(err) != fault.Busy {
		t.Errorf("a person is buried in questions: %v", err)
	}
}

type unsettled struct{}

func (*unsettled) Error() string     { return "it broke off" }
func (*unsettled) Interrupted() bool { return true }

func TestLinksAreJudgedByWhereTheyLead(t *testing.T) {
	protected, err := pattern.Compile([]string{"private/**"})
	if err != nil {
		t.Fatal(err)
	}
	b := open(t, func(d *tool.Deps) {
		d.Policy.Protected = protected
		d.Real = func(paths []string) []string {
			out := slices.Clone(paths)
			if i := slices.Index(out, "link.md"); i >= 0 {
				out[i] = "Private/x.md"
			}
			return out
		}
	})
	for _, p := range []string{"link.md", "Private/y.md", "PRIVATE/y.md"} {
		if _, err := b.reg.Call(t.Context(), agent, "jot", json.RawMessage(`{"path":"`+p+`","line":"x"}`)); fault.Of(err) != fault.Denied {
			t.Errorf("%s: %v", p, err)
		}
	}
}
