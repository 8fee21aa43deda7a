package tool

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"lore/internal/change"
	"lore/internal/fault"
	"lore/internal/tool/access"
	"lore/internal/tool/policy"
	"lore/internal/tool/schema"
)

// patience is how long a question waits for its answer.
const patience = 24 * time.Hour

// newQuestion puts a plan into words that a person can decide on.
func (c *call) newQuestion(p Preview, set change.Set, d policy.Decision) Question {
	p.Warnings = append(p.Warnings[:len(p.Warnings):len(p.Warnings)], c.warnings(set)...)
	return Question{
		Unshared: c.unshared(set), Untrusted: c.who.Kind != access.Person && c.hasOutside(set),
		ID: c.deps.ID("pending"), State: Pending, Asked: c.deps.Now(), Expires: c.deps.Now().Add(patience),
		Who: c.who, Tool: c.tool.Name, Definition: c.tool.definition(), Args: c.args, ArgsHash: c.rec.ArgsHash,
		Plan: set.Hash(), Moment: c.moment, Files: set.Bases(), Preview: p, Risk: d.Risk, Reason: d.Reason, Changes: set.Describe(), Notices: c.notices,
	}
}

// edited is a question about the edits of an act that already ran. They cannot
// be planned again, so they are kept with it.
func (c *call) edited(value any, set change.Set, d policy.Decision) (Question, error) {
	q := c.newQuestion(previewOf(c.tool, value, set), set, d)
	raw, err := schema.Marshal(value)
	q.Edits, q.Ran, q.Value = set, true, raw
	return q, err
}

// ask stores a question and answers that it waits.
func (c *call) ask(ctx context.Context, q Question) (Result, error) {
	if c.next != nil { // the question that is being carried out goes on with this one
		*c.next = q
		return Result{}, errAgain
	}
	if c.deps.Questions == nil {
		return Result{}, fault.New(fault.Denied, "%s: %s, and this process cannot ask for approval", c.tool.Name, q.Reason)
	}
	if c.who.Unasked {
		return Result{}, fault.New(fault.Denied, "%s: a person must decide about this first", c.tool.Name)
	}
	if err := c.checkPendingLimit(ctx); err != nil {
		return Result{}, err
	}
	if q.Who.May(access.Confirm) && c.deps.HasPIN != nil {
		has, err := c.deps.HasPIN(ctx)
		q.NeedsPIN = has || err != nil // the answer finds out again
	}
	c.noteOutside(ctx, &q)
	if err := c.deps.Questions.Ask(ctx, q); err != nil {
		return Result{}, fmt.Errorf("%s: the approval request cannot be stored: %w", c.tool.Name, err)
	}
	c.log().Info("approval asked", "approval", q.ID, "risk", string(q.Risk), "files", len(q.Changes))
	c.deps.Bus.Publish(TopicAsked, q, true)
	return c.waits(q), nil
}

// mostOpen is how many questions of one caller may wait: more would bury the
// person who must read them.
const mostOpen = 20

// checkPendingLimit refuses a question when too many of this caller wait already.
func (c *call) checkPendingLimit(ctx context.Context) error {
	if c.who.Kind == access.Person {
		return nil
	}
	list, err := c.deps.Questions.List(ctx, Pending)
	if err != nil {
		return err
	}
	n := 0
	for _, q := range list {
		if q.Who.Kind == c.who.Kind && q.Who.ID == c.who.ID && c.deps.Now().Before(q.Expires) {
			n++
		}
	}
	if n >= mostOpen {
		return fault.Fix(fault.Busy, "wait until a person has answered", "this caller already has %d pending approvals", n)
	}
	return nil
}

// waits is the answer of a call whose question is not answered yet.
func (c *call) waits(q Question) Result {
	q = q.VisibleTo(q.Who)
	return Result{Tool: c.tool, Question: &q, Message: q.Preview.Summary, Changes: change.Brief(q.Changes), Notices: c.notices}
}

// Questions returns the questions in these states, all when there are none. A
// question whose time is over is expired on the way.
func (r *Registry) Questions(ctx context.Context, states ...State) ([]Question, error) {
	if r.deps.Questions == nil {
		return nil, nil
	}
	list, err := r.deps.Questions.List(ctx, states...)
	if err != nil {
		return nil, err
	}
	var out []Question
	for _, q := range list {
		if q, err = r.expire(ctx, q); err != nil {
			return nil, err
		}
		if len(states) == 0 || contained(states, q.State) {
			out = append(out, q)
		}
	}
	return out, nil
}

func contained(list []State, s State) bool {
	for _, l := range list {
		if l == s {
			return true
		}
	}
	return false
}

// Question returns the question of that id, or of the one id that begins so.
func (r *Registry) Question(ctx context.Context, id string) (Question, error) {
	if r.deps.Questions == nil {
		return Question{}, fault.New(fault.Unavailable, "approvals are not available in this process")
	}
	q, err := r.deps.Questions.Get(ctx, id)
	if err != nil {
		return Question{}, err
	}
	return r.expire(ctx, q)
}

// expire ends a question that nobody answered in time.
func (r *Registry) expire(ctx context.Context, q Question) (Question, error) {
	if q.State != Pending || r.deps.Now().Before(q.Expires) {
		return q, nil
	}
	old := q
	q.State = Expired
	q, _, err := r.transition(ctx, q, old)
	return q, err
}

// transition stores the next state of a question and reports whether it did. When
// another was quicker, what it stored is returned, and won is false.
func (r *Registry) transition(ctx context.Context, q, old Question) (now Question, won bool, err error) {
	won, err = r.deps.Questions.Update(ctx, q, old.State, old.Revision)
	if err != nil {
		return Question{}, false, err
	}
	if !won {
		now, err = r.deps.Questions.Get(ctx, q.ID)
		return now, false, err
	}
	if q.State.Over() {
		r.deps.Log.Info("approval over", "approval", q.ID, "state", string(q.State))
		r.deps.Bus.Publish(TopicOver, q, true)
	}
	return q, true, nil
}

// Cancel withdraws a question that is not answered. The one who asked may, and
// any person.
func (r *Registry) Cancel(ctx context.Context, who access.Principal, id string) error {
	q, err := r.Question(ctx, id)
	switch {
	case err != nil:
		return err
	case !isPerson(who) && (who.Kind != q.Who.Kind || who.ID != q.Who.ID):
		return fault.New(fault.Denied, "only a person or the caller that requested it can withdraw %s", q.ID)
	case q.State != Pending:
		return answered(q)
	}
	old := q
	q.State = Cancelled
	q, won, err := r.transition(ctx, q, old)
	if err == nil && !won {
		return answered(q)
	}
	return err
}

// isPerson reports whether somebody may decide about everybody's questions: the
// dialog of an app may not.
func isPerson(p access.Principal) bool { return p.Kind == access.Person && p.May(access.Approve) }

func answered(q Question) error {
	return fault.New(fault.Conflict, "%s is no longer pending: it is %s", q.ID, q.State)
}

// resultOf is the answer of a call whose question is over.
func (r *Registry) resultOf(q Question) (Result, error) {
	t, err := r.Find(q.Tool)
	if err != nil {
		t = &Tool{Name: q.Tool, Title: q.Tool}
	}
	switch q.State {
	case Denied:
		res := Result{Tool: t, Refused: "User cancelled tool execution", Message: "Denied: " + q.Preview.Summary}
		if q.Answer != nil {
			res.Feedback = q.Answer.Word
		}
		return res, nil
	case Cancelled, Expired:
		return Result{Tool: t, Refused: "Nobody answered: the approval is " + string(q.State), Message: q.Preview.Summary}, nil
	case Failed:
		var f Failure
		if err := json.Unmarshal(q.Outcome, &f); err != nil {
			return Result{}, fault.New(fault.Internal, "the outcome of %s cannot be read: %v", q.ID, err)
		}
		return Result{}, f.Err()
	}
	return storedResult(t, q)
}

// storedResult reads back what a finished call answered.
func storedResult(t *Tool, q Question) (Result, error) {
	var head struct {
		Message string       `json:"message"`
		Notices []string     `json:"notices"`
		Changes []FileChange `json:"changes"`
		Partial bool         `json:"partial"`
		Foreign bool         `json:"untrusted"`
	}
	if err := json.Unmarshal(q.Outcome, &head); err != nil {
		return Result{}, fault.New(fault.Internal, "the result of %s cannot be read: %v", q.ID, err)
	}
	res := Result{Success: true, Tool: t, Message: head.Message, Notices: head.Notices, Changes: head.Changes, Operation: q.Operation, Untrusted: head.Foreign}
	decode := t.decode
	if decode == nil { // a tool of another server, which is not here
		decode = withoutCommon
	}
	if head.Partial {
		decode = func(raw json.RawMessage) (any, error) {
			var p Part
			err := json.Unmarshal(raw, &p)
			return p, err
		}
	}
	value, err := decode(q.Outcome)
	if err != nil {
		return Result{}, fault.New(fault.Internal, "the result of %s cannot be read: %v", q.ID, err)
	}
	res.Value = value
	return res, nil
}

// Rules are the standing answers in force.
func (r *Registry) Rules(ctx context.Context) ([]policy.Rule, error) {
	if r.deps.Questions == nil {
		return nil, nil
	}
	return r.deps.Questions.Rules(ctx)
}

// Forget takes a standing answer back.
func (r *Registry) Forget(ctx context.Context, person access.Principal, id string) error {
	if !isPerson(person) {
		return fault.New(fault.Denied, "only a person can remove a rule")
	}
	return r.deps.Questions.DropRule(ctx, id)
}
