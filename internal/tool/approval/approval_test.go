package approval_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"reflect"
	"strings"
	"testing"
	"time"

	"lore/internal/change"
	"lore/internal/fault"
	"lore/internal/machine/state"
	"lore/internal/tool"
	"lore/internal/tool/access"
	"lore/internal/tool/approval"
	"lore/internal/tool/policy"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func now() time.Time { return time.Date(2026, 6, 15, 12, 0, 0, 0, time.UTC) }

func open(t *testing.T, dir string, clock func() time.Time) *approval.Store {
	t.Helper()
	f := state.In(dir)
	t.Cleanup(func() { _ = f.Close() })
	return approval.New(f, clock)
}

func question(id string) tool.Question {
	return tool.Question{
		ID: id, State: tool.Pending, Asked: now(), Expires: now().Add(24 * time.Hour),
		Who: access.Principal{Kind: access.Agent, ID: "run-1", Surface: "web", Scopes: []access.Scope{access.Read, access.Write}}, Tool: "write_note",
		Args: json.RawMessage(`{"path":"a.md"}`), ArgsHash: "1234", Plan: "5678", Files: map[string]string{"a.md": ""},
		Preview: tool.Preview{Summary: "Create a.md", Warnings: []string{"it is new"}}, Risk: policy.Create, Reason: "it changes notes",
		Changes: []tool.FileChange{{Path: "a.md", Action: change.Creates, Added: 1, Diff: "+x\n", Hunks: 1}},
		Edits:   change.Set{change.Create("a.md", "x\n")},
	}
}

func TestQuestionsSurvive(t *testing.T) {
	dir := t.TempDir()
	q := question("pending-abc")
	must(t, open(t, dir, now).Ask(t.Context(), q))
	got, err := open(t, dir, now).Get(t.Context(), "pending-abc")
	must(t, err)
	if !reflect.DeepEqual(got, q) {
		t.Errorf("got  %+v\nwant %+v", got, q)
	}
	if err := open(t, dir, now).Ask(t.Context(), q); fault.Of(err) != fault.Conflict {
		t.Errorf("asked twice: %v", err)
	}
}

func TestGetByPrefix(t *testing.T) {
	s := open(t, t.TempDir(), now)
	for _, id := range []string{"pending-abc", "pending-abd", "pending-xyz", "pending-xyzzy"} {
		must(t, s.Ask(t.Context(), question(id)))
	}
	for _, c := range []struct {
		in, want string
		kind     fault.Kind
		says     string
	}{
		{"pending-abc", "pending-abc", "", ""},
		{"abc", "pending-abc", "", ""},
		{"pending-xyz", "pending-xyz", "", ""}, // exact wins over longer ones
		{"xyz", "pending-xyz", "", ""},
		{"xyzz", "pending-xyzzy", "", ""},
		{"ab", "", fault.Ambiguous, "pending-abd, pending-abc"},
		{"pending-", "", fault.Ambiguous, "pending-xyzzy"},
		{"pending-abe", "", fault.NotFound, "pending-abc"},
		{"xzy", "", fault.NotFound, "did you mean pending-xyz"},
		{"%", "", fault.NotFound, ""},
		{"", "", fault.Invalid, "give the ID of an approval"},
	} {
		q, err := s.Get(t.Context(), c.in)
		if q.ID != c.want || fault.Of(err) != c.kind || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%q: %q, %v", c.in, q.ID, err)
		}
	}
}

func TestListAndUpdate(t *testing.T) {
	s := open(t, t.TempDir(), now)
	for i := range 5 {
		q := question(fmt.Sprintf("pending-%d", 9-i))
		q.Asked = now().Add(-time.Duration(i) * time.Hour) // a clock that went backwards
		must(t, s.Ask(t.Context(), q))
	}
	q := question("pending-7")
	q.State, q.Answer = tool.Approved, &tool.Answer{Approve: true, Word: "yes"}
	for _, c := range []struct {
		state    tool.State
		revision int
		want     bool
	}{{tool.Running, 0, false}, {tool.Pending, 1, false}, {tool.Pending, 0, true}, {tool.Pending, 0, false}} {
		if won, err := s.Update(t.Context(), q, c.state, c.revision); err != nil || won != c.want {
			t.Errorf("%v: %v, %v", c, won, err)
		}
	}
	if _, err := s.Update(t.Context(), question("pending-none"), tool.Pending, 0); fault.Of(err) != fault.NotFound {
		t.Errorf("an unknown one: %v", err)
	}
	for _, c := range []struct {
		states []tool.State
		want   string
	}{
		{nil, "pending-9 pending-8 pending-7 pending-6 pending-5"},
		{[]tool.State{tool.Pending}, "pending-9 pending-8 pending-6 pending-5"},
		{[]tool.State{tool.Approved, tool.Running}, "pending-7"},
		{[]tool.State{tool.Done}, ""},
	} {
		list, err := s.List(t.Context(), c.states...)
		must(t, err)
		var ids []string
		for _, q := range list {
			ids = append(ids, q.ID)
		}
		if got := strings.Join(ids, " "); got != c.want {
			t.Errorf("%v: %s, want %s", c.states, got, c.want)
		}
	}
	if got, err := s.Get(t.Context(), "pending-7"); err != nil || got.Answer == nil || got.Answer.Word != "yes" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestRules(t *testing.T) {
	at := now()
	s := open(t, t.TempDir(), func() time.Time { return at })
	for _, r := range []policy.Rule{
		{ID: "rule-b", Verdict: policy.Allow, Tool: "write_note", Paths: "Journal/**", Until: now().Add(time.Hour), Made: now()},
		{ID: "rule-a", Verdict: policy.Deny, Tool: "*", Made: now()},
	} {
		must(t, s.AddRule(t.Context(), r))
	}
	names := func() string {
		list, err := s.Rules(t.Context())
		must(t, err)
		var out []string
		for _, r := range list {
			out = append(out, r.ID+":"+string(r.Verdict))
		}
		return strings.Join(out, " ")
	}
	if got := names(); got != "rule-b:allow rule-a:deny" {
		t.Error(got)
	}
	at = now().Add(2 * time.Hour)
	if got := names(); got != "rule-a:deny" {
		t.Errorf("after its end: %s", got)
	}
	if err := s.DropRule(t.Context(), "c"); fault.Of(err) != fault.NotFound {
		t.Error(err)
	}
	if err := s.DropRule(t.Context(), "rule-"); fault.Of(err) != fault.Ambiguous {
		t.Error(err)
	}
	must(t, s.DropRule(t.Context(), "a"))
	if got := names(); got != "" {
		t.Error(got)
	}
}

func TestPrune(t *testing.T) {
	at := now()
	s := open(t, t.TempDir(), func() time.Time { return at })
	must(t, s.Ask(t.Context(), question("pending-open")))
	over := question("pending-over")
	must(t, s.Ask(t.Context(), over))
	over.State = tool.Denied
	_, err := s.Update(t.Context(), over, tool.Pending, 0)
	must(t, err)
	must(t, s.AddRule(t.Context(), policy.Rule{ID: "rule-old", Until: at.Add(time.Hour)}))
	for _, c := range []struct {
		days int
		want int
	}{{89, 2}, {91, 1}} {
		must(t, s.Prune(t.Context(), at.Add(time.Duration(c.days)*24*time.Hour)))
		if list, err := s.List(t.Context()); err != nil || len(list) != c.want {
			t.Errorf("after %d days: %d, %v", c.days, len(list), err)
		}
	}
}

const raceDir = "LORE_TEST_RACE"

// A racer is a child process that answers one question for every line it gets,
// and says whether it won.
type racer struct {
	in    io.WriteCloser
	lines *bufio.Scanner
	wins  int
}

func startRacer(t *testing.T, dir string) *racer {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestOneAnswerWins$")
	cmd.Env = append(os.Environ(), raceDir+"="+dir)
	out, err := cmd.StdoutPipe()
	must(t, err)
	in, err := cmd.StdinPipe()
	must(t, err)
	must(t, cmd.Start())
	t.Cleanup(func() {
		_ = in.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("a child ended with %v", err)
		}
	})
	return &racer{in: in, lines: bufio.NewScanner(out)}
}

func (r *racer) won(t *testing.T) bool {
	t.Helper()
	if !r.lines.Scan() {
		t.Fatalf("a child is gone: %v", r.lines.Err())
	}
	if r.lines.Text() == "won" {
		r.wins++
	}
	return r.lines.Text() == "won"
}

// TestOneAnswerWins lets two processes answer the same question at the same
// time, two hundred times.
func TestOneAnswerWins(t *testing.T) {
	if dir := os.Getenv(raceDir); dir != "" {
		race(dir)
		return
	}
	dir := t.TempDir()
	s := open(t, dir, now)
	for i := range 200 {
		must(t, s.Ask(t.Context(), question(fmt.Sprintf("pending-%03d", i))))
	}
	a, b := startRacer(t, dir), startRacer(t, dir)
	for i := range 200 {
		for _, r := range []*racer{a, b} {
			_, err := fmt.Fprintf(r.in, "pending-%03d\n", i)
			must(t, err)
		}
		if wonA, wonB := a.won(t), b.won(t); wonA == wonB {
			t.Fatalf("round %d: %v and %v", i, wonA, wonB)
		}
	}
	t.Logf("%d to %d", a.wins, b.wins)
}

func race(dir string) {
	f := state.In(dir)
	s := approval.New(f, now)
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		q := question(in.Text())
		q.State = tool.Approved
		won, err := s.Update(context.Background(), q, tool.Pending, 0)
		if err != nil {
			panic(err)
		}
		fmt.Println(map[bool]string{true: "won", false: "lost"}[won])
	}
	_ = f.Close()
	os.Exit(0) // before the test framework writes into the pipe
}
