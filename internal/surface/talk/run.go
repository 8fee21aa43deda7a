package talk

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"lore/internal/access"
	"lore/internal/agent"
	"lore/internal/chat"
	"lore/internal/fault"
	"lore/internal/policy"
	"lore/internal/surface/draw"
	"lore/internal/tool"
)

func runCommand(open opener) *cobra.Command {
	var o options
	var allow []string
	var auto bool
	cmd := &cobra.Command{
		Use: "run TASK", Short: "Let a mind do a task, with approval, and tell what it did", GroupID: "tools", Args: cobra.MinimumNArgs(1),
		Long: `Lets a mind work on a task until it is done. What changes a file is asked about; --allow and --auto allow it for this run alone, and
what deletes, merges or runs a command is asked about all the same. At the end every call is listed as it was recorded.`,
		Example: "lore run --model ollama/qwen3:8b 'file the notes in Inbox by topic'\nlore run --allow 'write_note:Drafts/**' 'draft a summary of each meeting into Drafts'",
	}
	o.define(cmd)
	cmd.Flags().StringArrayVar(&allow, "allow", nil, "what it may do without asking: TOOL:PATTERN of paths; may be given again")
	cmd.Flags().BoolVar(&auto, "auto", false, "allow all changes in the vault that destroy nothing")
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
			return nil, fault.Field("allow", "write TOOL:PATTERN, like write_note:Drafts/**", "%q is no rule", a)
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
	if o.sets == nil { // and what a mind ends its work with
		o.sets = append([]string{agent.Usual}, tool.EndSets(s.Door)...)
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
	fmt.Fprintln(t.Err, t.Notice.Dim(fmt.Sprintf("%s: %d steps, %d calls, %d changes, %d tokens, %s", r.Status, r.Steps, len(calls), changed, r.Usage.In+r.Usage.Out, cost)))
	if changed > 0 {
		fmt.Fprintln(t.Err, t.Notice.Dim("take all of it back with: lore undo --run "+run))
	}
	if r.Status == chat.Failed {
		return nil // conclude has told
	}
	return nil
}

func shortened(id string) string {
	if len(id) > 11 {
		return id[:11]
	}
	return id
}
