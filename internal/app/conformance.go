package app

import (
	"context"

	"golang.org/x/sync/errgroup"

	"lore/internal/access"
	"lore/internal/surface/cli"
	"lore/internal/surface/mcp"
	"lore/internal/surface/mcp/conformance"
	"lore/internal/surface/serve"
	"lore/internal/tool"
)

// conformanceClient plays a scenario in which a suite judges a client.
func (a *app) conformanceClient(ctx context.Context, url string) error {
	return conformance.Play(ctx, version(), a.env, url)
}

// serveFixtures serves what conformance suites ask for, beside everything else,
// at an address of its own that knows no tokens: the suites have none. Whoever
// calls there may read notes, and is asked like everyone before one is written.
func (s *session) serveFixtures(ctx context.Context, reg *tool.Registry, o cli.ServeOptions) error {
	if o.Fixtures == nil {
		return nil
	}
	if err := conformance.Furnish(reg); err != nil {
		return err
	}
	server, err := serve.New(serve.Options{
		Listen: "127.0.0.1:0", Log: s.log, Now: s.app.now,
		Anyone: &access.Principal{Kind: access.MCP, ID: conformance.Set, Surface: "mcp", Scopes: []access.Scope{access.Read, access.Write}},
	})
	if err != nil {
		return err
	}
	endpoint := mcp.Handler(func() tool.Door { return reg }, mcp.Options{
		Version: o.Version, Bus: s.bus, Log: s.log, Now: s.app.now, From: callerOf, Extra: conformance.Extra(),
		Toolsets: []string{"all"},
	})
	server.Add(mcpRoutes(endpoint)...)
	l, err := server.Listen(ctx)
	if err != nil {
		return err
	}
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return server.Serve(ctx, l) })
	g.Go(func() error { endpoint.Follow(ctx); return nil })
	g.Go(func() error { return o.Fixtures(server.Address(l) + "/mcp") })
	return g.Wait()
}
