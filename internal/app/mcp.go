package app

import (
	"context"
	"io"
	"sync"

	"lore/internal/app/mcpadmin"
	"lore/internal/surface/cli"
	"lore/internal/surface/cli/install"
	"lore/internal/surface/http/page"
	"lore/internal/surface/mcp"
	"lore/internal/tool"
	"lore/internal/tool/access"
	"lore/internal/tool/policy"
	"lore/internal/workspace/process"
)

// mcp serves one client. It says hello at once and opens the vault meanwhile;
// calls wait for it.
func (a *app) mcp(ctx context.Context, g cli.Globals, o cli.MCPOptions, in io.Reader, out io.Writer) error {
	r, err := a.opener().Reside(flags(g))
	if err != nil {
		return err
	}
	shared, err := policy.Choices(o.Share)
	if err != nil {
		return err
	}
	for range install.MissingFolders(r.Dir, o.Share) {
		r.Log.Warn("a folder that is shared with the client does not exist")
	}
	opts := mcp.Options{
		Version: version(), Now: a.now, Log: r.Log, Toolsets: o.Toolsets, Tools: o.Tools, Exclude: o.Exclude, ReadOnly: o.ReadOnly, Hold: o.Hold,
		Who:     access.Principal{Kind: access.MCP, ID: "stdio", Surface: "mcp", Scopes: mcpadmin.ClientScopes(o.Toolsets, o.Tools, catalogue(), o.Confirm || o.Trust), Shared: shared, Program: process.Behind()},
		Trusted: func(access.Principal) bool { return o.Trust },
		Knows:   a.knows(r),
		Shares:  a.shares(r),
		Where: func(id string) string {
			if address := r.Server(); address != "" {
				return address + page.Path(id)
			}
			return ""
		},
	}
	if err := opts.Check(catalogue()); err != nil {
		return err
	}
	// Calls that are being answered when ctx ends still need the vault.
	living, leave := context.WithCancel(context.WithoutCancel(ctx))
	server := mcp.New(func() tool.Door { return r.Door }, opts)
	var wg sync.WaitGroup
	wg.Go(func() { server.Follow(living, r.Bus) })
	wg.Go(func() { r.Live(living, nil) })
	err = server.Run(ctx, in, out)
	leave()
	wg.Wait()
	return err
}
