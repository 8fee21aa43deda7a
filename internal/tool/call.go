package tool

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"lore/internal/access"
	"lore/internal/change"
	"lore/internal/fault"
	"lore/internal/policy"
	"lore/internal/schema"
	"lore/internal/visibility"
)

// Call runs a tool for a principal, or asks a person whether it may. It never
// waits for a person: a call that needs one answers with [Result.Question]. The
// arguments may be an object, an object inside a string, or nothing.
//
// Step by step: the arguments get their one form; the caller's rights and
// limits are checked; the work is planned; the plan is judged; and it is
// carried out, asked about or refused. Every call is recorded.
func (r *Registry) Call(ctx context.Context, who access.Principal, name string, args json.RawMessage) (res Result, err error) {
	c := r.receive(who, name)
	defer func() { err = c.end(ctx, &res, err) }()
	if err := c.admit(ctx, args, true); err != nil {
		return Result{}, err
	}
	ctx, cancel := c.limited(ctx)
	defer cancel()
	q, err := c.share(ctx)
	switch {
	case err != nil:
		return Result{}, err
	case q != nil:
		return c.ask(ctx, *q)
	}
	return c.proceed(ctx)
}

// proceed runs, plans or asks, once it is clear what the caller may see.
func (c *call) proceed(ctx context.Context) (Result, error) {
	switch c.tool.Effect {
	case access.Reads:
		return c.show(ctx)
	case access.Changes:
		return c.change(ctx)
	}
	return c.act(ctx)
}

// A call is one call on its way through the door.
type call struct {
	*Registry
	tool     *Tool
	who      access.Principal
	args     json.RawMessage // canonical
	dry      bool
	notices  []string
	start    time.Time
	moment   time.Time // of the plan; see [Moment]
	rec      CallRecord
	question string           // the question that allowed it
	op       string           // the operation's id, when it is already known
	limit    visibility.Limit // what of the vault the caller may see
	next     *Question        // where a further question goes while one is carried out

	mu     sync.Mutex
	models map[string]map[string]bool // the notes whose text went to a model, by model
}

func (r *Registry) receive(who access.Principal, name string) *call {
	now := r.deps.Now()
	if remembersTaint(who) && r.tainted.has(who, now) {
		who.Wary, who.Tainted = true, true
	}
	c := &call{Registry: r, who: who, start: now, moment: now}
	c.rec = CallRecord{Time: now, Who: who, Tool: shortName(name), Cost: -1}
	if c.logs(slog.LevelDebug) {
		c.log().Debug("call started")
	}
	return c
}

// logs reports whether anybody wants to hear: putting words together for nobody
// would cost more than most calls.
func (c *call) logs(l slog.Level) bool { return c.deps.Log.Enabled(context.Background(), l) }

// log is the logger of this call.
func (c *call) log() *slog.Logger {
	return c.deps.Log.With("tool", c.rec.Tool, "surface", c.who.Surface, "principal", string(c.who.Kind))
}

// admit finds the tool, gives the arguments their one form, and checks what can
// be checked before anything is planned.
func (c *call) admit(ctx context.Context, args json.RawMessage, metered bool) error {
	t, err := c.fetch(ctx, c.rec.Tool)
	if err != nil {
		return err
	}
	c.tool, c.rec.Tool = t, t.Name
	switch {
	case c.isOff(t):
		return fault.New(fault.Denied, "%s is switched off", t.Name)
	case t.Persons && c.who.Kind != access.Person:
		return fault.New(fault.Denied, "only a person can call %s", t.Name)
	case !c.who.May(access.Read):
		return fault.New(fault.Denied, "%s: this caller has no right to read", t.Name)
	case t.Effect == access.Changes && t.With == "" && !c.who.May(access.Write):
		return fault.New(fault.Denied, "%s: this caller has no right to write", t.Name)
	case t.Needs != "" && !c.who.May(t.Needs):
		return fault.New(fault.Denied, "%s: this caller has no right to %s", t.Name, t.Needs)
	}
	lenient := c.who.Kind == access.Agent || c.who.Kind == access.MCP
	if t.schema().Foreign() {
		args, c.dry = takeForeignDryRun(t, args)
	}
	c.args, c.notices, err = t.schema().Canonical(args, lenient)
	if metered {
		if slow := c.meter(err == nil); slow != nil {
			return slow
		}
	}
	if err != nil {
		return fmt.Errorf("%s: %w", t.Name, err)
	}
	if t.Effect != access.Reads && !t.schema().Foreign() {
		if c.args, c.dry, err = takeDryRun(c.args); err != nil {
			return err
		}
	}
	if t.With != "" && !c.who.May(access.Write) && isSet(c.args, t.With) {
		return fault.New(fault.Denied, "%s: this caller has no right to write; leave %s out", t.Name, t.With)
	}
	c.rec.Args, c.rec.ArgsHash = t.redacted(c.args), hashOf(c.args)
	if c.logs(slog.LevelDebug) {
		c.log().Debug("call arguments", "args", string(c.rec.Args))
	}
	return nil
}

// meter counts the call. A tool that changes only with a switch is a read
// without it, which nothing but the decoded arguments can tell: their text may
// write the name of the switch in many ways. Arguments that are refused count
// as what the tool can do at the most.
func (c *call) meter(valid bool) error {
	effect := c.tool.Effect
	if valid && c.tool.With != "" && !isSet(c.args, c.tool.With) {
		effect = access.Reads
	}
	if err := c.deps.Meter.Take(c.who, c.tool.Name, effect, c.tool.Rate, c.start); err != nil {
		return fmt.Errorf("%s: %w", c.tool.Name, err)
	}
	return nil
}

// isSet reports whether a switch is set in canonical arguments.
func isSet(args json.RawMessage, field string) bool {
	var m map[string]json.RawMessage
	return json.Unmarshal(args, &m) != nil || string(m[field]) == "true"
}

// takeDryRun takes the common argument out of the tool's own.
func takeDryRun(args json.RawMessage) (json.RawMessage, bool, error) {
	var m map[string]json.RawMessage
	if err := json.Unmarshal(args, &m); err != nil {
		return nil, false, err
	}
	given, have := m[DryRun]
	if !have {
		return args, false, nil
	}
	dry := string(given) == "true"
	delete(m, DryRun)
	out, err := schema.Marshal(m)
	return out, dry, err
}

// takeForeignDryRun does the same for a tool whose schema knows no such
// argument: it must not run because it does not know the word.
func takeForeignDryRun(t *Tool, args json.RawMessage) (json.RawMessage, bool) {
	if _, own := t.Input().Properties[DryRun]; own {
		return args, false
	}
	// Read as strictly as all arguments are: what is refused there stays whole
	// here, so that it is refused there.
	m, err := schema.Object(args)
	if err != nil {
		return args, false
	}
	dry, have := m[DryRun]
	if !have {
		return args, false
	}
	delete(m, DryRun)
	out, err := schema.Marshal(m)
	if err != nil {
		return args, false
	}
	return out, dry != false
}

func hashOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// redacted is args without the values of fields that hold secrets.
func (t *Tool) redacted(args json.RawMessage) json.RawMessage {
	secrets := t.schema().Secrets
	if len(secrets) == 0 {
		return args
	}
	var m map[string]json.RawMessage
	if err := json.Unmarshal(args, &m); err != nil {
		return json.RawMessage(`{}`)
	}
	for _, s := range secrets {
		if _, have := m[s]; have {
			m[s] = json.RawMessage(`"(secret)"`)
		}
	}
	out, err := schema.Marshal(m)
	if err != nil {
		return json.RawMessage(`{}`)
	}
	return out
}

func (c *call) result(value any) Result {
	return Result{Success: true, Notices: c.notices, Value: value, Tool: c.tool, Untrusted: c.tool.Source != "" || c.tool.Untrusted}
}

// found is the answer of an act that changes nothing, in a word of its own.
func (c *call) found(value any, err error) (Result, error) {
	res := c.result(value)
	if v, ok := value.(Previewer); ok && err == nil {
		res.Message = v.Preview().Summary
	}
	return res, err
}

// change plans, and then carries out or asks.
func (c *call) change(ctx context.Context) (Result, error) {
	value, set, err := c.planned(ctx)
	if err != nil {
		return Result{}, err
	}
	d, err := c.judge(ctx, set, previewOf(c.tool, value, set), "")
	if err != nil {
		return Result{}, err
	}
	return c.settle(ctx, value, set, d)
}

// planned runs the tool for its edits and checks them.
func (c *call) planned(ctx context.Context) (any, change.Set, error) {
	value, set, err := c.guarded(ctx, c.tool.run)
	if err != nil {
		return nil, nil, err
	}
	if !c.limit.Everything() {
		if set, err = c.unlimited(ctx, set); err != nil {
			return nil, nil, err
		}
	}
	_, reverts := value.(Reverter)
	set = c.mark(c.keepMarks(set, reverts))
	if err := set.Validate(); err != nil {
		return nil, nil, fault.New(fault.Internal, "%s planned what cannot be done: %v", c.tool.Name, err)
	}
	return value, set, nil
}

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
	d := c.deps.Policy.Judge(policy.Facts{
		Who: c.who, Tool: c.tool.Name, Definition: c.tool.definition(), Effect: c.tool.Effect, Needs: needs, Paths: c.real(set.Paths()),
		Creates: set.Creates(), Destroys: set.Destroys() || p.Destroys && len(set) > 0, Shrinks: lost.shrinks, Erodes: lost.erodes, Loss: lost.words, Files: len(set), Now: c.deps.Now(),
	}, rules)
	c.rec.Decision, c.rec.Reason = d.Verdict, d.Reason
	c.rec.Targets = few(set.Paths())
	return d, nil
}

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

// settle does what the decision says with a plan.
func (c *call) settle(ctx context.Context, value any, set change.Set, d policy.Decision) (Result, error) {
	p := previewOf(c.tool, value, set)
	res := c.result(value)
	res.Message = p.Summary
	switch {
	case d.Verdict != policy.Allow && d.Verdict != policy.Ask:
		return Result{}, fault.New(fault.Denied, "%s: %s", c.tool.Name, cmp.Or(d.Reason, "nobody decided about it"))
	case c.dry:
		q := c.newQuestion(p, set, d).Told(c.who)
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

// act asks before it runs, and about its edits when it ran.
func (c *call) act(ctx context.Context) (Result, error) {
	p, err := c.foreseen(ctx)
	if err != nil {
		return Result{}, err
	}
	d, err := c.judge(ctx, nil, p, c.tool.Needs)
	switch {
	case err != nil:
		return Result{}, err
	case d.Verdict == policy.Deny:
		return Result{}, fault.New(fault.Denied, "%s: %s", c.tool.Name, d.Reason)
	case c.dry:
		return Result{Success: true, Tool: c.tool, Notices: c.notices, DryRun: true, Preview: &p, Message: p.Summary}, nil
	case d.Verdict == policy.Ask:
		return c.ask(ctx, c.newQuestion(p, nil, d))
	}
	value, set, err := c.ran(ctx)
	if err != nil || len(set) == 0 {
		return c.found(value, err)
	}
	if d, err = c.judge(ctx, set, previewOf(c.tool, value, set), ""); err != nil {
		return Result{}, err
	}
	if d.Verdict == policy.Ask {
		q, err := c.edited(value, set, d)
		if err != nil {
			return Result{}, err
		}
		return c.ask(ctx, q)
	}
	return c.settle(ctx, value, set, d)
}

// foreseen is what the act says it is about to do.
func (c *call) foreseen(ctx context.Context) (p Preview, err error) {
	_, _, err = c.guarded(ctx, func(ctx context.Context, args json.RawMessage) (any, change.Set, error) {
		var err error
		p, err = c.tool.foresee(ctx, args)
		return nil, nil, err
	})
	return p, err
}

// ran records that the act begins, and runs it: what reaches outside leaves a
// trace even when the program dies in it.
func (c *call) ran(ctx context.Context) (any, change.Set, error) {
	if c.deps.Ledger == nil {
		return nil, nil, fault.New(fault.Unavailable, "%s: nothing can be recorded, so nothing is done", c.tool.Name)
	}
	begun := c.rec
	begun.ID, begun.Status, begun.Question = c.deps.ID("call"), CallStarted, c.question
	if err := c.deps.Ledger.Record(ctx, begun); err != nil {
		return nil, nil, fmt.Errorf("%s was not done, because it cannot be recorded: %w", c.tool.Name, err)
	}
	return c.planned(ctx)
}

func (c *call) writable(ctx context.Context) error {
	if c.deps.Apply == nil || c.deps.Ledger == nil {
		return fault.New(fault.ReadOnly, "%s: nothing can be changed here", c.tool.Name)
	}
	if c.deps.Writable != nil {
		return c.deps.Writable(ctx)
	}
	return nil
}

// apply records the intent, makes the edits, and records how it ended. Once the
// intent is recorded, a caller that goes away stops nothing.
func (c *call) apply(ctx context.Context, value any, set change.Set, summary string) error {
	if c.op == "" {
		c.op = c.deps.ID("op")
	}
	c.rec.Operation, c.rec.Targets = c.op, few(set.Paths())
	op := Operation{
		ID: c.op, Time: c.deps.Now(), Who: c.who, Tool: c.tool.Name, Args: c.rec.Args, ArgsHash: c.rec.ArgsHash,
		Summary: summary, Question: c.question, Edits: set,
	}
	if v, ok := value.(Reverter); ok {
		op.Reverts = v.Reverts()
		ctx = context.WithValue(ctx, restoringKey{}, true)
	}
	if err := c.deps.Ledger.Begin(ctx, op); err != nil {
		return fmt.Errorf("%s was not done, because it cannot be recorded: %w", c.tool.Name, err)
	}
	lasting := context.WithoutCancel(ctx)
	if err := c.deps.Apply(ctx, c.op, set); err != nil {
		var u interface{ Unsettled() bool }
		if errors.As(err, &u) && u.Unsettled() {
			return err // recovery decides, and finishes the record
		}
		return errors.Join(err, c.deps.Ledger.Finish(lasting, c.op, Dropped, err.Error()))
	}
	if err := c.deps.Ledger.Finish(lasting, c.op, Applied, ""); err != nil {
		// The edits are made and their intent is on disk; the next start settles it.
		c.log().Error("an operation could not be finished", "operation", c.op, "kind", string(fault.Of(err)))
		c.notices = append(c.notices, "the change is made; its record is completed at the next start")
	}
	c.log().Info("change applied", "operation", c.op, "files", len(set))
	if c.deps.Settle != nil {
		if err := c.deps.Settle(lasting, set.Paths()); err != nil {
			c.log().Warn("the index did not follow a change", "operation", c.op, "kind", string(fault.Of(err)))
			c.notices = append(c.notices, "the index is behind; searches may not show the change yet")
		}
	}
	return nil
}

type restoringKey struct{}

// Restoring reports whether the edits that Apply is to make bring back what was
// there before.
func Restoring(ctx context.Context) bool { return ctx.Value(restoringKey{}) != nil }

// guarded runs a tool's own code. A panic becomes an error that does not repeat
// the arguments, which may hold private text.
func (c *call) guarded(ctx context.Context, run work) (out any, set change.Set, err error) {
	defer func() {
		if p := recover(); p != nil {
			c.log().Error("a tool panicked", "stack", string(debug.Stack()))
			err = fault.New(fault.Internal, "%s stopped because of a mistake in Lore", c.tool.Name)
		}
		if errors.Is(err, context.DeadlineExceeded) {
			err = fault.New(fault.Cancelled, "%s took longer than %s", c.tool.Name, c.tool.Timeout)
		}
	}()
	ctx = context.WithValue(ctx, momentKey{}, c.moment)
	ctx = context.WithValue(context.WithValue(ctx, callKey{}, c), callerKey{}, c.who)
	if !c.limit.Everything() {
		ctx = visibility.With(ctx, c.limit)
	}
	if c.deps.Prepare != nil {
		ctx = c.deps.Prepare(ctx, c.plans())
	}
	out, set, err = run(ctx, c.args)
	if s, ok := out.(Spender); ok {
		c.spent(s.Spent())
	}
	return out, set, err
}

// PlanWait is how long a call that plans a change may wait for the index, on top
// of the time that the tool has for its work.
const PlanWait = 5 * time.Minute

// limited is ctx with the time that the call has.
func (c *call) limited(ctx context.Context) (context.Context, context.CancelFunc) {
	limit := c.tool.Timeout
	if c.plans() {
		limit += PlanWait
	}
	return context.WithTimeout(ctx, limit)
}

// plans reports whether the call plans a change.
func (c *call) plans() bool {
	return c.tool.Effect != access.Reads && (c.tool.With == "" || isSet(c.args, c.tool.With))
}

// spent adds to what the call cost. A sum with an unknown part is unknown.
func (c *call) spent(tokens int, cost float64) {
	if tokens == 0 {
		return
	}
	if c.rec.Tokens == 0 {
		c.rec.Cost = 0
	}
	c.rec.Tokens += tokens
	if c.rec.Cost < 0 || cost < 0 {
		c.rec.Cost = -1
		return
	}
	c.rec.Cost += cost
}

type momentKey struct{}

// Moment is when a call is planned, for tools whose edits hold the time: when a
// person has answered, the plan is made again for the same moment. It is zero
// outside of a call.
func Moment(ctx context.Context) time.Time {
	t, _ := ctx.Value(momentKey{}).(time.Time)
	return t
}
