package tasks

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// created answers a call that became a task.
type created struct {
	sdk.ResultBase
	Type string `json:"resultType"`
	shown
}

// detailed answers tasks/get.
type detailed struct {
	sdk.ResultBase
	Type string `json:"resultType"`
	shown
	Result json.RawMessage     `json:"result,omitempty"`
	Error  *jsonrpc.Error      `json:"error,omitempty"`
	Asked  sdk.InputRequestMap `json:"inputRequests,omitempty"`
}

// ack answers that something was taken.
type ack struct {
	sdk.ResultBase
	Type string `json:"resultType"`
}

// named are the parameters of the methods about one task.
type named struct {
	sdk.ParamsBase
	ID string `json:"taskId"`
	// Said is read key by key: what was not asked may have any form.
	Said map[string]json.RawMessage `json:"inputResponses,omitempty"`
}

const complete = "complete"

// Register adds the methods about tasks to a server, for one owner. fetched hears
// of every result before the owner gets it, and may refuse.
func (b *Book) Register(s *sdk.Server, owner string, fetched func(ctx context.Context, result json.RawMessage) error) error {
	err := sdk.AddReceivingCustomMethod(s, "tasks/get", func(ctx context.Context, _ *sdk.ServerSession, p *named) (*detailed, error) {
		d, err := b.get(owner, p)
		if err == nil && len(d.Result) > 0 {
			err = fetched(ctx, d.Result)
		}
		if err != nil {
			return nil, err
		}
		return d, nil
	})
	if err != nil {
		return err
	}
	err = sdk.AddReceivingCustomMethod(s, "tasks/update", func(_ context.Context, _ *sdk.ServerSession, p *named) (*ack, error) {
		return b.update(owner, p)
	})
	if err != nil {
		return err
	}
	return sdk.AddReceivingCustomMethod(s, "tasks/cancel", func(_ context.Context, _ *sdk.ServerSession, p *named) (*ack, error) {
		return b.drop(owner, p)
	})
}

func (b *Book) get(owner string, p *named) (*detailed, error) {
	d, isLess, err := b.look(owner, p)
	if err != nil || len(d.Result) == 0 {
		return d, err
	}
	for _, less := range isLess {
		if less(b.ctx) {
			d.Status, d.Result = failed, nil
			d.Error = &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "the result is no longer shared with this app; call the tool again"}
		}
	}
	return d, nil
}

// look is a task as it is kept.
func (b *Book) look(owner string, p *named) (*detailed, []func(context.Context) bool, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	e, err := b.find(owner, p.ID)
	if err != nil {
		return nil, nil, err
	}
	d := &detailed{Type: complete, shown: e.shown, Result: e.result, Error: e.err}
	for k, ask := range e.asked {
		if e.said[k] == nil {
			if d.Asked == nil {
				d.Asked = sdk.InputRequestMap{}
			}
			d.Asked[k] = ask
		}
	}
	return d, slices.Clone(e.isLess), nil
}

// update takes answers of the client, some or all of what it is asked.
func (b *Book) update(owner string, p *named) (*ack, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	e, err := b.find(owner, p.ID)
	if err != nil {
		return nil, err
	}
	for k, raw := range p.Said {
		if e.asked[k] == nil || e.said[k] != nil {
			continue // not asked, or answered already: the first answer counts
		}
		one, err := json.Marshal(map[string]json.RawMessage{k: raw})
		if err != nil {
			return nil, err
		}
		var said sdk.InputResponseMap
		if err := json.Unmarshal(one, &said); err != nil {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: err.Error()}
		}
		e.said[k] = said[k]
	}
	if len(e.asked) > 0 && len(e.said) == len(e.asked) {
		e.asked, e.Status, e.Updated = nil, working, stamp(b.o.Now())
		e.ready <- struct{}{} // one round, one word: there is room
	}
	return &ack{Type: complete}, nil
}

// drop asks a task to end. What is over stays as it is, and what was done when
// the word came is told as done.
func (b *Book) drop(owner string, p *named) (*ack, error) {
	b.mu.Lock()
	e, err := b.find(owner, p.ID)
	b.mu.Unlock()
	if err != nil {
		return nil, err
	}
	e.cancel(ErrCancelled)
	return &ack{Type: complete}, nil
}

// missing tells which capability a client would need.
func missing() error {
	data, err := json.Marshal(map[string]any{"requiredCapabilities": map[string]any{"extensions": map[string]any{Extension: struct{}{}}}})
	if err != nil {
		return err
	}
	return &jsonrpc.Error{Code: sdk.CodeMissingRequiredClientCapabilities, Message: "the client does not declare " + Extension, Data: data}
}
