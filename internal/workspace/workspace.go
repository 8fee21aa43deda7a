// Package workspace opens a vault for one process. It takes the vault, or finds
// the process that holds it; opens the index and the records; recovers what a
// crash left; keeps the index fresh; and takes over when the holder goes.
//
// At most one process holds a vault. Only that one writes the index and the
// notes; the others call tools through it, or read beside it.
package workspace

import (
	"context"
	"log/slog"
	"time"

	"lore/internal/embed"
	"lore/internal/event"
	"lore/internal/fault"
	"lore/internal/index/sqlite"
	"lore/internal/machine/home"
	"lore/internal/tool"
	"lore/internal/workspace/settings"
)

// An Opener opens vaults with what the program gives it.
type Opener struct {
	Now func() time.Time
	Env func(string) string
	// Log makes a logger of a level.
	Log func(level string) (*slog.Logger, error)
	// Catalog lists all tools, bound to nothing: enough to describe them.
	Catalog func() []*tool.Tool
	// Model is the embedding model of the settings, or nil.
	Model func(c *settings.File, log *slog.Logger) (embed.Model, error)
	// Bind returns the tools bound to a session that holds or reads its vault. It
	// may add to what the registry is made of.
	Bind func(ctx context.Context, s *Session, deps *tool.Deps) [][]*tool.Tool
	// Connect knows the tools of other MCP servers. It connects to none before
	// Run, or before a call names one. May be nil.
	Connect func(s *Session, r *tool.Registry) (Servers, error)
}

// Servers are connections to other MCP servers, whose tools are in a registry.
type Servers interface {
	// Run keeps the connections until ctx ends.
	Run(ctx context.Context)
	// Fetch connects to the server that has this tool.
	Fetch(ctx context.Context, tool string) error
	Close() error
}

// A Mode says how a process lives with the others that use the same vault.
type Mode int

const (
	// Hold takes the vault when it is free, and else reads beside its holder.
	Hold Mode = iota
	// Share takes the vault when it is free, and else works through its holder.
	// It reads beside a holder that does not answer.
	Share
	// Insist is Share, but waits a while for a holder that does not answer: reading
	// alone would not do.
	Insist
	// Observe reads beside whoever holds the vault, for as long as it likes. Where
	// there is no index to read, it is Share.
	Observe
	// Stay is Insist for a process that stays: it answers others from the start.
	Stay
)

func (m Mode) shares() bool { return m != Hold }
func (m Mode) waits() bool  { return m == Insist || m == Stay }

// Vectors says which passages get a vector before the session is handed over.
type Vectors int

const (
	// NewVectors embeds a few passages that changed: a second's work at the most.
	NewVectors Vectors = iota
	// NoVectors embeds nothing.
	NoVectors
	// AllVectors embeds every passage, which can take minutes.
	AllVectors
)

// Options say how a vault is opened.
type Options struct {
	Mode    Mode
	Vectors Vectors
	// UpToDate waits until the index has caught up with the vault. Without it,
	// answers come at once and say how fresh they are.
	UpToDate bool
	// Rebuild deletes the index first.
	Rebuild bool
	// Bus takes the news; nil makes one.
	Bus *event.Bus
	// Progress shows events while the session is opened; may be nil.
	Progress func(*event.Bus) (stop func())
}

// Config is where settings come from.
func (op *Opener) Config() settings.Place { return settings.Place{Env: op.Env, Tools: op.Catalog} }

// home is where files lie for whoever runs the program.
func (op *Opener) home() home.Home { return home.Home{Env: op.Env} }

// begin reads what every process needs before it opens a vault: the settings,
// how to log, and which folder it is about.
func (op *Opener) begin(f settings.Flags) (c settings.File, log *slog.Logger, dir string, err error) {
	if c, err = op.Config().Read(); err != nil {
		return c, nil, "", err
	}
	level, _, err := op.Config().Force(&c, f, "log_level")
	if err != nil {
		return c, nil, "", err
	}
	if log, err = op.Log(level); err != nil {
		return c, nil, "", err
	}
	dir, err = op.home().Vault(f.Vault, c.Vault)
	return c, log, dir, err
}

// Explain gives errors of the index words for people.
func Explain(err error) error {
	if sqlite.Damaged(err) {
		return fault.Fix(fault.Internal, "run the command again to rebuild the index; notes are not changed", "the index is damaged")
	}
	return err
}
