// Package cli is the command line: every tool as a command with flags made from
// its struct, and the commands that look after Lore itself. It reaches the
// vault only through the registry, and knows no tool by name.
package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"lore/internal/access"
	"lore/internal/event"
	"lore/internal/fault"
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
	// Settings lists every setting in force and where it comes from.
	Settings func(g Globals) ([]Setting, error)
	// Set changes one setting of the configuration file.
	Set func(key, value string) error
	// Demo copies the sample vault to a folder and returns its path.
	Demo func(dir string) (string, error)
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
	// Rebuild throws the index away first.
	Rebuild bool
	// Progress shows events while the session is opened; may be nil.
	Progress func(*event.Bus) (stop func())
}

// A Session is an open vault.
type Session struct {
	Dir      string
	Registry *tool.Registry
	// Report describes the index and what opening it did.
	Report func(ctx context.Context) (Report, error)
	// Doctor looks for everything that is wrong with the set-up.
	Doctor func(ctx context.Context) ([]Finding, error)
	// Follow keeps the index true to the vault until ctx ends.
	Follow func(ctx context.Context) error
	Close  func() error
}

// A Report describes an index.
type Report struct {
	Vault       string  `json:"vault"`
	Index       string  `json:"index_folder"`
	Notes       int     `json:"notes"`
	Attachments int     `json:"attachments"`
	Conflicts   int     `json:"conflicts"`
	Links       int     `json:"links"`
	Passages    int     `json:"passages"`
	Embedded    int     `json:"embedded"`
	Model       string  `json:"model,omitempty"`
	Problems    int     `json:"notes_with_problems"`
	Added       int     `json:"added"`
	Changed     int     `json:"changed"`
	Dropped     int     `json:"dropped"`
	Seconds     float64 `json:"seconds"`
	Rebuilt     string  `json:"rebuilt,omitempty"` // why the index was built anew
	Fresh       bool    `json:"fresh"`
	Reason      string  `json:"reason,omitempty"`
}

// A Finding is one thing that doctor looked at.
type Finding struct {
	Level string `json:"level"` // "ok", "note", "warning", "error"
	Topic string `json:"topic"`
	Text  string `json:"text"`
	Fix   string `json:"fix,omitempty"`
	Path  string `json:"path,omitempty"`
	Line  int    `json:"line,omitempty"`
}

// A Setting is one value in force.
type Setting struct {
	Key    string `json:"key"`
	Value  string `json:"value"`
	Source string `json:"source"` // "default", "file", "environment", "flag"
	Doc    string `json:"doc"`
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
	screen screen // how out can be written to
}

// Run runs one command and returns its exit code.
func Run(ctx context.Context, host Host, args []string, in io.Reader, out, errOut io.Writer) int {
	p := &program{host: host, out: out, err: errOut}
	root := p.root(args)
	root.SetArgs(args)
	root.SetIn(in)
	root.SetOut(out)
	root.SetErr(errOut)
	p.screen = newScreen(out, slices.Contains(args, "--no-color"))
	err := root.ExecuteContext(ctx)
	if err == nil {
		return ExitOK
	}
	if ctx.Err() != nil && !errors.Is(err, context.DeadlineExceeded) {
		err = fault.New(fault.Cancelled, "interrupted")
	}
	return p.fail(err)
}

// fail reports an error in the language that was asked for.
func (p *program) fail(err error) int {
	code, ok := exitCodes[fault.Of(err)]
	if !ok {
		code = ExitError
	}
	if p.g.JSON {
		enc := json.NewEncoder(p.out)
		enc.SetEscapeHTML(false)
		if e := enc.Encode(tool.NewFailure(err)); e != nil {
			return ExitError
		}
		return code
	}
	fmt.Fprintln(p.err, "lore: "+harmless(err.Error()))
	return code
}

const rootHelp = `Lore gives any mind safe hands on your notes.

It opens a folder of Markdown, understands it (words, meaning, links), and
answers questions about it. Reading a vault writes nothing into it: the index
lives in the data folder of your user.

The vault is the folder given by --vault, else $LORE_VAULT, else the folder you
are in (or the vault around it), else the default of the settings.

Exit codes: 0 done; 1 something did not work; 2 the request cannot be right and
nothing changed; 3 waits for approval; 4 not allowed; 130 interrupted.`

func (p *program) root(args []string) *cobra.Command {
	root := &cobra.Command{
		Use: "lore", Short: "Safe hands on your notes", Long: rootHelp,
		SilenceErrors: true, SilenceUsage: true, Version: p.host.Version,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return p.unknownCommand(cmd, args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.CompletionOptions.HiddenDefaultCmd = false
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return fault.Fix(fault.Invalid, fmt.Sprintf("see %s --help", cmd.CommandPath()), "%v", err)
	})
	f := root.PersistentFlags()
	f.StringVar(&p.g.Vault, "vault", "", "the folder of notes")
	f.BoolVar(&p.g.JSON, "json", false, "print the answer as JSON")
	f.BoolVar(&p.g.NoColor, "no-color", false, "no colours and no links (also by $NO_COLOR)")
	f.StringVar(&p.g.LogLevel, "log-level", "", "what to log to standard error: debug, info, warn, error")
	root.AddGroup(&cobra.Group{ID: "tools", Title: "Ask the vault:"}, &cobra.Group{ID: "lore", Title: "Look after Lore:"})
	root.SetHelpCommandGroupID("lore")
	root.SetCompletionCommandGroupID("lore")
	for _, t := range p.host.Tools {
		root.AddCommand(p.toolCommand(t, args))
	}
	root.AddCommand(p.commands()...)
	return root
}

func (p *program) unknownCommand(cmd *cobra.Command, word string) error {
	var names []string
	for _, c := range cmd.Commands() {
		names = append(names, c.Name())
		names = append(names, c.Aliases...)
	}
	fix := "see lore --help"
	if near := tool.Nearest(word, names, 3); len(near) > 0 {
		fix = "did you mean " + strings.Join(near, ", ") + "?"
	}
	return fault.Fix(fault.Invalid, fix, "unknown command %q", word)
}

// call runs one tool and shows its result.
func (p *program) call(ctx context.Context, t *tool.Tool, args json.RawMessage) error {
	s, err := p.host.Open(ctx, p.g, OpenOptions{Progress: p.progress()})
	if err != nil {
		return err
	}
	res, err := s.Registry.Call(ctx, access.Terminal(), t.Name, args)
	if err == nil {
		err = p.show(res, s.Dir)
	}
	return errors.Join(err, s.Close())
}
