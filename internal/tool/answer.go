package tool

import (
	"context"
	"errors"
	"strings"
	"time"

	"lore/internal/change"
	"lore/internal/fault"
	"lore/internal/tool/access"
	"lore/internal/tool/policy"
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
		return Result{}, fault.New(fault.Denied, "only a person can answer an approval request")
	}
	q, err := r.Question(ctx, id)
	if err != nil {
		return Result{}, err
	}
	if err := admitAnswer(q, person, a); err != nil {
		return Result{}, err
	}
	if err := r.refuseWithoutPIN(ctx, person, a); err != nil {
		return Result{}, err
	}
	if err := r.prepare(&a, q, person); err != nil {
		return Result{}, err
	}
	away := false // another process must do it
	if a.Approve {
		if away, err = r.needsOtherProcess(ctx, q); err != nil {
			return Result{}, err
		}
	}
	old := q
	q.Answer, q.State = &a, Denied
	if a.Approve {
		q.State = Approved
	}
	q, won, err := r.transition(ctx, q, old)
	if err != nil {
		return Result{}, err
	}
	if !won {
		return Result{}, answered(q)
	}
	r.deps.Log.Info("approval answered", "approval", q.ID, "approve", a.Approve, "surface", person.Surface)
	err = r.keepDecision(ctx, q)
	r.deps.Bus.Publish(TopicAnswered, q, true) // after it: a caller that goes on must meet what was decided
	if err != nil {
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
		return fault.Fix(fault.Denied, "answer on the web page, or in a terminal that you opened yourself",
			"the program that requested this, or one that it started, cannot answer %s", q.ID)
	}
	if person.Kind != access.Dialog {
		return nil
	}
	switch {
	case q.Who.Kind != access.MCP && q.Who.Kind != access.Agent || q.Who.ID != person.ID || !q.Who.May(access.Confirm):
		// An agent may only where an editor that its person trusts started it.
		return fault.New(fault.Denied, "an app's own dialog can approve or deny only that app's own requests, and only with the %s scope", access.Confirm)
	case q.Risk == policy.Share:
		return fault.New(fault.Denied, "an app cannot decide what is shared with it")
	case a.Approve && len(q.Unshared) > 0: // a person at the app's dialog sees only a part of it
		return fault.Fix(fault.Denied, "approve it on the web page or in a terminal", "the change affects notes that are not shared with this app")
	case a.Always != nil || len(a.Args) > 0:
		return fault.New(fault.Denied, "an app's own dialog can only approve or deny; it cannot edit the change or add a rule")
	}
	return nil
}

// refuseWithoutPIN refuses an approval in the dialog of an app where a PIN is set: the
// dialog cannot ask for it, and any program of the user can show one.
func (r *Registry) refuseWithoutPIN(ctx context.Context, person access.Principal, a Answer) error {
	if person.Kind != access.Dialog || !a.Approve || r.deps.HasPIN == nil {
		return nil
	}
	has, err := r.deps.HasPIN(ctx)
	if err != nil || !has {
		return err
	}
	return fault.Fix(fault.Denied, "approve it on the web page or in a terminal", "an approval needs the PIN, which an app's own dialog cannot ask for")
}

// prepare checks an answer before anything depends on it.
func (r *Registry) prepare(a *Answer, q Question, person access.Principal) error {
	switch {
	case q.State != Pending:
		return answered(q)
	case a.Revision != q.Revision:
		return fault.Fix(fault.Conflict, "review it again", "the plan for %s changed, because a file changed", q.ID)
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
		return fault.Field("args", "select files instead", "the tool already ran, so its arguments cannot be changed")
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
		return fault.Field(DryRun, "leave it out", "cannot be used in an approval")
	}
	a.Args = args
	return err
}

// needsOtherProcess reports whether another process must carry the call out. What
// nobody can do is an error now, while the question can still wait.
func (r *Registry) needsOtherProcess(ctx context.Context, q Question) (bool, error) {
	t, err := r.Find(q.Tool)
	if err != nil && strings.HasPrefix(q.Tool, ExternalPrefix) && r.deps.Fetch != nil {
		// Its server may be connected in the process that holds the vault alone.
		t, err = &Tool{Name: q.Tool, Effect: access.Acts}, nil
	}
	if err != nil {
		return false, err
	}
	c := r.receive(ctx, q.Who, q.Tool)
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
	_, won, err := r.transition(context.WithoutCancel(ctx), q, old)
	if err == nil && !won {
		return r.Await(ctx, q.ID, q.Revision)
	}
	return Result{}, errors.Join(err, fault.Fix(fault.Busy, "answer again when it has finished",
		"another lore process has the vault open and does not carry out approvals; %s is still pending", q.ID))
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
