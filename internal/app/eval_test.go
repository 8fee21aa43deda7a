package app

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"lore/internal/agent/eval"
	"lore/internal/llm"
	"lore/internal/llm/llmtest"
	"lore/internal/tool"
	"lore/internal/vault/sample"
)

// A solution is what somebody who knows the answer does in a case.
type solution struct {
	ID    string
	Calls []struct {
		Tool string
		Args json.RawMessage
	}
	Say string
}

// steps make a script of it.
func (s *solution) steps() []llmtest.Step {
	var out []llmtest.Step
	one := 0.01
	use := llm.Usage{In: 100, Out: 10, CostUSD: &one}
	for i, c := range s.Calls {
		out = append(out, llmtest.Step{Calls: []llm.Part{{ID: "call-" + string(rune('a'+i)), Name: c.Tool, Args: c.Args}}, Usage: use})
	}
	return append(out, llmtest.Step{Chunks: []string{s.Say}, Usage: use})
}

// solutions reads them, by the id of their case.
func solutions(t *testing.T) map[string]solution {
	t.Helper()
	f, err := os.Open(filepath.Join("..", "agent", "eval", "testdata", "solutions.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	out := map[string]solution{}
	for in := bufio.NewScanner(f); in.Scan(); {
		var s solution
		if err := json.Unmarshal(in.Bytes(), &s); err != nil {
			t.Fatal(err)
		}
		out[s.ID] = s
	}
	return out
}

// examined tries one case with a model that follows a script.
func examined(t *testing.T, c eval.Case, steps []llmtest.Step) (eval.Score, *llmtest.Model) {
	t.Helper()
	env := map[string]string{"XDG_CONFIG_HOME": t.TempDir(), "LORE_EMBED_MODEL": "none"}
	a := &app{now: time.Now, env: func(k string) string { return env[k] }, errOut: io.Discard}
	m := llmtest.New(steps...)
	r := eval.Runner{Runs: 1, Open: func(ctx context.Context, vault, own string) (*eval.Vault, error) {
		v, err := a.openToTry(ctx, vault, own)
		if err == nil {
			yes := true
			v.Agent.Model = func(context.Context, string) (llm.Model, llm.Info, error) {
				return m, llm.Info{Name: m.ID(), Tools: &yes, Context: 100_000}, nil
			}
		}
		return v, err
	}}
	s, err := r.Try(t.Context(), m.ID(), []eval.Case{c})
	if err != nil {
		t.Fatal(err)
	}
	return s, m
}

// TestStarterCasesCanBePassed plays every case that comes with the program, once
// as somebody who knows what to do, and once as somebody who does nothing.
func TestStarterCasesCanBePassed(t *testing.T) {
	cases, err := eval.Starter()
	if err != nil {
		t.Fatal(err)
	}
	known := solutions(t)
	if len(cases) != 120 || len(known) != len(cases) {
		t.Errorf("%d cases and %d solutions, want 120 of each", len(cases), len(known))
	}
	untouched := filepath.Join(t.TempDir(), "vault")
	if err := sample.Copy(untouched); err != nil {
		t.Fatal(err)
	}
	for i, c := range cases {
		if testing.Short() && i%10 != 0 {
			continue
		}
		t.Run(c.ID, func(t *testing.T) {
			t.Parallel()
			right := known[c.ID]
			s, m := examined(t, c, right.steps())
			if run := s.Tried[0].Runs[0]; !run.Pass {
				t.Errorf("the solution does not pass: %q; it called %q", run.Reasons, run.Tools)
			}
			steps := float64(len(right.Calls) + 1)
			if s.Pass1 != 1 || s.PassK != 1 || s.Steps != steps || s.Calls != steps-1 || s.In != 100*steps || s.Cost == nil || m.Unused() != 0 {
				t.Errorf("score %+v, %d steps unused", s, m.Unused())
			}
			if i%10 != 0 { // the others are judged without opening a vault: it stays as it is
				idle := eval.Outcome{Answer: "I do not know.", Files: map[string]string{}}
				for p := range c.Files {
					if b, err := os.ReadFile(filepath.Join(untouched, filepath.FromSlash(p))); err == nil {
						idle.Files[p] = string(b)
					}
				}
				if len(c.Judge(&idle)) == 0 {
					t.Error("who does nothing passes")
				}
				return
			}
			if s, _ := examined(t, c, []llmtest.Step{llmtest.Text("I do not know.")}); s.Pass1 != 0 || s.Cost != nil {
				t.Errorf("who does nothing passes, or has a price: %+v", s)
			}
		})
	}
}

// TestStarterCasesNameWhatExists holds the names in cases against the tools and
// the vault.
func TestStarterCasesNameWhatExists(t *testing.T) {
	cases, err := eval.Starter()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "vault")
	if err := sample.Copy(dir); err != nil {
		t.Fatal(err)
	}
	tools := map[string]*tool.Tool{eval.Changes: nil}
	for _, x := range catalogue() {
		tools[x.Name] = x
	}
	for _, c := range cases {
		there := func(p string) bool {
			_, err := os.Stat(filepath.Join(dir, filepath.FromSlash(p)))
			return err == nil || c.Add[p] != ""
		}
		for _, p := range append(slices.Clone(c.Cite), c.Note) {
			if !there(p) {
				t.Errorf("%s: %s does not exist", c.ID, p)
			}
		}
		for p, f := range c.Files {
			if p != "*" && (f.Absent || f.Unchanged) && !there(p) {
				t.Errorf("%s: %s was never there", c.ID, p)
			}
		}
		if len(c.Toolsets) == 0 && len(c.Expect) > 0 { // what is expected must be offered
			if !slices.ContainsFunc(c.Expect, func(seq []eval.Call) bool { return offered(seq, tools) }) {
				t.Errorf("%s: no expected sequence is of tools that are usually offered", c.ID)
			}
		}
		for _, call := range slices.Concat(c.Forbid, slices.Concat(c.Expect...)) {
			for _, name := range call.Names() {
				x, ok := tools[name]
				if !ok {
					t.Errorf("%s: there is no tool %s", c.ID, name)
				}
				for where := range maps.Keys(call.Args) {
					field, _, _ := strings.Cut(where, ".")
					if x != nil && x.Input().Properties[field] == nil {
						t.Errorf("%s: %s takes no %s", c.ID, name, field)
					}
				}
			}
		}
	}
}

// offered reports whether each call of a sequence can be made with the tools of
// a usual conversation.
func offered(seq []eval.Call, tools map[string]*tool.Tool) bool {
	return !slices.ContainsFunc(seq, func(c eval.Call) bool {
		return !slices.ContainsFunc(c.Names(), func(n string) bool {
			return tools[n] != nil && slices.Contains([]string{"notes", "knowledge"}, tools[n].Set)
		})
	})
}

// TestExamGivesUpOnAModelThatIsNotThere asks three times, and not for every case.
func TestExamGivesUpOnAModelThatIsNotThere(t *testing.T) {
	t.Parallel()
	cases, err := eval.Starter()
	if err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"XDG_CONFIG_HOME": t.TempDir(), "LORE_EMBED_MODEL": "none"}
	a := &app{now: time.Now, env: func(k string) string { return env[k] }, errOut: io.Discard}
	gone := llmtest.Fail(&llm.Error{Kind: llm.BadRequest, Message: "out of order"})
	m := llmtest.New(llmtest.Text("x"), gone, gone, llmtest.Text("x"), gone, gone, gone, llmtest.Text("x"))
	r := eval.Runner{Runs: 2, Open: func(ctx context.Context, vault, own string) (*eval.Vault, error) {
		v, err := a.openToTry(ctx, vault, own)
		if err == nil {
			v.Agent.Model = func(context.Context, string) (llm.Model, llm.Info, error) { return m, llm.Info{Name: m.ID()}, nil }
		}
		return v, err
	}}
	s, err := r.Try(t.Context(), m.ID(), cases)
	if err != nil || s.Runs != 7 || s.Failed != 5 || s.Cases != 4 || !strings.Contains(s.GaveUp, "out of order") || m.Unused() != 1 {
		t.Errorf("%+v, %v", s, err)
	}
}

// TestExamEndsWhenItIsStopped leaves no folder behind.
func TestExamEndsWhenItIsStopped(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	a := &app{now: time.Now, env: func(string) string { return "" }, errOut: io.Discard}
	ctx, stop := context.WithCancel(t.Context())
	r := eval.Runner{Runs: 3, Open: func(ctx context.Context, vault, own string) (*eval.Vault, error) {
		return a.openToTry(ctx, vault, own)
	}, Told: func(string, *eval.Case, int, eval.Run) { stop() }}
	cases, err := eval.Starter()
	if err != nil {
		t.Fatal(err)
	}
	s, err := r.Try(ctx, "quote", cases)
	if err == nil || ctx.Err() == nil || s.Runs != 1 || s.Cases != 1 {
		t.Errorf("%+v, %v", s, err)
	}
	if left, err := filepath.Glob(filepath.Join(tmp, "lore-eval-*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
