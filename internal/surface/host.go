// Package surface holds what all surfaces have in common: what each of them needs
// of the program around it.
package surface

import (
	"context"
	"time"

	"lore/internal/llm"
	"lore/internal/machine/keys"
	"lore/internal/mcpclient/configfile"
	"lore/internal/tool"
	"lore/internal/workspace/settings"
)

// A Host is what surfaces need of the program, whichever vault is open.
type Host struct {
	Version string
	Now     func() time.Time
	// Catalog describes the tools without opening a vault, External those of other
	// MCP servers as far as they are known.
	Catalog  func() []*tool.Tool
	External func(vault string) ([]*tool.Tool, error)
	// Settings is where settings come from.
	Settings settings.Place
	// Models are the language models to choose from, DefaultModel the one of a
	// chat that names none.
	Models       func() (llm.Providers, error)
	DefaultModel func(ctx context.Context) (string, error)
	// Keys are kept for the providers that Providers names.
	Keys      func() keys.Store
	Providers func() ([]string, error)
	// Servers are other MCP servers that Lore uses, Clients programs that use Lore.
	Servers Servers
	Clients Clients
}

// Clients are the programs on this machine that can use Lore as an MCP server.
type Clients struct {
	// Place says where the files of clients are looked for.
	Place func() (configfile.Place, error)
	// Entry is how a client starts this program on the vault that is meant by
	// the flag --vault, which may be empty.
	Entry func(vault string, readOnly bool) (configfile.Entry, error)
}

// Tools are all tools that can be switched on and off for a vault.
func (h Host) Tools(vault string) ([]*tool.Tool, error) {
	others, err := h.External(vault)
	return append(h.Catalog(), others...), err
}
