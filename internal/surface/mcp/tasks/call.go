package tasks

import (
	"context"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// modern is the first version of the protocol that has this extension.
const modern = "2026-07-28"

// A Plan says of one call what is known before it is made.
type Plan struct {
	AtOnce   bool // it becomes a task without waiting for how long it takes
	Required bool // a client that has no tasks cannot make it
}

// Middleware turns the calls of one owner into tasks, and lets only clients that
// declare the extension ask for tasks. Plan may be nil. Shares may be nil too: it
// notes what the owner may read at a moment, and what it returns reports whether
// that is less later; then the result of a task that could read more is withheld.
func (b *Book) Middleware(owner string, plan func(*sdk.CallToolRequest) Plan, shares func(context.Context) (isLess func(context.Context) bool)) sdk.Middleware {
	return func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
			switch method {
			case "tools/call":
				if r, ok := req.(*sdk.CallToolRequest); ok {
					var p Plan
					if plan != nil {
						p = plan(r)
					}
					return b.call(context.WithValue(ctx, sharesKey{}, shares), owner, p, r, next)
				}
			case "tasks/get", "tasks/update", "tasks/cancel":
				if !declares(req) {
					return nil, missing()
				}
				if err := checkName(req); err != nil {
					return nil, err
				}
			}
			return next(ctx, method, req)
		}
	}
}

// declares reports whether the client of a request takes tasks.
func declares(req sdk.Request) bool {
	if r, ok := req.(*sdk.CallToolRequest); ok && r.Params != nil {
		// Every call says it in this era. The library has checked that it can be
		// decoded; to decode it again would cost more than to look.
		if said, ok := r.Params.Meta[sdk.MetaKeyClientCapabilities].(map[string]any); ok {
			extensions, _ := said["extensions"].(map[string]any)
			_, ok = extensions[Extension]
			return ok
		}
	}
	r, ok := req.(interface {
		ClientCapabilities() *sdk.ClientCapabilities
	})
	if !ok {
		return false
	}
	c := r.ClientCapabilities()
	if c == nil {
		return false
	}
	_, ok = c.Extensions[Extension]
	return ok
}

// checkName compares the header by which requests are routed with the task that
// the body names.
func checkName(req sdk.Request) error {
	p, ok := req.GetParams().(*named)
	extra := req.GetExtra()
	if !ok || extra == nil || extra.Header == nil {
		return nil // not over HTTP
	}
	if p == nil || extra.Header.Get("Mcp-Name") != p.ID {
		return &jsonrpc.Error{Code: sdk.CodeHeaderMismatch, Message: "the header Mcp-Name is not the taskId"}
	}
	return nil
}

// An outcome is what a handler returned.
type outcome struct {
	res sdk.Result
	err error
}

// A call is one call that may become a task.
type call struct {
	book *Book
	wish chan wish
	is   chan struct{} // closed when it is one

	mu    sync.Mutex
	entry *entry // once it is one
}

// A wish to become a task, and whether it was granted.
type wish struct {
	message string
	life    time.Duration
	granted chan bool
}

type (
	callKey   struct{}
	sharesKey struct{}
)

// noteShared keeps what the owner of a task may read now.
func (b *Book) noteShared(ctx context.Context, e *entry) {
	shares, _ := ctx.Value(sharesKey{}).(func(context.Context) func(context.Context) bool)
	if shares == nil {
		return
	}
	isLess := shares(ctx)
	b.mu.Lock()
	defer b.mu.Unlock()
	e.isLess = append(e.isLess, isLess)
}

func (b *Book) call(ctx context.Context, owner string, p Plan, r *sdk.CallToolRequest, next sdk.MethodHandler) (sdk.Result, error) {
	v := r.Session.InitializeParams()
	if !declares(r) || v != nil && v.ProtocolVersion < modern {
		if p.Required {
			return nil, missing()
		}
		return next(ctx, "tools/call", r)
	}
	inner, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	ends := context.AfterFunc(b.ctx, func() { cancel(context.Canceled) })
	c := &call{book: b, wish: make(chan wish), is: make(chan struct{})}
	inner = context.WithValue(inner, callKey{}, c)
	done := make(chan outcome, 1)
	b.wg.Go(func() {
		res, err := next(inner, "tools/call", r)
		done <- outcome{res, err}
	})
	soon := b.o.After(Soon)
	for first := true; ; first = false {
		w := wish{life: Life, granted: make(chan bool, 1)}
		if !first || !p.AtOnce {
			select {
			case o := <-done:
				ends()
				cancel(nil)
				return o.res, o.err
			case <-ctx.Done():
				cancel(context.Cause(ctx))
				<-done
				ends()
				return nil, ctx.Err()
			case <-soon:
			case w = <-c.wish:
			}
		}
		e, look := b.enter(owner, w.message, w.life, cancel)
		if e != nil {
			b.noteShared(ctx, e)
			c.become(e)
		}
		w.granted <- e != nil
		if e == nil {
			continue // no room: the client waits, as others do
		}
		b.wg.Go(func() {
			defer ends()
			defer cancel(nil)
			b.drive(inner, e, r, next, done)
		})
		return &created{Type: "task", shown: look}, nil
	}
}

func (c *call) become(e *entry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.entry = e
	close(c.is)
}

func (c *call) task() *entry {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.entry
}

// drive sees a task through to its end: what the handler asks the client for is
// asked, and the handler called again with the answers.
func (b *Book) drive(ctx context.Context, e *entry, r *sdk.CallToolRequest, next sdk.MethodHandler, done <-chan outcome) {
	o := <-done
	for {
		res, ok := o.res.(*sdk.CallToolResult)
		if o.err != nil || !ok || res.InputRequests == nil {
			break
		}
		said, answered := b.park(ctx, e, res.InputRequests)
		if !answered {
			break
		}
		params := *r.Params
		params.InputResponses, params.RequestState = said, res.RequestState
		r = &sdk.CallToolRequest{Session: r.Session, Params: &params, Extra: r.Extra}
		o.res, o.err = next(ctx, "tools/call", r)
	}
	status := completed
	if res, ok := o.res.(*sdk.CallToolResult); ctx.Err() != nil && (o.err != nil || !ok || res.IsError || res.InputRequests != nil) {
		status = cancelled
	}
	b.noteShared(context.WithoutCancel(ctx), e)
	b.finish(e, status, o.res, o.err)
}

// Promote asks that the call of a context become a task, because it is about to
// take long: message says why, and the task can be asked for as long as life. It
// reports whether the call is a task now. Its context then lasts until the task
// is cancelled, whoever waits.
func Promote(ctx context.Context, life time.Duration, message string) bool {
	c, ok := ctx.Value(callKey{}).(*call)
	if !ok {
		return false
	}
	w := wish{message: message, life: life, granted: make(chan bool, 1)}
	select {
	case c.wish <- w:
		return <-w.granted
	case <-ctx.Done():
		return false
	case <-c.is:
		e := c.task()
		c.book.prolong(e, life)
		c.book.say(e, message)
		return true
	}
}

// Say tells how far the task of a context is. It reports whether there is one.
func Say(ctx context.Context, message string) bool {
	c, ok := ctx.Value(callKey{}).(*call)
	if !ok {
		return false
	}
	e := c.task()
	if e != nil {
		c.book.say(e, message)
	}
	return e != nil
}

// Cancelled reports whether the client of a context's task gave it up.
func Cancelled(ctx context.Context) bool { return context.Cause(ctx) == ErrCancelled } //nolint:errorlint // it is the cause itself
