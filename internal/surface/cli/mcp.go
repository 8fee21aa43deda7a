package cli

import (
	"context"
	"io"
	"time"

	"github.com/spf13/cobra"

	"lore/internal/fault"
	"lore/internal/surface/argv"
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
		Use: "mcp", Short: "Offer the tools to another program, by the Model Context Protocol", Args: noWords,
		Long: `Speaks the Model Context Protocol on standard input and output, for programs that
start it themselves. Changes wait for a person, who answers on the page or with
lore approvals; the call is held a moment for that (--hold) and then reports that
it is pending.

With --confirm the client may show approval dialogs itself. Anyone who controls the
client can approve then, and the record names the client's dialog, not a person.
Deletions and commands still wait for a person, unless you also pass --trust-client.`,
		Example: "lore mcp --vault ~/Notes\nlore mcp --toolsets notes,find --read-only\nlore mcp --toolsets all",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if p.host.MCP == nil {
				return fault.New(fault.Unavailable, "this program cannot serve clients")
			}
			return p.host.MCP(cmd.Context(), p.g, o, cmd.InOrStdin(), p.out)
		},
	}
	f := cmd.Flags()
	f.StringSliceVar(&o.Toolsets, "toolsets", nil, "the sets of tools to offer, or all (default notes)")
	f.StringSliceVar(&o.Tools, "tools", nil, "further tools to offer, by name")
	f.StringSliceVar(&o.Exclude, "exclude-tools", nil, "tools never to offer")
	f.BoolVar(&o.ReadOnly, "read-only", false, "offer only tools that change nothing")
	f.DurationVar(&o.Hold, "hold", defaultHold, "how long a call waits for a person before it says that it waits; 0s not at all")
	f.StringArrayVar(&o.Share, "share", nil, "folder that the client may read without asking (repeatable; / for notes outside of folders, all for everything)")
	_ = f.SetAnnotation("share", argv.Placeholder, []string{"FOLDER"}) // the flag exists: see above
	f.BoolVar(&o.Confirm, "confirm", false, "let the client show approval dialogs itself; anyone who controls the client can approve")
	f.BoolVar(&o.Trust, "trust-client", false, "let the client's dialog approve deletions and commands too (implies --confirm)")
	return cmd
}
