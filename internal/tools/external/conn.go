package external

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"lore/internal/fault"
	"lore/internal/mcpclient/configfile"
	"lore/internal/mcpclient/serverlist"
	"lore/internal/mcpclient/signin"
	"lore/internal/tool"
)

// A conn looks after one server: it connects, brings in its tools, takes them
// away when the server goes, and tries again. One goroutine does all of that, so
// that its tools change in one order.
type conn struct {
	hub    *Hub
	entry  serverlist.Entry
	ctx    context.Context
	cancel context.CancelFunc
	tried  chan struct{} // closed after the first try
	done   chan struct{} // closed at the end
	once   sync.Once
	joined string            // what was last brought in, for run alone
	pinned map[string]string // the digests that it was compared with, for run alone
	fresh  bool              // what the server said was not recorded yet, for run alone
	look   chan struct{}     // someone decided something
	news   chan struct{}     // the server says that its tools changed

	mu     sync.Mutex
	state  Status
	names  map[string]string // the names of changed and left-out tools, and why
	ending bool              // its tools are being taken away

	in   sync.Mutex
	left bool // the connection is not wanted any more
}

func newConn(h *Hub, e serverlist.Entry) *conn {
	c := &conn{
		hub: h, entry: e, tried: make(chan struct{}), done: make(chan struct{}), look: make(chan struct{}, 1), news: make(chan struct{}, 1),
		state: Status{Name: e.Name, File: e.File, Transport: e.Type, State: Connecting, Tools: []string{}},
	}
	c.ctx, c.cancel = context.WithCancel(h.ctx)
	return c
}

func signalTo(ch chan struct{}) {
	select {
	case ch <- struct{}{}:
	default:
	}
}

// leave takes the tools away at once, whatever the connection is doing, and ends
// it.
func (c *conn) leave() {
	c.in.Lock()
	c.left = true
	err := c.hub.o.Swap(c.entry.Key, nil)
	c.in.Unlock()
	if err != nil {
		c.hub.o.Log.Warn("tools from a server were left out", "server", c.entry.Name, "error", err)
	}
	c.cancel()
}

// swap replaces the tools of the server.
func (c *conn) swap(tools []*tool.Tool) error {
	c.in.Lock()
	defer c.in.Unlock()
	if c.left {
		return nil
	}
	return c.hub.o.Swap(c.entry.Key, tools)
}

// poke makes the connection look at what people decided.
func (c *conn) poke() { signalTo(c.look) }

func (c *conn) status() Status {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.state
	s.Tools, s.Changed, s.LeftOut = slices.Clone(s.Tools), slices.Clone(s.Changed), slices.Clone(s.LeftOut)
	return s
}

// set changes the state and tells whoever listens.
func (c *conn) set(f func(*Status)) {
	c.mu.Lock()
	f(&c.state)
	c.mu.Unlock()
	c.hub.o.Bus.Publish(TopicServer, c.status(), true)
}

// lacks says why a tool cannot be called; nil when it can.
func (c *conn) lacks(name string) error {
	c.mu.Lock()
	why, known := c.names[name]
	ending := c.ending
	c.mu.Unlock()
	s := c.status()
	switch {
	case ending:
		return fault.New(fault.Unavailable, "%s: the connection to the server %s has just ended", name, s.Name)
	case slices.Contains(s.Tools, name):
		return nil
	case known:
		return fault.New(fault.Denied, "%s: %s", name, why)
	case s.State != Connected:
		return fault.New(fault.Unavailable, "%s: the server %s is not connected: %s", name, s.Name, s.Why)
	}
	return fault.Fix(fault.NotFound, "lore servers tools "+s.Name+" lists them", "the server %s has no tool %s", s.Name, name)
}

// run keeps the connection until the end.
func (c *conn) run() {
	defer close(c.done)
	defer c.once.Do(func() { close(c.tried) })
	defer c.cancel()
	t := c.hub.o.Times
	wait := t.First
	for c.ctx.Err() == nil {
		began := c.hub.o.Now()
		err := c.serve()
		c.gone(err)
		if c.ctx.Err() != nil {
			return
		}
		if c.hub.o.Now().Sub(began) > t.Stable {
			wait = t.First
		}
		timer := time.NewTimer(wait)
		again, look := timer.C, c.look
		if lasting(err) { // only a person can change that
			again = nil
		} else {
			look = nil
		}
		select {
		case <-c.ctx.Done():
		case <-look:
		case <-again:
		}
		timer.Stop()
		wait = min(2*wait, t.Longest)
	}
}

// lasting reports whether trying again would change nothing.
func lasting(err error) bool {
	return errors.Is(err, signin.ErrNeeded) || fault.Of(err) == fault.Invalid
}

// gone takes the tools away and says why.
func (c *conn) gone(err error) {
	c.mu.Lock()
	c.ending = true
	c.mu.Unlock()
	if err := c.swap(nil); err != nil {
		c.hub.o.Log.Warn("tools from a server were left out", "server", c.entry.Name, "error", err)
	}
	state := Waiting
	why := "it ended"
	switch {
	case errors.Is(err, signin.ErrNeeded):
		state, why = NeedsLogin, "see lore servers login "+c.entry.Name
	case err != nil:
		why = c.words(err)
	}
	if c.ctx.Err() == nil {
		c.hub.o.Log.Warn("a server is not connected", "server", c.entry.Name, "reason", why)
	}
	c.set(func(s *Status) {
		c.ending = false
		s.State, s.Why, s.Tools, s.Changed, s.LeftOut = state, why, []string{}, nil, nil
	})
	c.once.Do(func() { close(c.tried) })
}

// words is an error without what must not be repeated.
func (c *conn) words(err error) string {
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Sprintf("it did not answer in %s", c.hub.o.Times.Connect)
	}
	text := err.Error()
	if s, e := c.hub.o.Servers.Resolve(c.entry); e == nil {
		text = secrets(s).Replace(text)
	}
	return line(text, 400)
}

// serve is one connection, from hello to its end.
func (c *conn) serve() error {
	c.set(func(s *Status) { s.State, s.Why = Connecting, "" })
	server, err := c.hub.o.Servers.Resolve(c.entry)
	if err != nil {
		return err
	}
	t, kid, err := c.transport(server)
	if err != nil {
		return err
	}
	if kid != nil {
		defer kid.stop()
	}
	cs, err := c.hello(t)
	if err != nil {
		return ended(err, kid)
	}
	closed := make(chan error, 1)
	go func() { closed <- cs.Wait() }()
	defer func() { _ = cs.Close() }() // how it ended is known already
	return c.follow(cs, closed, kid)
}

func (c *conn) transport(s configfile.Server) (sdk.Transport, *child, error) {
	o := &c.hub.o
	if s.Type == configfile.Stdio {
		kid, err := start(s, environment(s, o.Servers.Env), o)
		return kid, kid, err
	}
	var handler auth.OAuthHandler
	if o.Auth != nil {
		var err error
		if handler, err = o.Auth(c.entry, s.URL); err != nil {
			return nil, nil, err
		}
	}
	t, err := remote(s, handler, o)
	return t, nil, err
}

// hello makes the connection, in time or not at all. The context that it is made
// with lives as long as the connection: some transports end with it.
func (c *conn) hello(t sdk.Transport) (*sdk.ClientSession, error) {
	o := &c.hub.o
	client := sdk.NewClient(&sdk.Implementation{Name: "lore", Title: "Lore", Version: o.Version}, &sdk.ClientOptions{
		// Nothing is offered to a server: it cannot ask the person, the model or
		// for folders.
		Capabilities:           &sdk.ClientCapabilities{},
		ToolListChangedHandler: func(context.Context, *sdk.ToolListChangedRequest) { signalTo(c.news) },
	})
	ctx, cancel := context.WithCancel(c.ctx)
	timer := time.AfterFunc(o.Times.Connect, cancel)
	type made struct {
		cs  *sdk.ClientSession
		err error
	}
	ch := make(chan made, 1)
	go func() {
		cs, err := client.Connect(ctx, t, nil)
		ch <- made{cs, err}
	}()
	select {
	case m := <-ch:
		if late := !timer.Stop(); m.err != nil || late {
			cancel()
			if m.err == nil {
				_ = m.cs.Close() // it came too late
			}
			if late && c.ctx.Err() == nil {
				m.err = context.DeadlineExceeded
			}
			return nil, m.err
		}
		go func() { // the context goes with the session
			_ = m.cs.Wait()
			cancel()
		}()
		return m.cs, nil
	case <-ctx.Done():
		// The library waits for the program to end, which takes what it takes.
		go func() {
			if m := <-ch; m.err == nil {
				_ = m.cs.Close()
			}
			cancel()
		}()
		if err := c.ctx.Err(); err != nil {
			return nil, err
		}
		return nil, context.DeadlineExceeded
	}
}

// follow brings in the tools, and again whenever they or a decision change,
// until the server goes.
func (c *conn) follow(cs *sdk.ClientSession, closed <-chan error, kid *child) error {
	seen, err := c.list(cs)
	if err != nil {
		return err
	}
	c.join(cs, seen, "")
	var again <-chan time.Time
	if kid == nil { // nobody tells when such a server goes
		tick := time.NewTicker(c.hub.o.Times.Relist)
		defer tick.Stop()
		again = tick.C
	}
	for {
		select {
		case <-c.ctx.Done():
			return c.ctx.Err()
		case err := <-closed:
			return ended(err, kid)
		case <-c.look:
			if !c.outdated(seen) {
				c.join(cs, seen, c.joined)
			}
			if c.outdated(seen) { // also when a person accepted just now
				return errOutdated
			}
		case <-again:
			signalTo(c.news)
		case <-c.news:
			if !c.awaitQuiet(closed) {
				return ended(nil, kid)
			}
			if seen, err = c.list(cs); err != nil {
				return err
			}
			c.join(cs, seen, c.joined)
		}
	}
}

// errOutdated ends a connection whose server is to be asked anew.
var errOutdated = errors.New("its new definition was accepted; connecting again")

// outdated reports whether a person has accepted something that this connection
// has not heard of: another process saw it, of a server that tells nobody, or of a
// newer program than the one that runs.
func (c *conn) outdated(seen []*sdk.Tool) bool {
	pins, err := c.hub.o.Servers.Pins(c.entry.Key)
	if err != nil {
		return false // join says so
	}
	return slices.ContainsFunc(seen, func(t *sdk.Tool) bool {
		pin, ok := pins[t.Name]
		if !ok || pin.Digest == c.pinned[t.Name] {
			return false
		}
		d, err := definition(t)
		return err == nil && d.Digest(c.entry.Key) != pin.Digest
	})
}

// awaitQuiet waits until the server has said nothing new for a moment; not for
// ever, because some never stop. It is false when the server went.
func (c *conn) awaitQuiet(closed <-chan error) bool {
	for range 10 {
		t := time.NewTimer(c.hub.o.Times.Debounce)
		select {
		case <-c.ctx.Done():
			t.Stop()
			return true // the caller sees it
		case <-closed:
			t.Stop()
			return false
		case <-t.C:
			return true
		case <-c.news:
			t.Stop()
		}
	}
	return true
}

// ended says how a connection ended. How a program ended by itself says more than
// what was seen of it.
func ended(err error, kid *child) error {
	if kid != nil {
		if why := kid.left(); why != nil {
			return why
		}
	}
	if err == nil {
		err = fault.New(fault.Unavailable, "it closed the connection")
	}
	return err
}

// list asks the server for its tools, as many as are taken.
func (c *conn) list(cs *sdk.ClientSession) ([]*sdk.Tool, error) {
	ctx, cancel := context.WithTimeout(c.ctx, c.hub.o.Times.Connect)
	defer cancel()
	if caps := cs.InitializeResult().Capabilities; caps != nil && caps.Tools == nil {
		return nil, nil
	}
	c.fresh = true
	var out []*sdk.Tool
	cursor := ""
	for range maxPages {
		page, err := cs.ListTools(ctx, &sdk.ListToolsParams{Cursor: cursor})
		if err != nil {
			return nil, fmt.Errorf("its tools cannot be listed: %w", err)
		}
		for _, t := range page.Tools {
			if t != nil && c.wanted(t.Name) {
				out = append(out, t)
			}
		}
		if page.NextCursor == "" || page.NextCursor == cursor || len(out) > maxTools {
			break
		}
		cursor = page.NextCursor
	}
	return out, nil
}

// wanted is what the entry says about single tools.
func (c *conn) wanted(name string) bool {
	if len(c.entry.Include) > 0 && !slices.Contains(c.entry.Include, name) {
		return false
	}
	return !slices.Contains(c.entry.Exclude, name)
}
