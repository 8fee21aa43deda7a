package app

import (
	"context"
	"net/http"
	"path/filepath"

	"golang.org/x/sync/errgroup"

	"lore/internal/access"
	"lore/internal/fault"
	"lore/internal/surface/cli"
	"lore/internal/surface/mcp"
	"lore/internal/surface/page"
	"lore/internal/surface/rest"
	"lore/internal/surface/serve"
	"lore/internal/token"
	"lore/internal/tool"
)

// tokens are those of this vault.
func (s *session) tokens() *token.Store { return token.New(s.state, s.app.now) }

// serve answers over HTTP and follows the vault, until ctx ends. Only the
// process that holds the vault serves it: another one could change nothing and
// would carry out no answer.
func (s *session) serve(ctx context.Context, reg *tool.Registry, o cli.ServeOptions) error {
	if !s.writes {
		return fault.Fix(fault.Busy, "stop it first", "another lore process holds this vault")
	}
	server, err := serve.New(serve.Options{
		Listen: o.Listen, Expose: o.Expose, Hosts: o.Hosts, Tokens: s.tokens(), Log: s.log, Now: s.app.now,
	})
	if err != nil {
		return err
	}
	l, err := server.Listen(ctx)
	if err != nil {
		return err
	}
	name, where := filepath.Base(s.vault.Dir()), func(id string) string { return server.Address(l) + page.Path(id) }
	api := rest.New(rest.Options{Door: reg, Bus: s.bus, Vault: name, Version: o.Version, Page: where, Closing: server.Closing()})
	defer api.Close()
	server.Add(api.Routes()...)
	server.Add(page.New(page.Options{Door: reg, Vault: name, API: rest.Prefix}).Routes()...)
	endpoint := s.mcpEndpoint(reg, o.Version, where, server.Closing())
	defer endpoint.Close()
	server.Add(mcpRoutes(endpoint)...)
	s.log.Info("listening", "address", server.Address(l))
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return server.Serve(ctx, l) })
	g.Go(func() error { return s.follow(ctx, reg) })
	g.Go(func() error { endpoint.Follow(ctx); return nil })
	g.Go(func() error {
		if o.Ready == nil {
			return nil
		}
		return o.Ready(server.Address(l), server.LoginURL(l))
	})
	return g.Wait()
}

// caller is the key of the principal in a request's context.
type caller struct{}

// mcpEndpoint offers the tools to MCP clients over HTTP. Who calls, the shell
// has found out.
func (s *session) mcpEndpoint(reg *tool.Registry, version string, where func(id string) string, closing <-chan struct{}) *mcp.Endpoint {
	return mcp.Handler(func() tool.Door { return reg }, mcp.Options{
		Version: version, Bus: s.bus, Log: s.log, Now: s.app.now, Where: where, Hold: mcp.DefaultHold, Closing: closing,
		From: func(ctx context.Context) (access.Principal, bool) {
			who, ok := ctx.Value(caller{}).(access.Principal)
			return who, ok
		},
	})
}

// mcpRoutes mounts the endpoint: /mcp, /mcp/readonly and /mcp/x/SET.
func mcpRoutes(e *mcp.Endpoint) []serve.Route {
	var out []serve.Route
	for _, pattern := range []string{"/mcp", "/mcp/{rest...}"} {
		for _, method := range []string{http.MethodPost, http.MethodGet, http.MethodDelete} {
			out = append(out, serve.Route{
				Method: method, Pattern: pattern, Scope: access.Read, As: access.MCP,
				Handle: func(w http.ResponseWriter, r *http.Request, who access.Principal) error {
					e.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), caller{}, who)))
					return nil
				},
			})
		}
	}
	return out
}
