package external

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"lore/internal/fault"
	"lore/internal/mcpclient/configfile"
	"lore/internal/mcpclient/serverlist"
	"lore/internal/mcpclient/signin"
	"lore/internal/tool"
	"lore/internal/tool/access"
)

// A plan is what becomes of the tools that a server showed.
type plan struct {
	tools   []*tool.Tool
	pins    []string          // the digests of their definitions
	changed []string          // own names
	left    []string          // own names and why
	names   map[string]string // name in the registry to why it is not there
}

func (p *plan) leave(name, own, why string) {
	p.left = append(p.left, line(own, 80)+": "+why)
	p.names[name] = why
}

// words is the plan in a form that can be compared.
func (p *plan) words() string {
	b, err := json.Marshal([]any{p.pins, p.changed, p.left})
	if err != nil {
		return "" // never the same as anything
	}
	return string(b)
}

// join puts the tools of a server into the registry: all that may be used, in
// the place of those that were there. Nothing happens when that would be the
// same as before.
func (c *conn) join(cs *sdk.ClientSession, seen []*sdk.Tool, before string) {
	p := c.plan(cs, seen)
	if c.joined = p.words(); c.joined == before {
		return
	}
	if err := c.swap(p.tools); err != nil {
		c.hub.o.Log.Warn("tools from a server were left out", "server", c.entry.Name, "error", err)
	}
	var names []string
	for _, t := range p.tools {
		names = append(names, t.Name)
	}
	for _, own := range p.changed {
		c.hub.o.Log.Warn("a server's tool changed and is not used", "server", c.entry.Name, "tool", line(own, 80))
	}
	init := cs.InitializeResult()
	c.mu.Lock()
	c.names = p.names
	c.mu.Unlock()
	c.set(func(s *Status) {
		s.State, s.Why, s.Tools, s.Changed, s.LeftOut, s.Protocol = Connected, "", append([]string{}, names...), p.changed, p.left, init.ProtocolVersion
		if i := init.ServerInfo; i != nil {
			s.Software = line(i.Name+" "+i.Version, 80)
		}
	})
	c.hub.o.Log.Info("a server is connected", "server", c.entry.Name, "tools", len(names), "changed", len(p.changed), "left_out", len(p.left))
	c.once.Do(func() { close(c.tried) })
}

// plan decides about each tool.
func (c *conn) plan(cs *sdk.ClientSession, seen []*sdk.Tool) *plan {
	p := &plan{names: map[string]string{}}
	var defs []serverlist.Definition
	taken := map[string]bool{}
	for _, t := range seen {
		name := Name(c.entry.Name, t.Name)
		d, err := definition(t)
		switch {
		case err != nil:
			p.leave(name, t.Name, err.Error())
		case taken[name]:
			p.left = append(p.left, line(t.Name, 80)+": another tool has this name")
		case len(defs) >= maxTools:
			p.leave(name, t.Name, fmt.Sprintf("the server has more than %d tools", maxTools))
		default:
			taken[name] = true
			defs = append(defs, d)
		}
	}
	if n := 20; len(p.left) > n { // who reads a list of thousands
		p.left = append(p.left[:n:n], fmt.Sprintf("and %d more", len(p.left)-n))
	}
	listed := c.fresh
	pins, err := c.compared(defs)
	if err != nil {
		// Without what is known of them nothing can be compared.
		p.left = append(p.left, "all: "+err.Error())
		return p
	}
	if listed { // what is accepted later, this connection has not heard of
		c.pinned = map[string]string{}
		for own, pin := range pins {
			c.pinned[own] = pin.Digest
		}
	}
	for _, d := range defs {
		c.decide(p, cs, d, pins)
	}
	return p
}

// compared are the pins that tools are compared with. What was heard is recorded
// once: heard long ago, it would stand over what another process has seen since.
func (c *conn) compared(defs []serverlist.Definition) (map[string]serverlist.Pin, error) {
	pins, err := c.hub.o.Servers.Pins(c.entry.Key)
	all := !slices.ContainsFunc(defs, func(d serverlist.Definition) bool { _, ok := pins[d.Name]; return !ok })
	if err == nil && all && !c.fresh {
		return pins, nil
	}
	c.fresh = false
	return c.hub.o.Servers.Record(c.ctx, c.entry.Key, defs)
}

// decide adds one tool, or says why not.
func (c *conn) decide(p *plan, cs *sdk.ClientSession, d serverlist.Definition, pins map[string]serverlist.Pin) {
	name := Name(c.entry.Name, d.Name)
	pin, ok := pins[d.Name]
	digest := d.Digest(c.entry.Key)
	switch {
	case !ok:
		p.leave(name, d.Name, "the server offered too many different tools")
		return
	case pin.Digest != digest:
		p.changed = append(p.changed, d.Name)
		p.names[name] = "its definition changed since it was first used; see lore servers tools " + c.entry.Name +
			", then lore servers accept " + c.entry.Name
		return
	case c.hub.o.Off != nil && c.hub.o.Off(name):
		p.leave(name, d.Name, "it is turned off in the settings")
		return
	}
	t, err := Tool(c.entry, d, func(ctx context.Context, args json.RawMessage) (any, error) { return c.call(ctx, cs, d.Name, args) })
	if err != nil {
		p.leave(name, d.Name, line(err.Error(), 200))
		return
	}
	p.tools, p.pins = append(p.tools, t), append(p.pins, digest)
}

// longest is how long a call may take, whatever an entry says.
const longest = 30 * time.Minute

// Tool makes a tool of what a server said about it. Whatever that is, it is one
// that is asked about.
func Tool(e serverlist.Entry, d serverlist.Definition, run func(context.Context, json.RawMessage) (any, error)) (*tool.Tool, error) {
	needs := access.Egress
	if e.Type == configfile.Stdio {
		needs = access.Exec
	}
	doc, warnings := describe(e.Name, d)
	f := tool.ForeignTool{
		Name: Name(e.Name, d.Name), Title: line(cmp.Or(d.Title, d.Name), maxTitle), Doc: doc, Set: tool.External, Needs: needs,
		Within: min(e.Timeout, longest), Source: e.Key, Definition: d.Digest(e.Key) + " " + e.Digest,
		Summary:  fmt.Sprintf("Call %s on the server %s", line(d.Name, 80), line(e.Name, 60)),
		Warnings: append([]string{"the server describes it: " + line(d.Description, 300)}, warnings...),
		Run:      run, Decode: decode,
	}
	var errs error
	for _, loose := range []bool{false, true} {
		var err error
		if f.Input, err = inputSchema(d, loose); err == nil {
			var t *tool.Tool
			if t, err = tool.Foreign(f); err == nil {
				return t, nil
			}
		}
		errs = cmp.Or(errs, err)
	}
	return nil, errs
}

// call calls a tool of the server.
func (c *conn) call(ctx context.Context, cs *sdk.ClientSession, own string, args json.RawMessage) (any, error) {
	name := c.entry.Name
	r, err := cs.CallTool(ctx, &sdk.CallToolParams{Name: own, Arguments: args})
	var wire *jsonrpc.Error
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, sdk.ErrConnectionClosed):
		return nil, fault.New(fault.Unavailable, "the server %s disconnected during the call; it is not known whether the call took effect", name)
	case errors.Is(err, signin.ErrNeeded):
		return nil, fault.Fix(fault.Unavailable, "lore servers login "+name, "the server %s needs you to sign in", name)
	case errors.As(err, &wire):
		return nil, fault.New(fault.Unavailable, "the server %s refused the call (untrusted message from the server): %s", name, line(wire.Message, 1000))
	case err != nil:
		signalTo(c.news) // it may be gone
		return nil, fault.New(fault.Unavailable, "the server %s: %s; it is not known whether the call took effect", name, c.words(err))
	}
	return answer(name, r)
}
