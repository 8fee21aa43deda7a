package tool

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"lore/internal/access"
	"lore/internal/change"
	"lore/internal/fault"
	"lore/internal/pick"
	"lore/internal/policy"
	"lore/internal/schema"
)

// Answer is how a person answers a question, once, as it was when they saw it.
// An approved call is planned again; only when that gives exactly what was
// shown is it carried out, else the question is asked anew with the new plan.
// Arguments that the person edited are the person's own act: they are planned,
// and carried out when that is what was rehearsed, or destroys nothing.
//
// When another process holds the vault, that one carries it out; when it does
// not, the answer is taken back and the question waits as before.
func (r *Registry) Answer(ctx context.Context, person access.Principal, id string, a Answer) (Result, error) {
	if !person.May(access.Approve) {
		return Result{}, fault.New(fault.Denied, "only a person can answer")
	}
	q, err := r.Question(ctx, id)
	if err != nil {
		return Result{}, err
	}
	if err := admitAnswer(q, person, a); err != nil {
		return Result{}, err
	}
	if err := r.prepare(&a, q, person); err != nil {
		return Result{}, err
	}
	away := false // another process must do it
	if a.Approve {
		if away, err = r.elsewhere(ctx, q); err != nil {
			return Result{}, err
		}
	}
	old := q
	q.Answer, q.State = &a, Denied
	if a.Approve {
		q.State = Approved
	}
	q, won, err := r.moved(ctx, q, old)
	if err != nil {
		return Result{}, err
	}
	if !won {
		return Result{}, answered(q)
	}
	r.deps.Log.Info("approval answered", "approval", q.ID, "approve", a.Approve, "surface", person.Surface)
	r.deps.Bus.Publish(TopicAnswered, q, true)
	if err := r.keepDecision(ctx, q); err != nil {
		return Result{}, err
	}
	if !a.same {
		defer r.answerOthers(context.WithoutCancel(ctx), person, q, a)
	}
	if !a.Approve {
		return r.refuse(ctx, q)
	}
	res, err := r.carryOutOrWait(ctx, q, away)
	if err != nil && q.Consent != "" {
		// The person decided about the recipient, and that is kept; that the call
		// which asked fails is the caller's business.
		return Result{Success: true, Tool: &Tool{Name: q.Tool, Title: q.Tool}, Message: q.Preview.Summary}, nil
	}
	return res, err
}

// carryOutOrWait does what was approved, or waits for the process that does it.
func (r *Registry) carryOutOrWait(ctx context.Context, q Question, away bool) (Result, error) {
	if away {
		return r.handOver(ctx, q)
	}
	res, won, err := r.carryOut(ctx, q)
	if err == nil && !won {
		return r.Await(ctx, q.ID, q.Revision)
	}
	return res, err
}

// keepDecision keeps what an answer decides beyond the call that asked: standing
// rules, and what may or may not be shared.
func (r *Registry) keepDecision(ctx context.Context, q Question) error {
	switch a := q.Answer; {
	case !a.Approve:
		if err := r.remember(ctx, q, q.refusedFiles(r.deps.Real)); err != nil || a.Always == nil || q.Consent != "" {
			return err
		}
	case q.Consent != "":
		return r.grant(ctx, q)
	case a.Always == nil:
		return nil
	}
	return r.deps.Questions.AddRule(ctx, *q.Answer.Always)
}

// admitAnswer refuses an answer of somebody who may answer, but not this
// question, or not so.
func admitAnswer(q Question, person access.Principal, a Answer) error {
	if access.ComesFrom(person.Line, q.Who.Program) {
		return fault.Fix(fault.Denied, "answer on the page, or in a terminal that you opened yourself",
			"the program that asked for this, or one that it started, cannot answer %s", q.ID)
	}
	if person.Kind != access.Dialog {
		return nil
	}
	switch {
	case q.Who.Kind != access.MCP || q.Who.ID != person.ID || !q.Who.May(access.Confirm):
		return fault.New(fault.Denied, "the dialog of an app can answer only what the app asked, and only with the right to %s", access.Confirm)
	case q.Risk == policy.Share:
		return fault.New(fault.Denied, "an app cannot decide what is shared with it")
	case a.Approve && len(q.Unshared) > 0: // a person at the app's dialog sees only a part of it
		return fault.Fix(fault.Denied, "approve it on the page or in a terminal", "the change reaches notes that are not shared with this app")
	case a.Always != nil || len(a.Args) > 0:
		return fault.New(fault.Denied, "the dialog of an app can approve or deny, and nothing more")
	}
	return nil
}

// prepare checks an answer before anything depends on it.
func (r *Registry) prepare(a *Answer, q Question, person access.Principal) error {
	switch {
	case q.State != Pending:
		return answered(q)
	case a.Revision != q.Revision:
		return fault.Fix(fault.Conflict, "look at it again", "%s was computed again since: a file changed", q.ID)
	}
	a.By, a.At = person, r.deps.Now()
	a.By.Line = nil // it was looked at, and tells nobody anything later
	if a.Paths != nil && len(a.Paths) == 0 && len(q.Changes) > 0 && q.Changes[0].Action == change.Reads {
		a.Approve = false // to show none of the files is to say no
	}
	if err := r.prepareArgs(a, q); err != nil {
		return err
	}
	if a.Always == nil {
		return nil
	}
	if q.Consent != "" {
		return nil // it says that the consent is not for this run alone
	}
	rule := a.Always
	rule.ID, rule.Made, rule.Definition = r.deps.ID("rule"), a.At, q.Definition
	if rule.Tool == "" {
		rule.Tool = q.Tool
	}
	if rule.Verdict == "" {
		rule.Verdict = policy.Deny
		if a.Approve {
			rule.Verdict = policy.Allow
		}
	}
	return rule.Check(q.Risk)
}

func (r *Registry) prepareArgs(a *Answer, q Question) error {
	if len(a.Args) == 0 {
		return nil
	}
	if q.Ran {
		return fault.Field("args", "choose among the files instead", "it already ran; its arguments cannot change")
	}
	t, err := r.Find(q.Tool)
	if err != nil {
		return err
	}
	if a.Args, _, err = t.schema().Canonical(a.Args, false); err != nil {
		return err
	}
	if t.schema().Foreign() {
		return nil
	}
	args, dry, err := takeDryRun(a.Args)
	if err == nil && dry {
		return fault.Field(DryRun, "leave it out", "an approval does it, or says no")
	}
	a.Args = args
	return err
}

// elsewhere reports whether another process must carry the call out. What
// nobody can do is an error now, while the question can still wait.
func (r *Registry) elsewhere(ctx context.Context, q Question) (bool, error) {
	t, err := r.Find(q.Tool)
	if err != nil && strings.HasPrefix(q.Tool, ExternalPrefix) && r.deps.Fetch != nil {
		// Its server may be connected in the process that holds the vault alone.
		t, err = &Tool{Name: q.Tool, Effect: access.Acts}, nil
	}
	if err != nil {
		return false, err
	}
	c := r.receive(q.Who, q.Tool)
	c.tool = t
	err = c.writable(ctx)
	if fault.Of(err) == fault.Busy {
		return true, nil
	}
	if t.Effect != access.Changes && !q.Ran {
		return false, nil // it needs no vault
	}
	return false, err
}

// handed is how long the process that holds the vault has to begin.
const handed = 4 * time.Second

// handOver waits for the process that holds the vault. One that does not attend
// to answers never begins: then the answer is taken back.
func (r *Registry) handOver(ctx context.Context, q Question) (Result, error) {
	for range int(handed / pollEvery) {
		now, err := r.deps.Questions.Get(ctx, q.ID)
		if err != nil {
			return Result{}, err
		}
		if now.State != Approved || now.Revision != q.Revision {
			return r.Await(ctx, q.ID, q.Revision)
		}
		if err := wait(ctx, pollEvery); err != nil {
			return Result{}, err
		}
	}
	old := q
	q.State, q.Answer = Pending, nil
	_, won, err := r.moved(context.WithoutCancel(ctx), q, old)
	if err == nil && !won {
		return r.Await(ctx, q.ID, q.Revision)
	}
	return Result{}, errors.Join(err, fault.Fix(fault.Busy, "answer again when it has ended",
		"another lore process holds the vault and does not carry out answers; %s waits as before", q.ID))
}

func wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// refuse records a denial.
func (r *Registry) refuse(ctx context.Context, q Question) (Result, error) {
	res, err := r.resultOf(q)
	if err != nil || r.deps.Ledger == nil {
		return res, err
	}
	rec := CallRecord{
		ID: r.deps.ID("call"), Time: q.Answer.At, Who: q.Who, Tool: q.Tool, Args: q.Args, ArgsHash: q.ArgsHash, Targets: few(paths(q.Changes)),
		Decision: policy.Deny, Reason: q.Answer.By.Answers("denied"), Status: CallDenied, Summary: q.Preview.Summary, Question: q.ID, Cost: -1,
	}
	if res.Tool.schema != nil {
		rec.Args = res.Tool.redacted(q.Args)
	}
	return res, r.deps.Ledger.Record(ctx, rec)
}

func paths(list []FileChange) []string {
	var out []string
	for _, c := range list {
		out = append(out, c.Path)
	}
	return out
}

// errAgain says that what was shown no longer holds.
var errAgain = errors.New("computed again")

// carryOut does what was approved. Of all that try, one does it; won tells
// whether it was this one.
func (r *Registry) carryOut(ctx context.Context, q Question) (res Result, won bool, err error) {
	if q.State != Approved {
		return Result{}, false, answered(q)
	}
	c := r.receive(q.Who, q.Tool)
	c.question, c.moment, c.op = q.ID, q.Moment, r.deps.ID("op")
	old := q
	q.State, q.Operation = Running, c.op
	if q, won, err = r.moved(ctx, q, old); err != nil || !won {
		return Result{}, false, err
	}
	again := &Question{}
	res, err = c.perform(ctx, q, again)
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
		return Result{}, fault.New(fault.Conflict, "%s is not the tool it was when it was asked about", c.tool.Name)
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
	}
	value, set, err := c.again(ctx, q)
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
	asked, err := c.share(ctx)
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

// again is the plan of a call, made once more, or kept from when it ran.
func (c *call) again(ctx context.Context, q Question) (any, change.Set, error) {
	if !q.Ran {
		return c.planned(ctx)
	}
	value, err := c.tool.decode(q.Value)
	return value, q.Edits, err
}

// performEdits makes the part of the edits that the person chose.
func (c *call) performEdits(ctx context.Context, q Question, value any, set change.Set, again *Question) (Result, error) {
	p := previewOf(c.tool, value, set)
	chosen, err := pick.Choose(set, q.Answer.Paths, q.Answer.Hunks)
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
	value, set, err := c.ran(ctx)
	if err != nil || len(set) == 0 {
		return c.found(value, err)
	}
	d, err := c.judge(ctx, set, previewOf(c.tool, value, set), "")
	if err != nil {
		return Result{}, err
	}
	if d.Verdict != policy.Ask {
		return c.settle(ctx, value, set, d)
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
		next.Notices = append(next.Notices, "computed again: a file changed, or there is more to decide")
		if q, _, err = r.moved(ctx, next, old); err != nil {
			return Result{}, err
		}
		r.deps.Bus.Publish(TopicAsked, q, true)
		return r.stillWaits(q), nil
	case err != nil:
		q.State = Failed
		q.Outcome, _ = schema.Marshal(NewFailure(err)) // a struct of strings
		_, _, e := r.moved(ctx, q, old)
		return Result{}, errors.Join(err, e)
	}
	q.State, q.Operation = Done, res.Operation
	if q.Outcome, err = json.Marshal(res); err != nil {
		return res, err
	}
	_, _, err = r.moved(ctx, q, old)
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
