package app

import (
	"context"

	"lore/internal/surface/cli"
	"lore/internal/surface/mcp"
	"lore/internal/surface/mcp/conformance"
)

// conformanceClient plays a scenario in which a suite judges a client.
func (a *app) conformanceClient(ctx context.Context, url string) error {
	return conformance.Play(ctx, version(), a.env, url)
}

// furnishFixtures adds the tools that conformance suites ask for, when they are
// served at all.
func furnishFixtures(st stay, o cli.ServeOptions) error {
	if o.Fixtures == nil {
		return nil
	}
	door := st.face.Door
	if d, ok := door.(*inForce); ok {
		door = d.Door // the registry, which tools can be added to
	}
	return conformance.Furnish(door)
}

// serveFixtures serves them, and the rest of what the suites ask for.
func (r *resident) serveFixtures(ctx context.Context, o cli.ServeOptions) error {
	if o.Fixtures == nil {
		return nil
	}
	return conformance.Serve(ctx, mcp.Options{Version: o.Version, Bus: r.bus, Log: r.log, Now: r.app.now}, r.door, o.Fixtures)
}
