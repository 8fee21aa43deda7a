package tool

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"lore/internal/access"
	"lore/internal/change"
	"lore/internal/fault"
	"lore/internal/policy"
	"lore/internal/schema"
)

// Answer is how a person answers a question, once. An approved call is planned
// again; only when that gives exactly what was shown is it carried out, else
// the question is asked anew with the new plan. Arguments that the person
// edited are the person's own act: they are planned, and carried out unless
// they destroy more than what was shown.
func (r *Registry) Answer(ctx context.Context, person access.Principal, id string, a Answer) (Result, error) {
	if !person.May(access.Approve) {
		return Result{}, fault.New(fault.Denied, "only a person can answer")
	}
	q, err := r.Question(ctx, id)
	if err != nil {
		return Result{}, err
	}
	if q.State != Pending {
		return Result{}, answered(q)
	}
	if err := r.prepare(&a, q, person); err != nil {
		return Result{}, err
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
	if a.Always != nil {
		if err := r.deps.Questions.AddRule(ctx, *a.Always); err != nil {
			return Result{}, err
		}
	}
	if !a.Approve {
		return r.refuse(ctx, q)
	}
	return r.carryOut(ctx, q)
}

// prepare checks an answer before anything depends on it.
func (r *Registry) prepare(a *Answer, q Question, person access.Principal) error {
	a.By, a.At = person, r.deps.Now()
	if len(a.Args) > 0 {
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
	}
	if a.Always == nil {
		return nil
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

// refuse records a denial.
func (r *Registry) refuse(ctx context.Context, q Question) (Result, error) {
	res, err := r.resultOf(q)
	if err != nil || r.deps.Ledger == nil {
		return res, err
	}
	rec := CallRecord{
		ID: r.deps.ID("call"), Time: q.Answer.At, Who: q.Who, Tool: q.Tool, Args: q.Args, ArgsHash: q.ArgsHash, Targets: few(paths(q.Changes)),
		Decision: policy.Deny, Reason: "a person said no", Status: CallDenied, Summary: q.Preview.Summary, Question: q.ID, Cost: -1,
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

// carryOut does what was approved. Of all processes that try, one does it.
func (r *Registry) carryOut(ctx context.Context, q Question) (res Result, err error) {
	c := r.receive(q.Who, q.Tool)
	c.question, c.notices = q.ID, nil
	if c.tool, err = r.Find(q.Tool); err != nil {
		return Result{}, err
	}
	if err := c.writable(ctx); err != nil && c.tool.Effect == access.Changes {
		// Another process holds the vault. It sees the answer and does it.
		res := c.waits(q)
		res.Notices = append(res.Notices, "approved; it is carried out by the process that holds the vault: "+err.Error())
		return res, nil
	}
	if q.State != Approved {
		return Result{}, answered(q)
	}
	old := q
	c.op = r.deps.ID("op")
	q.State, q.Operation = Running, c.op
	q, won, err := r.moved(ctx, q, old)
	if err != nil {
		return Result{}, err
	}
	if !won { // another was quicker
		return r.Await(ctx, q.ID)
	}
	again := &Question{}
	defer func() {
		err = c.end(ctx, &res, err)
		res, err = r.conclude(context.WithoutCancel(ctx), q, again, res, err)
	}()
	return c.perform(ctx, q, again)
}

// perform plans again and carries out. With errAgain, again is what to ask.
func (c *call) perform(ctx context.Context, q Question, again *Question) (Result, error) {
	args, edited := q.Args, len(q.Answer.Args) > 0
	if edited {
		args = q.Answer.Args
	}
	if err := c.admit(args, false); err != nil {
		return Result{}, err
	}
	if c.tool.definition() != q.Definition {
		return Result{}, fault.New(fault.Conflict, "%s is not the tool it was when it was asked about", c.tool.Name)
	}
	ctx, cancel := context.WithTimeout(ctx, c.tool.Timeout)
	defer cancel()
	var value any
	var set change.Set
	var err error
	switch {
	case q.Ran:
		value, set = any(q.Value), q.Edits
		if value, err = c.tool.decode(q.Value); err != nil {
			return Result{}, err
		}
	case c.tool.Effect == access.Acts:
		return c.performAct(ctx, again)
	default:
		if value, set, err = c.planned(ctx); err != nil {
			return Result{}, err
		}
	}
	p := previewOf(c.tool, value, set)
	d, err := c.judge(ctx, set, p, "")
	switch {
	case err != nil:
		return Result{}, err
	case d.Verdict == policy.Deny:
		return Result{}, fault.New(fault.Denied, "%s: %s", c.tool.Name, d.Reason)
	case !edited && set.Hash() != q.Plan, edited && d.Risk == policy.Destroy && q.Risk != policy.Destroy:
		*again = c.newQuestion(p, set, d)
		again.Edits, again.Ran, again.Value = q.Edits, q.Ran, q.Value
		return Result{}, errAgain
	}
	return c.performEdits(ctx, q, value, set, d, again)
}

// performEdits makes the part of the edits that the person chose.
func (c *call) performEdits(ctx context.Context, q Question, value any, set change.Set, d policy.Decision, again *Question) (Result, error) {
	p := previewOf(c.tool, value, set)
	chosen, err := choose(set, q.Answer.Paths, q.Answer.Hunks)
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
	c.rec.Decision, c.rec.Reason = policy.Allow, "a person approved it"
	err = c.apply(ctx, value, chosen, p.Summary)
	if fault.Of(err) == fault.Conflict && !q.Ran {
		// A file changed between the plan and the edits.
		if _, fresh, e := c.planned(ctx); e == nil && fresh.Hash() != set.Hash() {
			*again = c.newQuestion(p, fresh, d)
			return Result{}, errAgain
		}
	}
	if err != nil {
		return Result{}, err
	}
	res.Operation, res.Changes = c.op, brief(drawn(chosen))
	return res, nil
}

// performAct runs an act. Edits that it wants are a question of their own.
func (c *call) performAct(ctx context.Context, again *Question) (Result, error) {
	c.rec.Decision, c.rec.Reason = policy.Allow, "a person approved it"
	value, set, err := c.ran(ctx)
	if err != nil || len(set) == 0 {
		return c.result(value), err
	}
	d, err := c.judge(ctx, set, previewOf(c.tool, value, set), "")
	if err != nil || d.Verdict != policy.Ask {
		res, e := c.settle(ctx, value, set, d)
		return res, errors.Join(err, e)
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
		t, err := r.Find(q.Tool)
		return Result{Tool: t, Question: &q, Message: q.Preview.Summary, Changes: brief(q.Changes), Notices: q.Notices}, err
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

// Rehearse shows what a question would become with an answer, and does nothing.
func (r *Registry) Rehearse(ctx context.Context, person access.Principal, id string, a Answer) (Question, error) {
	if !person.May(access.Approve) {
		return Question{}, fault.New(fault.Denied, "only a person can answer")
	}
	q, err := r.Question(ctx, id)
	if err != nil {
		return Question{}, err
	}
	if err := r.prepare(&a, q, person); err != nil {
		return Question{}, err
	}
	c := r.receive(q.Who, q.Tool)
	args := q.Args
	if len(a.Args) > 0 {
		args = a.Args
	}
	if err := c.admit(args, false); err != nil {
		return Question{}, err
	}
	if c.tool.Effect == access.Acts && !q.Ran {
		p, err := c.foreseen(ctx)
		q.Preview, q.Args, q.ArgsHash = p, c.args, c.rec.ArgsHash
		return q, err
	}
	set := q.Edits
	var value any
	if !q.Ran {
		if value, set, err = c.planned(ctx); err != nil {
			return Question{}, err
		}
	}
	if set, err = choose(set, a.Paths, a.Hunks); err != nil {
		return Question{}, err
	}
	d, err := c.judge(ctx, set, previewOf(c.tool, value, set), "")
	if err != nil {
		return Question{}, err
	}
	next := c.newQuestion(previewOf(c.tool, value, set), set, d)
	next.ID, next.Revision, next.State, next.Asked, next.Expires = q.ID, q.Revision, q.State, q.Asked, q.Expires
	return next, nil
}

// pollEvery is how often a waiting caller looks whether another process has
// answered.
const pollEvery = 150 * time.Millisecond

// Await waits until a question is over and returns the answer of its call. An
// answer that another process gave is carried out here, when this one can.
func (r *Registry) Await(ctx context.Context, id string) (Result, error) {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		q, err := r.Question(ctx, id)
		if err != nil {
			return Result{}, err
		}
		if q.State.Over() {
			return r.resultOf(q)
		}
		if q.State == Approved && r.canWrite(ctx) {
			res, err := r.carryOut(ctx, q)
			if err != nil || res.Question == nil {
				return res, err
			}
		}
		select {
		case <-ctx.Done():
			return Result{}, ctx.Err()
		case <-tick.C:
		}
	}
}

// Attend carries out what other processes approve, until ctx ends. A process
// that stays and holds the vault runs it.
func (r *Registry) Attend(ctx context.Context) {
	if r.deps.Questions == nil {
		return
	}
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		list, err := r.deps.Questions.List(ctx, Approved)
		if err != nil && ctx.Err() == nil {
			r.deps.Log.Warn("approvals cannot be read", "kind", string(fault.Of(err)))
		}
		for _, q := range list {
			if !r.canWrite(ctx) {
				break
			}
			if _, err := r.carryOut(ctx, q); err != nil {
				r.deps.Log.Info("what was approved did not work", "approval", q.ID, "kind", string(fault.Of(err)))
			}
		}
	}
}

func (r *Registry) canWrite(ctx context.Context) bool {
	return r.deps.Apply != nil && (r.deps.Writable == nil || r.deps.Writable(ctx) == nil)
}

// Recover settles the questions that a crash left half answered: what was
// carried out is done, everything else is asked again. Only the process that
// holds the vault calls it, after the vault and the ledger are settled.
func (r *Registry) Recover(ctx context.Context) error {
	if r.deps.Questions == nil || r.deps.Ledger == nil {
		return nil
	}
	list, err := r.deps.Questions.List(ctx, Approved, Running)
	if err != nil {
		return err
	}
	for _, q := range list {
		old := q
		q.State, q.Answer, q.Revision = Pending, nil, q.Revision+1
		if o, err := r.deps.Ledger.Outcome(ctx, q.Operation); q.Operation != "" && err == nil && (o == Applied || o == Undone) {
			q = old
			q.State = Done
			q.Outcome = json.RawMessage(`{"success":true,"message":"carried out before the program was stopped"}`)
		}
		if q.State == Pending {
			q.Operation = ""
			q.Notices = append(q.Notices, "asked again: the program was stopped before it was done")
		}
		if _, _, err := r.moved(ctx, q, old); err != nil {
			return err
		}
	}
	return nil
}
