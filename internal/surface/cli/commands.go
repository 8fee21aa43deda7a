package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"lore/internal/access"
	"lore/internal/doctor"
	"lore/internal/fault"
	"lore/internal/settings"
	"lore/internal/surface/draw"
	"lore/internal/surface/install"
	"lore/internal/surface/servers"
	"lore/internal/tool"
)

// commands are those that look after Lore itself.
func (p *program) commands() []*cobra.Command {
	out := []*cobra.Command{
		p.indexCommand(), p.mcpCommand(), p.approvalsCommand(), p.shareCommand(), p.auditCommand(), p.toolsCommand(), p.callCommand(), p.serveCommand(), p.loginCommand(), p.sessionsCommand(), p.tokenCommand(), p.doctorCommand(), p.configCommand(),
		p.installCommand(), p.serversCommand(), p.modelsCommand(), p.keyCommand(), p.evalCommand(), p.demoCommand(), p.benchCommand(), p.completionCommand(), p.versionCommand(), p.conformanceClientCommand(),
	}
	for _, c := range out {
		c.GroupID = "lore"
	}
	return out
}

// installCommand is told of the terminal when it runs: the flags are read then.
func (p *program) installCommand() *cobra.Command {
	return install.Command(p.host.Install, func(cmd *cobra.Command) install.Terminal {
		return install.Terminal{
			Vault: p.g.Vault, JSON: p.g.JSON, Out: p.out, Err: p.err, Screen: p.screen, Notice: p.notice, Encode: p.encode, Say: p.say,
			Ask: func(ctx context.Context, text string) (yes, ok bool) {
				return p.yes(ctx, p.typed(cmd.InOrStdin()), text)
			},
		}
	})
}

// serversCommand is told of the terminal when it runs, too.
func (p *program) serversCommand() *cobra.Command {
	return servers.Command(p.host.Servers, func(cmd *cobra.Command) servers.Terminal {
		return servers.Terminal{
			Vault: p.g.Vault, LogLevel: p.g.LogLevel, JSON: p.g.JSON, Out: p.out, Err: p.err, Screen: p.screen, Notice: p.notice, Encode: p.encode, Say: p.say,
			AtTerminal: p.notice.Terminal && draw.AtTerminal(cmd.InOrStdin()),
			Ask: func(ctx context.Context, text string) (yes, ok bool) {
				return p.yes(ctx, p.typed(cmd.InOrStdin()), text)
			},
		}
	})
}

// noWords refuses words after a command that takes none.
func noWords(cmd *cobra.Command, args []string) error { return words(0, 0)(cmd, args) }

// words checks how many words a command is given.
func words(least, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		use := "write: " + strings.TrimSuffix(cmd.UseLine(), " [flags]")
		switch {
		case len(args) < least:
			return fault.Fix(fault.Invalid, use, "%s needs %s, got %d", cmd.CommandPath(), count(least, "word"), len(args))
		case len(args) <= most:
			return nil
		case most == 0:
			return fault.Fix(fault.Invalid, "see "+cmd.CommandPath()+" --help", "%s takes no words, got %q", cmd.CommandPath(), args[0])
		}
		return fault.Fix(fault.Invalid, use, "%s takes %s at the most, got %d", cmd.CommandPath(), count(most, "word"), len(args))
	}
}

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
		Use: "help [COMMAND]", Short: "Tell about a command", GroupID: "lore",
		RunE: func(_ *cobra.Command, args []string) error {
			cmd, rest, err := root.Find(args)
			if err != nil || len(rest) > 0 {
				return p.unknownCommand(root, strings.Join(args, " "))
			}
			return cmd.Help()
		},
	}
}

func (p *program) indexCommand() *cobra.Command {
	var rebuild, text, watch, accept bool
	cmd := &cobra.Command{
		Use: "index", Short: "Bring the index up to date with the vault", Args: noWords,
		Long: `Compares the vault with the index, reads what changed, and gives every passage
its vector, so that it can be found by its meaning. It may be interrupted at any
moment and goes on where it was. Searching does the first part by itself.`,
		Example: "lore index\nlore index --watch       stay and follow the vault; Ctrl-C ends it\nlore index --rebuild     when in doubt\nlore index --accept      the notes that are missing were deleted",
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case accept && (rebuild || watch):
				return fault.Fix(fault.Invalid, "run lore index --accept by itself", "--accept cannot be combined with --rebuild or --watch")
			case accept:
				return p.acceptMissing(cmd.Context())
			}
			start := time.Now()
			return p.withSession(cmd.Context(), OpenOptions{Wait: true, Embed: !text, TextOnly: text, Rebuild: rebuild}, func(s *Session) error {
				r, err := s.Report(cmd.Context())
				if err != nil {
					return err
				}
				r.Seconds = time.Since(start).Seconds() // opening and embedding too: what the person waited for
				if err := p.showReport(r); err != nil || !watch {
					return err
				}
				return s.Follow(cmd.Context())
			})
		},
	}
	cmd.Flags().BoolVar(&watch, "watch", false, "stay, and follow the vault as it changes, until interrupted")
	cmd.Flags().BoolVar(&rebuild, "rebuild", false, "throw the index away and build it anew (vectors are kept)")
	cmd.Flags().BoolVar(&text, "text-only", false, "leave the vectors for later")
	cmd.Flags().BoolVar(&accept, "accept", false, "accept that the missing notes were deleted (works while lore serve runs)")
	return cmd
}

// acceptMissing takes the notes that the vault misses for deleted, in whichever
// process holds the vault.
func (p *program) acceptMissing(ctx context.Context) error {
	i := slices.IndexFunc(p.host.Tools, func(t *tool.Tool) bool { return slices.Contains(t.Roles, tool.TellsMissing) })
	return p.withSession(ctx, OpenOptions{Wait: true, TextOnly: true, Share: true, Patient: true}, func(s *Session) error {
		res, err := s.Door.Call(ctx, access.Terminal(), p.host.Tools[i].Name, json.RawMessage(`{"accept": true}`))
		if err != nil {
			return err
		}
		return p.show(res, s.Dir)
	})
}

func (p *program) withSession(ctx context.Context, o OpenOptions, f func(*Session) error) error {
	o.Progress = p.progress()
	s, err := p.host.Open(ctx, p.g, o)
	if err != nil {
		return err
	}
	return errors.Join(f(s), s.Close())
}

func (p *program) showReport(r doctor.Report) error {
	if p.g.JSON {
		return p.encode(r)
	}
	var b strings.Builder
	pairs := [][2]string{
		{"vault", r.Vault},
		{"notes", fmt.Sprintf("%d, with %s and %s", r.Notes, count(r.Links, "link"), count(r.Attachments, "attachment"))},
		{"passages", fmt.Sprintf("%d, %d of them with a vector", r.Passages, r.Embedded)},
		{"this run", fmt.Sprintf("%d added, %d changed, %d removed in %s", r.Added, r.Changed, r.Dropped, lasting(r.Seconds))},
		{"index", r.Index},
	}
	if r.Model != "" {
		pairs = append(pairs, [2]string{"model", r.Model})
	}
	if r.Rebuilt != "" {
		pairs = append(pairs, [2]string{"built anew", "the index was " + r.Rebuilt})
	}
	if r.Problems > 0 {
		pairs = append(pairs, [2]string{"problems", count(r.Problems, "note") + "; lore doctor lists them"})
	}
	if !r.Fresh {
		pairs = append(pairs, [2]string{"not fresh", r.Reason})
	}
	p.screen.Pairs(&b, pairs)
	_, err := io.WriteString(p.out, b.String())
	return err
}

// lasting says a time as a person would.
func lasting(seconds float64) string {
	whole := int(seconds + 0.5)
	switch {
	case seconds < 1:
		return "less than a second"
	case seconds < 9.95:
		return fmt.Sprintf("%.1f seconds", seconds)
	case whole < 60:
		return count(whole, "second")
	case whole < 3600:
		return pair(whole/60, "minute", whole%60, "second")
	}
	return pair(whole/3600, "hour", whole%3600/60, "minute")
}

// pair is a time in two units, the second of which may be nothing.
func pair(a int, large string, b int, small string) string {
	if b == 0 {
		return count(a, large)
	}
	return count(a, large) + " " + count(b, small)
}

func (p *program) doctorCommand() *cobra.Command {
	return &cobra.Command{
		Use: "doctor", Short: "Look for everything that is wrong with the vault or the set-up", Args: noWords,
		Long: `Looks at the folder, every note, the index and the limits of the system, and says
what to do about each thing it finds. It changes nothing. The exit code is 1 when
something is an error; warnings and notes leave it at 0.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return p.withSession(cmd.Context(), OpenOptions{Wait: true}, func(s *Session) error {
				fs, err := s.Doctor(cmd.Context())
				if err != nil {
					return err
				}
				if err := p.showFindings(fs); err != nil {
					return err
				}
				if slices.ContainsFunc(fs, func(f doctor.Finding) bool { return f.Level == "error" }) {
					return errSaid
				}
				return nil
			})
		},
	}
}

// findingLeft is the column that what was found begins in.
const findingLeft = 19

func (p *program) showFindings(fs []doctor.Finding) error {
	if p.g.JSON {
		return p.encode(struct {
			Findings []doctor.Finding `json:"findings"`
		}{fs})
	}
	s := p.screen
	paint := map[string]func(string) string{"ok": s.Green, "note": s.Dim, "warning": s.Mark, "error": s.Red}
	var b strings.Builder
	for _, f := range fs {
		where := ""
		if f.Path != "" {
			where = s.Path(draw.OneLine(f.Path))
			if f.Line > 0 {
				where += fmt.Sprintf(":%d", f.Line)
			}
			where += "  "
		}
		indent := "\n" + strings.Repeat(" ", findingLeft)
		b.WriteString(draw.Pad(paint[f.Level](f.Level), 7) + draw.Gap + draw.Pad(f.Topic, 8) + draw.Gap)
		b.WriteString(strings.Join(p.screen.LastColumn(where+draw.OneLine(f.Text), findingLeft), indent))
		if f.Fix != "" {
			for _, l := range p.screen.LastColumn("→ "+draw.OneLine(f.Fix), findingLeft) {
				b.WriteString(indent + s.Dim(l))
			}
		}
		b.WriteByte('\n')
	}
	_, err := io.WriteString(p.out, b.String())
	return err
}

func (p *program) configCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "config", Short: "Show every setting in force and where it comes from", Args: noWords,
		Long: `Shows every setting in force and where it comes from. A flag stands over the
environment, the environment over the file, the file over the default.

What Lore must not see of a vault is written in the file, in a table of its own:

  [vaults."/home/ann/notes"]
  exclude = ["private/**", "*.bak.md"]`,
		Example: "lore config\nlore config set vault ~/notes\nlore config set embed.model none",
		RunE: func(*cobra.Command, []string) error {
			list, err := p.host.Settings(p.g)
			if err != nil {
				return err
			}
			if p.g.JSON {
				return p.encode(struct {
					Settings []settings.Setting `json:"settings"`
				}{list})
			}
			var rows [][]string
			for _, s := range list {
				rows = append(rows, []string{s.Key, s.Value, s.Source, s.Doc})
			}
			var b strings.Builder
			p.screen.Table(&b, []string{"setting", "value", "from", "meaning"}, rows)
			_, err = io.WriteString(p.out, b.String())
			return err
		},
	}
	cmd.AddCommand(p.configSetCommand())
	return cmd
}

// approvalKeys begin the settings that decide what is asked about. They are
// changed by a person at a terminal, or on the page.
const approvalKeys = "approve."

func (p *program) configSetCommand() *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use: "set KEY VALUE", Short: "Change a setting in the configuration file", Args: words(2, 2),
		Long: `Changes one line of the configuration file and keeps all others as they are,
comments too. An empty VALUE takes the setting back to its default.

You confirm it in the terminal; --yes skips that, for scripts. Settings that start
with approve. decide what Lore asks you about, so they always need the terminal.`,
		Example: "lore config set vault ~/notes\nlore config set log_level debug --yes",
		RunE: func(cmd *cobra.Command, args []string) error {
			skip := yes && !strings.HasPrefix(args[0], approvalKeys)
			if err := p.askUnless(cmd.Context(), skip, fmt.Sprintf("Set %s to %q?", draw.OneLine(args[0]), draw.OneLine(args[1]))); err != nil {
				return err
			}
			s, err := p.host.Set(args[0], args[1])
			if err != nil {
				return err
			}
			if p.g.JSON {
				return p.encode(s)
			}
			fmt.Fprintf(p.err, "%s is now %q (%s)\n", s.Key, s.Value, s.Source)
			return nil
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask for confirmation")
	return cmd
}

func (p *program) demoCommand() *cobra.Command {
	return &cobra.Command{
		Use: "demo [FOLDER]", Short: "Copy a sample vault to a folder and look around in it",
		Long: `Copies a small vault about tea to FOLDER (default: lore-demo), indexes it, and
shows what can be asked. Nothing is written over: an existing folder is opened as
it is when it is a copy of that vault, and refused when it is anything else.`,
		Example: "lore demo\nlore demo /tmp/tea",
		Args:    words(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir := "lore-demo"
			if len(args) == 1 {
				dir = args[0]
			}
			dir, err := p.host.Demo(dir)
			if err != nil {
				return err
			}
			p.g.Vault = dir
			return p.withSession(cmd.Context(), OpenOptions{Wait: true, Embed: true}, func(s *Session) error { return p.tour(cmd.Context(), s) })
		},
	}
}

// tour asks the sample vault the examples of all tools, shows the answers, and
// says how to go on.
func (p *program) tour(ctx context.Context, s *Session) error {
	r, err := s.Report(ctx)
	if err != nil {
		return err
	}
	if p.g.JSON {
		return p.encode(r)
	}
	fmt.Fprintf(p.out, "%s  %s, %s, %s with vectors\n", p.screen.Bold(draw.OneLine(s.Dir)),
		count(r.Notes, "note"), count(r.Links, "link"), count(r.Embedded, "passage"))
	for _, t := range p.host.Tools {
		for _, example := range t.Examples {
			fmt.Fprintf(p.out, "\n%s\n", p.screen.Dim("$ lore "+command(t)+" "+example.Words))
			res, err := s.Door.Call(ctx, access.Terminal(), t.Name, json.RawMessage(example.Args))
			if err != nil {
				return err
			}
			if err := p.show(res, s.Dir); err != nil {
				return err
			}
		}
	}
	fmt.Fprintf(p.err, "\n%s\n  cd %s\n  lore --help\n", p.notice.Bold("Go on in it:"), shellWord(s.Dir))
	return nil
}

// shellWord quotes a path so that it can be copied into a shell.
func shellWord(s string) string {
	safe := func(r rune) bool {
		return r == '/' || r == '.' || r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z'
	}
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool { return !safe(r) }) {
		return s
	}
	return "'" + strings.ReplaceAll(draw.OneLine(s), "'", `'\''`) + "'"
}

func (p *program) benchCommand() *cobra.Command {
	return &cobra.Command{
		Use: "bench", Short: "Measure how fast Lore is on this machine and this vault", Args: noWords,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return p.withSession(cmd.Context(), OpenOptions{Wait: true}, func(s *Session) error {
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
		"bash":       func(c *cobra.Command) error { return c.GenBashCompletionV2(p.out, true) },
		"zsh":        func(c *cobra.Command) error { return c.GenZshCompletion(p.out) },
		"fish":       func(c *cobra.Command) error { return c.GenFishCompletion(p.out, true) },
		"powershell": func(c *cobra.Command) error { return c.GenPowerShellCompletionWithDesc(p.out) },
	}
	names := slices.Sorted(maps.Keys(shells))
	return &cobra.Command{
		Use: "completion SHELL", Short: "Print what lets a shell complete the commands of lore", Args: words(1, 1), ValidArgs: names,
		Long: "Prints a script for bash, zsh, fish or powershell that completes commands and flags.",
		Example: `source <(lore completion bash)                                  for this terminal
lore completion bash > /etc/bash_completion.d/lore              for good
lore completion fish > ~/.config/fish/completions/lore.fish     for good`,
		RunE: func(cmd *cobra.Command, args []string) error {
			write, ok := shells[args[0]]
			if !ok {
				return fault.Fix(fault.Invalid, "use "+strings.Join(names, ", "), "no completion for the shell %q", args[0])
			}
			return write(cmd.Root())
		},
	}
}

func (p *program) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Args: noWords,
		RunE: func(*cobra.Command, []string) error {
			if p.g.JSON {
				return p.encode(map[string]string{"version": p.host.Version, "go": runtime.Version(), "os": runtime.GOOS, "arch": runtime.GOARCH})
			}
			_, err := fmt.Fprintf(p.out, "lore %s (%s, %s/%s)\n", p.host.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
}
