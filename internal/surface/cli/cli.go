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

	"lore/internal/doctor"
	"lore/internal/fault"
	"lore/internal/surface"
	"lore/internal/surface/cli/argv"
	"lore/internal/surface/cli/conversation"
	"lore/internal/surface/cli/draw"
	"lore/internal/tool"
	"lore/internal/tool/audit"
	"lore/internal/tool/policy"
	"lore/internal/tool/schema"
	"lore/internal/tool/token"
	"lore/internal/workspace"
	"lore/internal/workspace/settings"
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

func (g Globals) flags() settings.Flags {
	return settings.Flags{Vault: g.Vault, LogLevel: g.LogLevel}
}

// A Host is what the command line needs from the program around it.
type Host struct {
	surface.Host
	// Open opens the vault that g names, with a registry of tools bound to it.
	// A command that only describes does not call it.
	Open func(ctx context.Context, g Globals, o workspace.Options) (*Session, error)
	// Peek offers names and ids to a shell, without opening the vault; may be nil.
	Peek func(g Globals) (*workspace.Peek, error)
	// Explain gives an error that no command understands the words of someone
	// who knows where it comes from; may be nil.
	Explain func(error) error
	// MCP serves another program, ACP an editor, Serve many over HTTP; may be nil.
	MCP   MCP
	ACP   ACP
	Serve Serve
	// ConformanceClient is for conformance suites; nil in a program that they do
	// not judge.
	ConformanceClient ConformanceClient
	// Demo copies the sample vault to a folder and returns its path.
	Demo func(dir string) (string, error)
	// Eval is what lore eval needs of this machine.
	Eval conversation.Examiner
	// Bench measures this machine on a vault and reports rows of a table.
	Bench func(ctx context.Context, s *Session) ([]Measure, error)
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
	Mind  func(ctx context.Context) (*conversation.Session, error)
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
	tools  []*tool.Tool // of the catalog
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
	p := &program{host: host, tools: host.Catalog(), out: out, err: errOut}
	root := p.root(args)
	root.SetArgs(args)
	root.SetIn(in)
	root.SetOut(out)
	root.SetErr(errOut)
	plain := given(args, "--no-color")
	p.screen, p.notice = draw.New(out, plain), draw.New(errOut, plain)
	err := root.ExecuteContext(ctx)
	var own exitError
	switch {
	case err == nil:
		return ExitOK
	case errors.As(err, &own):
		return int(own)
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
		Use: "lore", Short: "Search and edit your notes, safely", Long: rootHelp, Example: rootExample,
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
	f.StringVar(&p.g.Vault, "vault", "", "folder of notes to use")
	f.BoolVar(&p.g.JSON, "json", false, "print JSON")
	f.BoolVar(&p.g.NoColor, "no-color", false, "turn off colors and links (or set $NO_COLOR)")
	f.StringVar(&p.g.LogLevel, "log-level", "", "log to standard error: debug, info, warn or error")
	for name, value := range map[string]string{"vault": "FOLDER", "log-level": "LEVEL"} {
		_ = f.SetAnnotation(name, argv.Placeholder, []string{value}) // the flags exist: see above
	}
	_ = root.MarkPersistentFlagDirname("vault")
	_ = root.RegisterFlagCompletionFunc("log-level", cobra.FixedCompletions([]string{"debug", "info", "warn", "error"}, cobra.ShellCompDirectiveNoFileComp))
	root.AddGroup(groups()...)
	for _, t := range p.tools {
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
