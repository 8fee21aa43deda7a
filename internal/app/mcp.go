package app

import (
	"context"
	"errors"
	"io"
	"runtime/debug"
	"sync"

	"lore/internal/access"
	"lore/internal/event"
	"lore/internal/fault"
	"lore/internal/surface/cli"
	"lore/internal/surface/mcp"
	"lore/internal/tool"
	"lore/internal/vault"
)

// roomy is how far the heap may grow before it is collected: a process that
// answers small questions is faster with room, and stays small.
const roomy = 400

// mcp serves one client. It says hello at once and opens the vault meanwhile;
// calls wait for it.
func (a *app) mcp(ctx context.Context, g cli.Globals, o cli.MCPOptions, in io.Reader, out io.Writer) error {
	shelf, opts, err := a.shelf(g, o)
	if err != nil {
		return err
	}
	debug.SetGCPercent(roomy)
	ctx, cancel := context.WithCancel(ctx)
	door := mcp.NewLater(shelf)
	server := mcp.New(func() tool.Door { return door }, opts)
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := a.stay(ctx, g, door, server); err != nil && ctx.Err() == nil {
			opts.Log.Error("the vault cannot be served", "error", err)
		}
	})
	err = server.Run(ctx, in, out)
	cancel()
	wg.Wait()
	return err
}

// shelf describes the tools as the settings want them, bound to nothing, and
// refuses at once what cannot work.
func (a *app) shelf(g cli.Globals, o cli.MCPOptions) (tool.Door, mcp.Options, error) {
	opts := mcp.Options{
		Version: version(), Now: a.now, Toolsets: o.Toolsets, Tools: o.Tools, Exclude: o.Exclude, ReadOnly: o.ReadOnly, Hold: o.Hold,
		Who:     access.Principal{Kind: access.MCP, ID: "stdio", Surface: "mcp", Scopes: []access.Scope{access.Read, access.Write, access.Destroy}},
		Trusted: func(access.Principal) bool { return o.Trust },
	}
	c, err := a.readConfig()
	if err != nil {
		return nil, opts, err
	}
	level, _, err := a.force(&c, g, "log_level")
	if err != nil {
		return nil, opts, err
	}
	if opts.Log, err = a.logger(level); err != nil {
		return nil, opts, err
	}
	dir, err := a.home().Vault(g.Vault, c.Vault)
	if err != nil {
		return nil, opts, err
	}
	v, err := vault.Open(dir, vault.Options{Log: opts.Log, Now: a.now})
	if err != nil {
		return nil, opts, err
	}
	if err := v.Close(); err != nil {
		return nil, opts, err
	}
	tools := catalogue()
	if err := opts.Check(tools); err != nil {
		return nil, opts, err
	}
	s := &session{app: a, log: opts.Log}
	if _, s.off, err = a.policyOf(&c, dir); err != nil {
		return nil, opts, err
	}
	s.instruct = c.Instructions
	r := tool.NewRegistry(tool.Deps{Now: a.now}, tools)
	return r, opts, s.furnish(r)
}

// stay opens the vault, hands it over, and follows it until ctx ends.
func (a *app) stay(ctx context.Context, g cli.Globals, door *mcp.Later, server *mcp.Server) error {
	var bus *event.Bus
	s, err := a.open(ctx, g, cli.OpenOptions{Progress: func(b *event.Bus) func() {
		bus = b
		return func() {}
	}})
	if err != nil {
		door.Open(nil, a.explain(err))
		return err
	}
	door.Open(s.Registry, nil)
	var wg sync.WaitGroup
	wg.Go(func() { server.Follow(ctx, bus) })
	err = s.Follow(ctx)
	if fault.Of(err) == fault.Busy {
		err = nil // another process follows the vault
	}
	<-ctx.Done()
	wg.Wait()
	if errors.Is(err, context.Canceled) {
		err = nil
	}
	return errors.Join(err, s.Close())
}
