package acp

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	sdk "github.com/coder/acp-go-sdk"

	"lore/internal/agent"
	"lore/internal/agent/chat"
	"lore/internal/fault"
	"lore/internal/llm"
	"lore/internal/surface/cli/draw"
	"lore/internal/tool"
	"lore/internal/tool/access"
)

// A show tells the editor what happens in a run.
type show struct {
	s     *server
	v     *Vault
	id    sdk.SessionId
	run   string
	calls []chat.Call // as they were told
}

func (s *server) shows(v *Vault, c *session, run string) *show {
	return &show{s: s, v: v, id: sdk.SessionId(c.id), run: run}
}

// send tells one thing. An editor that is gone hears nothing more, and ends the run.
func (w *show) send(u sdk.SessionUpdate) {
	_ = w.s.client.SessionUpdate(w.s.ctx, sdk.SessionNotification{SessionId: w.id, Update: u})
}

func (w *show) tell(e agent.Event) {
	switch e.Type {
	case agent.Text:
		w.send(sdk.UpdateAgentMessageText(e.Text))
	case agent.Reasoning:
		w.send(sdk.UpdateAgentThoughtText(e.Text))
	case agent.Restarted:
		w.send(sdk.UpdateAgentMessageText("\n\n*The answer was interrupted. It starts again:*\n\n"))
	case agent.Calls:
		for i := range e.Calls {
			w.call(&e.Calls[i])
		}
		w.plan()
	case agent.Said:
		if e.Message.Marker == chat.Compacted {
			w.send(sdk.UpdateAgentThoughtText("Older messages are summarized from here on."))
		}
	}
}

// conclude says why a run ended where its answer does not.
func (w *show) conclude(r chat.Run) {
	switch r.Status {
	case chat.Limited, chat.WaitingUser, chat.Failed:
		if r.Reason != "" {
			w.send(sdk.UpdateAgentMessageText("\n\n*" + draw.OneLine(r.Reason) + "*"))
		}
	}
}

// call tells that a call is there, or has another state.
func (w *show) call(c *chat.Call) {
	i := slices.IndexFunc(w.calls, func(o chat.Call) bool { return o.Seq == c.Seq })
	if i >= 0 && w.calls[i].State == c.State {
		return
	}
	id := w.callID(c)
	if i < 0 {
		w.calls = append(w.calls, *c)
		w.send(sdk.StartToolCall(id, w.title(c), sdk.WithStartKind(w.kind(c)), sdk.WithStartStatus(status(c.State)), sdk.WithStartLocations(w.places(c)), sdk.WithStartRawInput(raw(c.Args)), sdk.WithStartContent(content(c))))
		return
	}
	w.calls[i] = *c
	w.send(sdk.UpdateToolCall(id, sdk.WithUpdateTitle(w.title(c)), sdk.WithUpdateStatus(status(c.State)), sdk.WithUpdateContent(content(c))))
}

func (w *show) callID(c *chat.Call) sdk.ToolCallId {
	return sdk.ToolCallId(fmt.Sprintf("%s-%d", w.run, c.Seq))
}

// plan tells the calls of one answer as steps, where there are several.
func (w *show) plan() {
	last := w.calls[len(w.calls)-1].Message
	var entries []sdk.PlanEntry
	for i := range w.calls {
		c := &w.calls[i]
		if c.Message != last {
			continue
		}
		state := sdk.PlanEntryStatusPending
		switch {
		case c.State.Over():
			state = sdk.PlanEntryStatusCompleted
		case c.State != chat.Proposed:
			state = sdk.PlanEntryStatusInProgress
		}
		entries = append(entries, sdk.PlanEntry{Content: w.title(c), Priority: sdk.PlanEntryPriorityMedium, Status: state})
	}
	if len(entries) > 1 {
		w.send(sdk.UpdatePlan(entries...))
	}
}

// title is what a call does, in a line.
func (w *show) title(c *chat.Call) string {
	if c.Summary != "" {
		return draw.OneLine(c.Summary)
	}
	name := c.Tool
	if t, err := w.v.Door.Find(c.Tool); err == nil && t.Title != "" {
		name = t.Title
	}
	if p := pathOf(c.Args); p != "" {
		name += ": " + p
	}
	return draw.OneLine(name)
}

// kind is what sort of thing a call does, for its icon.
func (w *show) kind(c *chat.Call) sdk.ToolKind {
	t, err := w.v.Door.Find(c.Tool)
	switch {
	case err != nil:
		return sdk.ToolKindOther
	case slices.Contains(t.Roles, tool.DeletesNote):
		return sdk.ToolKindDelete
	case slices.Contains(t.Roles, tool.RenamesNote):
		return sdk.ToolKindMove
	case slices.Contains(t.Roles, tool.SearchesNotes):
		return sdk.ToolKindSearch
	case t.Needs == access.Exec:
		return sdk.ToolKindExecute
	case t.Needs == access.Egress:
		return sdk.ToolKindFetch
	case t.Effect == access.Reads:
		return sdk.ToolKindRead
	case t.Effect == access.Changes:
		return sdk.ToolKindEdit
	}
	return sdk.ToolKindOther
}

// places are the files that a call is about.
func (w *show) places(c *chat.Call) []sdk.ToolCallLocation {
	p := pathOf(c.Args)
	if p == "" || !filepath.IsLocal(filepath.FromSlash(p)) {
		return []sdk.ToolCallLocation{}
	}
	return []sdk.ToolCallLocation{{Path: filepath.Join(w.v.Dir, filepath.FromSlash(p))}}
}

func pathOf(args json.RawMessage) string {
	var in struct {
		Path string `json:"path"`
	}
	_ = json.Unmarshal(args, &in) // without a path, it is about none
	return in.Path
}

// shownBytes is how much of a result the editor gets: people seldom look at more.
const shownBytes = 8000

// content is what a call gave, or why it gave nothing.
func content(c *chat.Call) []sdk.ToolCallContent {
	if !c.State.Over() || c.Result == "" {
		return []sdk.ToolCallContent{}
	}
	text := c.Result
	if len(text) > shownBytes {
		text = strings.ToValidUTF8(text[:shownBytes], "") + "\n…"
	}
	return []sdk.ToolCallContent{sdk.ToolContent(sdk.TextBlock(draw.Revealed(text)))}
}

func status(s chat.CallState) sdk.ToolCallStatus {
	switch s {
	case chat.Proposed, chat.Asked:
		return sdk.ToolCallStatusPending
	case chat.Calling:
		return sdk.ToolCallStatusInProgress
	case chat.Finished:
		return sdk.ToolCallStatusCompleted
	}
	return sdk.ToolCallStatusFailed
}

// raw is JSON as a value, or nothing.
func raw(b json.RawMessage) any {
	var v any
	if json.Unmarshal(b, &v) != nil {
		return nil
	}
	return v
}

// replay tells a chat from its beginning.
func (s *server) replay(ctx context.Context, c *session) error {
	v, err := s.vault()
	if err != nil {
		return err
	}
	messages, err := v.Agent.Store.Messages(ctx, c.id)
	if err != nil {
		return err
	}
	runs := map[string][]chat.Call{}
	for i := range messages {
		m := &messages[i]
		if m.Marker != "" {
			continue
		}
		if _, known := runs[m.Run]; !known && m.Run != "" {
			if runs[m.Run], err = v.Agent.Store.Calls(ctx, m.Run); err != nil && fault.Of(err) != fault.NotFound {
				return err
			}
		}
		w := s.shows(v, c, m.Run)
		answer := llm.Answer{Parts: m.Parts}
		text := answer.Text()
		switch {
		case text == "":
		case m.Role == llm.User:
			w.send(sdk.UpdateUserMessageText(text))
		case m.Role == llm.Assistant:
			w.send(sdk.UpdateAgentMessageText(text))
		}
		for _, call := range runs[m.Run] {
			if call.Message == m.Seq {
				w.call(&call)
			}
		}
	}
	return nil
}
