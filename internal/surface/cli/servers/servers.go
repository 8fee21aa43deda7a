// Package servers is the command lore servers: it shows the other MCP servers
// whose tools Lore can use, asks a person before one of a vault is used or a
// changed tool is, and takes a person through a login. It knows no tool, starts
// no server itself, and decides nothing.
package servers

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"lore/internal/fault"
	"lore/internal/mcpclient/configfile"
	"lore/internal/surface"
	"lore/internal/surface/cli/argv"
	"lore/internal/surface/cli/draw"
)

// A program is one run of the command.
type program struct {
	draw.Terminal
	host     surface.Servers
	terminal func(*cobra.Command) draw.Terminal
	yes, try bool
	noTry    bool
}

// at is the vault that the flags mean.
func (p *program) at() surface.Scope { return surface.Scope{Vault: p.Vault, LogLevel: p.LogLevel} }

// Command is lore servers. The terminal is asked for when the command runs.
func Command(host surface.Servers, terminal func(*cobra.Command) draw.Terminal) *cobra.Command {
	p := &program{host: host, terminal: terminal}
	cmd := &cobra.Command{
		Use: "servers", Short: "Use tools from other MCP servers", Args: argv.None, RunE: p.run(p.list),
		Long: `Lists the MCP servers whose tools Lore can use. Lore reads servers.json in its
settings folder, in the format that MCP apps use, and .mcp.json, .vscode/mcp.json and
.cursor/mcp.json in the vault. You must allow each server that a file in the
vault lists before Lore uses it, and again after every change.

Tools are named mcp__SERVER__TOOL. Every call needs approval, and results are marked
as untrusted. If the description or arguments of a tool change, Lore does not use it
until you accept the new version.`,
		Example: `lore servers                       list the servers and their states
lore servers --try                 connect to each of them
lore servers allow docs            review and allow a server
lore servers tools docs            list its tools and what changed
lore call mcp__docs__find '{"text": "tea"}'`,
	}
	cmd.Flags().BoolVar(&p.try, "try", false, "connect to each server")
	cmd.AddCommand(
		p.sub("allow NAME", "Allow a server exactly as shown", p.allow, &p.yes),
		p.sub("deny NAME", "Stop using a server", p.deny, nil),
		p.toolsCommand(),
		p.acceptCommand(),
		p.sub("login NAME", "Sign in to a server, in a browser", p.login, nil),
		p.sub("logout NAME", "Sign out of a server", p.logout, nil),
		p.importCommand(),
	)
	return cmd
}

// run fetches the terminal and does something.
func (p *program) run(f func(ctx context.Context, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		p.Terminal = p.terminal(cmd)
		return f(cmd.Context(), args)
	}
}

func (p *program) sub(use, short string, f func(context.Context, []string) error, yes *bool) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, Args: argv.Between(1, 1), RunE: p.run(f)}
	if yes != nil {
		cmd.Flags().BoolVarP(yes, "yes", "y", false, "do not ask for confirmation")
	}
	return cmd
}

func (p *program) toolsCommand() *cobra.Command {
	cmd := p.sub("tools NAME", "List a server's tools and what changed", p.tools, nil)
	cmd.Flags().BoolVar(&p.noTry, "offline", false, "show the last known tools without connecting")
	return cmd
}

func (p *program) acceptCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "accept NAME [TOOL]", Short: "Accept the new version of a changed tool", Args: argv.Between(1, 2), RunE: p.run(p.accept),
	}
	cmd.Flags().BoolVarP(&p.yes, "yes", "y", false, "do not ask for confirmation")
	return cmd
}

func (p *program) importCommand() *cobra.Command {
	cmd := p.sub("import APP", "Copy the servers from another app into servers.json", p.imports, &p.yes)
	for _, c := range configfile.Clients() {
		cmd.ValidArgs = append(cmd.ValidArgs, cobra.CompletionWithDesc(c.ID, c.Title))
	}
	return cmd
}

func (p *program) list(ctx context.Context, _ []string) error {
	all, trouble, err := p.host.List(ctx, p.at(), p.try)
	if err != nil {
		return err
	}
	if p.JSON {
		return p.Encode(struct {
			Servers []surface.Server `json:"servers"`
			Trouble []string         `json:"trouble,omitempty"`
		}{append([]surface.Server{}, all...), trouble})
	}
	for _, t := range trouble {
		fmt.Fprintln(p.Err, p.Notice.Red("! ")+draw.OneLine(t))
	}
	if len(all) == 0 {
		p.Say("No servers. Run lore servers import APP to copy the servers from another app.")
		return nil
	}
	var rows [][]string
	for _, s := range all {
		why := s.Why
		if len(s.Changed) > 0 {
			why = strings.TrimPrefix(why+"; changed tools: "+strings.Join(s.Changed, ", ")+"; see lore servers tools "+s.Name, "; ")
		}
		rows = append(rows, []string{s.Name, s.Transport, s.State, fmt.Sprint(s.Tools), s.File, why})
	}
	var b strings.Builder
	p.Screen.Table(&b, []string{"server", "transport", "state", "tools", "file", "reason"}, rows)
	_, err = io.WriteString(p.Out, b.String())
	return err
}

// find returns one server as it is shown.
func (p *program) find(ctx context.Context, name string) (surface.Server, error) {
	all, trouble, err := p.host.List(ctx, p.at(), false)
	if err != nil {
		return surface.Server{}, err
	}
	var names []string
	for _, s := range all {
		if s.Name == name {
			return s, nil
		}
		names = append(names, s.Name)
	}
	if len(trouble) > 0 {
		return surface.Server{}, fault.New(fault.Invalid, "%s", trouble[0])
	}
	fix := "use one of " + strings.Join(names, ", ")
	if len(names) == 0 {
		fix = "no servers are configured; see lore servers --help"
	}
	return surface.Server{}, fault.Fix(fault.NotFound, fix, "unknown server %q", name)
}

// agreed shows something and asks, unless --yes says it.
func (p *program) agreed(ctx context.Context, text, question string) error {
	if !p.JSON {
		_, _ = io.WriteString(p.Err, text) // nobody is left to tell
	}
	if p.yes {
		return nil
	}
	if p.JSON || !p.AtTerminal {
		return fault.Fix(fault.Invalid, "review it, then add --yes", "this needs your confirmation, and there is no terminal")
	}
	yes, ok := p.Ask(ctx, question)
	switch {
	case !ok:
		fmt.Fprintln(p.Err)
		return fault.New(fault.Cancelled, "interrupted; nothing was changed")
	case !yes:
		return fault.New(fault.Denied, "not confirmed; nothing was changed")
	}
	return nil
}
