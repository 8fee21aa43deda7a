package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"lore/internal/fault"
	"lore/internal/surface/cli/argv"
	"lore/internal/surface/cli/draw"
	"lore/internal/surface/cli/install"
	"lore/internal/surface/cli/servers"
	"lore/internal/workspace"
)

// commands are those that look after Lore itself.
func (p *program) commands() []*cobra.Command {
	out := []*cobra.Command{
		p.indexCommand(), p.mcpCommand(), p.acpCommand(), p.approvalsCommand(), p.shareCommand(), p.auditCommand(), p.toolsCommand(), p.callCommand(), p.serveCommand(), p.loginCommand(), p.sessionsCommand(), p.tokenCommand(), p.doctorCommand(), p.configCommand(),
		p.installCommand(), p.serversCommand(), p.modelsCommand(), p.keyCommand(), p.evalCommand(), p.demoCommand(), p.benchCommand(), p.completionCommand(), p.versionCommand(),
	}
	if p.host.ConformanceClient != nil {
		out = append(out, p.conformanceClientCommand())
	}
	for _, c := range out {
		c.GroupID = groupOf(c.Name())
	}
	return out
}

// terminal is where a command is typed; it is made when the command runs, because
// the flags are read then.
func (p *program) terminal(cmd *cobra.Command) draw.Terminal {
	in := cmd.InOrStdin()
	return draw.Terminal{
		Vault: p.g.Vault, LogLevel: p.g.LogLevel, JSON: p.g.JSON, Out: p.out, Err: p.err, Screen: p.screen, Notice: p.notice, Encode: p.encode, Say: p.say,
		AtTerminal: p.notice.Terminal && draw.AtTerminal(in),
		Ask:        func(ctx context.Context, text string) (yes, ok bool) { return p.yes(ctx, p.typed(in), text) },
	}
}

func (p *program) installCommand() *cobra.Command {
	return install.Command(p.host.Clients, p.host.Now, p.terminal)
}

func (p *program) serversCommand() *cobra.Command { return servers.Command(p.host.Servers, p.terminal) }

// count says "1 note" and "2 notes".
func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// helpCommand is cobra's, with our words.
func (p *program) helpCommand(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use: "help [COMMAND]", Short: "Show help for a command", GroupID: groupSetup,
		RunE: func(_ *cobra.Command, args []string) error {
			cmd, rest, err := root.Find(args)
			if err != nil || len(rest) > 0 {
				return p.unknownCommand(root, strings.Join(args, " "))
			}
			return cmd.Help()
		},
	}
}

func (p *program) withSession(ctx context.Context, o workspace.Options, f func(*Session) error) error {
	o.Progress = p.progress()
	s, err := p.host.Open(ctx, p.g, o)
	if err != nil {
		return err
	}
	return errors.Join(f(s), s.Close())
}

// findingLeft is the column that what was found begins in.
const findingLeft = 19

// decidesAsking reports whether a change of a setting decides what is asked about. A
// person makes it at a terminal, or on the page.
func decidesAsking(key, value string) bool {
	return strings.HasPrefix(key, "approve.") || key == "web.allow" || strings.HasPrefix(key, "tools.") && strings.EqualFold(strings.TrimSpace(value), "allow")
}

func (p *program) benchCommand() *cobra.Command {
	return &cobra.Command{
		Use: "bench", Short: "Measure how fast Lore is on this vault", Args: argv.None,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return p.withSession(cmd.Context(), workspace.Options{UpToDate: true}, func(s *Session) error {
				ms, err := p.host.Bench(cmd.Context(), s)
				if err != nil {
					return err
				}
				if p.g.JSON {
					return p.encode(struct {
						Measures []Measure `json:"measures"`
					}{ms})
				}
				var pairs [][2]string
				for _, m := range ms {
					pairs = append(pairs, [2]string{m.Name, m.Value})
				}
				var b strings.Builder
				p.screen.Pairs(&b, pairs)
				_, err = io.WriteString(p.out, b.String())
				return err
			})
		},
	}
}

func (p *program) completionCommand() *cobra.Command {
	shells := map[string]func(*cobra.Command) error{
		"bash":       func(c *cobra.Command) error { return p.bashCompletion(c) },
		"zsh":        func(c *cobra.Command) error { return c.GenZshCompletion(p.out) },
		"fish":       func(c *cobra.Command) error { return c.GenFishCompletion(p.out, true) },
		"powershell": func(c *cobra.Command) error { return c.GenPowerShellCompletionWithDesc(p.out) },
	}
	names := slices.Sorted(maps.Keys(shells))
	return &cobra.Command{
		Use: "completion SHELL", Short: "Print a shell completion script", Args: argv.Between(1, 1), ValidArgs: names,
		Long: "Prints a completion script for bash, zsh, fish or powershell.",
		Example: `source <(lore completion bash)        turn on completion in this terminal
lore completion bash > /etc/bash_completion.d/lore
lore completion fish > ~/.config/fish/completions/lore.fish`,
		RunE: func(cmd *cobra.Command, args []string) error {
			write, ok := shells[args[0]]
			if !ok {
				return fault.Fix(fault.Invalid, "use "+strings.Join(names, ", "), "there is no completion script for %q", args[0])
			}
			return write(cmd.Root())
		},
	}
}

func (p *program) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Args: argv.None,
		RunE: func(*cobra.Command, []string) error {
			if p.g.JSON {
				return p.encode(map[string]string{"version": p.host.Version, "go": runtime.Version(), "os": runtime.GOOS, "arch": runtime.GOARCH})
			}
			_, err := fmt.Fprintf(p.out, "lore %s (%s, %s/%s)\n", p.host.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
}
