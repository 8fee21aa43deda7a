package conversation

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"lore/internal/agent"
	"lore/internal/agent/chat"
	"lore/internal/fault"
	"lore/internal/llm/quote"
	"lore/internal/surface/cli/argv"
	"lore/internal/surface/cli/draw"
	"lore/internal/tool"
	"lore/internal/tool/access"
	"lore/internal/tool/policy"
)

func runCommand(open opener) *cobra.Command {
	var o options
	var allow []string
	var auto bool
	cmd := &cobra.Command{
		Use: "run TASK", Short: "Let a model work on a task, with your approval", GroupID: "models", Args: argv.Between(1, argv.Any),
		Long: `Lets a model work on a task until it is done, and then lists what it changed.

Lore asks you before each change. --allow and --auto give permission for this run
only; deletions, merges and commands still need your approval.

Exits with 0 only if the task is done.`,
		Example: "lore run 'file the notes in Inbox by topic'\nlore run --allow 'write_note:Drafts/**' 'draft a summary of each meeting'\nlore run --model ollama/qwen3:8b --steps 10 'tag the notes in Inbox'",
	}
	o.define(cmd)
	cmd.Flags().StringArrayVar(&allow, "allow", nil, "allow a tool on matching paths without asking: TOOL:PATTERN (repeatable)")
	cmd.Flags().BoolVar(&auto, "auto", false, "allow all changes that are not destructive")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		rules, err := rulesOf(allow, auto)
		if err != nil {
			return err
		}
		return with(cmd, open, func(ctx context.Context, s *Session, t Terminal) error {
			return o.perform(ctx, s, t, strings.Join(args, " "), rules)
		})
	}
	return cmd
}

// rulesOf reads what a person allows.
func rulesOf(allow []string, auto bool) ([]policy.Rule, error) {
	var out []policy.Rule
	for _, a := range allow {
		name, paths, ok := strings.Cut(a, ":")
		if !ok || name == "" || paths == "" {
			return nil, fault.Field("allow", "use TOOL:PATTERN, for example write_note:Drafts/**", "%q is not a rule", a)
		}
		out = append(out, policy.Rule{Verdict: policy.Allow, Tool: strings.TrimSpace(name), Paths: strings.TrimSpace(paths)})
	}
	if auto {
		out = append(out, policy.Rule{Verdict: policy.Allow, Tool: "*", Paths: "**"})
	}
	return out, nil
}

// perform does one task.
func (o *options) perform(ctx context.Context, s *Session, t Terminal, task string, rules []policy.Rule) error {
	if o.sets == nil {
		o.sets = []string{agent.Usual}
	}
	for _, set := range tool.EndSets(s.Door) { // whatever the model works with, it ends the run with these
		if !slices.Contains(o.sets, set) {
			o.sets = append(slices.Clone(o.sets), set)
		}
	}
	id, err := o.begin(ctx, s, task)
	if err != nil {
		return err
	}
	r, err := s.Agent.Start(ctx, id, o.request(task))
	if err != nil {
		return err
	}
	for i, rule := range rules {
		rule.ID, rule.Run, rule.Kind, rule.Made = fmt.Sprintf("rule-%s-%d", r.ID, i), r.ID, string(access.Agent), s.Agent.Now()
		rule.Until = s.Agent.Now().Add(24 * 60 * 60 * 1e9)
		if err := s.Allow(ctx, rule); err != nil {
			return err
		}
	}
	r, err = carryOn(ctx, s, t, r.ID)
	if !t.JSON {
		if e := ledger(context.WithoutCancel(ctx), s, t, r.ID); err == nil {
			err = e
		}
	}
	quoted := r.Model == quote.ID && !strings.HasPrefix(strings.TrimSpace(task), "/") // quotes are no work; a command that was typed is
	if err == nil && quoted {
		fmt.Fprintln(t.Err, t.Notice.Dim("Nothing was done: without a model, Lore quotes passages. Name a model with --model, or list them with lore models."))
	}
	if err == nil && (r.Status != chat.Done || quoted) {
		err = t.Undone
	}
	return err
}

// ledger lists what was done.
func ledger(ctx context.Context, s *Session, t Terminal, run string) error {
	r, err := s.Agent.Store.Run(ctx, run)
	if err != nil {
		return err
	}
	calls, err := s.Agent.Store.Calls(ctx, run)
	if err != nil {
		return err
	}
	changed := 0
	for _, c := range calls {
		if c.Operation != "" {
			changed++
			fmt.Fprintf(t.Err, "%s  %s\n", t.Notice.Bold(shortened(c.Operation)), draw.OneLine(c.Summary))
		}
	}
	cost := "cost unknown"
	if r.Priced && r.Usage.CostUSD != nil {
		cost = fmt.Sprintf("$%.4f", *r.Usage.CostUSD)
	}
	fmt.Fprintln(t.Err, t.Notice.Dim(fmt.Sprintf("%s: %s, %s, %s, %s, %s", r.Status, number(r.Steps, "step"), number(len(calls), "call"), number(changed, "change"), number(r.Usage.In+r.Usage.Out, "token"), cost)))
	if changed > 0 {
		fmt.Fprintln(t.Err, t.Notice.Dim("Undo everything: lore undo --run "+run))
	}
	return nil
}

// number says "1 step" and "2 steps".
func number(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func shortened(id string) string {
	if len(id) > 11 {
		return id[:11]
	}
	return id
}
