package acp

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	sdk "github.com/coder/acp-go-sdk"

	"lore/internal/agent"
	"lore/internal/agent/chat"
	"lore/internal/fault"
	"lore/internal/tool/access"
	"lore/internal/tool/policy"
)

// Prompt answers a message.
func (s *server) Prompt(ctx context.Context, p sdk.PromptRequest) (sdk.PromptResponse, error) {
	v, err := s.vault()
	if err != nil {
		return sdk.PromptResponse{}, explain(err)
	}
	c, err := s.find(p.SessionId)
	if err != nil {
		return sdk.PromptResponse{}, explain(err)
	}
	if !c.turn.TryLock() {
		return sdk.PromptResponse{}, explain(fault.Fix(fault.Busy, "wait for the answer, or cancel it", "this session is answering another message"))
	}
	defer c.turn.Unlock()
	working, stop := context.WithCancelCause(context.WithoutCancel(s.ctx))
	defer stop(nil)
	c.mu.Lock()
	c.cancel = stop
	c.mu.Unlock()
	for _, over := range []context.Context{ctx, s.ctx} {
		defer context.AfterFunc(over, func() { stop(agent.ErrStopped) })()
	}
	r, err := s.answer(working, v, c, p.Prompt)
	switch {
	case working.Err() != nil:
		return sdk.PromptResponse{StopReason: sdk.StopReasonCancelled}, nil
	case err != nil:
		return sdk.PromptResponse{}, explain(err)
	}
	return sdk.PromptResponse{StopReason: reason(r), Usage: usage(r)}, nil
}

// stop ends the turn of a session, if there is one.
func (c *session) stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cancel != nil {
		c.cancel(agent.ErrStopped)
	}
}

// answer makes a run of a message and works on it until it is over.
func (s *server) answer(ctx context.Context, v *Vault, c *session, said []sdk.ContentBlock) (chat.Run, error) {
	q, err := request(v.Dir, said)
	if err != nil {
		return chat.Run{}, err
	}
	n := c.now()
	q.Model = n.model
	r, err := v.Agent.Start(ctx, c.id, q)
	if err != nil {
		return r, err
	}
	if err := s.prepare(ctx, v, c, n, r.ID); err != nil {
		return r, errors.Join(err, s.end(ctx, v, r.ID))
	}
	w := s.shows(v, c, r.ID)
	for {
		r, err = v.Agent.Work(ctx, r.ID, w.tell)
		if ctx.Err() != nil {
			return r, s.end(ctx, v, r.ID)
		}
		if err != nil || r.Status != chat.WaitingApproval {
			w.conclude(r)
			return r, err
		}
		if err := w.decide(ctx); err != nil {
			return r, errors.Join(err, s.end(ctx, v, r.ID))
		}
	}
}

// prepare lets what the person chose hold for a run, before it begins.
func (s *server) prepare(ctx context.Context, v *Vault, c *session, n wishes, run string) error {
	if _, err := v.Agent.Store.Change(ctx, c.id, func(c *chat.Chat) { c.Think = n.think }); err != nil {
		return err
	}
	rule := policy.Rule{ID: "rule-" + run, Tool: "*", Paths: "**", Run: run, Kind: string(access.Agent), Made: v.Agent.Now(), Until: v.Agent.Now().Add(24 * time.Hour)}
	switch n.mode {
	case readMode:
		rule.Verdict = policy.Deny
	case autoMode:
		rule.Verdict = policy.Allow
	default:
		return nil
	}
	return v.Allow(ctx, rule)
}

// end stops a run that was broken off. What it did stays done.
func (s *server) end(ctx context.Context, v *Vault, run string) error {
	lasting, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	return v.Agent.Cancel(lasting, run)
}

// request is what a person says, with what they point at. A note is named, and read
// by a tool if it is needed; other text that the editor sends along is data, as that
// of a web page.
func request(dir string, said []sdk.ContentBlock) (agent.Request, error) {
	var q agent.Request
	var b strings.Builder
	name := func(uri, as string) {
		if p, ok := notePath(dir, uri); ok {
			fmt.Fprintf(&b, "[[%s]]", strings.TrimSuffix(p, ".md"))
			if q.Note == "" {
				q.Note = p
			}
			return
		}
		b.WriteString(as)
	}
	for _, part := range said {
		switch {
		case part.Text != nil:
			b.WriteString(part.Text.Text)
		case part.ResourceLink != nil:
			name(part.ResourceLink.Uri, part.ResourceLink.Name)
		case part.Resource != nil && part.Resource.Resource.TextResourceContents != nil:
			t := part.Resource.Resource.TextResourceContents
			if _, ok := notePath(dir, t.Uri); ok {
				name(t.Uri, "")
				continue
			}
			q.Outside = true
			fmt.Fprintf(&b, "\n\n%s:\n```\n%s\n```\n\n", t.Uri, t.Text)
		default:
			return q, fault.Fix(fault.Invalid, "send text, or links to notes", "pictures, sound and binary files cannot be sent here")
		}
	}
	q.Text = b.String()
	return q, nil
}

// notePath is the path of a file in the vault, for a file: address.
func notePath(dir, uri string) (string, bool) {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" {
		return "", false
	}
	rel, err := filepath.Rel(dir, filepath.FromSlash(u.Path))
	if err != nil || !filepath.IsLocal(rel) {
		return "", false
	}
	return filepath.ToSlash(rel), true
}

// reason is why a run ended.
func reason(r chat.Run) sdk.StopReason {
	switch r.Status {
	case chat.Cancelled:
		return sdk.StopReasonCancelled
	case chat.Limited:
		return sdk.StopReasonMaxTurnRequests
	}
	return sdk.StopReasonEndTurn
}

func usage(r chat.Run) *sdk.Usage {
	return &sdk.Usage{InputTokens: r.Usage.In, OutputTokens: r.Usage.Out, TotalTokens: r.Usage.In + r.Usage.Out}
}
