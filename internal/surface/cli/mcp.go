package cli

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"lore/internal/fault"
)

// MCPOptions say what other programs are offered.
type MCPOptions struct {
	Toolsets []string
	Tools    []string
	Exclude  []string
	ReadOnly bool
	Trust    bool // the client's own dialogue may confirm what destroys
}

// MCP serves a client that writes to in and reads from out.
type MCP func(ctx context.Context, g Globals, o MCPOptions, in io.Reader, out io.Writer) error

func (p *program) mcpCommand() *cobra.Command {
	var o MCPOptions
	cmd := &cobra.Command{
		Use: "mcp", Short: "Offer the tools to another program, by the Model Context Protocol", Args: noWords,
		Long: `Speaks the Model Context Protocol on standard input and output, for programs that
start it themselves. What changes a note waits for a person: the client asks when
it can, else it waits in lore approvals. What destroys is never confirmed by the
client's own dialogue, unless --trust-client says so.`,
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
	f.BoolVar(&o.Trust, "trust-client", false, "let the client's own dialogue confirm what destroys, too")
	return cmd
}
