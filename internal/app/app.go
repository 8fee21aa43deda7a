// Package app wires the parts together: it finds the vault, opens its index,
// binds the tools and hands them to a surface. It is the only package that
// knows all others.
package app

import (
	"context"
	"io"
	"log/slog"
	"os"
	"runtime/debug"
	"slices"
	"time"

	"lore/internal/fault"
	"lore/internal/machine/home"
	"lore/internal/machine/keys"
	"lore/internal/surface"
	"lore/internal/surface/cli"
	"lore/internal/surface/cli/conversation"
	"lore/internal/surface/cli/draw"
	"lore/internal/tool"
	"lore/internal/tools/automation"
	"lore/internal/tools/clock"
	"lore/internal/tools/explore"
	"lore/internal/tools/files"
	"lore/internal/tools/files/jail"
	"lore/internal/tools/knowledge"
	"lore/internal/tools/notes"
	"lore/internal/tools/organize"
	"lore/internal/tools/task"
	"lore/internal/tools/web"
	"lore/internal/tools/work"
	"lore/internal/vault/sample"
	"lore/internal/workspace"
	"lore/internal/workspace/settings"
)

// Run runs the program and returns its exit code. It may be called by a test.
func Run(ctx context.Context, args []string, in io.Reader, out, errOut io.Writer) int {
	if code, ok := jail.Main(args); ok {
		return code
	}
	a := &app{now: time.Now, env: os.Getenv, exe: os.Executable, errOut: &draw.Messages{Out: errOut}}
	return cli.Run(ctx, cli.Host{
		Host:              a.host(),
		Open:              a.open,
		Peek:              func(g cli.Globals) (*workspace.Peek, error) { return a.opener().Peek(flags(g)) },
		Explain:           workspace.Explain,
		MCP:               a.mcp,
		ACP:               a.acp,
		ConformanceClient: a.conformanceClient(),
		Serve:             a.serve,
		Demo:              sample.Place,
		Bench:             a.bench,
		Eval:              conversation.Examiner{Open: a.openToTry, Find: a.models().Finder()},
	}, args, in, out, errOut)
}

// host is what every surface needs of the program.
func (a *app) host() surface.Host {
	return surface.Host{
		Version: version(), Now: a.now, Catalog: catalogue, External: a.serverAdmin().Tools, Settings: a.checkedConfig(),
		Models: a.models().Listed, DefaultModel: a.models().Usual, Keys: func() keys.Store { return a.models().Keys }, Providers: a.providers,
		Servers: a.serverAdmin().Servers(), Clients: surface.Clients{Place: a.place, Entry: a.entry},
	}
}

// providers are those that can have a key.
func (a *app) providers() ([]string, error) {
	c, err := a.models().Catalog()
	if err != nil {
		return nil, err
	}
	return c.Names(), nil
}

// An app is one run of the program.
type app struct {
	now    func() time.Time
	env    func(string) string
	exe    func() (string, error) // the path of this program
	errOut io.Writer
}

// config is where settings come from.
func (a *app) config() settings.Place { return settings.Place{Env: a.env, Tools: catalogue} }

// checkedConfig also refuses models that cannot be used, when one is set.
func (a *app) checkedConfig() settings.Place {
	c := a.config()
	c.CheckModel = a.models().Check
	return c
}

func flags(g cli.Globals) settings.Flags { return settings.Flags{Vault: g.Vault, LogLevel: g.LogLevel} }

// home is where things lie for whoever runs the program.
func (a *app) home() home.Home { return home.Home{Env: a.env} }

// catalogue lists all tools, bound to nothing: enough to describe them.
func catalogue() []*tool.Tool {
	return slices.Concat(notes.Tools(notes.Env{}), explore.Tools(explore.Env{}), organize.Tools(organize.Env{}), files.Tools(files.Env{}),
		knowledge.Tools(knowledge.Env{}), work.Tools(work.Env{}), web.Tools(web.Env{}), task.Tools(task.Env{}), clock.Tools(clock.Env{}), automation.Tools(automation.Env{}))
}

// Catalogue is the same for those who describe the tools elsewhere.
func Catalogue() []*tool.Tool { return catalogue() }

func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}

// logger writes to standard error what the level asks for; nothing by default
// below a warning, because the answer is what was asked for.
func (a *app) logger(level string) (*slog.Logger, error) {
	var l slog.Level
	if err := settings.CheckLevel(level); err != nil {
		return nil, err
	}
	if err := l.UnmarshalText([]byte(level)); err != nil {
		return nil, fault.New(fault.Internal, "%q is not a log level: %v", level, err)
	}
	return slog.New(slog.NewTextHandler(a.errOut, &slog.HandlerOptions{Level: l})), nil
}
