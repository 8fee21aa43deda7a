package tool

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"lore/internal/change"
	"lore/internal/fault"
	"lore/internal/tool/access"
	"lore/internal/tool/policy"
	"lore/internal/vault"
	"lore/internal/vault/visibility"
)

// Call runs a tool for a principal, or asks a person whether it may. It never
// waits for a person: a call that needs one answers with [Result.Question]. The
// arguments may be an object, an object inside a string, or nothing.
//
// Step by step: the arguments get their one form; the caller's rights and
// limits are checked; the work is planned; the plan is judged; and it is
// carried out, asked about or refused. Every call is recorded.
func (r *Registry) Call(ctx context.Context, who access.Principal, name string, args json.RawMessage) (res Result, err error) {
	c := r.receive(ctx, who, name)
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
	reached  bool             // an act has begun: its errors are words of others
	outside  bool             // the edits that it planned show text from outside
	guided   bool             // untrusted notes decided what it edits
	metered  bool             // it counts for the limits: it was not asked about before

	// Of calls that are made together; see [Calls].
	gathered  *Calls          // the calls that it makes
	confirmed string          // the content that a person allows now; see [Calls.Confirm]
	observes  bool            // files are watched for a person, too
	follows   bool            // what it writes is made from text from outside, whoever calls
	wants     change.Set      // what it wants to change
	decision  policy.Decision // about it alone

	mu     sync.Mutex
	saw    map[string]bool            // the untrusted notes that the tool has read
	models map[string]map[string]bool // the notes whose text went to a model, by model
}

func (r *Registry) receive(ctx context.Context, who access.Principal, name string) *call {
	now := r.deps.Now()
	if r.isTainted(ctx, who, now) {
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
		return c.changeOrHold(ctx, err)
	}
	d, err := c.judge(ctx, set, previewOf(c.tool, value, set), "")
	if err != nil {
		return Result{}, err
	}
	return c.applyDecision(ctx, value, set, d)
}

// planned runs the tool for its edits and checks them.
func (c *call) planned(ctx context.Context) (any, change.Set, error) {
	value, set, err := c.guarded(ctx, c.tool.run)
	if err != nil {
		return nil, nil, err
	}
	if c.tool.gathers { // each of its calls was checked and followed
		return value, set, c.valid(set)
	}
	if !c.limit.Everything() {
		if set, err = c.unlimited(ctx, set); err != nil {
			return nil, nil, err
		}
	}
	if set, err = c.trace(ctx, value, set); err != nil {
		return nil, nil, err
	}
	return value, set, c.valid(set)
}

func (c *call) valid(set change.Set) error {
	if err := set.Validate(); err != nil {
		return fault.New(fault.Internal, "%s planned an invalid change: %v", c.tool.Name, err)
	}
	return nil
}

// trace follows words from outside into a plan: notes that get some are marked, and
// marks stay where they may stay.
func (c *call) trace(ctx context.Context, value any, set change.Set) (change.Set, error) {
	if g, ok := value.(Guided); ok {
		c.guided = c.guided || c.showsUntrusted(ctx, g.GuidedBy())
	}
	set, err := c.keepMarks(set, value)
	if err != nil {
		return nil, err
	}
	_, reverts := value.(Reverter)
	if set, err = c.mark(set, reverts); err == nil {
		c.outside = c.hasOutside(set)
	}
	return set, err
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
	value, set, err := c.recordAndRun(ctx)
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
	return c.applyDecision(ctx, value, set, d)
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

// guarded runs a tool's own code. A panic becomes an error that does not repeat
// the arguments, which may hold private text.
func (c *call) guarded(ctx context.Context, run work) (out any, set change.Set, err error) {
	defer func() {
		if p := recover(); p != nil {
			c.log().Error("a tool panicked", "stack", string(debug.Stack()))
			err = fault.New(fault.Internal, "%s failed because of a bug in Lore", c.tool.Name)
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
		ctx = c.deps.Prepare(ctx, c.indexNeed())
	}
	if c.who.Kind != access.Person || c.observes {
		ctx = vault.Observed(ctx, c.sawFile)
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

// An IndexNeed is how good the index must be for a call.
type IndexNeed int

const (
	// WholeIndex shows every note, if not as it was saved a moment ago: what reads
	// waits for the first build of the index.
	WholeIndex IndexNeed = iota
	// PartialIndex may lack notes: see [AnswersPartly].
	PartialIndex
	// CurrentIndex shows the vault as it is now: a change must not be planned from
	// anything older.
	CurrentIndex
)

func (c *call) indexNeed() IndexNeed {
	switch {
	case c.plans():
		return CurrentIndex
	case c.tool.Partial:
		return PartialIndex
	}
	return WholeIndex
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
