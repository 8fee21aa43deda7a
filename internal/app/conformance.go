//go:build conformance

package app

import (
	"context"

	"lore/internal/surface/cli"
	"lore/internal/surface/mcp"
	"lore/internal/surface/mcp/conformance"
	"lore/internal/workspace"
)

// conformanceClient plays a scenario in which a suite judges a client.
func (a *app) conformanceClient() cli.ConformanceClient {
	return func(ctx context.Context, url string) error { return conformance.Play(ctx, version(), a.env, url) }
}

// addFixtures adds the tools that conformance suites ask for, when they are
// served at all.
func addFixtures(s *workspace.Session, o cli.ServeOptions) error {
	if o.Fixtures == nil {
		return nil
	}
	return conformance.AddFixtures(s.Registry)
}

// serveFixtures serves them, and the rest of what the suites ask for.
func (s *server) serveFixtures(ctx context.Context, o cli.ServeOptions) error {
	if o.Fixtures == nil {
		return nil
	}
	return conformance.Serve(ctx, mcp.Options{Version: o.Version, Bus: s.Bus, Log: s.Log, Now: s.app.now}, s.Door, o.Fixtures)
}
