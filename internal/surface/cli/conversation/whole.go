package conversation

import (
	"context"
	"fmt"
	"os"

	"golang.org/x/term"

	"lore/internal/llm"
	"lore/internal/surface/cli/draw"
	"lore/internal/surface/tui"
	"lore/internal/tool"
)

// The least that a screen needs.
const leastWidth, leastHeight = 30, 8

// whole reports whether there is a terminal to draw all of: one that obeys, knows
// its size, and has room.
func (t Terminal) whole() bool {
	out, ok := t.Out.(*os.File)
	if !ok || !t.AtTerminal || !t.Screen.Terminal || t.Screen.Dumb || t.In == nil {
		return false
	}
	width, height, err := term.GetSize(int(out.Fd()))
	return err == nil && width >= leastWidth && height >= leastHeight
}

// onScreen talks on the whole terminal.
func (o *options) onScreen(ctx context.Context, s *Session, t Terminal, resume string) (string, error) {
	c, err := find(ctx, s, resume)
	if err != nil {
		return "", err
	}
	id, err := tui.Run(ctx, tui.Session{
		Agent: s.Agent, Door: s.Door, Attend: s.Attend, Hear: s.Hear,
		Begin: func(ctx context.Context, text, model string) (string, error) {
			with := *o
			with.model = model
			return with.begin(ctx, s, text)
		},
		Undo:   func(ctx context.Context, id string) (tool.Result, error) { return undo(ctx, s, id) },
		Models: func(ctx context.Context) (ids, problems []string, err error) { return t.choices(ctx) },
	}, tui.Options{
		Chat: c.ID, Model: o.model, Note: o.note, Limits: o.limit, Sets: o.sets, Tools: o.tools, In: t.In, Out: t.Out, Paint: t.Screen,
	})
	if id != "" {
		fmt.Fprintln(t.Err, t.Notice.Dim(draw.OneLine("Continue this chat with: lore chat --continue "+id)))
	}
	return id, err
}

// choices are the models that can be talked with.
func (t Terminal) choices(ctx context.Context) (ids, problems []string, err error) {
	m, err := t.Providers()
	if err != nil {
		return nil, nil, err
	}
	for _, p := range llm.List(ctx, m, m.Names()) {
		for _, info := range p.Models {
			ids = append(ids, p.Provider+"/"+info.Name)
		}
		if p.Error != "" {
			problems = append(problems, p.Provider+": "+p.Error)
		}
	}
	return ids, problems, nil
}
