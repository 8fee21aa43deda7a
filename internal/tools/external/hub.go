// Package external brings in the tools of other MCP servers: one connection for
// each server, each on its own, so that one that hangs, dies, floods or lies
// harms no other. Nothing that a server says about itself is believed: its tools
// are always asked about, a changed definition is not used before a person
// accepted it, and its answers are marked as untrusted.
//
// It knows servers from the list of servers and tools from their schemas; it knows no
// surface, and never asks anybody anything.
package external

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"

	"lore/internal/event"
	"lore/internal/fault"
	"lore/internal/mcpclient/serverlist"
	"lore/internal/tool"
)

// Options are what a hub needs.
type Options struct {
	Log     *slog.Logger
	Now     func() time.Time
	Version string // of Lore, for the servers
	Servers *serverlist.List
	// Swap replaces the tools of one server.
	Swap func(source string, tools []*tool.Tool) error
	// Auth gives what a server that wants a login is called with; may be nil.
	Auth func(e serverlist.Entry, address string) (auth.OAuthHandler, error)
	// Off reports whether a tool is switched off; may be nil.
	Off func(name string) bool
	// HTTP is what requests go through; nil is the ordinary one.
	HTTP http.RoundTripper
	// Bus is told of every server whose state changes; may be nil.
	Bus   *event.Bus
	Times Times
	// Watched are further files whose change makes Lore read the list of servers again.
	Watched []string
}

// Times are how long things take. A zero is the default.
type Times struct {
	Connect   time.Duration // to say hello and list the tools
	Terminate time.Duration // for a program to end by itself, and again by a signal
	Debounce  time.Duration // of news that the list of tools changed
	First     time.Duration // before a server is tried again,
	Longest   time.Duration // doubled up to this
	Stable    time.Duration // a connection that lasted so long starts over with First
	Watch     time.Duration // between looks at the files
	Relist    time.Duration // between looks at the tools of a server that is called by its address
}

func (o Options) withDefaults() Options {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.HTTP == nil {
		o.HTTP = plainTransport()
	}
	t := &o.Times
	t.Connect = cmp.Or(t.Connect, 30*time.Second)
	t.Terminate = cmp.Or(t.Terminate, 2*time.Second)
	t.Debounce = cmp.Or(t.Debounce, 300*time.Millisecond)
	t.First = cmp.Or(t.First, time.Second)
	t.Longest = cmp.Or(t.Longest, 2*time.Minute)
	t.Stable = cmp.Or(t.Stable, time.Minute)
	t.Relist = cmp.Or(t.Relist, time.Minute)
	t.Watch = cmp.Or(t.Watch, 2*time.Second)
	return o
}

// A State is the state of a server, beyond the states of its entry in the list.
type State string

// The states.
const (
	Connecting State = "connecting"
	Connected  State = "connected"
	Waiting    State = "not connected" // and tried again
	NeedsLogin State = "needs login"
)

// TopicServer is the topic of events; their data is a [Status].
const TopicServer = "server.changed"

// A Status is what is known of one server.
type Status struct {
	Name      string   `json:"name"`
	File      string   `json:"file"`
	Transport string   `json:"transport"`
	State     State    `json:"state"`
	Why       string   `json:"why,omitempty"`
	Tools     []string `json:"tools"`             // that can be called, by their names in the registry
	Changed   []string `json:"changed,omitempty"` // that wait for a person, by their own names
	LeftOut   []string `json:"left_out,omitempty"`
	Software  string   `json:"software,omitempty"` // what the server calls itself
	Protocol  string   `json:"protocol,omitempty"`
}

// A Hub holds the connections.
type Hub struct {
	o      Options
	ctx    context.Context
	cancel context.CancelFunc
	wg     sync.WaitGroup

	mu    sync.Mutex
	conns map[string]*conn // by slug
	rest  []Status         // servers that are not connected to, and why
	envs  []string         // files of variables that entries refer to
	all   bool             // Run was called
}

// New makes a hub that is connected to nothing. The caller closes it.
func New(o Options) *Hub {
	h := &Hub{o: o.withDefaults(), conns: map[string]*conn{}}
	h.ctx, h.cancel = context.WithCancel(context.Background())
	return h
}

// Close ends all connections and waits for their programs to end.
func (h *Hub) Close() error {
	h.cancel()
	h.wg.Wait()
	return nil
}

// Run connects to every server that may be used, and follows the files until
// ctx ends.
func (h *Hub) Run(ctx context.Context) {
	h.mu.Lock()
	h.all = true
	h.mu.Unlock()
	seen := h.stamp()
	h.reload(nil)
	tick := time.NewTicker(h.o.Times.Watch)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if now := h.stamp(); now != seen {
				seen = now
				h.reload(nil)
			}
		}
	}
}

// stamp changes whenever a file does that the hub goes by.
func (h *Hub) stamp() string {
	var b strings.Builder
	h.mu.Lock()
	envs := h.envs
	h.mu.Unlock()
	for _, f := range slices.Concat(h.o.Servers.Files(), h.o.Servers.Kept(), h.o.Watched, envs) {
		if info, err := os.Stat(f); err == nil {
			fmt.Fprintf(&b, "%s %d %d\n", f, info.ModTime().UnixNano(), info.Size())
		}
	}
	return b.String()
}

// reload brings the connections in line with the files: new servers are
// connected to, those that changed or may no longer be used are left, and all
// others stay as they are. With only, no other server is looked at.
func (h *Hub) reload(only func(slug string) bool) {
	list, bad := h.o.Servers.List()
	for _, b := range bad {
		h.o.Log.Warn("a file with servers cannot be read", "file", b.File, "error", b.Err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.rest, h.envs = nil, h.o.Servers.EnvFiles(list)
	wanted := map[string]bool{}
	for _, e := range list {
		s := slug(e.Name)
		if only != nil && !only(s) {
			continue
		}
		if wanted[s] && e.State == serverlist.Ready {
			e.State, e.Why = serverlist.Broken, "its name looks like the name of another server"
		}
		if e.State != serverlist.Ready {
			if e.State == serverlist.Broken {
				h.o.Log.Warn("a server cannot be used", "server", e.Name, "reason", e.Why)
			}
			h.rest = append(h.rest, Status{Name: e.Name, File: e.File, Transport: e.Type, State: State(e.State), Why: e.Why, Tools: []string{}})
			continue
		}
		wanted[s] = true
		h.want(s, e)
	}
	for s, c := range h.conns {
		if !wanted[s] && (only == nil || only(s)) {
			c.leave()
			delete(h.conns, s)
		}
	}
}

// want makes sure of a connection to a server.
func (h *Hub) want(s string, e serverlist.Entry) {
	old := h.conns[s]
	if old != nil && old.entry.Digest == e.Digest && old.entry.Key == e.Key && sameChoice(old.entry, e) {
		old.poke()
		return
	}
	c := newConn(h, e)
	h.conns[s] = c
	if old != nil {
		old.leave()
	}
	h.wg.Go(func() {
		if old != nil { // one server does not run twice
			<-old.done
		}
		c.run()
	})
}

// sameChoice compares what is no part of the digest.
func sameChoice(a, b serverlist.Entry) bool {
	return a.Timeout == b.Timeout && slices.Equal(a.Include, b.Include) && slices.Equal(a.Exclude, b.Exclude)
}

// Fetch makes sure that a tool of that name is in the registry, or says why it
// is not. A hub that runs waits for the first try of the server; one that does
// not connects to this one server.
func (h *Hub) Fetch(ctx context.Context, name string) error {
	s, ok := serverIn(name)
	if !ok {
		return fault.New(fault.NotFound, "unknown tool %q", name)
	}
	h.mu.Lock()
	c, all := h.conns[s], h.all
	h.mu.Unlock()
	if c == nil && !all {
		h.reload(func(x string) bool { return x == s })
		h.mu.Lock()
		c = h.conns[s]
		h.mu.Unlock()
	}
	if c == nil {
		return h.missing(s, name)
	}
	select {
	case <-c.tried:
	case <-c.done:
	case <-ctx.Done():
		return ctx.Err()
	}
	return c.lacks(name)
}

// missing says why there is no connection to a server.
func (h *Hub) missing(s, name string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, st := range h.rest {
		if slug(st.Name) == s {
			return fault.New(fault.Unavailable, "%s: Lore does not use the server %s: %s", name, st.Name, st.Why)
		}
	}
	return fault.Fix(fault.NotFound, "lore servers lists them", "%s: there is no server %s", name, s)
}

// Status lists all servers, by name.
func (h *Hub) Status() []Status {
	h.mu.Lock()
	out := slices.Clone(h.rest)
	for _, c := range h.conns {
		out = append(out, c.status())
	}
	h.mu.Unlock()
	slices.SortStableFunc(out, func(a, b Status) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// Try connects to one server, whatever its state in the list, and returns how
// it stands after the first try.
func (h *Hub) Try(ctx context.Context, e serverlist.Entry) (Status, error) {
	s := slug(e.Name)
	h.mu.Lock()
	h.want(s, e)
	c := h.conns[s]
	h.mu.Unlock()
	select {
	case <-c.tried:
		return c.status(), nil
	case <-ctx.Done():
		return Status{}, ctx.Err()
	}
}
