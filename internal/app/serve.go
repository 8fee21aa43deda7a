package app

import (
	"context"
	"path/filepath"

	"golang.org/x/sync/errgroup"

	"lore/internal/fault"
	"lore/internal/surface/cli"
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
	api := rest.New(rest.Options{
		Door: reg, Bus: s.bus, Vault: filepath.Base(s.vault.Dir()), Version: o.Version, Closing: server.Closing(),
	})
	defer api.Close()
	server.Add(api.Routes()...)
	l, err := server.Listen(ctx)
	if err != nil {
		return err
	}
	s.log.Info("listening", "address", server.Address(l))
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return server.Serve(ctx, l) })
	g.Go(func() error { return s.follow(ctx, reg) })
	g.Go(func() error {
		if o.Ready == nil {
			return nil
		}
		return o.Ready(server.Address(l), server.LoginURL(l))
	})
	return g.Wait()
}
