package app

import (
	"context"
	"io"
	"sync"

	"lore/internal/access"
	"lore/internal/desk"
	"lore/internal/policy"
	"lore/internal/process"
	"lore/internal/surface/cli"
	"lore/internal/surface/mcp"
	"lore/internal/tool"
)

// mcp serves one client. It says hello at once and opens the vault meanwhile;
// calls wait for it.
func (a *app) mcp(ctx context.Context, g cli.Globals, o cli.MCPOptions, in io.Reader, out io.Writer) error {
	r, err := a.resident(g)
	if err != nil {
		return err
	}
	shared, err := policy.Choices(o.Share)
	if err != nil {
		return err
	}
	opts := mcp.Options{
		Version: version(), Now: a.now, Log: r.log, Toolsets: o.Toolsets, Tools: o.Tools, Exclude: o.Exclude, ReadOnly: o.ReadOnly, Hold: o.Hold,
		Who:     access.Principal{Kind: access.MCP, ID: "stdio", Surface: "mcp", Scopes: desk.ClientScopes(o.Toolsets, o.Tools, catalogue(), o.Confirm || o.Trust), Shared: shared, Program: process.Behind()},
		Trusted: func(access.Principal) bool { return o.Trust },
		Where:   r.where,
	}
	if err := opts.Check(catalogue()); err != nil {
		return err
	}
	// Calls that are being answered when ctx ends still need the vault.
	living, leave := context.WithCancel(context.WithoutCancel(ctx))
	server := mcp.New(func() tool.Door { return r.door }, opts)
	var wg sync.WaitGroup
	wg.Go(func() { server.Follow(living, r.bus) })
	left := make(chan error, 1)
	wg.Go(func() { left <- r.live(living, stay{}) })
	err = server.Run(ctx, in, out)
	leave()
	wg.Wait()
	if e := <-left; e != nil {
		r.log.Warn("the vault was not left in order", "error", e)
	}
	return err
}
