package cli

import (
	"context"
	"io"
	"time"

	"github.com/spf13/cobra"

	"lore/internal/fault"
	"lore/internal/surface/cli/argv"
)

// MCPOptions say what other programs are offered.
type MCPOptions struct {
	Toolsets []string
	Tools    []string
	Exclude  []string
	ReadOnly bool
	Share    []string // folders that the client may read without a question
	Confirm  bool     // the client's own dialog may approve its calls
	Trust    bool     // also what destroys; implies Confirm
	Hold     time.Duration
}

// defaultHold is less than the minute after which many clients give up.
const defaultHold = 45 * time.Second

// MCP serves a client that writes to in and reads from out.
type MCP func(ctx context.Context, g Globals, o MCPOptions, in io.Reader, out io.Writer) error

func (p *program) mcpCommand() *cobra.Command {
	var o MCPOptions
	cmd := &cobra.Command{
		Use: "mcp", Short: "Run an MCP server on standard input and output", Args: argv.None,
		Long: `Runs an MCP server on standard input and output, for apps that start it
themselves. Changes wait for your approval, on the web page or in lore approvals. A
call waits for you for a while (--hold) and then reports that it is pending.

The app can read all notes, unless you limit it: with --share it reads only the
folders that you name, and Lore does not ask about them. Use lore share to see and
limit what apps can read.

With --confirm, the app may show approval dialogs itself. Anyone who controls the app
can then approve, and the audit log names the app's dialog, not a person.
Deletions and commands still wait for you, unless you also pass --trust-client.`,
		Example: "lore mcp --vault ~/Notes                            serve one vault\nlore mcp --toolsets notes,explore --read-only       offer only tools that read\nlore mcp --toolsets all --share Work                share one folder",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if p.host.MCP == nil {
				return fault.New(fault.Unavailable, "this build of Lore does not include the server")
			}
			return p.host.MCP(cmd.Context(), p.g, o, cmd.InOrStdin(), p.out)
		},
	}
	f := cmd.Flags()
	f.StringSliceVar(&o.Toolsets, "toolsets", nil, "toolsets to offer, or all (default: notes, plus a few tools from other toolsets)")
	f.StringSliceVar(&o.Tools, "tools", nil, "additional tools to offer, by name")
	f.StringSliceVar(&o.Exclude, "exclude-tools", nil, "tools not to offer")
	f.BoolVar(&o.ReadOnly, "read-only", false, "offer only tools that change nothing")
	f.DurationVar(&o.Hold, "hold", defaultHold, "how long a call waits for approval before it reports that it is pending; 0s to not wait")
	f.StringArrayVar(&o.Share, "share", nil, "let the app read only this folder, without asking (repeatable; / for top-level notes, all for everything)")
	_ = f.SetAnnotation("share", argv.Placeholder, []string{"FOLDER"}) // the flag exists: see above
	f.BoolVar(&o.Confirm, "confirm", false, "let the app show approval dialogs itself; anyone who controls the app can approve")
	f.BoolVar(&o.Trust, "trust-client", false, "let the app's dialogs approve deletions and commands too (implies --confirm)")
	return cmd
}
