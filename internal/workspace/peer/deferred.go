package peer

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"lore/internal/fault"
	"lore/internal/machine/home"
	"lore/internal/tool"
	"lore/internal/tool/access"
	"lore/internal/tool/policy"
)

// Deferred is a door to a vault that is still being opened, or whose holder has
// just ended: it describes the tools at once, and lets calls wait until the vault
// is open. A client that starts us must not wait for an index before it may say
// hello.
type Deferred struct {
	shelf tool.Door

	mu    sync.Mutex
	ready chan struct{} // closed while the door is open
	left  chan struct{} // closed when what stands there now no longer does; nil while it is shut
	door  tool.Door
	err   error
	last  tool.Door // what described the tools last
	calls atomic.Int64
	under int           // calls that are behind the door
	still chan struct{} // closed when there is none any more; nil when nobody waits for that

	next func(context.Context) (tool.Door, error) // finds what stands there next; may be nil
	turn sync.Mutex
}

var _ tool.Door = (*Deferred)(nil)

// NewDeferred makes a door that is described by shelf until it is opened.
func NewDeferred(shelf tool.Door) *Deferred {
	return &Deferred{shelf: shelf, last: shelf, ready: make(chan struct{})}
}

// NewReconnecting makes a door that passes calls to now. When that has ended, the
// next call asks find for another one. It is for a process that makes one call
// after another; see [Deferred.Open] for others.
func NewReconnecting(now tool.Door, find func(context.Context) (tool.Door, error)) *Deferred {
	l := NewDeferred(now)
	l.next = find
	l.Open(now, nil)
	return l
}

// Open lets the calls through to door, or tells all of them why there is
// nothing behind it.
func (l *Deferred) Open(door tool.Door, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.part()
	l.door, l.err, l.left = door, err, make(chan struct{})
	if err == nil {
		l.last = door
	}
	select {
	case <-l.ready:
	default:
		close(l.ready)
	}
}

// Shut lets calls wait again. What was open may end.
func (l *Deferred) Shut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.shut()
}

// Left is closed when what stands behind the door now no longer does: it was
// shut, or a caller found nobody there.
func (l *Deferred) Left() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.left != nil {
		return l.left
	}
	out := make(chan struct{})
	close(out)
	return out
}

func (l *Deferred) part() {
	if l.left != nil {
		close(l.left)
		l.left = nil
	}
}

func (l *Deferred) shut() {
	l.part()
	select {
	case <-l.ready:
		l.ready = make(chan struct{})
		l.door, l.err = nil, nil
	default:
	}
}

// leave shuts the door, unless another one is open by now.
func (l *Deferred) leave(door tool.Door) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.door == door {
		l.shut()
	}
}

// Wait returns the open door.
func (l *Deferred) Wait(ctx context.Context) (tool.Door, error) {
	for {
		l.mu.Lock()
		ready := l.ready
		l.mu.Unlock()
		select {
		case <-ready:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		l.mu.Lock()
		door, err, open := l.door, l.err, l.ready == ready
		l.mu.Unlock()
		if open {
			return door, err
		}
	}
}

// enter is [Later.Wait] for a call, which then counts until it exits.
func (l *Deferred) enter(ctx context.Context) (tool.Door, error) {
	for {
		door, err := l.Wait(ctx)
		if err != nil {
			return nil, err
		}
		l.mu.Lock()
		if l.door == door {
			l.under++
			l.mu.Unlock()
			return door, nil
		}
		l.mu.Unlock()
	}
}

func (l *Deferred) exit() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.under--; l.under == 0 && l.still != nil {
		close(l.still)
		l.still = nil
	}
}

// Hold keeps what stands behind the door there, once there is something, until
// release is called: for who reaches it by another way than a call.
func (l *Deferred) Hold(ctx context.Context) (release func(), err error) {
	if _, err := l.enter(ctx); err != nil {
		return nil, err
	}
	return sync.OnceFunc(l.exit), nil
}

// Drain waits until the calls that went through have ended. Whoever shut the
// door, and is about to take away what stood behind it, calls it.
func (l *Deferred) Drain(ctx context.Context) error {
	l.mu.Lock()
	if l.under == 0 {
		l.mu.Unlock()
		return nil
	}
	if l.still == nil {
		l.still = make(chan struct{})
	}
	still := l.still
	l.mu.Unlock()
	select {
	case <-still:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// described is whatever can describe tools now.
func (l *Deferred) described() tool.Door {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.last
}

// On lists the tools that are switched on.
func (l *Deferred) On() []*tool.Tool { return l.described().On() }

// Find returns the tool of that name or alias.
func (l *Deferred) Find(name string) (*tool.Tool, error) { return l.described().Find(name) }

// Instructions is what models are told about a tool.
func (l *Deferred) Instructions(t *tool.Tool) string { return l.described().Instructions(t) }

// Calls counts what went through.
func (l *Deferred) Calls() int64 { return l.calls.Load() }

// tries is how often one call is made. Holders that go one after another are
// fewer; one that is there and breaks off every time must not be asked for ever.
const tries = 8

// passing is how long a vault may be on its way from one holder to the next: each
// of them opens it, on whatever machine.
const passing = time.Minute

// through runs f behind the door. When what stood there was gone before f
// began, the next one is tried.
func through[T any](ctx context.Context, l *Deferred, f func(tool.Door) (T, error)) (T, error) {
	l.calls.Add(1)
	for i := 1; ; i++ {
		door, err := l.enter(ctx)
		if err != nil {
			var none T
			return none, err
		}
		out, err := f(door)
		l.exit()
		if !errors.Is(err, errGone) {
			return out, err
		}
		l.leave(door)
		if i == tries {
			return out, fault.New(fault.Unavailable, "the process that has the vault open dropped the connection %d times", tries)
		}
		l.renew(ctx)
	}
}

// renew finds what stands behind the door next, when it is shut and somebody
// knows how. Of several callers one does.
func (l *Deferred) renew(ctx context.Context) {
	if l.next == nil {
		return
	}
	l.turn.Lock()
	defer l.turn.Unlock()
	l.mu.Lock()
	open := l.door != nil
	l.mu.Unlock()
	if open {
		return
	}
	for end := time.Now().Add(passing); ; {
		door, err := l.next(ctx)
		// Who was found has gone before it was asked anything: there is another one soon.
		if errors.Is(err, errGone) && time.Now().Before(end) && home.Pause(ctx) == nil {
			continue
		}
		l.Open(door, err)
		return
	}
}

// Call runs a tool or asks a person.
func (l *Deferred) Call(ctx context.Context, who access.Principal, name string, args json.RawMessage) (tool.Result, error) {
	return through(ctx, l, func(d tool.Door) (tool.Result, error) { return d.Call(ctx, who, name, args) })
}

// Questions lists what was asked.
func (l *Deferred) Questions(ctx context.Context, states ...tool.State) ([]tool.Question, error) {
	return through(ctx, l, func(d tool.Door) ([]tool.Question, error) { return d.Questions(ctx, states...) })
}

// Question returns one by its id.
func (l *Deferred) Question(ctx context.Context, id string) (tool.Question, error) {
	return through(ctx, l, func(d tool.Door) (tool.Question, error) { return d.Question(ctx, id) })
}

// Answer is a person's answer.
func (l *Deferred) Answer(ctx context.Context, person access.Principal, id string, a tool.Answer) (tool.Result, error) {
	return through(ctx, l, func(d tool.Door) (tool.Result, error) { return d.Answer(ctx, person, id, a) })
}

// Rehearse is what an answer would come to.
func (l *Deferred) Rehearse(ctx context.Context, person access.Principal, id string, a tool.Answer) (tool.Question, error) {
	return through(ctx, l, func(d tool.Door) (tool.Question, error) { return d.Rehearse(ctx, person, id, a) })
}

// Await waits until a question is over, or was computed again. When what it
// waits behind goes, it goes on behind the next.
func (l *Deferred) Await(ctx context.Context, id string, revision int) (tool.Result, error) {
	return through(ctx, l, func(d tool.Door) (tool.Result, error) {
		here, stop := context.WithCancel(ctx)
		defer stop()
		left := l.Left()
		go func() {
			select {
			case <-left:
				stop()
			case <-here.Done():
			}
		}()
		res, err := d.Await(here, id, revision)
		if err != nil && here.Err() != nil && ctx.Err() == nil {
			err = errGone
		}
		return res, err
	})
}

// Cancel withdraws a question.
func (l *Deferred) Cancel(ctx context.Context, who access.Principal, id string) error {
	_, err := through(ctx, l, func(d tool.Door) (struct{}, error) { return struct{}{}, d.Cancel(ctx, who, id) })
	return err
}

// Rules lists the standing answers.
func (l *Deferred) Rules(ctx context.Context) ([]policy.Rule, error) {
	return through(ctx, l, func(d tool.Door) ([]policy.Rule, error) { return d.Rules(ctx) })
}

// Taint remembers that a program was shown text from outside.
func (l *Deferred) Taint(ctx context.Context, who access.Principal) error {
	_, err := through(ctx, l, func(d tool.Door) (struct{}, error) { return struct{}{}, d.Taint(ctx, who) })
	return err
}

// Forget takes a standing answer back.
func (l *Deferred) Forget(ctx context.Context, person access.Principal, id string) error {
	_, err := through(ctx, l, func(d tool.Door) (struct{}, error) { return struct{}{}, d.Forget(ctx, person, id) })
	return err
}
