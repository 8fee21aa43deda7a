// Package tui is lore chat on the whole terminal: the conversation, what is being
// done, what waits for an answer, and a place to write. It draws and takes the
// answers of the person; the agent does the work. Control characters in the text
// of models and notes are removed before it is drawn.
package tui

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"lore/internal/agent"
	"lore/internal/agent/chat"
	"lore/internal/surface/cli/draw"
	"lore/internal/tool"
)

// A Session is what the screen works with.
type Session struct {
	Agent *agent.Agent
	Door  tool.Door
	// Attend carries out what is approved elsewhere, until ctx ends; may be nil.
	Attend func(ctx context.Context)
	// Begin makes a conversation that begins with a text, for a model.
	Begin func(ctx context.Context, text, model string) (string, error)
	// Undo plans, for the person, to take back what a conversation changed last.
	Undo func(ctx context.Context, chat string) (tool.Result, error)
	// Models are the ids of those that can be talked with, and what went wrong
	// with some providers; may be nil.
	Models func(ctx context.Context) (ids, problems []string, err error)
	// Hear takes what would else be written beside the screen: that a model is
	// asked again, and warnings. The function that it returns ends that; may be nil.
	Hear func(tell func(line string)) (end func())
}

// Options say how the conversation begins.
type Options struct {
	Chat   string // a conversation to go on with; "": a new one
	Model  string
	Note   string
	Limits chat.Limits
	Sets   []string // nil: the usual ones
	Tools  bool
	In     io.Reader
	Out    io.Writer
	Paint  draw.Screen
}

// Run shows the screen until the person leaves. It returns the conversation that
// was open then, if there was any.
func Run(ctx context.Context, s Session, o Options) (string, error) {
	h := &effects{s: s}
	var leave context.CancelFunc
	h.ctx, leave = context.WithCancel(ctx)
	m := newModel(h, o, s.Agent.Now)
	p := tea.NewProgram(m, tea.WithContext(h.ctx), tea.WithInput(o.In), tea.WithOutput(o.Out), tea.WithoutSignalHandler())
	h.box.wake = func() { p.Send(wake{}) }
	if s.Hear != nil {
		defer s.Hear(h.box.say)()
	}
	var wg sync.WaitGroup
	if s.Attend != nil {
		wg.Go(func() { s.Attend(h.ctx) })
	}
	_, err := p.Run()
	leave()
	h.close() // a run is given back before the vault is closed
	wg.Wait()
	if errors.Is(err, tea.ErrProgramKilled) && ctx.Err() != nil {
		err = nil // told to end
	}
	return m.chat, errors.Join(err, m.finish(ctx))
}

// finish stops a run that the person left before it was stopped.
func (m *model) finish(ctx context.Context) error {
	if !m.stopping || m.run == nil {
		return nil
	}
	ctx, done := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer done()
	return m.h.s.Agent.Cancel(ctx, m.run.ID)
}

// effects do what reaches outside of the model, and tell it by messages.
type effects struct {
	s   Session
	ctx context.Context
	box inbox

	mu     sync.Mutex
	closed bool
	wg     sync.WaitGroup
}

// do makes a command of work. None begins after close, which waits for all.
func (h *effects) do(f func(ctx context.Context) tea.Msg) tea.Cmd {
	return func() tea.Msg {
		h.mu.Lock()
		if h.closed {
			h.mu.Unlock()
			return nil
		}
		h.wg.Add(1)
		h.mu.Unlock()
		defer h.wg.Done()
		return f(h.ctx)
	}
}

func (h *effects) close() {
	h.mu.Lock()
	h.closed = true
	h.mu.Unlock()
	h.wg.Wait()
}

// frame is how long news are gathered before they are drawn.
const frame = 33 * time.Millisecond
