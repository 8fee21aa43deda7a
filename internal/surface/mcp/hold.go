package mcp

import (
	"context"
	"encoding/json"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"lore/internal/surface/cli/draw"
	"lore/internal/surface/mcp/answers"
	"lore/internal/surface/mcp/tasks"
	"lore/internal/tool"
)

// DefaultHold is how long a call waits for a person when its client hears of
// progress meanwhile. Many clients give up after a minute, whatever they hear.
const DefaultHold = 45 * time.Second

// quietHold is the most for a client that did not ask for progress: nothing
// tells it that we live, some give up after half a minute, and a model that gets
// no answer calls again.
const quietHold = 20 * time.Second

// beat is how often a client that waits is told so.
const beat = 5 * time.Second

// hold waits for a person who answers at the page, in the terminal or anywhere
// else, and returns what came of the call; after a while it answers that a
// person must approve.
//
// A client that stops waiting withdraws nothing. Clients cancel when their own
// time is up, not when their user has changed their mind, and a question must
// not vanish under the eyes of whoever reads it. It stays for its day, is bound
// to what it showed, and its asker can look how it stands.
func (s *Server) hold(ctx context.Context, req *sdk.CallToolRequest, res tool.Result) (*sdk.CallToolResult, error) {
	if res.Question.State.Over() {
		return s.ended(ctx, s.untilOver(ctx, res))
	}
	told, patience := reportOf(ctx, req), s.opts.Hold
	switch {
	case patience <= 0:
		return s.waits(ctx, res)
	case tasks.Promote(ctx, taskLife, s.waitingFor(res)):
		return s.outlast(ctx, res)
	case told.token == nil:
		patience = min(patience, quietHold)
	}
	inner, stop := context.WithCancel(ctx)
	defer stop()
	over := make(chan ended, 1)
	go func() { over <- s.untilOver(inner, res) }()
	message := s.waitingFor(res)
	end, base := s.opts.After(patience), told.next()
	for waited := time.Duration(0); ; waited += beat {
		told.waiting(ctx, base, waited, patience, message)
		select {
		case e := <-over:
			return s.ended(ctx, e)
		case <-s.opts.After(beat):
		case <-end:
			stop()
			return s.ended(ctx, <-over) // what was answered in this moment counts
		case <-s.opts.Closing:
			stop()
			return s.ended(ctx, <-over)
		case <-ctx.Done():
			<-over
			return nil, ctx.Err()
		}
	}
}

// waitingFor says what a call waits for.
func (s *Server) waitingFor(res tool.Result) string {
	return "Waiting for a person: " + draw.OneLine(res.Question.Preview.Summary) + ". " + mustApprove
}

// taskLife is longer than a question waits.
const taskLife = 25 * time.Hour

// fetched taints who gets the result of a task that shows text from outside: it may
// be fetched long after the call that tainted them.
func (s *Server) fetched(ctx context.Context, result json.RawMessage) error {
	var r struct {
		StructuredContent struct {
			Untrusted bool `json:"untrusted"`
		} `json:"structuredContent"`
	}
	if err := json.Unmarshal(result, &r); err != nil || !r.StructuredContent.Untrusted {
		return err
	}
	return s.door().Taint(ctx, s.opts.Who)
}

// outlast waits, in a task, until the question is over. A client that cancels
// the task has said that it no longer wants the answer, so the question is
// withdrawn, if nobody has answered it.
func (s *Server) outlast(ctx context.Context, res tool.Result) (*sdk.CallToolResult, error) {
	e := s.untilOver(ctx, res)
	if e.still && tasks.Cancelled(ctx) {
		// What was answered in this moment is not withdrawn, and that is all.
		_ = s.door().Cancel(context.WithoutCancel(ctx), s.opts.Who, res.Question.ID)
	}
	return s.ended(ctx, e)
}

// ended is how waiting for a question ended.
type ended struct {
	res   tool.Result
	err   error
	still bool // it waits, and we do not
}

func (s *Server) ended(ctx context.Context, e ended) (*sdk.CallToolResult, error) {
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case e.still:
		return s.waits(ctx, e.res)
	case e.err != nil:
		return answers.Failed(e.err)
	}
	return answers.Of(e.res)
}

// untilOver waits until nothing more will happen to a question. One that is
// computed again, because a file changed, is waited for as it is then.
func (s *Server) untilOver(ctx context.Context, res tool.Result) ended {
	for {
		next, err := s.door().Await(ctx, res.Question.ID, res.Question.Revision)
		switch {
		case err != nil && ctx.Err() != nil:
			return ended{res: res, still: true}
		case err != nil, next.Question == nil:
			return ended{res: next, err: err}
		}
		res = next
	}
}
