package conversation

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"lore/internal/agent/eval"
	"lore/internal/fault"
	"lore/internal/llm"
	"lore/internal/surface/cli/argv"
	"lore/internal/surface/cli/draw"
)

// An Examiner is what trying models needs of a machine.
type Examiner struct {
	// Open opens a vault that has a folder of its own for all that belongs to it.
	Open func(ctx context.Context, vault, own string) (*eval.Vault, error)
	// Find finds a model. "" is the one that the settings name.
	Find func(ctx context.Context, id string) (llm.Model, llm.Info, error)
}

// exam is what a person asks for.
type exam struct {
	file   string
	vault  string // that the cases are about, where they name none
	models []string
	only   []string
	runs   int
}

// EvalCommand measures how well models use the tools. vault is the folder that
// the command line names, when it runs.
func EvalCommand(x Examiner, vault func() string, term func(cmd *cobra.Command) Terminal) *cobra.Command {
	var e exam
	cmd := &cobra.Command{
		Use: "eval [CASES.jsonl]", Short: "Measure how well models use the tools", Args: argv.Between(0, 1),
		Long: `Runs test cases with models and counts how many pass. A case checks which tools were
called with which arguments, what was cited, and how the files changed. Each run
uses a fresh copy of the vault, and approvals are answered as the case says.

Without a file, Lore runs its 120 built-in cases on the sample vault. Models may cost
money: start with a few cases. See docs/eval.md for how to write cases.`,
		Example: "lore eval --model ollama/qwen3:8b                    run the built-in cases\nlore eval --model quote --case cite-sencha           run one case\nlore eval mine.jsonl --vault ~/notes --model ollama/qwen3:8b --json",
	}
	f := cmd.Flags()
	f.StringArrayVarP(&e.models, "model", "m", nil, "model to test: provider/name (repeatable)")
	f.IntVar(&e.runs, "runs", 1, "number of runs per case")
	f.StringArrayVar(&e.only, "case", nil, "run only the case with this ID, or cases matching a pattern with * (repeatable)")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 1 {
			e.file = args[0]
		}
		e.vault = vault()
		return e.hold(cmd.Context(), x, term(cmd))
	}
	return cmd
}

// hold tries everything and shows the scores. What was tried before it was
// stopped is shown too.
func (e *exam) hold(ctx context.Context, x Examiner, t Terminal) error {
	cases, err := e.cases()
	if err != nil {
		return err
	}
	if e.runs < 1 || e.runs > 1000 {
		return fault.Field("runs", "give a number from 1 to 1000", "%d runs per case are not possible", e.runs)
	}
	models, err := e.minds(ctx, x)
	if err != nil {
		return err
	}
	done, all := 0, len(models)*len(cases)*e.runs
	r := eval.Runner{Open: x.Open, Folder: filepath.Dir(e.file), Runs: e.runs, Told: func(model string, c *eval.Case, n int, run eval.Run) {
		done++
		t.tried(fmt.Sprintf("[%d/%d]", done, all), model, c, n, run)
	}}
	var scores []eval.Score
	for _, m := range models {
		s, err := r.Try(ctx, m, cases)
		scores = append(scores, s)
		if ctx.Err() != nil {
			return stoppedEarly(t, scores)
		}
		if err != nil {
			return err
		}
		if s.GaveUp != "" {
			done += len(cases)*e.runs - s.Runs
			fmt.Fprintln(t.Err, draw.OneLine(fmt.Sprintf("Skipping %s, because it does not answer: %s", m, s.GaveUp)))
		}
	}
	if err := t.scores(scores, e.runs); err != nil {
		return err
	}
	if !slices.ContainsFunc(scores, func(s eval.Score) bool { return s.Failed < s.Runs }) {
		return fault.Fix(fault.Unavailable, "see the reason above", "no model gave an answer")
	}
	return nil
}

// minds are the full names of the models, all of which can be found.
func (e *exam) minds(ctx context.Context, x Examiner) ([]string, error) {
	var out []string
	ids := e.models
	if len(ids) == 0 {
		ids = []string{""}
	}
	for _, id := range ids {
		m, _, err := x.Find(ctx, id)
		if err != nil {
			return nil, err
		}
		out = append(out, m.ID())
	}
	return out, nil
}

// stoppedEarly shows what there is.
func stoppedEarly(t Terminal, scores []eval.Score) error {
	if !t.JSON && scores[0].Runs > 0 {
		if err := t.scores(scores, 0); err != nil {
			return err
		}
	}
	return fault.New(fault.Cancelled, "stopped")
}

// cases reads those that are asked for.
func (e *exam) cases() ([]eval.Case, error) {
	all, err := e.all()
	if err != nil {
		return nil, err
	}
	for _, id := range e.only {
		if !slices.ContainsFunc(all, func(c eval.Case) bool { return fits(id, c.ID) }) {
			return nil, fault.Field("case", "leave it out to run all cases", "there is no case %q", id)
		}
	}
	var out []eval.Case
	for _, c := range all {
		if len(e.only) == 0 || slices.ContainsFunc(e.only, func(id string) bool { return fits(id, c.ID) }) {
			out = append(out, c)
		}
	}
	return out, nil
}

func (e *exam) all() ([]eval.Case, error) {
	if e.file == "" {
		if e.vault != "" {
			return nil, fault.Fix(fault.Invalid, "leave out --vault, or give a file with your own cases", "the built-in cases only work on the sample vault")
		}
		return eval.Starter()
	}
	f, err := os.Open(e.file)
	if err != nil {
		return nil, fault.New(fault.NotFound, "cannot read the cases: %v", err)
	}
	defer func() { _ = f.Close() }() // only read
	cases, err := eval.Read(f)
	if err != nil {
		return nil, fault.Fix(fault.Of(err), "see docs/eval.md", "%s: %v", e.file, err)
	}
	if e.vault == "" {
		return cases, nil
	}
	dir, err := filepath.Abs(e.vault)
	for i := range cases {
		if cases[i].Vault == "" {
			cases[i].Vault = dir
		}
	}
	return cases, err
}

// fits reports whether an id is the one, or begins and ends as a pattern does.
func fits(want, id string) bool {
	head, tail, star := strings.Cut(want, "*")
	if !star {
		return want == id
	}
	return len(id) >= len(head)+len(tail) && strings.HasPrefix(id, head) && strings.HasSuffix(id, tail)
}

// tried shows one try.
func (t Terminal) tried(at, model string, c *eval.Case, n int, r eval.Run) {
	word, why := t.Notice.Green("pass"), ""
	if !r.Pass {
		word, why = t.Notice.Red("fail"), "  "+r.Reasons[0]
	}
	fmt.Fprintln(t.Err, t.Notice.Dim(at), word, draw.OneLine(fmt.Sprintf("%s  %s #%d  %d steps, %.1f s%s", c.ID, model, n, r.Steps, r.Seconds, why)))
}

// scores shows how well the models did, runs being how often each case was
// tried; 0 when not all were.
func (t Terminal) scores(list []eval.Score, runs int) error {
	if t.JSON {
		return t.Encode(struct {
			Success bool         `json:"success"`
			Runs    int          `json:"runs_per_case"`
			Models  []eval.Score `json:"models"`
		}{true, runs, list})
	}
	head := []string{"model", "cases", "pass@1", fmt.Sprintf("pass^%d", runs), "steps", "calls", "tokens in", "out", "cost", "seconds"}
	if runs == 0 {
		head[3] = "pass^k"
	}
	var rows [][]string
	for _, s := range list {
		cost := "?"
		if s.Cost != nil {
			cost = fmt.Sprintf("$%.4f", *s.Cost)
		}
		rows = append(rows, []string{
			draw.OneLine(s.Model), fmt.Sprint(s.Cases), percent(s.Pass1), percent(s.PassK), fmt.Sprintf("%.1f", s.Steps), fmt.Sprintf("%.1f", s.Calls),
			fmt.Sprintf("%.0f", s.In), fmt.Sprintf("%.0f", s.Out), cost, fmt.Sprintf("%.1f", s.Seconds),
		})
	}
	var b strings.Builder
	t.Screen.Table(&b, head, rows)
	if kinds := kindRows(list); len(kinds) > 0 {
		b.WriteString("\n")
		t.Screen.Table(&b, []string{"model", "kind", "cases", "pass@1", head[3]}, kinds)
	}
	fmt.Fprint(t.Out, b.String())
	fmt.Fprintln(t.Err, t.Notice.Dim("Steps, calls, tokens and seconds are per run; the cost is the total."))
	return nil
}

// kindRows are the scores by the kinds of cases, where there is more than one.
func kindRows(list []eval.Score) (rows [][]string) {
	for _, s := range list {
		for _, k := range s.Kinds {
			if len(s.Kinds) > 1 {
				rows = append(rows, []string{draw.OneLine(s.Model), draw.OneLine(k.Kind), fmt.Sprint(k.Cases), percent(k.Pass1), percent(k.PassK)})
			}
		}
	}
	return rows
}

func percent(f float64) string { return fmt.Sprintf("%.0f %%", 100*f) }
