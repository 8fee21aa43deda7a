package conformance

import (
	"context"

	"golang.org/x/sync/errgroup"

	"lore/internal/surface/http/serve"
	"lore/internal/surface/mcp"
	"lore/internal/tool"
	"lore/internal/tool/access"
)

// Serve serves what conformance suites ask for until ctx ends, at an address of
// its own that knows no tokens: the suites have none. Whoever calls there may
// read notes, and answers in its own dialog whether one is written, because the
// suites test dialogs. Only programs on this machine reach it, and no page in a
// browser.
func Serve(ctx context.Context, o mcp.Options, door tool.Door, ready func(address string) error) error {
	server, err := serve.New(serve.Options{
		Listen: "127.0.0.1:0", Log: o.Log,
		Anyone: &access.Principal{Kind: access.MCP, ID: Set, Surface: "mcp", Scopes: []access.Scope{access.Read, access.Write, access.Confirm}},
	})
	if err != nil {
		return err
	}
	o.Toolsets, o.Extra, o.Plan = []string{"all"}, extra(), planned
	endpoint := mcp.Handler(func() tool.Door { return door }, o)
	defer endpoint.Close()
	server.Add(endpoint.Routes()...)
	l, err := server.Listen(ctx)
	if err != nil {
		return err
	}
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return server.Serve(ctx, l) })
	g.Go(func() error { endpoint.Follow(ctx); return nil })
	g.Go(func() error { return ready(server.Address(l) + "/mcp") })
	return g.Wait()
}
