package mcp

import sdk "github.com/modelcontextprotocol/go-sdk/mcp"

// An Extra adds to a server what no tool can say: what conformance suites ask
// for by name, and no client of a person's should see.
type Extra struct {
	// Options changes what the server says of itself.
	Options func(*sdk.ServerOptions)
	// Register adds to what it offers.
	Register func(*sdk.Server)
}

func (e *Extra) tune(o *sdk.ServerOptions) {
	if e != nil && e.Options != nil {
		e.Options(o)
	}
}

func (e *Extra) register(s *sdk.Server) {
	if e != nil && e.Register != nil {
		e.Register(s)
	}
}
