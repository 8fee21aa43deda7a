package tool

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"

	"lore/internal/change"
	"lore/internal/fault"
	"lore/internal/tool/access"
	"lore/internal/tool/policy"
	"lore/internal/tool/schema"
	"lore/internal/vault/overlay"
)

// A Gatherer is an input struct that makes several calls as one: what they read
// comes back at once, and what they want to change becomes one set, which is asked
// about once, made whole or not at all, and undone as one.
type Gatherer[Env, Out any] interface {
	Gather(ctx context.Context, env Env, calls *Calls) (Out, error)
}

// Gather makes a tool of it. It is no way round anything: every call that it makes
// passes the same checks as if its caller made it alone.
func Gather[In Gatherer[Env, Out], Env, Out any](env Env, opts ...Option) *Tool {
	t := describe[In, Out](access.Changes, opts)
	t.gathers = true
	t.run = bind(func(ctx context.Context, in In) (Out, change.Set, error) {
		return gather(ctx, t.Name, func(calls *Calls) (Out, error) { return in.Gather(ctx, env, calls) })
	})
	return t
}

// gather hands a tool the calls of the call that it runs for.
func gather[Out any](ctx context.Context, name string, f func(*Calls) (Out, error)) (out Out, set change.Set, err error) {
	parent, _ := ctx.Value(callKey{}).(*call)
	if parent == nil {
		return out, nil, fault.New(fault.Internal, "%s can run only as a call", name)
	}
	calls := &Calls{parent: parent}
	parent.gathered = calls
	out, err = f(calls)
	calls.over = true
	return out, calls.set, err
}

// Calls are the calls that a gathering tool makes, in their order.
type Calls struct {
	parent    *call
	set       change.Set
	decisions []policy.Decision
	chained   bool // arguments are made from earlier results
	over      bool // the tool has returned
	outside   bool // an earlier result showed text from outside
}

// Chain says that the arguments of later calls are made from the results of earlier
// ones: text from outside that a call reads is then followed into what the next ones
// write, also for a person, who has not read it.
func (s *Calls) Chain() { s.chained = true }

// Set is what all calls so far want to change.
func (s *Calls) Set() change.Set { return s.set }

// A Planned is what came of one call.
type Planned struct {
	Tool   string
	Effect access.Effect
	// Result is what the tool answers, as JSON. For a change it is what it will
	// answer when the change is made.
	Result json.RawMessage
	// Summary says in one line what the call does or did.
	Summary  string
	Warnings []string
	Notices  []string
	Files    int // that it changes
	Asks     bool
	Reason   string // why a person is asked
	// Untrusted says that Result shows text from outside.
	Untrusted bool
}

// Make makes one call: a tool that reads is run, one that changes is planned on what
// the earlier calls leave. Its error is the error of this call alone.
func (s *Calls) Make(ctx context.Context, name string, args json.RawMessage) (Planned, error) {
	if s.parent == nil || s.over {
		return Planned{}, fault.New(fault.Internal, "%s was called after the call that it belongs to", name)
	}
	if err := ctx.Err(); err != nil {
		return Planned{}, err
	}
	sub := s.receive(ctx, name)
	res, out, err := s.plan(ctx, sub, args)
	if sub.tool != nil {
		out.Tool, out.Effect = sub.tool.Name, sub.tool.Effect
	}
	if err == nil && sub.tool.Effect == access.Changes { // its record is that of the whole
		if err = s.add(sub); err == nil {
			out.Untrusted = s.learn(ctx, sub, &res, nil)
			return out, nil
		}
	}
	err = sub.end(ctx, &res, err)
	out.Untrusted, out.Notices = s.learn(ctx, sub, &res, err), res.Notices
	return out, err
}

// receive is the call on its way, as if the caller of the whole made it.
func (s *Calls) receive(ctx context.Context, name string) *call {
	p := s.parent
	sub := p.Registry.receive(ctx, p.who, name)
	sub.moment, sub.question, sub.metered = p.moment, p.question, p.metered
	if s.outside {
		sub.guided, sub.follows = true, true
	}
	sub.observes = s.chained
	return sub
}

// plan does the work of one call.
func (s *Calls) plan(ctx context.Context, sub *call, args json.RawMessage) (Result, Planned, error) {
	var out Planned
	if err := sub.admit(ctx, args, sub.metered); err != nil {
		return Result{}, out, err
	}
	if err := sub.canBePart(); err != nil {
		return Result{}, out, err
	}
	ctx, cancel := sub.limited(overlay.With(ctx, s.set))
	defer cancel()
	q, err := sub.share(ctx)
	if err == nil && q != nil {
		err = sub.needsOwnApproval(q.Reason)
	}
	if err != nil {
		return Result{}, out, err
	}
	if sub.tool.Effect == access.Reads {
		return s.runRead(ctx, sub)
	}
	return s.planChange(ctx, sub)
}

// canBePart refuses tools that need a call of their own: they reach outside, end
// something, take back operations, or make calls themselves.
func (c *call) canBePart() error {
	why := ""
	switch t := c.tool; {
	case t.gathers:
		why = "it makes several calls itself"
	case t.Effect == access.Acts:
		why = "it reaches outside the vault"
	case c.plays(TakesBack) || c.plays(BringsBack):
		why = "it undoes or redoes a change of its own"
	case t.Ends:
		why = "it ends a run"
	case c.dry:
		return fault.Field(DryRun, "set it for the whole", "%s: a single call cannot be a dry run", t.Name)
	default:
		return nil
	}
	return fault.Fix(fault.Denied, "call it alone", "%s cannot be called together with others, because %s", c.tool.Name, why)
}

func (c *call) needsOwnApproval(reason string) error {
	return fault.Fix(fault.Denied, "call it alone", "%s needs an approval of its own: %s", c.tool.Name, reason)
}

// runRead runs a call that changes nothing. One that a person must be asked about is
// refused: the answer to the whole is about what it changes.
func (s *Calls) runRead(ctx context.Context, sub *call) (Result, Planned, error) {
	var out Planned
	if sub.who.Kind != access.Person && (sub.who.Sends != "" || sub.deps.Policy.Tools[sub.tool.Name] != "") {
		d, err := sub.judgeRead(ctx)
		switch {
		case err != nil:
			return Result{}, out, err
		case d.Verdict == policy.Ask:
			return Result{}, out, sub.needsOwnApproval(d.Reason)
		case d.Verdict != policy.Allow:
			return Result{}, out, fault.New(fault.Denied, "%s: %s", sub.tool.Name, d.Reason)
		}
	}
	sub.rec.Decision, sub.rec.Reason = policy.Allow, "it changes nothing"
	res, err := sub.read(ctx)
	if err != nil {
		return Result{}, out, err
	}
	out.Summary = sub.tool.Title
	if v, ok := res.Value.(Viewer); ok {
		out.Summary = cmp.Or(v.View().Foot, out.Summary)
	}
	out.Result, err = schema.Marshal(res.Value)
	return res, out, err
}

// planChange plans a call that changes notes, and decides about it as if it were
// alone.
func (s *Calls) planChange(ctx context.Context, sub *call) (Result, Planned, error) {
	var out Planned
	value, set, err := sub.planned(ctx)
	if err != nil {
		return Result{}, out, err
	}
	p := previewOf(sub.tool, value, set)
	d, err := sub.judge(ctx, set, p, "")
	switch {
	case err != nil:
		return Result{}, out, err
	case d.Verdict == policy.Deny && !d.NeedsPIN:
		return Result{}, out, fault.New(fault.Denied, "%s: %s", sub.tool.Name, d.Reason)
	}
	sub.wants, sub.decision = set, d
	out.Summary, out.Warnings, out.Notices, out.Files = p.Summary, p.Warnings, sub.notices, len(set)
	out.Asks, out.Reason = d.Verdict == policy.Ask, d.Reason
	out.Result, err = schema.Marshal(value)
	return sub.result(value), out, err
}

// add takes the edits of a planned call into the whole.
func (s *Calls) add(sub *call) error {
	joined, err := s.set.Then(sub.wants)
	if err != nil {
		return fault.Fix(fault.Conflict, "put it into a later batch", "%s: %v by an earlier call", sub.tool.Name, err)
	}
	s.set = joined
	if len(sub.wants) > 0 {
		s.decisions = append(s.decisions, sub.decision)
	}
	return nil
}

// learn follows what a call has read, and reports whether it shows text from
// outside.
func (s *Calls) learn(ctx context.Context, sub *call, res *Result, err error) bool {
	s.parent.absorb(sub)
	shows := res.Untrusted || IsUntrusted(err) || sub.guided
	if !shows && err == nil && (s.chained || sub.who.Kind != access.Person) {
		shows = sub.showsUntrusted(ctx, *res)
	}
	s.outside = s.outside || s.chained && shows
	return shows
}

// absorb adds what a part did to the record of the whole.
func (c *call) absorb(sub *call) {
	sub.mu.Lock()
	saw, models := sub.saw, sub.models
	sub.mu.Unlock()
	c.mu.Lock()
	if c.saw == nil {
		c.saw = map[string]bool{}
	}
	maps.Copy(c.saw, saw)
	c.mu.Unlock()
	for model, notes := range models {
		c.sent(model, slices.Collect(maps.Keys(notes)))
	}
	c.spent(sub.rec.Tokens, sub.rec.Cost)
	c.guided = c.guided || sub.guided
	c.outside = c.outside || sub.outside
}

// weigh is the decision about a whole: as strict as that about its strictest call,
// and as strict as its size and its losses together need.
func (c *call) weigh(whole policy.Decision, erodes bool) policy.Decision {
	if c.gathered == nil || whole.Verdict == policy.Deny {
		return whole
	}
	for _, d := range c.gathered.decisions {
		if d.NeedsPIN {
			return d
		}
	}
	for _, d := range c.gathered.decisions {
		if d.Verdict == policy.Allow {
			continue
		}
		if whole.Verdict == policy.Allow || whole.Risk != policy.Destroy && !erodes {
			whole.Verdict, whole.Reason, whole.Rule = d.Verdict, d.Reason, ""
		}
		return whole
	}
	own := c.deps.Policy.Tools[c.tool.Name] == policy.Ask
	if whole.Verdict == policy.Ask && (whole.Risk == policy.Create || whole.Risk == policy.Change) && !erodes && !own && !c.maker().Wary {
		whole.Verdict, whole.Reason = policy.Allow, "every call in it is allowed"
	}
	return whole
}

// Gathers reports whether a tool makes several calls; such a tool cannot be one of
// them.
func (t *Tool) Gathers() bool { return t.gathers }
