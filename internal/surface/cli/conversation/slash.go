package conversation

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"lore/internal/agent/chat"
	"lore/internal/fault"
	"lore/internal/surface/cli/draw"
	"lore/internal/tool"
	"lore/internal/tool/access"
)

const slashHelp = `/model NAME  set the model; /model alone lists the models
/tools       list the tools
/undo        undo the changes of the last request that changed something
/compact     summarize older messages to free space in the model's context window
/quit        quit
Without a model, a slash and the name of a tool runs it.`

// slash does what a line that begins with a slash says, in a chat or, for "", before
// there is one. It reports false for a line that the mind understands.
func (o *options) slash(ctx context.Context, s *Session, t Terminal, id, text string) (bool, error) {
	if !strings.HasPrefix(text, "/") {
		return false, nil
	}
	word, rest, _ := strings.Cut(text, " ")
	rest = strings.TrimSpace(rest)
	switch word {
	case "/model", "/models":
		return true, o.choose(ctx, s, t, rest)
	case "/undo":
		return true, t.undo(ctx, s, id)
	case "/compact":
		return true, o.compact(ctx, s, t, id)
	}
	mute, err := o.isMute(ctx, s, id)
	if err != nil {
		return true, err
	}
	switch word {
	case "/help":
		fmt.Fprintln(t.Err, slashHelp)
		return !mute, nil // without a model, the tools are listed too
	case "/tools":
		for _, tl := range s.Door.On() {
			first, _, _ := strings.Cut(tl.Doc, ". ")
			fmt.Fprintf(t.Out, "%s (%s): %s\n", tl.Name, tl.Set, strings.TrimSuffix(draw.OneLine(first), "."))
		}
		return true, nil
	}
	if mute {
		return false, nil
	}
	return true, fault.Fix(fault.Invalid, "/help lists the commands", "unknown command %s", draw.OneLine(word))
}

// isMute reports whether no model answers in a chat.
func (o *options) isMute(ctx context.Context, s *Session, id string) (bool, error) {
	name := o.model
	if name == "" && id != "" {
		c, err := s.Agent.Store.Get(ctx, id)
		if err != nil {
			return false, err
		}
		name = c.Model
	}
	_, info, err := s.Agent.Model(ctx, name)
	return info.Mute, err
}

// choose sets the model of what is asked from now on, or lists those that there are.
func (o *options) choose(ctx context.Context, s *Session, t Terminal, name string) error {
	if name == "" {
		ids, problems, err := t.choices(ctx)
		if err != nil {
			return err
		}
		for _, id := range ids {
			fmt.Fprintln(t.Out, draw.OneLine(id))
		}
		for _, p := range problems {
			fmt.Fprintln(t.Err, t.Notice.Dim(draw.OneLine(p)))
		}
		return nil
	}
	m, _, err := s.Agent.Model(ctx, name)
	if err != nil {
		return err
	}
	o.model = name
	fmt.Fprintln(t.Err, t.Notice.Dim("Model: "+draw.OneLine(m.ID())))
	return nil
}

func (o *options) compact(ctx context.Context, s *Session, t Terminal, id string) error {
	done := false
	if id != "" {
		var err error
		if done, err = s.Agent.Compact(ctx, id, o.model); err != nil {
			return err
		}
	}
	text := "There is nothing to summarize yet"
	if done {
		text = "Older messages are summarized from here on"
	}
	fmt.Fprintln(t.Err, t.Notice.Dim(text))
	return nil
}

// undo lets the person take back what a chat changed last.
func (t Terminal) undo(ctx context.Context, s *Session, id string) error {
	res, err := undo(ctx, s, id)
	for err == nil && res.Question != nil {
		if !t.AtTerminal {
			fmt.Fprintln(t.Err, "Waiting for your approval. Review it with lore approvals")
			return t.Pending
		}
		res, err = t.Decide(ctx, *res.Question)
	}
	if err != nil {
		return err
	}
	text := "Nothing was undone"
	if res.Operation != "" {
		text = "Undone"
	}
	fmt.Fprintln(t.Err, t.Notice.Dim(text))
	return nil
}

// undo plans to take back what the last run of a chat changed that is still in force,
// for the person at this terminal.
func undo(ctx context.Context, s *Session, id string) (tool.Result, error) {
	all := s.Door.On()
	i := slices.IndexFunc(all, func(t *tool.Tool) bool { return slices.Contains(t.Roles, tool.TakesBack) })
	none := fault.Fix(fault.NotFound, "lore undo undoes changes made elsewhere", "this chat has no changes to undo")
	if i < 0 || id == "" {
		return tool.Result{}, none
	}
	runs, err := s.Agent.Store.Runs(ctx, id)
	if err != nil {
		return tool.Result{}, err
	}
	for _, r := range slices.Backward(runs) {
		calls, err := s.Agent.Store.Calls(ctx, r.ID)
		if err != nil {
			return tool.Result{}, err
		}
		if !slices.ContainsFunc(calls, func(c chat.Call) bool { return c.Operation != "" }) {
			continue
		}
		args, err := json.Marshal(map[string]string{"run": r.ID})
		if err != nil {
			return tool.Result{}, err
		}
		res, err := s.Door.Call(ctx, access.Terminal(), all[i].Name, args)
		if fault.Of(err) == fault.Invalid {
			continue // it was undone before
		}
		return res, err
	}
	return tool.Result{}, none
}
