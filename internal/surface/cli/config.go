package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"lore/internal/surface/cli/argv"
	"lore/internal/surface/cli/draw"
	"lore/internal/tool"
	"lore/internal/workspace/settings"
)

func (p *program) configCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "config", Short: "Show and change settings", Args: argv.None,
		Long: `Shows every setting, its value, and where the value comes from. Flags override
environment variables, which override the settings file.

To hide files from Lore, list them in the settings file:

  [vaults."/home/ann/notes"]
  exclude = ["private/**", "*.bak.md"]`,
		Example: "lore config                             list all settings\nlore config set vault ~/notes           choose the default vault\nlore config set embed.model none        turn off semantic search",
		RunE: func(*cobra.Command, []string) error {
			list, err := p.host.Settings.List(p.g.flags())
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
	cmd.AddCommand(p.configGetCommand(), p.configSetCommand(), p.configUnsetCommand())
	return cmd
}

func (p *program) configGetCommand() *cobra.Command {
	return &cobra.Command{
		Use: "get KEY", Short: "Print the value of one setting", Args: argv.Between(1, 1), ValidArgsFunction: p.completeSettings,
		Example: "lore config get vault                   print the default vault\nlore config get approve.share --json    print it as JSON, with its source",
		RunE: func(_ *cobra.Command, args []string) error {
			s, err := p.host.Settings.One(args[0], p.g.flags())
			if err != nil {
				return err
			}
			if p.g.JSON {
				return p.encode(s)
			}
			_, err = fmt.Fprintln(p.out, s.Value)
			return err
		},
	}
}

func (p *program) configUnsetCommand() *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use: "unset KEY", Short: "Return a setting to its default", Args: argv.Between(1, 1), ValidArgsFunction: p.completeSettings,
		Long:    "Removes a setting from the settings file. Its environment variable or default\napplies again.",
		Example: "lore config unset vault               unset it, after you confirm\nlore config unset log_level --yes     do not ask, for scripts",
		RunE: func(cmd *cobra.Command, args []string) error {
			return p.setSetting(cmd.Context(), args[0], "", yes, fmt.Sprintf("Return %s to its default?", draw.OneLine(args[0])))
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask for confirmation")
	return cmd
}

// completeSettings offers the names of settings to a shell.
func (p *program) completeSettings(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	list, err := p.host.Settings.List(p.g.flags())
	if err != nil || len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var out []cobra.Completion
	for _, s := range list {
		out = append(out, cobra.CompletionWithDesc(s.Key, s.Doc))
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}

// needsPerson reports whether only a person at a terminal changes a setting: those
// that decide what is asked about, and the switches of tools that are off by
// default.
func (p *program) needsPerson(key, value string) bool {
	if decidesAsking(key, value) {
		return true
	}
	name, ok := strings.CutPrefix(key, "tools.")
	return ok && slices.ContainsFunc(p.tools, func(t *tool.Tool) bool { return t.Off && (t.Name == name || slices.Contains(t.Aliases, name)) })
}

// setSetting changes one setting after asking, and says what is in force then.
func (p *program) setSetting(ctx context.Context, key, value string, yes bool, question string) error {
	if _, err := p.host.Settings.Check(key, value); err != nil {
		return err // nobody is asked about what cannot be
	}
	var err error
	if p.needsPerson(key, value) {
		err = p.askOrSay(ctx, question, "run the command in a terminal; --yes does not apply to this setting")
	} else {
		err = p.askUnless(ctx, yes, question)
	}
	if err != nil {
		return err
	}
	s, err := p.host.Settings.Set(key, value)
	if err != nil {
		return err
	}
	if p.g.JSON {
		return p.encode(s)
	}
	fmt.Fprintf(p.err, "%s is now %q (%s)\n", s.Key, s.Value, s.Source)
	return nil
}

func (p *program) configSetCommand() *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use: "set KEY VALUE", Short: "Change a setting in the settings file", Args: argv.Between(2, 2), ValidArgsFunction: p.completeSettings,
		Long: `Changes a setting in the settings file. Other lines and comments stay as they
are.

You confirm the change in the terminal; --yes skips the question, for scripts.
--yes does not work for settings that control when Lore asks you: the approve.*
settings, setting a tool to "allow", and any change to a tool that is off by
default.`,
		Example: "lore config set vault ~/notes              set it, after you confirm\nlore config set log_level debug --yes      do not ask, for scripts",
		RunE: func(cmd *cobra.Command, args []string) error {
			return p.setSetting(cmd.Context(), args[0], args[1], yes, fmt.Sprintf("Set %s to %q?", draw.OneLine(args[0]), draw.OneLine(args[1])))
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask for confirmation")
	return cmd
}
