package acp

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	sdk "github.com/coder/acp-go-sdk"

	"lore/internal/agent/chat"
	"lore/internal/change"
	"lore/internal/fault"
	"lore/internal/surface/cli/draw"
	"lore/internal/tool"
	"lore/internal/tool/access"
	"lore/internal/tool/policy"
)

// decide lets people answer what a run asks, one question after the other: in the
// editor's dialog where that may count, and wherever they like.
func (w *show) decide(ctx context.Context) error {
	calls, err := w.v.Agent.Store.Calls(ctx, w.run)
	if err != nil {
		return err
	}
	for i := range calls {
		c := &calls[i]
		if c.State != chat.Asked {
			continue
		}
		q, err := w.v.Door.Question(ctx, c.Question)
		for err == nil && !q.State.Over() {
			q, err = w.ask(ctx, c, q)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// ask asks once, and returns the question as it stands then: over, or computed again.
func (w *show) ask(ctx context.Context, c *chat.Call, q tool.Question) (tool.Question, error) {
	if !w.mayAsk(q) {
		w.send(sdk.UpdateAgentMessageText("\n\n*" + w.elsewhere(q) + "*\n\n"))
		if _, err := w.v.Door.Await(ctx, q.ID, q.Revision); err != nil && ctx.Err() != nil {
			return q, err
		}
		return w.v.Door.Question(ctx, q.ID)
	}
	// Whoever answers elsewhere meanwhile ends the dialog.
	dialog, shut := context.WithCancel(ctx)
	defer shut()
	go func() {
		_, _ = w.v.Door.Await(dialog, q.ID, q.Revision) // it ends the dialog, whatever it says
		shut()
	}()
	res, err := w.s.client.RequestPermission(dialog, sdk.RequestPermissionRequest{SessionId: w.id, ToolCall: w.card(c, q), Options: options(q)})
	if ctx.Err() != nil {
		return q, ctx.Err()
	}
	if err != nil && dialog.Err() == nil {
		return q, err
	}
	if err == nil && res.Outcome.Selected != nil {
		yes := res.Outcome.Selected.OptionId == yesOption
		if _, err := w.v.Door.Answer(ctx, w.dialog(), q.ID, tool.Answer{Approve: yes, Revision: q.Revision}); err != nil {
			if now, e := w.v.Door.Question(ctx, q.ID); e == nil && (now.State.Over() || now.Revision != q.Revision) {
				return now, nil // somebody was faster, or a file has changed
			}
			return q, err
		}
	} else if err == nil { // the person closed the dialog
		if err := w.v.Door.Cancel(ctx, q.Who, q.ID); err != nil && fault.Of(err) != fault.Conflict { // somebody was faster
			return q, err
		}
	}
	return w.v.Door.Question(ctx, q.ID)
}

// mayAsk reports whether an answer of the editor's dialog counts. A program could
// give it, so a person must have granted that; what destroys or runs a command needs
// more trust still, nobody decides there what is shared, and no dialog asks for the PIN.
func (w *show) mayAsk(q tool.Question) bool {
	o := w.s.o
	if !o.Confirm && !o.Trust || q.NeedsPIN || q.Risk == policy.Share || len(q.Unshared) > 0 {
		return false
	}
	return o.Trust || q.Risk == policy.Create || q.Risk == policy.Change || q.Risk == policy.None
}

// elsewhere says where a person can answer.
func (w *show) elsewhere(q tool.Question) string {
	said := "Waiting for your approval: " + draw.OneLine(q.Preview.Summary) + "."
	if w.s.o.Page != nil {
		if at := w.s.o.Page(q.ID); at != "" {
			return said + " Open " + at
		}
	}
	return said + " Approve or deny it with lore approvals in a terminal, or on the web page of lore serve."
}

// dialog is who answers: the editor's dialog, not a person whom we know.
func (w *show) dialog() access.Principal {
	w.s.mu.Lock()
	defer w.s.mu.Unlock()
	return access.Principal{Kind: access.Dialog, ID: w.run, Client: w.s.name, Surface: "acp", Scopes: []access.Scope{access.Approve}}
}

// The answers of a dialog.
const (
	yesOption = "approve"
	noOption  = "deny"
)

func options(q tool.Question) []sdk.PermissionOption {
	yes := "Approve"
	if q.Risk == policy.Destroy {
		yes = "Approve, and delete"
	}
	return []sdk.PermissionOption{
		{OptionId: yesOption, Name: yes, Kind: sdk.PermissionOptionKindAllowOnce},
		{OptionId: noOption, Name: "Deny", Kind: sdk.PermissionOptionKindRejectOnce},
	}
}

// card shows a question, made from what is stored of it: nothing in it is the
// model's own word about what it does.
func (w *show) card(c *chat.Call, q tool.Question) sdk.ToolCallUpdate {
	var list []sdk.ToolCallContent
	said := draw.OneLine(q.Preview.Summary)
	for _, warning := range q.Preview.Warnings {
		said += "\n\nWarning: " + draw.OneLine(warning)
	}
	if len(q.Changes) == 0 && len(q.Args) > 0 { // it reaches outside: these are the bytes that leave
		said += "\n\n" + draw.Revealed(string(q.Args))
	}
	list = append(list, sdk.ToolContent(sdk.TextBlock(said)))
	places := []sdk.ToolCallLocation{}
	for _, f := range q.Changes {
		at := filepath.Join(w.v.Dir, filepath.FromSlash(f.Path))
		places = append(places, sdk.ToolCallLocation{Path: at})
		list = append(list, difference(at, f))
	}
	return sdk.ToolCallUpdate{
		ToolCallId: w.callID(c), Title: sdk.Ptr(draw.OneLine(q.Preview.Summary)), Kind: sdk.Ptr(w.kind(c)), Status: sdk.Ptr(sdk.ToolCallStatusPending),
		Content: list, Locations: places, RawInput: raw(q.Args),
	}
}

// difference is a change of a file, as the lines before and after it.
func difference(at string, f change.FileChange) sdk.ToolCallContent {
	if f.Diff == "" {
		what := fmt.Sprintf("%s %s", f.Action, draw.OneLine(f.Path))
		if f.From != "" {
			what = fmt.Sprintf("%s %s to %s", f.Action, draw.OneLine(f.From), draw.OneLine(f.Path))
		}
		return sdk.ToolContent(sdk.TextBlock(what))
	}
	before, after := sides(f.Diff)
	if before == "" {
		return sdk.ToolDiffContent(at, after)
	}
	return sdk.ToolDiffContent(at, after, before)
}

// sides are the two texts of a unified diff, as far as it shows them.
func sides(diff string) (before, after string) {
	var b, a strings.Builder
	first := true
	for line := range strings.Lines(diff) {
		text := draw.Revealed(strings.TrimRight(line[1:], "\n")) + "\n"
		switch {
		case strings.HasPrefix(line, "@@"):
			if !first {
				b.WriteString("…\n")
				a.WriteString("…\n")
			}
			first = false
		case first: // the names of the files
		case line[0] == ' ':
			b.WriteString(text)
			a.WriteString(text)
		case line[0] == '-':
			b.WriteString(text)
		case line[0] == '+':
			a.WriteString(text)
		}
	}
	return b.String(), a.String()
}
