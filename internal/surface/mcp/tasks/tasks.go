// Package tasks is the Tasks extension of the Model Context Protocol
// (io.modelcontextprotocol/tasks), which the library does not have: a call that
// takes long, or waits for a person, answers at once with a task, and the client
// asks later what became of it.
//
// It owns the tasks, their life and how they look on the wire. It knows no tool
// and no vault: whether a call should become a task, the handler of the call says
// ([Promote]), a [Plan] says, or the time does. Only clients that declare the
// extension get tasks, and only the principal that made a task sees it.
package tasks

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Extension is what clients declare and servers advertise.
const Extension = "io.modelcontextprotocol/tasks"

// ErrCancelled is the cause of the end of a context whose task was cancelled by
// its client, which is more than that nobody waits any more.
var ErrCancelled = errors.New("the task was canceled")

// Limits. A call that cannot become a task for want of room is answered the
// ordinary way.
const (
	// Soon is how long a call may take before it becomes a task by itself.
	Soon = 3 * time.Second
	// Life is how long a task can be asked for, unless its handler wants more.
	Life = time.Hour

	mostOfOwner = 64
	mostOfAll   = 1024
	poll        = time.Second
)

// Options of a [Book]. The zero value is right.
type Options struct {
	Now   func() time.Time
	After func(time.Duration) <-chan time.Time
}

// A Book keeps the tasks of all principals. It must be closed.
type Book struct {
	o    Options
	stop context.CancelFunc
	ctx  context.Context //nolint:containedctx // it ends with Close, as the tasks do
	wg   sync.WaitGroup

	mu    sync.Mutex
	tasks map[string]*entry
}

// New makes an empty book.
func New(o Options) *Book {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.After == nil {
		o.After = time.After
	}
	b := &Book{o: o, tasks: map[string]*entry{}}
	b.ctx, b.stop = context.WithCancel(context.Background())
	return b
}

// Close ends what still runs and waits for it.
func (b *Book) Close() {
	b.stop()
	b.wg.Wait()
}

// The states of a task.
const (
	working       = "working"
	inputRequired = "input_required"
	completed     = "completed"
	failed        = "failed"
	cancelled     = "cancelled"
)

// shown is a task on the wire.
type shown struct {
	ID      string `json:"taskId"`
	Status  string `json:"status"`
	Message string `json:"statusMessage,omitempty"`
	Created string `json:"createdAt"`
	Updated string `json:"lastUpdatedAt"`
	TTL     int64  `json:"ttlMs"`
	Poll    int64  `json:"pollIntervalMs"`
}

// An entry is one task. Its fields are guarded by the book's lock.
type entry struct {
	shown
	owner  string
	end    time.Time // after which it is forgotten
	cancel context.CancelCauseFunc
	result json.RawMessage
	err    *jsonrpc.Error
	// isLess report whether the owner may read less than at a moment of the call.
	isLess []func(context.Context) bool
	// asked are the questions to the client that are open, said what it answered.
	asked sdk.InputRequestMap
	said  sdk.InputResponseMap
	ready chan struct{} // has one when all is said
}

func (e *entry) over() bool {
	return e.Status == completed || e.Status == failed || e.Status == cancelled
}

// stamp is a time on the wire.
func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

// enter makes a task, and how it looks now; nil when there is no room.
func (b *Book) enter(owner, message string, life time.Duration, cancel context.CancelCauseFunc) (*entry, shown) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now, own := b.o.Now(), 0
	for id, e := range b.tasks {
		switch {
		case now.After(e.end):
			e.cancel(context.DeadlineExceeded)
			delete(b.tasks, id)
		case e.owner == owner:
			own++
		}
	}
	if own >= mostOfOwner || len(b.tasks) >= mostOfAll || b.ctx.Err() != nil {
		return nil, shown{}
	}
	e := &entry{
		shown: shown{
			ID: "task-" + rand.Text(), Status: working, Message: message, Created: stamp(now), Updated: stamp(now),
			TTL: life.Milliseconds(), Poll: poll.Milliseconds(),
		},
		owner: owner, end: now.Add(life), cancel: cancel, ready: make(chan struct{}, 1),
	}
	b.tasks[e.ID] = e
	return e, e.shown
}

// prolong lets a task live longer than it would.
func (b *Book) prolong(e *entry, life time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if end := b.o.Now().Add(life); end.After(e.end) {
		e.TTL += end.Sub(e.end).Milliseconds()
		e.end = end
	}
}

// say changes what a task tells of itself.
func (b *Book) say(e *entry, message string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !e.over() {
		e.Message, e.Updated = message, stamp(b.o.Now())
	}
}

// find returns a task of an owner. One of another is not there.
func (b *Book) find(owner, id string) (*entry, error) {
	e := b.tasks[id]
	if e == nil || e.owner != owner || b.o.Now().After(e.end) {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "taskId: unknown task"}
	}
	return e, nil
}

// finish stores how a task ended, once.
func (b *Book) finish(e *entry, status string, res sdk.Result, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if e.over() {
		return
	}
	if err == nil && res != nil {
		e.result, err = json.Marshal(res)
	}
	if err != nil && status != cancelled {
		status = failed
		if !errors.As(err, &e.err) {
			e.err = &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: err.Error()}
		}
	}
	if status != completed {
		e.result = nil
	}
	e.Status, e.Message, e.Updated, e.asked = status, "", stamp(b.o.Now()), nil
}

// park waits until the client has answered all that it is asked.
func (b *Book) park(ctx context.Context, e *entry, ask sdk.InputRequestMap) (sdk.InputResponseMap, bool) {
	b.mu.Lock()
	if !e.over() {
		e.Status, e.Updated, e.asked, e.said = inputRequired, stamp(b.o.Now()), ask, sdk.InputResponseMap{}
	}
	b.mu.Unlock()
	select {
	case <-e.ready:
	case <-ctx.Done():
		return nil, false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return e.said, !e.over()
}
