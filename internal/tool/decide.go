package tool

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"lore/internal/change"
	"lore/internal/fault"
	"lore/internal/tool/access"
	"lore/internal/tool/policy"
)

// judge decides about a plan.
func (c *call) judge(ctx context.Context, set change.Set, p Preview, needs access.Scope) (policy.Decision, error) {
	var rules []policy.Rule
	if c.deps.Questions != nil && (len(set) > 0 || needs != "") {
		var err error
		if rules, err = c.deps.Questions.Rules(ctx); err != nil {
			return policy.Decision{}, err
		}
	}
	lost, err := c.measure(ctx, set)
	if err != nil {
		return policy.Decision{}, err
	}
	who := c.maker()
	d := c.deps.Policy.Judge(policy.Facts{
		Who: who, Tool: c.tool.Name, Definition: c.tool.definition(), Effect: c.tool.Effect, Needs: needs, Paths: c.real(set.Paths()),
		Creates: set.Creates(), Destroys: set.Destroys() || p.Destroys && len(set) > 0, Shrinks: lost.shrinks, Erodes: lost.erodes, Loss: lost.words, Files: len(set), Now: c.deps.Now(),
		Reverts: c.plays(TakesBack) || c.plays(BringsBack), Renames: c.plays(RenamesNote),
	}, rules)
	d = c.weigh(d, lost.erodes)
	c.rec.Decision, c.rec.Reason = d.Verdict, d.Reason
	c.rec.Targets = few(set.Paths())
	return d, nil
}

// maker is who makes the edits: a caller who has read text from outside, also where
// only the tool has, or the model that it asked.
func (c *call) maker() access.Principal {
	who := c.who
	if c.guided || c.reached && c.tool != nil && (c.tool.Source != "" || c.tool.Untrusted) {
		who.Tainted, who.Wary = true, true
	}
	return who
}

func (c *call) plays(r Role) bool { return slices.Contains(c.tool.Roles, r) }

// real adds the files that links among the paths lead to: a rule about a place
// holds whatever name leads there.
func (c *call) real(paths []string) []string {
	if c.deps.Real == nil {
		return paths
	}
	out := slices.Clone(paths)
	for i, r := range c.deps.Real(paths) {
		if r != paths[i] {
			out = append(out, r)
		}
	}
	return out
}

// links warns of paths that are links to other files.
func (c *call) links(set change.Set) []string {
	var out []string
	if c.deps.Real == nil {
		return nil
	}
	paths := set.Paths()
	for i, r := range c.deps.Real(paths) {
		if r != paths[i] {
			out = append(out, fmt.Sprintf("%s is a link: the file is %s", paths[i], r))
		}
	}
	return out
}

// mostTargets keeps a record small.
const mostTargets = 20

func few(paths []string) []string { return paths[:min(len(paths), mostTargets)] }

// applyDecision does what the decision says with a plan.
func (c *call) applyDecision(ctx context.Context, value any, set change.Set, d policy.Decision) (Result, error) {
	p := previewOf(c.tool, value, set)
	res := c.result(value)
	res.Message = p.Summary
	switch {
	case d.NeedsPIN:
		return Result{}, &fault.Report{Kind: fault.Denied, Field: "pin", Message: d.Reason, Fix: "enter it, and try again"}
	case d.Verdict != policy.Allow && d.Verdict != policy.Ask:
		return Result{}, fault.New(fault.Denied, "%s: %s", c.tool.Name, cmp.Or(d.Reason, "no decision was made"))
	case c.dry:
		q := c.newQuestion(p, set, d).VisibleTo(c.who)
		res.DryRun, res.Preview, res.Changes = true, &q.Preview, q.Changes
		return res, nil
	case len(set) == 0:
		return res, nil
	}
	if err := c.writable(ctx); err != nil {
		return Result{}, err
	}
	if d.Verdict == policy.Ask {
		return c.ask(ctx, c.newQuestion(p, set, d))
	}
	if err := c.apply(ctx, value, set, p.Summary); err != nil {
		return Result{}, c.withoutNames(set, err)
	}
	res.Operation, res.Changes = c.op, change.Brief(c.seen(set.Describe()))
	return res, nil
}
