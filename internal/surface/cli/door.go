package cli

import (
	"context"
	"encoding/json"
	"errors"
	"sync"

	"lore/internal/fault"
	"lore/internal/surface/cli/tty"
	"lore/internal/tool"
	"lore/internal/tool/access"
	"lore/internal/tool/token"
	"lore/internal/workspace/process"
)

// A TerminalDoor is the door as commands use it. It says which program a call
// comes from, and which processes an answer comes from, so that no program
// answers its own question. What this very command asks, its own terminal may
// answer: whoever sees the prompt there started the command.
type TerminalDoor struct {
	tool.Door
	// pin asks for the approval PIN where one is set.
	pin func(ctx context.Context) error

	once    sync.Once
	program []access.Process

	mu  sync.Mutex
	own map[string]bool // questions of this process
}

// AtTerminal lets the commands of a session use its door as the person at the
// terminal does.
func AtTerminal(s *Session) *Session {
	s.Door = newTerminalDoor(s.Door, func(ctx context.Context) error { return askPIN(ctx, s.Tokens) })
	return s
}

func newTerminalDoor(d tool.Door, pin func(context.Context) error) *TerminalDoor {
	return &TerminalDoor{Door: d, pin: pin, own: map[string]bool{}}
}

// Call makes a call for the program that started this one.
func (d *TerminalDoor) Call(ctx context.Context, who access.Principal, name string, args json.RawMessage) (tool.Result, error) {
	d.once.Do(func() { d.program = process.Behind() })
	who.Program = d.program
	return d.remember(d.Door.Call(ctx, who, name, args))
}

func (d *TerminalDoor) remember(res tool.Result, err error) (tool.Result, error) {
	if err == nil && res.Question != nil {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.own[res.Question.ID] = true
	}
	return res, err
}

// answering is the person with the processes that their answer comes from.
func (d *TerminalDoor) answering(person access.Principal, id string) access.Principal {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.own[id] {
		person.Line = process.Own()
	}
	return person
}

// Answer gives an answer from this terminal.
func (d *TerminalDoor) Answer(ctx context.Context, person access.Principal, id string, a tool.Answer) (tool.Result, error) {
	if a.Approve || a.Always != nil {
		if err := d.pin(ctx); err != nil {
			return tool.Result{}, err
		}
	}
	return d.Door.Answer(ctx, d.answering(person, id), id, a)
}

// Rehearse shows what an answer would come to.
func (d *TerminalDoor) Rehearse(ctx context.Context, person access.Principal, id string, a tool.Answer) (tool.Question, error) {
	return d.Door.Rehearse(ctx, d.answering(person, id), id, a)
}

// askPIN asks for the approval PIN on the controlling terminal, if one is set.
func askPIN(ctx context.Context, tokens *token.Store) (err error) {
	if has, err := tokens.HasPIN(ctx); err != nil || !has {
		return err
	}
	t, err := tty.Open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.Close()) }()
	word, err := t.Secret(ctx, "PIN")
	if err != nil {
		return err
	}
	return tokens.CheckPIN(ctx, word)
}

// BesideScreen is the door of a session for a program that draws the whole
// terminal, on which no PIN can be asked for.
func BesideScreen(s *Session) tool.Door {
	d, ok := s.Door.(*TerminalDoor)
	if !ok {
		return s.Door
	}
	return newTerminalDoor(d.Door, func(ctx context.Context) error {
		if has, err := s.Tokens.HasPIN(ctx); err != nil || !has {
			return err
		}
		return fault.Fix(fault.Denied, "approve it on the web page, or with lore approvals in another terminal", "approvals need your PIN, which you cannot type on this screen")
	})
}
