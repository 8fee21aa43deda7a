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
	"lore/internal/home"
	"lore/internal/index/sqlite"
	"lore/internal/keys"
	"lore/internal/sample"
	"lore/internal/settings"
	"lore/internal/surface/cli"
	"lore/internal/surface/draw"
	"lore/internal/surface/talk"
	"lore/internal/tool"
	"lore/internal/tools/files"
	"lore/internal/tools/find"
	"lore/internal/tools/knowledge"
	"lore/internal/tools/notes"
	"lore/internal/tools/work"
)

// Run runs the program and returns its exit code. It may be called by a test.
func Run(ctx context.Context, args []string, in io.Reader, out, errOut io.Writer) int {
	a := &app{now: time.Now, env: os.Getenv, exe: os.Executable, errOut: &draw.Voice{Out: errOut}}
	return cli.Run(ctx, cli.Host{
		Version:           version(),
		Tools:             catalogue(),
		Open:              a.open,
		Explain:           a.explain,
		Settings:          func(g cli.Globals) ([]settings.Setting, error) { return a.config().List(flags(g)) },
		Set:               a.config().Set,
		MCP:               a.mcp,
		ConformanceClient: a.conformanceClient,
		Serve:             a.serve,
		Demo:              sample.Place,
		Install:           a.installer(),
		Bench:             a.bench,
		Servers:           a.desk().Host(),
		Eval:              talk.Examiner{Open: a.openToTry, Find: a.minds().Finder()},
		Minds:             a.minds().Listed,
		Keys:              func() keys.Store { return a.minds().Keys },
		External:          func(g cli.Globals) ([]*tool.Tool, error) { return a.desk().Tools(g.Vault) },
	}, args, in, out, errOut)
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

func flags(g cli.Globals) settings.Flags { return settings.Flags{Vault: g.Vault, LogLevel: g.LogLevel} }

// home is where things lie for whoever runs the program.
func (a *app) home() home.Home { return home.Home{Env: a.env} }

// catalogue lists all tools, bound to nothing: enough to describe them.
func catalogue() []*tool.Tool {
	return slices.Concat(notes.Tools(notes.Env{}), find.Tools(find.Env{}), knowledge.Tools(knowledge.Env{}), work.Tools(work.Env{}), files.Tools(files.Env{}))
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

// explain knows the errors of the index, which no surface does.
func (a *app) explain(err error) error {
	if sqlite.Damaged(err) {
		return fault.Fix(fault.Internal, "run it again, and it is built anew; no note is touched", "the index is damaged")
	}
	return err
}

// logger writes to standard error what the level asks for; nothing by default
// below a warning, because the answer is what was asked for.
func (a *app) logger(level string) (*slog.Logger, error) {
	var l slog.Level
	if err := settings.CheckLevel(level); err != nil {
		return nil, err
	}
	if err := l.UnmarshalText([]byte(level)); err != nil {
		return nil, fault.New(fault.Internal, "log level %q: %v", level, err)
	}
	return slog.New(slog.NewTextHandler(a.errOut, &slog.HandlerOptions{Level: l})), nil
}

// begin reads what every process needs before it opens a vault: the settings,
// how to log, and which folder it is about.
func (a *app) begin(g cli.Globals) (c settings.File, log *slog.Logger, dir string, err error) {
	if c, err = a.config().Read(); err != nil {
		return c, nil, "", err
	}
	level, _, err := a.config().Force(&c, flags(g), "log_level")
	if err != nil {
		return c, nil, "", err
	}
	if log, err = a.logger(level); err != nil {
		return c, nil, "", err
	}
	dir, err = a.home().Vault(g.Vault, c.Vault)
	return c, log, dir, err
}
