package mcp

import (
	"context"
	"fmt"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"lore/internal/surface/mcp/tasks"
	"lore/internal/tool"
)

// A report tells the client of one call how far it is: first how far the tool
// is, then how long a person has been waited for. What it tells only grows.
type report struct {
	req   *sdk.CallToolRequest
	token any // nil when the client does not want to hear

	mu   sync.Mutex
	told float64 // what was told last
	step int     // in hundredths, of the tool
}

type reportKey struct{}

// reporting is the context of a call, with its report.
func reporting(ctx context.Context, req *sdk.CallToolRequest) context.Context {
	r := &report{req: req, token: req.Params.GetProgressToken(), step: -1}
	ctx = context.WithValue(ctx, reportKey{}, r)
	return tool.WithProgress(ctx, func(done, total int, message string) {
		if !r.moves(done, total) {
			return
		}
		if !tasks.Say(ctx, fmt.Sprintf("%s: %d of %d", message, done, total)) && r.token != nil {
			r.send(ctx, float64(done), float64(total), message)
		}
	})
}

// reportOf is the report of the call that a context belongs to.
func reportOf(ctx context.Context, req *sdk.CallToolRequest) *report {
	if r, ok := ctx.Value(reportKey{}).(*report); ok {
		return r
	}
	return &report{req: req, token: req.Params.GetProgressToken()}
}

// moves reports whether a tool is a hundredth further than it was told: there
// are no more messages than that, however many notes there are.
func (r *report) moves(done, total int) bool {
	step := done
	if total > 0 {
		step = done * 100 / total
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if step <= r.step || float64(done) <= r.told && r.step >= 0 {
		return false
	}
	r.step, r.told = step, float64(done)
	return true
}

// waiting tells how long a person has been waited for, and for how long at the
// most. It counts on from what the tool told.
func (r *report) waiting(ctx context.Context, base float64, waited, most time.Duration, message string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.token == nil {
		return
	}
	r.told = base + waited.Seconds()
	r.send(ctx, r.told, base+most.Seconds(), message)
}

// next is a number that was not told yet.
func (r *report) next() float64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.told + 1
}

func (r *report) send(ctx context.Context, done, total float64, message string) {
	// A client that is gone is seen by its request's end.
	_ = r.req.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ProgressToken: r.token, Progress: done, Total: total, Message: message})
}
