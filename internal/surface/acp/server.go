// Package acp lets editors talk with Lore's agent: they start `lore acp` and speak
// the Agent Client Protocol on its standard input and output. A session is a chat, as
// on every other surface; the work is the agent's, and what it wants to change is
// asked about as everywhere.
package acp

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"slices"
	"sync"
	"time"

	sdk "github.com/coder/acp-go-sdk"

	"lore/internal/agent"
	"lore/internal/agent/chat"
	"lore/internal/fault"
	"lore/internal/llm"
	"lore/internal/tool"
	"lore/internal/tool/policy"
)

// A Vault is an open vault with an agent.
type Vault struct {
	Dir   string
	Agent *agent.Agent
	Door  tool.Door
	// Allow makes a rule that holds for one run.
	Allow func(ctx context.Context, r policy.Rule) error
	Close func() error
}

// Options say what an editor is offered.
type Options struct {
	Version string
	// Open opens the vault. The editor is greeted before.
	Open func(ctx context.Context) (*Vault, error)
	// Models are the language models to choose from, Default the one of a chat that
	// names none.
	Models  func() (llm.Providers, error)
	Default func(ctx context.Context) (string, error)
	// Confirm says that the editor's own dialogs may approve changes, Trust that they
	// may approve what destroys and what runs a command, too.
	Confirm, Trust bool
	// Page is the address at which a person can answer a question; "" when there is none.
	Page func(id string) string
}

// A server serves one editor.
type server struct {
	o      Options
	ctx    context.Context // of everything that is done for the editor
	client *sdk.AgentSideConnection
	vault  func() (*Vault, error)

	mu       sync.Mutex
	name     string // what the editor calls itself
	sessions map[string]*session
}

// Run serves the editor until it leaves or ctx ends.
func Run(ctx context.Context, o Options, in io.Reader, out io.Writer) (err error) {
	ctx, stop := context.WithCancel(ctx)
	s := &server{o: o, ctx: ctx, sessions: map[string]*session{}}
	opened := make(chan struct{})
	var v *Vault
	var failed error
	go func() {
		defer close(opened)
		v, failed = o.Open(ctx)
	}()
	s.vault = func() (*Vault, error) { <-opened; return v, failed }
	s.client = sdk.NewAgentSideConnection(s, out, in)
	s.client.SetLogger(slog.New(slog.DiscardHandler)) // it would log what people say
	select {
	case <-s.client.Done():
	case <-ctx.Done():
	}
	s.stopAll()
	stop()
	<-opened
	if v != nil {
		err = v.Close()
	}
	if failed != nil && !errors.Is(failed, context.Canceled) {
		err = errors.Join(err, failed)
	}
	return err
}

// stopAll ends what is under way, and waits for it.
func (s *server) stopAll() {
	s.mu.Lock()
	all := make([]*session, 0, len(s.sessions))
	for _, c := range s.sessions {
		all = append(all, c)
	}
	s.mu.Unlock()
	for _, c := range all {
		c.stop()
	}
	for _, c := range all {
		c.wait()
	}
}

// Initialize tells what Lore can do.
func (s *server) Initialize(_ context.Context, p sdk.InitializeRequest) (sdk.InitializeResponse, error) {
	if i := p.ClientInfo; i != nil {
		s.mu.Lock()
		s.name = clientName(i)
		s.mu.Unlock()
	}
	return sdk.InitializeResponse{
		ProtocolVersion: sdk.ProtocolVersionNumber,
		AgentInfo:       &sdk.Implementation{Name: "lore", Title: sdk.Ptr("Lore"), Version: s.o.Version},
		AuthMethods:     []sdk.AuthMethod{},
		AgentCapabilities: sdk.AgentCapabilities{
			LoadSession:        true,
			PromptCapabilities: sdk.PromptCapabilities{EmbeddedContext: true},
			SessionCapabilities: sdk.SessionCapabilities{
				List: &sdk.SessionListCapabilities{}, Resume: &sdk.SessionResumeCapabilities{}, Close: &sdk.SessionCloseCapabilities{},
			},
		},
	}, nil
}

// Authenticate has nothing to do: whoever starts the program is its user.
func (s *server) Authenticate(context.Context, sdk.AuthenticateRequest) (sdk.AuthenticateResponse, error) {
	return sdk.AuthenticateResponse{}, nil
}

// NewSession begins a chat. It is kept with its first message.
func (s *server) NewSession(ctx context.Context, _ sdk.NewSessionRequest) (sdk.NewSessionResponse, error) {
	v, err := s.vault()
	if err != nil {
		return sdk.NewSessionResponse{}, explain(err)
	}
	c := s.enter(v.Agent.ID("chat"), chat.Chat{})
	return sdk.NewSessionResponse{SessionId: sdk.SessionId(c.id), Modes: s.modes(c), ConfigOptions: s.choices(ctx, c)}, nil
}

// LoadSession opens a chat and tells all of it again.
func (s *server) LoadSession(ctx context.Context, p sdk.LoadSessionRequest) (sdk.LoadSessionResponse, error) {
	c, err := s.open(ctx, p.SessionId)
	if err != nil {
		return sdk.LoadSessionResponse{}, explain(err)
	}
	if err := s.replay(ctx, c); err != nil {
		return sdk.LoadSessionResponse{}, explain(err)
	}
	return sdk.LoadSessionResponse{Modes: s.modes(c), ConfigOptions: s.choices(ctx, c)}, nil
}

// ResumeSession opens a chat.
func (s *server) ResumeSession(ctx context.Context, p sdk.ResumeSessionRequest) (sdk.ResumeSessionResponse, error) {
	c, err := s.open(ctx, p.SessionId)
	if err != nil {
		return sdk.ResumeSessionResponse{}, explain(err)
	}
	return sdk.ResumeSessionResponse{Modes: s.modes(c), ConfigOptions: s.choices(ctx, c)}, nil
}

// CloseSession ends what is under way in a chat. The chat itself is kept.
func (s *server) CloseSession(_ context.Context, p sdk.CloseSessionRequest) (sdk.CloseSessionResponse, error) {
	s.mu.Lock()
	c := s.sessions[string(p.SessionId)]
	delete(s.sessions, string(p.SessionId))
	s.mu.Unlock()
	if c == nil {
		return sdk.CloseSessionResponse{}, explain(unknown(string(p.SessionId)))
	}
	c.stop()
	return sdk.CloseSessionResponse{}, nil
}

// pageSize is how many chats are listed at once.
const pageSize = 50

// ListSessions lists the chats, those that changed last first.
func (s *server) ListSessions(ctx context.Context, p sdk.ListSessionsRequest) (sdk.ListSessionsResponse, error) {
	v, err := s.vault()
	if err != nil {
		return sdk.ListSessionsResponse{}, explain(err)
	}
	offset, err := after(p.Cursor)
	if err != nil {
		return sdk.ListSessionsResponse{}, explain(err)
	}
	list, err := v.Agent.Store.List(ctx, pageSize+1, offset)
	if err != nil {
		return sdk.ListSessionsResponse{}, explain(err)
	}
	out := sdk.ListSessionsResponse{Sessions: []sdk.SessionInfo{}}
	if len(list) > pageSize {
		list, out.NextCursor = list[:pageSize], sdk.Ptr(cursor(offset+pageSize))
	}
	for _, c := range list {
		out.Sessions = append(out.Sessions, sdk.SessionInfo{SessionId: sdk.SessionId(c.ID), Cwd: v.Dir, Title: sdk.Ptr(c.Title), UpdatedAt: sdk.Ptr(c.Changed.UTC().Format(time.RFC3339))})
	}
	return out, nil
}

// Cancel stops what is under way in a chat.
func (s *server) Cancel(_ context.Context, p sdk.CancelNotification) error {
	s.mu.Lock()
	c := s.sessions[string(p.SessionId)]
	s.mu.Unlock()
	if c != nil {
		c.stop()
	}
	return nil
}

// SetSessionMode says how far the agent may go without a question.
func (s *server) SetSessionMode(_ context.Context, p sdk.SetSessionModeRequest) (sdk.SetSessionModeResponse, error) {
	c, err := s.find(p.SessionId)
	if err != nil {
		return sdk.SetSessionModeResponse{}, explain(err)
	}
	if !slices.ContainsFunc(s.modes(c).AvailableModes, func(m sdk.SessionMode) bool { return m.Id == p.ModeId }) {
		return sdk.SetSessionModeResponse{}, explain(fault.Field("modeId", "", "unknown mode %q", p.ModeId))
	}
	c.set(func(n *wishes) { n.mode = p.ModeId })
	return sdk.SetSessionModeResponse{}, nil
}

// SetSessionConfigOption chooses the model, and whether it thinks first.
func (s *server) SetSessionConfigOption(ctx context.Context, p sdk.SetSessionConfigOptionRequest) (sdk.SetSessionConfigOptionResponse, error) {
	if p.ValueId == nil {
		return sdk.SetSessionConfigOptionResponse{}, explain(fault.New(fault.Invalid, "unknown option"))
	}
	c, err := s.find(p.ValueId.SessionId)
	if err != nil {
		return sdk.SetSessionConfigOptionResponse{}, explain(err)
	}
	value := string(p.ValueId.Value)
	switch p.ValueId.ConfigId {
	case modelOption:
		c.set(func(n *wishes) { n.model = value })
	case thinkOption:
		c.set(func(n *wishes) { n.think = value == on })
	default:
		return sdk.SetSessionConfigOptionResponse{}, explain(fault.Field("configId", "", "unknown option %q", p.ValueId.ConfigId))
	}
	return sdk.SetSessionConfigOptionResponse{ConfigOptions: s.choices(ctx, c)}, nil
}

// explain is an error as the editor shows it.
func explain(err error) error {
	code := -32603
	switch fault.Of(err) {
	case fault.Invalid, fault.NotFound:
		code = -32602
	}
	return &sdk.RequestError{Code: code, Message: err.Error()}
}

func unknown(id string) error {
	return fault.Fix(fault.NotFound, "begin a new session", "unknown session %q", id)
}
