package tool

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"lore/internal/change"
	"lore/internal/change/selection"
	"lore/internal/fault"
	"lore/internal/tool/access"
	"lore/internal/tool/policy"
	"lore/internal/tool/schema"
)

// errAgain says that what was shown no longer holds.
var errAgain = errors.New("computed again")

// carryOut does what was approved. Of all that try, one does it; won tells
// whether it was this one.
func (r *Registry) carryOut(ctx context.Context, q Question) (res Result, won bool, err error) {
	if q.State != Approved {
		return Result{}, false, answered(q)
	}
	c := r.receive(ctx, q.Who, q.Tool)
	c.question, c.moment, c.op = q.ID, q.Moment, r.deps.ID("op")
	old := q
	q.State, q.Operation = Running, c.op
	if q, won, err = r.transition(ctx, q, old); err != nil || !won {
		return Result{}, false, err
	}
	again := &Question{}
	if res, err = c.perform(ctx, q, again); errors.Is(err, errAgain) {
		c.noteOutside(ctx, again)
	}
	q.Limit = c.limit.Patterns()
	err = c.end(ctx, &res, err)
	res, err = r.conclude(context.WithoutCancel(ctx), q, again, res, err)
	return res, true, err
}

// perform plans again and carries out. With errAgain, again is what to ask.
func (c *call) perform(ctx context.Context, q Question, again *Question) (Result, error) {
	args := q.Args
	if len(q.Answer.Args) > 0 {
		args = q.Answer.Args
	}
	if err := c.admit(ctx, args, false); err != nil {
		return Result{}, err
	}
	if c.tool.definition() != q.Definition {
		return Result{}, fault.New(fault.Conflict, "the tool %s changed since the approval was requested", c.tool.Name)
	}
	ctx, cancel := c.limited(ctx)
	defer cancel()
	if q.Consent != "" {
		return c.performConsent(ctx, q, again)
	}
	if asked, err := c.share(ctx); err != nil {
		return Result{}, err
	} else if asked != nil { // what was shared was taken back meanwhile
		*again = *asked
		return Result{}, errAgain
	}
	switch {
	case c.tool.Effect == access.Reads:
		return c.performRead(ctx, q)
	case c.tool.Effect == access.Acts && !q.Ran:
		return c.performAct(ctx, q, again)
	case q.isAboutContent():
		return c.performContent(ctx, q, again)
	}
	value, set, err := c.replan(ctx, q)
	if err != nil {
		return Result{}, err
	}
	d, err := c.judge(ctx, set, previewOf(c.tool, value, set), "")
	switch {
	case err != nil:
		return Result{}, err
	case d.Verdict == policy.Deny:
		return Result{}, fault.New(fault.Denied, "%s: %s", c.tool.Name, d.Reason)
	case !q.holds(set, d.Risk):
		return Result{}, c.askAgain(again, q, value, set, d)
	}
	return c.performEdits(ctx, q, value, set, again)
}

// performConsent goes on with a call that asked what its caller may read.
func (c *call) performConsent(ctx context.Context, q Question, again *Question) (Result, error) {
	asked, err := c.shareAsDecided(ctx)
	if err == nil && asked != nil {
		err = fault.New(fault.Denied, "%s: %s", c.tool.Name, asked.Reason)
	}
	if err != nil {
		return Result{}, err
	}
	c.next = again
	res, err := c.proceed(ctx)
	res.Feedback = q.Answer.Word
	return res, err
}

// shareAsDecided waits for the decision of an answer that was just given: the
// answer is seen by every process before what it allows is stored. Without it,
// the caller gets nothing.
func (c *call) shareAsDecided(ctx context.Context) (asked *Question, err error) {
	for range 200 {
		if asked, err = c.share(ctx); err != nil || asked == nil {
			return asked, err
		}
		select {
		case <-ctx.Done():
			return asked, ctx.Err()
		case <-time.After(25 * time.Millisecond):
		}
	}
	return asked, err
}

// holds reports whether a plan is the one that the person agreed to.
func (q *Question) holds(set change.Set, risk policy.Risk) bool {
	switch {
	case len(q.Answer.Args) == 0:
		return set.Hash() == q.Plan
	case q.Answer.Plan != "":
		return set.Hash() == q.Answer.Plan
	}
	return risk != policy.Destroy && risk != policy.Exec
}

// askAgain makes the question anew from a plan that was not agreed to.
func (c *call) askAgain(again *Question, q Question, value any, set change.Set, d policy.Decision) error {
	*again = c.newQuestion(previewOf(c.tool, value, set), set, d)
	again.Edits, again.Ran, again.Value = q.Edits, q.Ran, q.Value
	return errAgain
}

// replan is the plan of a call, made once more, or kept from when it ran.
func (c *call) replan(ctx context.Context, q Question) (any, change.Set, error) {
	if !q.Ran {
		return c.planned(ctx)
	}
	c.reached = true
	value, err := c.tool.decode(q.Value)
	return value, q.Edits, err
}

// performEdits makes the part of the edits that the person chose.
func (c *call) performEdits(ctx context.Context, q Question, value any, set change.Set, again *Question) (Result, error) {
	p := previewOf(c.tool, value, set)
	chosen, err := selection.Choose(set, q.Answer.Paths, q.Answer.Hunks)
	if err != nil {
		return Result{}, err
	}
	res := c.result(value)
	res.Message, res.Feedback = p.Summary, q.Answer.Word
	if len(chosen) < len(set) || len(q.Answer.Hunks) > 0 {
		// What the tool said of its whole plan is not true of a part.
		res.Value = partOf(chosen, set)
	}
	if len(q.Answer.Args) > 0 {
		c.notices = append(c.notices, "a person edited the arguments: "+string(c.rec.Args))
	}
	if len(chosen) == 0 {
		return res, nil
	}
	c.rec.Decision, c.rec.Reason = policy.Allow, q.Answer.By.Answers("approved")
	err = c.apply(ctx, value, chosen, p.Summary)
	if fault.Of(err) == fault.Conflict && !q.Ran {
		// A file changed between the plan and the edits.
		if v, fresh, e := c.planned(ctx); e == nil && fresh.Hash() != set.Hash() {
			d, e := c.judge(ctx, fresh, previewOf(c.tool, v, fresh), "")
			if e != nil {
				return Result{}, e
			}
			return Result{}, c.askAgain(again, q, v, fresh, d)
		}
	}
	if err != nil {
		return Result{}, err
	}
	res.Operation, res.Changes = c.op, change.Brief(c.seen(chosen.Describe()))
	return res, nil
}

// performAct runs an act. Edits that it wants are a question of their own.
func (c *call) performAct(ctx context.Context, q Question, again *Question) (Result, error) {
	c.rec.Decision, c.rec.Reason = policy.Allow, q.Answer.By.Answers("approved")
	value, set, err := c.recordAndRun(ctx)
	if err != nil || len(set) == 0 {
		return c.found(value, err)
	}
	d, err := c.judge(ctx, set, previewOf(c.tool, value, set), "")
	if err != nil {
		return Result{}, err
	}
	if d.Verdict != policy.Ask {
		return c.applyDecision(ctx, value, set, d)
	}
	if *again, err = c.edited(value, set, d); err != nil {
		return Result{}, err
	}
	return Result{}, errAgain
}

// conclude stores how a question ended, or asks it anew.
func (r *Registry) conclude(ctx context.Context, q Question, again *Question, res Result, err error) (Result, error) {
	old := q
	switch {
	case errors.Is(err, errAgain):
		next := *again
		next.ID, next.Revision, next.Operation = q.ID, q.Revision+1, ""
		notice := "The plan changed; review it again"
		switch {
		case next.Ran && !old.Ran:
			notice = "It ran; review the changes that it wants to make"
		case old.isAboutContent() && !next.isAboutContent():
			notice = "It is allowed; review the changes that it wants to make"
		}
		next.Notices = append(next.Notices, notice)
		if q, _, err = r.transition(ctx, next, old); err != nil {
			return Result{}, err
		}
		r.deps.Bus.Publish(TopicAsked, q, true)
		return r.stillWaits(q), nil
	case err != nil:
		q.State = Failed
		q.Outcome, _ = schema.Marshal(NewFailure(err)) // a struct of strings
		_, _, e := r.transition(ctx, q, old)
		return Result{}, errors.Join(err, e)
	}
	q.State, q.Operation = Done, res.Operation
	if q.Outcome, err = json.Marshal(res); err != nil {
		return res, err
	}
	_, _, err = r.transition(ctx, q, old)
	return res, err
}

// stillWaits is the answer of a call whose question waits.
func (r *Registry) stillWaits(q Question) Result {
	t, err := r.Find(q.Tool)
	if err != nil {
		t = &Tool{Name: q.Tool, Title: q.Tool}
	}
	return Result{Tool: t, Question: &q, Message: q.Preview.Summary, Changes: change.Brief(q.Changes), Notices: q.Notices}
}
