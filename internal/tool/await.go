package tool

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"lore/internal/change/selection"
	"lore/internal/fault"
	"lore/internal/tool/access"
	"lore/internal/tool/policy"
)

// Rehearse shows what a question would become with an answer, and does nothing.
// Its Plan, given back in the answer, is what the person then agrees to.
func (r *Registry) Rehearse(ctx context.Context, person access.Principal, id string, a Answer) (Question, error) {
	if !person.May(access.Approve) {
		return Question{}, fault.New(fault.Denied, "only a person can answer an approval request")
	}
	q, err := r.Question(ctx, id)
	if err != nil {
		return Question{}, err
	}
	if err := admitAnswer(q, person, a); err != nil {
		return Question{}, err
	}
	if err := r.prepare(&a, q, person); err != nil {
		return Question{}, err
	}
	c := r.receive(ctx, q.Who, q.Tool)
	c.moment = q.Moment
	args := q.Args
	if len(a.Args) > 0 {
		args = a.Args
	}
	if err := c.admit(ctx, args, false); err != nil {
		return Question{}, err
	}
	if c.tool.Effect == access.Reads {
		next := c.shown(policy.Decision{Risk: q.Risk, Reason: q.Reason})
		next.ID, next.Revision, next.State, next.Asked, next.Expires = q.ID, q.Revision, q.State, q.Asked, q.Expires
		return next, nil
	}
	if c.tool.Effect == access.Acts && !q.Ran {
		p, err := c.foreseen(ctx)
		q.Preview, q.Args, q.ArgsHash = p, c.args, c.rec.ArgsHash
		return q, err
	}
	value, set, err := c.replan(ctx, q)
	var held heldError
	switch {
	case errors.As(err, &held):
		next := c.heldQuestion(held)
		next.ID, next.Revision, next.State, next.Asked, next.Expires = q.ID, q.Revision, q.State, q.Asked, q.Expires
		return next, nil
	case err != nil:
		return Question{}, err
	}
	plan := set.Hash()
	if set, err = selection.Choose(set, a.Paths, a.Hunks); err != nil {
		return Question{}, err
	}
	d, err := c.judge(ctx, set, previewOf(c.tool, value, set), "")
	if err != nil {
		return Question{}, err
	}
	next := c.newQuestion(previewOf(c.tool, value, set), set, d)
	next.ID, next.Revision, next.State, next.Asked, next.Expires, next.Plan = q.ID, q.Revision, q.State, q.Asked, q.Expires, plan
	return next, nil
}

// pollEvery is how often a waiting caller looks whether another process has
// answered, where nothing tells of it.
const pollEvery = 150 * time.Millisecond

// lookEvery is how often it looks where every change is told: a question expires
// by itself, and an event can get lost.
const lookEvery = 10 * time.Second

// lookAgain is when it looks once more after a change was told: what is written to the
// log of a database can be read a moment later, on a busy computer a long one.
var lookAgain = []time.Duration{10 * time.Millisecond, pollEvery, 500 * time.Millisecond, 2 * time.Second}

// A lookout waits for changes of questions, in whichever process.
type lookout struct {
	changed <-chan struct{}
	stop    func()
	every   time.Duration
	looks   []time.Duration // that follow the last change
}

// lookOut must be called before the first look: what changes later is told.
func (r *Registry) lookOut() *lookout {
	l := &lookout{every: pollEvery}
	if l.changed, l.stop = r.deps.Questions.Changes(); l.changed != nil {
		l.every = lookEvery
	}
	return l
}

// wait returns when it is time to look again, or with the end of ctx.
func (l *lookout) wait(ctx context.Context) error {
	pause := l.every
	if len(l.looks) > 0 {
		pause, l.looks = l.looks[0], l.looks[1:]
	}
	t := time.NewTimer(pause)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
	case <-l.changed:
		l.looks = lookAgain
	}
	return nil
}

// Await waits until a question is over and returns the answer of its call, or
// until it was computed again after the given revision, and returns that. An
// answer that another process gave is carried out here, when this one can.
func (r *Registry) Await(ctx context.Context, id string, revision int) (Result, error) {
	if r.deps.Questions == nil {
		_, err := r.Question(ctx, id)
		return Result{}, err
	}
	l := r.lookOut()
	defer l.stop()
	for {
		q, err := r.Question(ctx, id)
		switch {
		case err != nil:
			return Result{}, err
		case q.State.Over():
			return r.tellCaller(ctx, q)
		case q.Revision != revision:
			if q.Untrusted && remembersTaint(q.Who) {
				r.rememberTaint(ctx, q.Who)
			}
			return r.stillWaits(q.VisibleTo(q.Who)), nil
		case q.State == Approved && r.canWrite(ctx):
			// What a person approved is not broken off because nobody waits for it.
			if res, won, err := r.carryOut(context.WithoutCancel(ctx), q); won || err != nil {
				return res, err
			}
		}
		if err := l.wait(ctx); err != nil {
			return Result{}, err
		}
	}
}

// tellCaller is the answer for the one who asked, who is tainted by words from
// outside also where another process carried the call out.
func (r *Registry) tellCaller(ctx context.Context, q Question) (Result, error) {
	res, err := r.ifShared(ctx, q)
	if (res.Untrusted || IsUntrusted(err)) && remembersTaint(q.Who) {
		r.rememberTaint(ctx, q.Who)
	}
	return res, err
}

// CarryOutApprovals carries out what other processes approve, until ctx ends. A process
// that stays and holds the vault runs it.
func (r *Registry) CarryOutApprovals(ctx context.Context) {
	if r.deps.Questions == nil {
		return
	}
	said := ""
	l := r.lookOut()
	defer l.stop()
	for ; ctx.Err() == nil; _ = l.wait(ctx) {
		list, err := r.deps.Questions.List(ctx, Approved)
		switch {
		case err == nil:
			said = ""
		case ctx.Err() == nil && said != err.Error(): // it is tried again and again, and said once
			said = err.Error()
			r.deps.Log.Warn("approvals cannot be read", "kind", string(fault.Of(err)))
		}
		for _, q := range list {
			if !r.canWrite(ctx) {
				break
			}
			if _, _, err := r.carryOut(ctx, q); err != nil {
				r.deps.Log.Info("an approved call failed", "approval", q.ID, "kind", string(fault.Of(err)))
			}
		}
	}
}

func (r *Registry) canWrite(ctx context.Context) bool {
	return r.deps.Apply != nil && (r.deps.Writable == nil || r.deps.Writable(ctx) == nil)
}

// Recover settles the questions that a crash left half answered: what was
// carried out is done, what may have reached outside has failed, and everything
// else is asked again. Only the process that holds the vault calls it, after the
// vault and the ledger are settled.
func (r *Registry) Recover(ctx context.Context) error {
	if r.deps.Questions == nil || r.deps.Ledger == nil {
		return nil
	}
	list, err := r.deps.Questions.List(ctx, Approved, Running)
	if err != nil {
		return err
	}
	for _, old := range list {
		q, err := r.resolveInterrupted(ctx, old)
		if err != nil {
			return err
		}
		if _, _, err := r.transition(ctx, q, old); err != nil {
			return err
		}
	}
	return nil
}

// resolveInterrupted is what becomes of a question that was broken off.
func (r *Registry) resolveInterrupted(ctx context.Context, q Question) (Question, error) {
	if q.State == Running {
		o, err := r.deps.Ledger.Outcome(ctx, q.Operation)
		if err != nil && fault.Of(err) != fault.NotFound {
			return q, err
		}
		if o == Applied || o == Undone {
			q.State = Done
			q.Outcome = json.RawMessage(`{"success":true,"message":"carried out before the program was stopped"}`)
			return q, nil
		}
		if t, err := r.Find(q.Tool); !q.Ran && (err != nil || t.Effect == access.Acts) {
			// It reached outside, or was about to. Nobody can tell, so it is not
			// done again by itself.
			q.State = Failed
			f := NewFailure(fault.Fix(fault.Unavailable, "check whether it happened before you try again", "the program was stopped while %s was running", q.Tool))
			q.Outcome, err = json.Marshal(f)
			return q, err
		}
	}
	q.State, q.Answer, q.Operation, q.Revision = Pending, nil, "", q.Revision+1
	q.Notices = append(q.Notices, "asked again: the program was stopped before the call was done")
	return q, nil
}
