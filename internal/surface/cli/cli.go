// Package cli is the command line: every tool as a command with flags made from
// its struct, and the commands that look after Lore itself. It reaches the
// vault only through the registry, and knows no tool by name.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"lore/internal/audit"
	"lore/internal/doctor"
	"lore/internal/event"
	"lore/internal/fault"
	"lore/internal/keys"
	"lore/internal/llm"
	"lore/internal/policy"
	"lore/internal/schema"
	"lore/internal/settings"
	"lore/internal/surface/argv"
	"lore/internal/surface/draw"
	"lore/internal/surface/install"
	"lore/internal/surface/servers"
	"lore/internal/surface/talk"
	"lore/internal/token"
	"lore/internal/tool"
)

// Exit codes, promised in the help.
const (
	ExitOK        = 0
	ExitError     = 1 // something did not work
	ExitUsage     = 2 // what was asked for cannot be right; nothing changed
	ExitPending   = 3 // waits for a person's approval
	ExitDenied    = 4 // a rule or a person said no
	ExitCancelled = 130
)

// exitCodes turns kinds of faults into exit codes; other kinds are ExitError.
var exitCodes = map[fault.Kind]int{
	fault.Invalid: ExitUsage, fault.NotFound: ExitUsage, fault.Ambiguous: ExitUsage, fault.Unsafe: ExitUsage,
	fault.TooLarge: ExitUsage, fault.Denied: ExitDenied, fault.Cancelled: ExitCancelled,
}

// Globals are the flags that every command takes.
type Globals struct {
	Vault    string
	LogLevel string
	JSON     bool
	NoColor  bool
}

// A Host is what the command line needs from the program around it.
type Host struct {
	Version string
	// Tools describes the tools without opening a vault.
	Tools []*tool.Tool
	// Open opens the vault that g names, with a registry of tools bound to it.
	// A command that only describes does not call it.
	Open func(ctx context.Context, g Globals, o OpenOptions) (*Session, error)
	// Explain gives an error that no command understands the words of someone
	// who knows where it comes from; may be nil.
	Explain func(error) error
	// Settings lists every setting in force and where it comes from.
	Settings func(g Globals) ([]settings.Setting, error)
	// Set changes one setting of the configuration file and returns it as it
	// then is in force.
	Set func(key, value string) (settings.Setting, error)
	// MCP serves another program, Serve many over HTTP; may be nil.
	MCP   MCP
	Serve Serve
	// ConformanceClient is for conformance suites; may be nil.
	ConformanceClient ConformanceClient
	// Demo copies the sample vault to a folder and returns its path.
	Demo func(dir string) (string, error)
	// Install is what lore install needs of this machine.
	Install install.Host
	// Servers is what lore servers needs of this machine.
	Servers servers.Host
	// Minds are the models that can be talked with.
	Minds func() (llm.Minds, error)
	// Keys are where keys of providers are kept.
	Keys func() keys.Store
	// Eval is what lore eval needs of this machine.
	Eval talk.Examiner
	// External describes the tools of other servers, as far as they are known;
	// may be nil.
	External func(g Globals) ([]*tool.Tool, error)
	// Bench measures this machine on a vault and reports rows of a table.
	Bench func(ctx context.Context, s *Session) ([]Measure, error)
}

// OpenOptions say how a vault is opened.
type OpenOptions struct {
	// Wait lets the index catch up with the vault completely before the first
	// question; otherwise answers come at once and say how fresh they are.
	Wait bool
	// Embed gives every passage its vector before the session is handed over.
	Embed bool
	// TextOnly gives no passage a vector, not even the few that are new.
	TextOnly bool
	// Rebuild throws the index away first.
	Rebuild bool
	// Aside leaves the vault to other processes: this one only reads, for as
	// long as it likes.
	Aside bool
	// Share lets the process that holds the vault answer instead, when there is
	// one: only Door, Tokens and Verify are needed.
	Share bool
	// Patient waits a little for whoever holds the vault without answering:
	// reading alone will not do.
	Patient bool
	// Stay says that the process stays: it is patient, shares, and answers others
	// from the beginning.
	Stay bool
	// Bus takes the news; nil makes one.
	Bus *event.Bus
	// Progress shows events while the session is opened; may be nil.
	Progress func(*event.Bus) (stop func())
}

// A Session is an open vault.
type Session struct {
	Dir string
	// Door is how the tools are reached.
	Door tool.Door
	// Attend carries out what is approved elsewhere, until ctx ends.
	Attend func(ctx context.Context)
	// Report describes the index and what opening it did.
	Report func(ctx context.Context) (doctor.Report, error)
	// Doctor looks for everything that is wrong with the set-up.
	Doctor func(ctx context.Context) ([]doctor.Finding, error)
	// Follow keeps the index true to the vault until ctx ends.
	Follow func(ctx context.Context) error
	// Server is the address of the HTTP server of this vault, or "".
	Server func(ctx context.Context) string
	// Tokens are what programs call with.
	Tokens *token.Store
	// AddRule keeps a standing rule that a person made, under an id of its own.
	AddRule func(ctx context.Context, r policy.Rule) error
	// Verify checks the record of everything that was done, and counts it.
	Verify func(ctx context.Context) (audit.Verified, error)
	// AcceptLoss records that the person at the terminal knows of lost records,
	// and counts them.
	AcceptLoss func(ctx context.Context) (int, error)
	// Mind is a session for talking with a mind, through the same door. It is
	// closed with this one.
	Mind  func(ctx context.Context) (*talk.Session, error)
	Close func() error
}

// A Measure is one row of the table that bench prints.
type Measure struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// A program is one run of the command line.
type program struct {
	host   Host
	g      Globals
	out    io.Writer
	err    io.Writer
	screen draw.Screen // what out can show
	notice draw.Screen // what err can show

	noHead  bool        // the columns were named already
	lines   chan string // what is typed; see typed
	session *Session    // of a command that answers a question
}

// Run runs one command and returns its exit code.
func Run(ctx context.Context, host Host, args []string, in io.Reader, out, errOut io.Writer) int {
	p := &program{host: host, out: out, err: errOut}
	root := p.root(args)
	root.SetArgs(args)
	root.SetIn(in)
	root.SetOut(out)
	root.SetErr(errOut)
	plain := given(args, "--no-color")
	p.screen, p.notice = draw.New(out, plain), draw.New(errOut, plain)
	err := root.ExecuteContext(ctx)
	switch {
	case err == nil:
		return ExitOK
	case errors.Is(err, errSaid):
		return ExitError
	case errors.Is(err, errPending):
		return ExitPending
	case errors.Is(err, errDenied):
		return ExitDenied
	case ctx.Err() != nil && !errors.Is(err, context.DeadlineExceeded):
		err = fault.New(fault.Cancelled, "interrupted")
	case host.Explain != nil:
		err = host.Explain(err)
	}
	// A flag before it may have been wrong, so that --json was not reached.
	p.g.JSON = p.g.JSON || given(args, "--json")
	return p.fail(err)
}

// errSaid ends a command whose answer has already told what is wrong.
var errSaid = errors.New("said")

// given reports whether a switch stands among the words of a command line.
func given(args []string, flag string) bool {
	if i := slices.Index(args, "--"); i >= 0 {
		args = args[:i]
	}
	return slices.Contains(args, flag) || slices.Contains(args, flag+"=true")
}

// fail reports an error in the language that was asked for.
func (p *program) fail(err error) int {
	code, ok := exitCodes[fault.Of(err)]
	if !ok {
		code = ExitError
	}
	if p.g.JSON {
		if e := p.encode(tool.NewFailure(err)); e != nil {
			return ExitError
		}
		return code
	}
	fmt.Fprintln(p.err, p.notice.Red("lore:")+" "+draw.Harmless(err.Error()))
	return code
}

func (p *program) root(args []string) *cobra.Command {
	root := &cobra.Command{
		Use: "lore", Short: "Safe hands on your notes", Long: rootHelp, Example: rootExample,
		SilenceErrors: true, SilenceUsage: true, Version: p.host.Version,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return p.unknownCommand(cmd, args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetFlagErrorFunc(argv.Explain)
	root.SetHelpFunc(p.help)
	root.SetHelpCommand(p.helpCommand(root))
	f := root.PersistentFlags()
	f.StringVar(&p.g.Vault, "vault", "", "the folder of notes")
	f.BoolVar(&p.g.JSON, "json", false, "print the answer as JSON")
	f.BoolVar(&p.g.NoColor, "no-color", false, "no colours and no links (also by $NO_COLOR)")
	f.StringVar(&p.g.LogLevel, "log-level", "", "what to log to standard error: debug, info, warn or error")
	for name, value := range map[string]string{"vault": "FOLDER", "log-level": "LEVEL"} {
		_ = f.SetAnnotation(name, argv.Placeholder, []string{value}) // the flags exist: see above
	}
	_ = root.MarkPersistentFlagDirname("vault")
	_ = root.RegisterFlagCompletionFunc("log-level", cobra.FixedCompletions([]string{"debug", "info", "warn", "error"}, cobra.ShellCompDirectiveNoFileComp))
	root.AddGroup(&cobra.Group{ID: "tools", Title: "Ask the vault:"}, &cobra.Group{ID: "lore", Title: "Look after Lore:"})
	for _, t := range p.host.Tools {
		p.addTool(root, t, args)
	}
	root.AddCommand(p.commands()...)
	root.AddCommand(p.talkCommands()...)
	return root
}

func (p *program) unknownCommand(cmd *cobra.Command, word string) error {
	var names []string
	for _, c := range cmd.Commands() {
		if c.Hidden {
			continue
		}
		names = append(names, c.Name())
		names = append(names, c.Aliases...)
	}
	fix := "see lore --help"
	if near := schema.Nearest(word, names, 3); len(near) > 0 {
		fix = "did you mean " + strings.Join(near, ", ") + "?"
	}
	return fault.Fix(fault.Invalid, fix, "unknown command %q", word)
}
