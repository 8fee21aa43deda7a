package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"

	"lore/internal/fault"
	"lore/internal/tool/access"
	"lore/internal/tool/policy"
)

// polls reports whether the call only asks a feed what is new. Recording that
// would make the record grow by being looked at.
func (c *call) polls() bool {
	if c.tool == nil || !c.tool.Feed {
		return false
	}
	var in struct {
		After json.Number `json:"after"`
	}
	return json.Unmarshal(c.args, &in) == nil && in.After != ""
}

// Finished is the data of [TopicCall].
type Finished struct {
	Tool      string     `json:"tool"`
	Status    Status     `json:"status"`
	Summary   string     `json:"summary,omitempty"`
	Operation string     `json:"operation_id,omitempty"`
	Kind      fault.Kind `json:"kind,omitempty"`
	Surface   string     `json:"surface"`
	// Who called; see [Sees].
	Who access.Principal `json:"who"`
}

// end records how the call ended and tells whoever listens.
func (c *call) end(ctx context.Context, res *Result, err error) error {
	c.tellSent()
	if err == nil {
		c.taint(ctx, res)
	} else {
		err = c.taintByError(ctx, err)
	}
	c.rec.Outside = c.maker().Tainted || res.Untrusted || IsUntrusted(err)
	c.rec.Duration = c.deps.Now().Sub(c.start)
	c.rec.Summary = res.Message
	if v, ok := res.Value.(Viewer); ok && c.rec.Summary == "" {
		c.rec.Summary = v.View().Foot
	}
	switch {
	case errors.Is(err, errAgain):
		c.rec.Status = CallPending
	case err != nil:
		c.rec.Status, c.rec.Kind, c.rec.Error = CallFailed, fault.Of(err), err.Error()
		switch c.rec.Kind {
		case fault.Denied:
			c.rec.Status, c.rec.Decision = CallDenied, policy.Deny
		case fault.Cancelled:
			c.rec.Status = CallCancelled
		}
	case res.Question != nil:
		c.rec.Status, c.rec.Question = CallPending, res.Question.ID
	case res.DryRun:
		c.rec.Status = CallDryRun
	default:
		c.rec.Status = CallDone
	}
	if err == nil {
		res.Notices = c.notices
	}
	if c.logs(slog.LevelInfo) {
		c.log().Info("call ended", "ok", err == nil, "status", string(c.rec.Status), "kind", string(c.rec.Kind),
			"files", len(res.Changes), "duration_ms", c.rec.Duration.Milliseconds())
	}
	c.deps.Bus.Publish(TopicCall, Finished{c.rec.Tool, c.rec.Status, c.rec.Summary, c.rec.Operation, c.rec.Kind, c.who.Surface, access.Principal{Kind: c.who.Kind, ID: c.who.ID}}, false)
	if c.deps.Ledger == nil || c.polls() {
		return err
	}
	if c.question != "" {
		c.rec.Question = c.question
	}
	c.rec.ID = c.deps.ID("call")
	if e := c.deps.Ledger.Record(context.WithoutCancel(ctx), c.rec); e != nil {
		c.log().Error("a call could not be recorded", "kind", string(fault.Of(e)))
		if err == nil && c.rec.Operation == "" && c.tool.Effect != access.Reads {
			return fmt.Errorf("the call cannot be recorded: %w", e)
		}
	}
	return err
}
