// Package mcp offers the tools of a vault to other programs by the Model Context
// Protocol, on standard input and output and over HTTP, in both eras of the
// protocol: 2026-07-28 and what came before it.
//
// It owns how tools, notes and prompts look on that wire, and how a person is
// asked through a client. It reaches the vault through a [tool.Door] alone, and
// knows no tool by name.
package mcp

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"lore/internal/event"
	"lore/internal/fault"
	"lore/internal/surface/mcp/answers"
	"lore/internal/surface/mcp/tasks"
	"lore/internal/tool"
	"lore/internal/tool/access"
	"lore/internal/tool/schema"
)

// The toolsets that are not the name of one.
const (
	defaultSet = "default"
	everything = "all"
)

// isDefault reports whether a tool is in the default set: the notes, what finds a
// way among them, and what shows and undoes a client's own changes.
func isDefault(t *tool.Tool) bool { return t.Set == "notes" || t.Everyday }

// instructions are sent with every conversation, so they are short.
const instructions = "Notes of one Markdown vault. Search first, then read what you need; paths start at the vault's root. " +
	"Changes wait for the user's approval: when a result says so, tell the user and do not call again."

// Options say what is offered, to whom, and how. The zero value offers the
// default toolset to nobody.
type Options struct {
	Version string
	// Who makes the calls. Over HTTP, From tells it for each request instead,
	// from the request's context; without a principal nothing is served.
	Who  access.Principal
	From func(ctx context.Context) (access.Principal, bool)
	// Toolsets that are offered, "all" for all of them; none is "default". Tools
	// are offered beside them, Exclude never.
	Toolsets []string
	Tools    []string
	Exclude  []string
	// ReadOnly offers only what changes nothing. It wins over everything else.
	ReadOnly bool
	// Trusted says whether the client of a principal that may confirm at all may
	// also confirm what destroys or runs a command. Nobody's may when it is nil: a
	// program could give the answer.
	Trusted func(access.Principal) bool
	// Where is the address of the page at which a person can answer a question,
	// or "" when there is none; may be nil.
	Where func(id string) string
	// Knows are those of some paths that a caller may know of now: what it
	// subscribed to may no longer be shared with it. Nil is all of them.
	Knows func(ctx context.Context, who access.Principal, paths []string) []string
	// Shares notes what a caller may read now; what it returns reports whether that
	// is less later. Nil: it is never less.
	Shares func(ctx context.Context, who access.Principal) (isLess func(context.Context) bool)
	// Program tells which program makes a call, for callers over HTTP; may be nil.
	Program func(ctx context.Context) []access.Process
	// Hold is how long a call that asks a person may wait for the answer, when
	// the client wants to hear of progress; one that has tasks waits with a task,
	// as long as it takes. Zero answers at once. [DefaultHold] is a good one.
	Hold time.Duration
	// Closing is closed when the program begins to stop; nil never is. Whoever
	// only listens or waits is let go then.
	Closing <-chan struct{}
	// Bus brings news of the list of tools and of notes; may be nil.
	Bus *event.Bus
	Log *slog.Logger
	Now func() time.Time
	// After is the clock of whatever waits; nil is time.After.
	After func(time.Duration) <-chan time.Time
	// Plan says which calls become tasks before it is known how long they take;
	// nil is none.
	Plan func(*sdk.CallToolRequest) tasks.Plan
	// Key authenticates what clients hand back; a random one is made for a run.
	Key []byte
	// Extra is for the fixtures of conformance suites alone; nil adds nothing.
	Extra *Extra

	tasks *tasks.Book // shared by all servers of an endpoint
}

func (o Options) withDefaults() Options {
	if o.ReadOnly {
		o.Who.Scopes = []access.Scope{access.Read} // also for what only reads without a switch
	}
	o.Toolsets = tool.CurrentSets(o.Toolsets)
	if len(o.Toolsets) == 0 {
		o.Toolsets = []string{defaultSet}
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.After == nil {
		o.After = time.After
	}
	if len(o.Key) == 0 {
		o.Key = []byte(rand.Text() + rand.Text())
	}
	return o
}

// Check refuses names of toolsets and tools that do not exist.
func (o Options) Check(tools []*tool.Tool) error {
	sets, names := map[string]bool{defaultSet: true, everything: true, tool.External: true, tool.Own: true}, map[string]bool{}
	for _, t := range tools {
		sets[t.Set], names[t.Name] = true, true
	}
	for _, c := range []struct {
		field string
		given []string
		known map[string]bool
	}{{"toolsets", o.Toolsets, sets}, {"tools", o.Tools, names}, {"exclude-tools", o.Exclude, names}} {
		for _, g := range c.given {
			if isKnown(c.known, g) || c.field != "toolsets" && tool.IsExternal(g) {
				continue
			}
			all := slices.Sorted(maps.Keys(c.known))
			fix := "use one of " + strings.Join(all, ", ")
			if near := schema.Nearest(g, all, 3); len(all) > 10 && len(near) > 0 {
				fix = "did you mean " + strings.Join(near, ", ") + "?"
			}
			return fault.Field(c.field, fix, "%q is unknown", g)
		}
	}
	return nil
}

// isKnown reports whether a name is in a list, or a former name of something in it.
func isKnown(known map[string]bool, name string) bool {
	return slices.ContainsFunc(tool.CurrentSets([]string{name}), func(s string) bool { return known[s] })
}

// offers reports whether a tool is offered to whoever calls.
func (o Options) offers(t *tool.Tool) bool {
	switch {
	case !o.allows(t), t.Persons, o.ReadOnly && t.Effect != access.Reads && t.With == "":
		return false
	case t.Effect == access.Changes && t.With == "" && !o.Who.May(access.Write), t.Needs != "" && !o.Who.May(t.Needs):
		return false
	}
	if t.AboutChats() { // a client knows of none, unless who starts the server wants it
		return slices.Contains(o.Tools, t.Name)
	}
	return slices.Contains(o.Toolsets, t.Set) || slices.Contains(o.Toolsets, everything) || slices.Contains(o.Tools, t.Name) ||
		slices.Contains(o.Toolsets, defaultSet) && isDefault(t)
}

// allows reports whether a tool may be used at all, offered or not.
func (o Options) allows(t *tool.Tool) bool {
	return o.Who.May(access.Read) && !slices.Contains(o.Exclude, t.Name)
}

// A Server offers a vault to one principal.
type Server struct {
	opts Options
	door func() tool.Door
	sdk  *sdk.Server

	mu     sync.Mutex
	listed map[string]string // the tools as they were registered, by name

	client  atomic.Pointer[string] // the name that the client gave itself, once it did
	asking  sync.Mutex             // one look at the prompts at a time
	prompts promptShelf
}

// New makes a server over whatever door stands open at each call.
func New(door func() tool.Door, o Options) *Server {
	s := &Server{opts: o.withDefaults(), door: door, listed: map[string]string{}}
	if s.opts.tasks == nil {
		s.opts.tasks = tasks.New(tasks.Options{Now: s.opts.Now, After: s.opts.After})
	}
	offers := &sdk.ServerCapabilities{
		Tools:       &sdk.ToolCapabilities{ListChanged: true},
		Resources:   &sdk.ResourceCapabilities{ListChanged: true, Subscribe: true},
		Prompts:     &sdk.PromptCapabilities{ListChanged: true},
		Completions: &sdk.CompletionCapabilities{},
	}
	offers.AddExtension(tasks.Extension, nil)
	options := &sdk.ServerOptions{
		Instructions: instructions,
		Logger:       quiet(s.opts.Log),
		PageSize:     1000, // tools and prompts fit on one page; notes have pages of our own
		Capabilities: offers,
		SetCacheable: func(_ context.Context, _ sdk.Request, c *sdk.Cacheable) {
			c.CacheScope = "private" // notes must not lie in a cache that others read
		},
		CompletionHandler:  s.complete,
		SubscribeHandler:   s.subscribe,
		UnsubscribeHandler: func(context.Context, *sdk.UnsubscribeRequest) error { return nil },
	}
	o.Extra.tune(options)
	s.sdk = sdk.NewServer(&sdk.Implementation{Name: "lore", Title: "Lore", Version: o.Version}, options)
	s.addResources()
	s.addApps()
	s.addPrompts()
	s.addTasks()
	o.Extra.register(s.sdk)
	s.sdk.AddReceivingMiddleware(s.middleware)
	s.refresh()
	return s
}

// addTasks lets calls that take long, or wait for a person, become tasks of this
// principal.
func (s *Server) addTasks() {
	owner := s.opts.Who.Key()
	if err := s.opts.tasks.Register(s.sdk, owner, s.fetched); err != nil {
		panic(err) // a method of ours has the name of one of the protocol
	}
	s.sdk.AddReceivingMiddleware(s.opts.tasks.Middleware(owner, s.opts.Plan, s.shares()))
}

// shares notes what the client may read at a moment, see [tasks.Book.Middleware].
func (s *Server) shares() func(context.Context) func(context.Context) bool {
	if s.opts.Shares == nil {
		return nil
	}
	return func(ctx context.Context) func(context.Context) bool { return s.opts.Shares(ctx, s.caller(ctx, "")) }
}

// middleware answers what is not registered piece by piece: the list of tools
// is looked at when it is asked for, the list of notes comes from the vault.
func (s *Server) middleware(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		s.meet(req)
		switch method {
		case "tools/list":
			s.refresh()
		case "prompts/list", "prompts/get":
			s.refreshPrompts(ctx)
		case "resources/list":
			return s.listResources(ctx, method, req, next)
		}
		res, err := next(ctx, method, req)
		if list, ok := res.(*sdk.ListToolsResult); ok && err == nil {
			s.withViews(list, showsApps(req))
		}
		if p, ok := req.GetParams().(*sdk.CallToolParamsRaw); ok && method == "tools/call" && isUnknownTool(err, p.Name) {
			err = s.explain(p.Name, err)
		}
		return res, err
	}
}

// isUnknownTool reports whether err is what the library says of a name that is
// not registered. What a tool itself refuses stays as it is.
func isUnknownTool(err error, name string) bool {
	var wire *jsonrpc.Error
	return errors.As(err, &wire) && wire.Code == jsonrpc.CodeInvalidParams && wire.Message == fmt.Sprintf("unknown tool %q", name)
}

// explain says of a tool that is not offered why, and how to get it.
func (s *Server) explain(name string, err error) error {
	s.mu.Lock()
	_, offered := s.listed[name]
	names := slices.Collect(maps.Keys(s.listed))
	s.mu.Unlock()
	if offered {
		return err
	}
	say := func(format string, args ...any) error {
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: fmt.Sprintf(format, args...)}
	}
	t, unknown := s.door().Find(name)
	switch {
	case unknown != nil:
		return say("%v", tool.Unknown(name, names))
	case t.Name != name && s.listed[t.Name] != "":
		return say("unknown tool %q; its name is %s", name, t.Name)
	case t.Persons || t.AboutChats():
		return say("only a person can use the tool %s", t.Name)
	case slices.Contains(s.opts.Exclude, t.Name):
		return say("the tool %s is not offered to this client", t.Name)
	case s.opts.ReadOnly && t.Effect != access.Reads:
		return say("the tool %s changes notes, and this connection is read-only", t.Name)
	case t.Effect == access.Changes && !s.opts.Who.May(access.Write), t.Needs != "" && !s.opts.Who.May(t.Needs):
		return say("this client does not have the permission that the tool %s needs", t.Name)
	}
	return say("the tool %s is in the toolset %s, which is not offered to this client; add it with --toolsets %s,%s, or at /mcp/x/%s,%s",
		t.Name, t.Set, strings.Join(s.opts.Toolsets, ","), t.Set, strings.Join(s.opts.Toolsets, ","), t.Set)
}

// meet keeps the name that the client gives itself.
func (s *Server) meet(req sdk.Request) {
	session, ok := req.GetSession().(*sdk.ServerSession)
	if !ok || session == nil || s.client.Load() != nil {
		return
	}
	if p := session.InitializeParams(); p != nil && p.ClientInfo != nil && p.ClientInfo.Name != "" {
		name := strings.ToValidUTF8(p.ClientInfo.Name[:min(len(p.ClientInfo.Name), mostName)], "")
		s.client.CompareAndSwap(nil, &name)
	}
}

// mostName is how much of the name of a client is kept.
const mostName = 64

// refresh brings the list of tools up to date. Clients hear of it when it
// really changed.
func (s *Server) refresh() {
	s.mu.Lock()
	defer s.mu.Unlock()
	gone := maps.Clone(s.listed)
	for _, t := range s.door().On() {
		if !s.opts.offers(t) {
			continue
		}
		delete(gone, t.Name)
		if err := s.list(t); err != nil {
			s.opts.Log.Warn("a tool cannot be offered to clients", "tool", t.Name, "error", err)
		}
	}
	if len(gone) > 0 {
		s.sdk.RemoveTools(slices.Collect(maps.Keys(gone))...)
		maps.DeleteFunc(s.listed, func(name, _ string) bool { _, ok := gone[name]; return ok })
	}
}

// list registers a tool, unless it is registered just so. The library panics
// over a schema that it does not like, and the schema may be another server's.
func (s *Server) list(t *tool.Tool) (err error) {
	d := s.describe(t)
	b, err := json.Marshal(d)
	if err != nil || s.listed[t.Name] == string(b) {
		return err
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%v", p)
		}
	}()
	s.sdk.AddTool(d, s.call)
	s.listed[t.Name] = string(b)
	return nil
}

// describe says what a client is told about a tool. All hints are explicit: the
// protocol takes a missing one for the worst.
func (s *Server) describe(t *tool.Tool) *sdk.Tool {
	doc := t.Doc
	if more := s.door().Instructions(t); more != "" {
		doc += "\n\n" + more
	}
	reads := t.Effect == access.Reads || t.With != "" && !s.opts.Who.May(access.Write) // its switch is refused to who may not write
	destroys, open := !reads, t.Effect == access.Acts || t.AsksModel
	return &sdk.Tool{
		Name: t.Name, Title: t.Title, Description: doc, InputSchema: t.Input(),
		Annotations: &sdk.ToolAnnotations{ReadOnlyHint: reads, IdempotentHint: reads, DestructiveHint: &destroys, OpenWorldHint: &open},
	}
}

// call runs one tool, or goes on with a call that asked the user.
func (s *Server) call(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	ctx = showing(ctx, req)
	if req.Params.RequestState != "" {
		return s.resume(ctx, req)
	}
	ctx = reporting(ctx, req)
	res, err := s.door().Call(ctx, s.caller(ctx, req.Params.Name), req.Params.Name, req.Params.Arguments)
	switch {
	case err != nil:
		return answers.Failed(err)
	case res.Question != nil:
		return s.confirm(ctx, req, res)
	}
	return answers.Of(res)
}

// caller is who makes a call of a tool, with the name that the program gave itself.
// Which program it is takes a look at the whole machine over HTTP, so that is found
// out there only for what changes something.
func (s *Server) caller(ctx context.Context, name string) access.Principal {
	who := s.opts.Who
	if met := s.client.Load(); met != nil && who.Client == "" {
		who.Client = *met
	}
	t, err := s.door().Find(name)
	if s.opts.Program != nil && (s.opts.From == nil || err != nil || t.Effect != access.Reads || t.With != "") {
		who.Program = s.opts.Program(ctx)
	}
	return who
}
