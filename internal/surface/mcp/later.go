package mcp

import (
	"context"
	"encoding/json"
	"sync"

	"lore/internal/access"
	"lore/internal/policy"
	"lore/internal/tool"
)

// Later is a door to a vault that is still being opened: it describes the tools
// at once, from a shelf that is bound to nothing, and lets calls wait. A client
// that starts us must not wait for an index before it may say hello.
type Later struct {
	shelf tool.Door
	once  sync.Once
	ready chan struct{}
	door  tool.Door
	err   error
}

var _ tool.Door = (*Later)(nil)

// NewLater makes a door that is described by shelf until it is opened.
func NewLater(shelf tool.Door) *Later { return &Later{shelf: shelf, ready: make(chan struct{})} }

// Open lets the calls through, or tells all of them why there is nothing
// behind the door. The first time counts.
func (l *Later) Open(door tool.Door, err error) {
	l.once.Do(func() {
		l.door, l.err = door, err
		close(l.ready)
	})
}

// wait returns the open door.
func (l *Later) wait(ctx context.Context) (tool.Door, error) {
	select {
	case <-l.ready:
		return l.door, l.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// described is whatever can describe tools now.
func (l *Later) described() tool.Door {
	select {
	case <-l.ready:
		if l.err == nil {
			return l.door
		}
	default:
	}
	return l.shelf
}

// On lists the tools that are switched on.
func (l *Later) On() []*tool.Tool { return l.described().On() }

// Find returns the tool of that name or alias.
func (l *Later) Find(name string) (*tool.Tool, error) { return l.described().Find(name) }

// Instructions is what models are told about a tool beyond its description.
func (l *Later) Instructions(t *tool.Tool) string { return l.described().Instructions(t) }

// through does something behind the door, once it is open.
func through[T any](ctx context.Context, l *Later, f func(tool.Door) (T, error)) (T, error) {
	d, err := l.wait(ctx)
	if err != nil {
		var none T
		return none, err
	}
	return f(d)
}

// Call runs a tool or asks a person.
func (l *Later) Call(ctx context.Context, who access.Principal, name string, args json.RawMessage) (tool.Result, error) {
	return through(ctx, l, func(d tool.Door) (tool.Result, error) { return d.Call(ctx, who, name, args) })
}

// Questions lists what was asked.
func (l *Later) Questions(ctx context.Context, states ...tool.State) ([]tool.Question, error) {
	return through(ctx, l, func(d tool.Door) ([]tool.Question, error) { return d.Questions(ctx, states...) })
}

// Question returns one by its id.
func (l *Later) Question(ctx context.Context, id string) (tool.Question, error) {
	return through(ctx, l, func(d tool.Door) (tool.Question, error) { return d.Question(ctx, id) })
}

// Answer is a person's answer.
func (l *Later) Answer(ctx context.Context, person access.Principal, id string, a tool.Answer) (tool.Result, error) {
	return through(ctx, l, func(d tool.Door) (tool.Result, error) { return d.Answer(ctx, person, id, a) })
}

// Rehearse is what an answer would come to.
func (l *Later) Rehearse(ctx context.Context, person access.Principal, id string, a tool.Answer) (tool.Question, error) {
	return through(ctx, l, func(d tool.Door) (tool.Question, error) { return d.Rehearse(ctx, person, id, a) })
}

// Await waits until a question is over, or was computed again.
func (l *Later) Await(ctx context.Context, id string, revision int) (tool.Result, error) {
	return through(ctx, l, func(d tool.Door) (tool.Result, error) { return d.Await(ctx, id, revision) })
}

// Cancel withdraws a question.
func (l *Later) Cancel(ctx context.Context, who access.Principal, id string) error {
	_, err := through(ctx, l, func(d tool.Door) (struct{}, error) { return struct{}{}, d.Cancel(ctx, who, id) })
	return err
}

// Rules lists the standing answers.
func (l *Later) Rules(ctx context.Context) ([]policy.Rule, error) {
	return through(ctx, l, func(d tool.Door) ([]policy.Rule, error) { return d.Rules(ctx) })
}

// Forget takes a standing answer back.
func (l *Later) Forget(ctx context.Context, person access.Principal, id string) error {
	_, err := through(ctx, l, func(d tool.Door) (struct{}, error) { return struct{}{}, d.Forget(ctx, person, id) })
	return err
}
