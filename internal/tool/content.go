package tool

import (
	"context"
	"errors"
	"slices"
	"strings"

	"lore/internal/fault"
	"lore/internal/tool/access"
	"lore/internal/tool/policy"
)

// Content is a file whose text says what a call does, such as a workflow. It is part
// of a vault that programs may write to, so a person allows it by its hash: another
// text is another content.
type Content struct {
	Name    string // what it is and its path: "workflow Workflows/Review.yaml"
	Hash    string
	Summary string   // for the person who is asked
	Lines   []string // the text, as it is shown
	// Job is who acts by the content alone. What was allowed to it for another text
	// ends when a person allows this one.
	Job string
}

// A heldError says that a person has to allow a content first.
type heldError struct{ Content }

func (e heldError) Error() string {
	return e.Name + " must be allowed by a person first, because it is new or has changed"
}

// contentPlan is the plan of a question about a content: not edits, but its hash.
const contentPlan = "content "

// isAboutContent reports whether a question asks to allow a content.
func (q *Question) isAboutContent() bool { return strings.HasPrefix(q.Plan, contentPlan) }

// Confirm returns nil when a person allowed exactly this content. Otherwise the tool
// must return the error, and the person is asked. The rules are made when the person
// allows it: what they name must stand in its text.
func (s *Calls) Confirm(ctx context.Context, content Content, rules ...policy.Rule) error {
	c := s.parent
	ok, err := c.IsAllowed(ctx, content)
	if err != nil || ok {
		return err
	}
	if c.confirmed == "" || c.confirmed != contentPlan+content.Hash {
		return heldError{content}
	}
	if err := c.endEarlier(ctx, content); err != nil {
		return err
	}
	rules = append([]policy.Rule{{Verdict: policy.Allow, Tool: content.Name, Definition: content.Hash}}, rules...)
	for _, r := range rules {
		r.ID, r.Made = c.deps.ID("rule"), c.deps.Now()
		if err := r.Check(policy.Change); err != nil {
			return err
		}
		if err := c.deps.Questions.AddRule(ctx, r); err != nil {
			return err
		}
	}
	return nil
}

// endEarlier takes back what was allowed to a job for another text.
func (c *call) endEarlier(ctx context.Context, content Content) error {
	if content.Job == "" {
		return nil
	}
	rules, err := c.Rules(ctx)
	if err != nil {
		return err
	}
	for _, r := range rules {
		if r.Run == content.Job || r.Tool == content.Name {
			if err := c.deps.Questions.DropRule(ctx, r.ID); err != nil {
				return err
			}
		}
	}
	return nil
}

// IsAllowed reports whether a person allowed exactly this content.
func (r *Registry) IsAllowed(ctx context.Context, content Content) (bool, error) {
	rules, err := r.Rules(ctx)
	return slices.ContainsFunc(rules, func(rule policy.Rule) bool {
		return rule.Verdict == policy.Allow && rule.Tool == content.Name && rule.Definition == content.Hash && rule.To == "" &&
			(rule.Until.IsZero() || r.deps.Now().Before(rule.Until))
	}), err
}

// heldQuestion asks a person about a content. No standing rule answers it.
func (c *call) heldQuestion(held heldError) Question {
	p := Preview{Summary: held.Summary, Steps: held.Lines, Details: map[string]any{"content": held.Name, "sha256": held.Hash}}
	d := policy.Decision{Verdict: policy.Ask, Risk: policy.Exec, Reason: "it is new, or changed since you last allowed it"}
	c.rec.Decision, c.rec.Reason = d.Verdict, d.Reason
	q := c.newQuestion(p, nil, d)
	q.Plan = contentPlan + held.Hash
	return q
}

// changeOrHold is what a call answers when its plan failed: a question, where a
// person has to allow a content first.
func (c *call) changeOrHold(ctx context.Context, err error) (Result, error) {
	var held heldError
	if !errors.As(err, &held) {
		return Result{}, err
	}
	if !c.who.May(access.Write) {
		return Result{}, fault.New(fault.Denied, "%s: %v", c.tool.Name, err)
	}
	q := c.heldQuestion(held)
	if c.dry {
		return Result{Success: true, Tool: c.tool, Notices: c.notices, DryRun: true, Preview: &q.Preview, Message: q.Preview.Summary}, nil
	}
	return c.ask(ctx, q)
}

// performContent goes on with a call whose content a person has allowed: what it
// wants to change is decided about anew.
func (c *call) performContent(ctx context.Context, q Question, again *Question) (Result, error) {
	c.confirmed, c.next = q.Plan, again
	value, set, err := c.planned(ctx)
	if err != nil {
		return c.changeOrHold(ctx, err)
	}
	d, err := c.judge(ctx, set, previewOf(c.tool, value, set), "")
	if err != nil {
		return Result{}, err
	}
	res, err := c.applyDecision(ctx, value, set, d)
	res.Feedback = q.Answer.Word
	return res, err
}
