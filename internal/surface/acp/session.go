package acp

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"

	sdk "github.com/coder/acp-go-sdk"

	"lore/internal/agent/chat"
	"lore/internal/fault"
	"lore/internal/llm"
	"lore/internal/surface/cli/draw"
)

// A session is a chat that the editor has open.
type session struct {
	id   string
	turn sync.Mutex // held while a message is answered

	mu     sync.Mutex
	wishes wishes
	cancel context.CancelCauseFunc // of the turn; nil between turns
}

// wishes are what the person chose for a chat.
type wishes struct {
	mode  sdk.SessionModeId
	model string // "": the usual one
	think bool
}

// The modes of a session.
const (
	askMode  = "ask"
	readMode = "read"
	autoMode = "auto"
)

// The options of a session.
const (
	modelOption = "model"
	thinkOption = "think"
	on, off     = "on", "off"
)

// wait waits until no message is being answered.
func (c *session) wait() {
	c.turn.Lock()
	defer c.turn.Unlock()
}

func (c *session) set(f func(*wishes)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f(&c.wishes)
}

func (c *session) now() wishes {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.wishes
}

// enter makes a session of a chat, or finds the one that is open.
func (s *server) enter(id string, c chat.Chat) *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	if open := s.sessions[id]; open != nil {
		return open
	}
	out := &session{id: id, wishes: wishes{mode: askMode, model: c.Model, think: c.Think}}
	s.sessions[id] = out
	return out
}

// open enters a chat that is kept.
func (s *server) open(ctx context.Context, id sdk.SessionId) (*session, error) {
	v, err := s.vault()
	if err != nil {
		return nil, err
	}
	c, err := v.Agent.Store.Get(ctx, string(id))
	if err != nil {
		return nil, err
	}
	return s.enter(c.ID, c), nil
}

// find is a session that is open.
func (s *server) find(id sdk.SessionId) (*session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.sessions[string(id)]; c != nil {
		return c, nil
	}
	return nil, unknown(string(id))
}

// modes are how far the agent may go without a question. Going on without any is
// offered where the editor's dialogs may approve: choosing it approves beforehand.
func (s *server) modes(c *session) *sdk.SessionModeState {
	mode := func(id sdk.SessionModeId, name, what string) sdk.SessionMode {
		return sdk.SessionMode{Id: id, Name: name, Description: &what}
	}
	list := []sdk.SessionMode{
		mode(askMode, "Ask", "Read notes, and ask before each change"),
		mode(readMode, "Read only", "Read notes, and change nothing"),
	}
	if s.o.Confirm || s.o.Trust {
		list = append(list, mode(autoMode, "Auto", "Change notes without asking; deletions, large losses of text and commands still need approval"))
	}
	return &sdk.SessionModeState{AvailableModes: list, CurrentModeId: c.now().mode}
}

// choices are the model of a chat, and whether it thinks first.
func (s *server) choices(ctx context.Context, c *session) []sdk.SessionConfigOption {
	n := c.now()
	usual, err := s.o.Default(ctx)
	if err != nil || usual == "" {
		usual = "quote"
	}
	current := n.model
	if current == "" {
		current = usual
	}
	names := []string{usual, current}
	if m, err := s.o.Models(); err == nil {
		for _, l := range llm.List(ctx, m, m.Names()) {
			for _, i := range l.Models {
				if i.Embedding == nil || !*i.Embedding {
					names = append(names, l.Provider+"/"+i.Name)
				}
			}
		}
	}
	think := off
	if n.think {
		think = on
	}
	return []sdk.SessionConfigOption{
		pick(modelOption, "Model", sdk.SessionConfigOptionCategoryModel, current, unique(names), nil),
		pick(thinkOption, "Thinking", sdk.SessionConfigOptionCategoryThoughtLevel, think, []string{off, on}, []string{"Off", "On, if the model can"}),
	}
}

// pick is an option with a list of values.
func pick(id sdk.SessionConfigId, name string, category sdk.SessionConfigOptionCategory, current string, values, labels []string) sdk.SessionConfigOption {
	list := sdk.SessionConfigSelectOptionsUngrouped{}
	for i, v := range values {
		label := v
		if labels != nil {
			label = labels[i]
		}
		list = append(list, sdk.SessionConfigSelectOption{Name: label, Value: sdk.SessionConfigValueId(v)})
	}
	o := sdk.NewSessionConfigOptionSelect(sdk.SessionConfigValueId(current), sdk.SessionConfigSelectOptions{Ungrouped: &list})
	o.Select.Id, o.Select.Name, o.Select.Category = id, name, &category
	return o
}

// unique leaves out what is there already.
func unique(names []string) []string {
	var out []string
	for _, n := range names {
		if !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}

// longestName is how much of what an editor calls itself is kept, in characters.
const longestName = 60

// clientName is what the editor calls itself, on one line and with nothing hidden
// in it.
func clientName(i *sdk.Implementation) string {
	name := i.Name
	if i.Title != nil && *i.Title != "" {
		name = *i.Title
	}
	runes := []rune(draw.Revealed(draw.OneLine(name)))
	return strings.TrimSpace(string(runes[:min(len(runes), longestName)]))
}

// cursor is where a list goes on, after where it does.
func cursor(offset int) string { return strconv.Itoa(offset) }

func after(cursor *string) (int, error) {
	if cursor == nil || *cursor == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(*cursor)
	if err != nil || n < 0 {
		return 0, fault.Field("cursor", "", "is not one of ours")
	}
	return n, nil
}
