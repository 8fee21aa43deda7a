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
	"lore/internal/mcpconfig"
	"lore/internal/surface/draw"
)

// A Server is one server of a file, as a person sees it.
type Server struct {
	Name      string            `json:"name"`
	File      string            `json:"file"`
	InVault   bool              `json:"in_vault"`
	Transport string            `json:"transport"`
	State     string            `json:"state"`
	Why       string            `json:"why,omitempty"`
	Tools     int               `json:"tools"` // that are known, or were there when it was tried
	Changed   []string          `json:"changed_tools,omitempty"`
	LeftOut   []string          `json:"left_out,omitempty"`
	Software  string            `json:"software,omitempty"`
	Command   []string          `json:"command,omitempty"`
	Dir       string            `json:"cwd,omitempty"`
	URL       string            `json:"url,omitempty"`
	Env       map[string]string `json:"env,omitempty"`     // secrets left out
	Headers   map[string]string `json:"headers,omitempty"` // the same
	EnvFile   string            `json:"env_file,omitempty"`
	LoggedIn  bool              `json:"logged_in,omitempty"`
	Digest    string            `json:"digest"`
	Warnings  []string          `json:"warnings,omitempty"`
}

// A Tool is one tool of a server.
type Tool struct {
	Name        string `json:"name"` // in Lore
	Own         string `json:"own_name"`
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	// Change is set when the server says something else than it did.
	Change *Change `json:"change,omitempty"`
}

// A Change is what a tool was, and what it would be.
type Change struct {
	Digest string `json:"digest"` // of what it would be
	Old    string `json:"old"`
	New    string `json:"new"`
}

// An Import is what copying a client's servers would do.
type Import struct {
	Client  string       `json:"client"`
	From    string       `json:"from"`
	To      string       `json:"to"`
	Servers []Server     `json:"servers"`
	Skipped []string     `json:"skipped,omitempty"` // names, and why
	Digest  string       `json:"digest,omitempty"`  // of what is to be copied, for who agrees later
	Done    bool         `json:"done,omitempty"`
	Write   func() error `json:"-"`
}

// A NewServer is a server as a person names it: a program that is started, or an
// address that is called.
type NewServer struct {
	Name    string            `json:"name"`
	Command string            `json:"command,omitempty"`
	Args    []string          `json:"args,omitempty"`
	Env     map[string]string `json:"env,omitempty"`
	URL     string            `json:"url,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
}

// A Host is what the command needs of the machine. Vault and level are the
// flags of every command.
type Host struct {
	// List reads the files; with try, every server that may be used is connected
	// to.
	List func(ctx context.Context, t Terminal, try bool) ([]Server, []string, error)
	// Allow and Deny keep what a person decided about a server as it was shown.
	Allow, Deny func(ctx context.Context, t Terminal, s Server) error
	// Tools connects to a server and lists its tools; without try, it lists what
	// is known of them.
	Tools func(ctx context.Context, t Terminal, name string, try bool) (Server, []Tool, error)
	// Accept lets a changed tool be used as it was shown.
	Accept func(ctx context.Context, t Terminal, server, tool, digest string) error
	// Login takes a person through the browser, Logout forgets that.
	Login  func(ctx context.Context, t Terminal, name string, show func(address string)) (Server, error)
	Logout func(ctx context.Context, t Terminal, name string) (bool, error)
	// Add names a server in Lore's own file, Remove names one there no more.
	Add    func(NewServer) error
	Remove func(Server) error
	// Import plans to copy the servers of a client.
	Import func(t Terminal, client string) (Import, error)
}

// A Terminal is where the command is typed.
type Terminal struct {
	Vault, LogLevel string // flags
	JSON            bool
	Out, Err        io.Writer
	Screen          draw.Screen // what Out can show
	Notice          draw.Screen // what Err can show
	Encode          func(any) error
	Say             func(string)
	AtTerminal      bool // a person can be asked
	// Ask waits for y or n; ok is false when nobody answers.
	Ask func(ctx context.Context, text string) (yes, ok bool)
}

// A program is one run of the command.
type program struct {
	Terminal
	host     Host
	terminal func(*cobra.Command) Terminal
	yes, try bool
	noTry    bool
}

// Command is lore servers. The terminal is asked for when the command runs.
func Command(host Host, terminal func(*cobra.Command) Terminal) *cobra.Command {
	p := &program{host: host, terminal: terminal}
	cmd := &cobra.Command{
		Use: "servers", Short: "Use the tools of other MCP servers", Args: p.words(0, 0), RunE: p.run(p.list),
		Long: `Lists the MCP servers whose tools Lore can use. They are named in servers.json in
Lore's settings folder, in the form that other clients use; and in .mcp.json,
.vscode/mcp.json and .cursor/mcp.json of the vault, where each must be allowed
first, and again after every change.

Their tools are called mcp__SERVER__TOOL. Every call is asked about, and what
they answer is marked as untrusted. A tool whose description or arguments change
is not used until you accept it.`,
		Example: `lore servers                       what there is, and why something is not used
lore servers --try                 and connect to each of them
lore servers allow docs            after reading what would be started
lore servers tools docs            list its tools, with what changed
lore call mcp__docs__find '{"text": "tea"}'`,
	}
	cmd.Flags().BoolVar(&p.try, "try", false, "connect to each server")
	cmd.AddCommand(
		p.sub("allow NAME", "Let a server be used, exactly as it is shown", p.allow, &p.yes),
		p.sub("deny NAME", "Let a server be used no more", p.deny, nil),
		p.toolsCommand(),
		p.acceptCommand(),
		p.sub("login NAME", "Log in to a server, in a browser", p.login, nil),
		p.sub("logout NAME", "Forget a login", p.logout, nil),
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

func (p *program) words(least, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < least || len(args) > most {
			return fault.Fix(fault.Invalid, "write: "+strings.TrimSuffix(cmd.UseLine(), " [flags]"), "%s got %d words", cmd.CommandPath(), len(args))
		}
		return nil
	}
}

func (p *program) sub(use, short string, f func(context.Context, []string) error, yes *bool) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, Args: p.words(1, 1), RunE: p.run(f)}
	if yes != nil {
		cmd.Flags().BoolVarP(yes, "yes", "y", false, "do not ask")
	}
	return cmd
}

func (p *program) toolsCommand() *cobra.Command {
	cmd := p.sub("tools NAME", "List the tools of a server, with what changed", p.tools, nil)
	cmd.Flags().BoolVar(&p.noTry, "offline", false, "show what is known, and do not connect")
	return cmd
}

func (p *program) acceptCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "accept NAME [TOOL]", Short: "Use a changed tool of a server again, as it is now", Args: p.words(1, 2), RunE: p.run(p.accept),
	}
	cmd.Flags().BoolVarP(&p.yes, "yes", "y", false, "do not ask")
	return cmd
}

func (p *program) importCommand() *cobra.Command {
	cmd := p.sub("import CLIENT", "Copy the servers of another client into servers.json", p.imports, &p.yes)
	for _, c := range mcpconfig.Clients() {
		cmd.ValidArgs = append(cmd.ValidArgs, cobra.CompletionWithDesc(c.ID, c.Title))
	}
	return cmd
}

func (p *program) list(ctx context.Context, _ []string) error {
	all, trouble, err := p.host.List(ctx, p.Terminal, p.try)
	if err != nil {
		return err
	}
	if p.JSON {
		return p.Encode(struct {
			Servers []Server `json:"servers"`
			Trouble []string `json:"trouble,omitempty"`
		}{append([]Server{}, all...), trouble})
	}
	for _, t := range trouble {
		fmt.Fprintln(p.Err, p.Notice.Red("! ")+draw.OneLine(t))
	}
	if len(all) == 0 {
		p.Say("no servers are named; lore servers import CLIENT copies those of another client")
		return nil
	}
	var rows [][]string
	for _, s := range all {
		why := s.Why
		if len(s.Changed) > 0 {
			why = strings.TrimPrefix(why+"; changed: "+strings.Join(s.Changed, ", ")+"; see lore servers tools "+s.Name, "; ")
		}
		rows = append(rows, []string{s.Name, s.Transport, s.State, fmt.Sprint(s.Tools), s.File, why})
	}
	var b strings.Builder
	p.Screen.Table(&b, []string{"server", "by", "state", "tools", "file", "why"}, rows)
	_, err = io.WriteString(p.Out, b.String())
	return err
}

// find returns one server as it is shown.
func (p *program) find(ctx context.Context, name string) (Server, error) {
	all, trouble, err := p.host.List(ctx, p.Terminal, false)
	if err != nil {
		return Server{}, err
	}
	var names []string
	for _, s := range all {
		if s.Name == name {
			return s, nil
		}
		names = append(names, s.Name)
	}
	if len(trouble) > 0 {
		return Server{}, fault.New(fault.Invalid, "%s", trouble[0])
	}
	fix := "there are " + strings.Join(names, ", ")
	if len(names) == 0 {
		fix = "no file names any; see lore servers --help"
	}
	return Server{}, fault.Fix(fault.NotFound, fix, "no server %q", name)
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
		return fault.Fix(fault.Invalid, "say --yes after reading it", "nobody can be asked here")
	}
	yes, ok := p.Ask(ctx, question)
	switch {
	case !ok:
		fmt.Fprintln(p.Err)
		return fault.New(fault.Cancelled, "interrupted; nothing was changed")
	case !yes:
		return fault.New(fault.Denied, "not agreed; nothing was changed")
	}
	return nil
}
