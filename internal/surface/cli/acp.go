package cli

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"lore/internal/fault"
	"lore/internal/surface/cli/argv"
)

// ACPOptions say what an editor may do.
type ACPOptions struct {
	Confirm bool // the editor's own dialogs may approve changes
	Trust   bool // also what destroys; implies Confirm
}

// ACP serves an editor that writes to in and reads from out.
type ACP func(ctx context.Context, g Globals, o ACPOptions, in io.Reader, out io.Writer) error

func (p *program) acpCommand() *cobra.Command {
	var o ACPOptions
	cmd := &cobra.Command{
		Use: "acp", Short: "Run Lore's agent for an editor", Args: argv.None,
		Long: `Runs Lore's agent on standard input and output, for editors that support the Agent
Client Protocol (Zed, Neovim, Obsidian plugins and others). The editor starts it.
Sessions are chats: they appear on the web page and in lore chat too.

Changes wait for your approval, on the web page or in lore approvals. With --confirm,
the editor shows the approval dialogs itself, with the diff. Anyone who controls the
editor can then approve, and the audit log names the editor's dialog, not a person.
Deletions and commands still wait for you, unless you also pass --trust-client.`,
		Example: "lore acp --vault ~/Notes                   serve one vault\nlore acp --vault ~/Notes --confirm         approve changes in the editor",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if p.host.ACP == nil {
				return fault.New(fault.Unavailable, "this build of Lore does not include the agent for editors")
			}
			return p.host.ACP(cmd.Context(), p.g, o, cmd.InOrStdin(), p.out)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&o.Confirm, "confirm", false, "let the editor show approval dialogs itself; anyone who controls the editor can approve")
	f.BoolVar(&o.Trust, "trust-client", false, "let the editor's dialogs approve deletions and commands too (implies --confirm)")
	return cmd
}
