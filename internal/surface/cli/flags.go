package cli

import (
	"context"
	"encoding/json"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"lore/internal/surface/cli/argv"
	"lore/internal/tool"
	"lore/internal/tool/access"
)

// addTool puts the command of a tool where a person looks for it: at the root,
// or, when its short name is two words, below the first of them. Its full name
// works at the root in any case.
func (p *program) addTool(root *cobra.Command, t *tool.Tool, args []string) {
	group, word, nested := strings.Cut(t.Short, " ")
	if !nested {
		root.AddCommand(p.toolCommand(t, t.Short, args))
		return
	}
	full := p.toolCommand(t, "", args)
	full.Hidden = true
	root.AddCommand(full)
	var parent *cobra.Command
	for _, c := range root.Commands() {
		if c.Name() == group {
			parent = c
		}
	}
	if parent == nil {
		parent = &cobra.Command{
			Use: group, GroupID: groupGraph, RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
			Args: func(cmd *cobra.Command, args []string) error {
				if len(args) > 0 {
					return p.unknownCommand(cmd, args[0])
				}
				return nil
			},
		}
		root.AddCommand(parent)
	}
	child := p.toolCommand(t, word, args)
	child.GroupID, child.Aliases = "", nil
	child.Example = strings.Join(t.CommandLines(t.Short), "\n")
	parent.AddCommand(child)
	parent.Short = groupHelp[group]
}

// groupHelp describes the commands that tools are below.
var groupHelp = map[string]string{
	"graph":        "Explore and export the knowledge graph",
	"node":         "Manage the nodes in the knowledge graph",
	"own":          "Manage the tools that you wrote",
	"relationship": "Manage the relationships between nodes",
	"schedule":     "Manage workflows that run by themselves",
	"workflow":     "List, check and run workflows",
}

// toolCommand makes the command of a tool. Its flags are made only when the
// command line names it: seventy tools would cost more than most answers.
func (p *program) toolCommand(t *tool.Tool, word string, args []string) *cobra.Command {
	dashed := strings.ReplaceAll(t.Name, "_", "-")
	group := groupEdit
	switch {
	case t.Set == "knowledge":
		group = groupGraph
	case t.Effect == access.Reads:
		group = groupRead
	}
	cmd := &cobra.Command{Use: dashed, GroupID: group, Short: t.Summary(), Long: long(t), Hidden: t.Help.Hidden}
	if word != "" {
		cmd.Use = word
	}
	if cmd.Use != dashed {
		cmd.Aliases = append(cmd.Aliases, dashed)
	}
	if t.Name != dashed {
		cmd.Aliases = append(cmd.Aliases, t.Name)
	}
	cmd.Aliases = append(cmd.Aliases, t.Aliases...)
	// A command without a function would be shown as a topic of the help.
	cmd.RunE = func(*cobra.Command, []string) error { return nil }
	if !slices.ContainsFunc(args, func(a string) bool { return a == cmd.Use || slices.Contains(cmd.Aliases, a) }) {
		return cmd
	}
	cmd.Example = strings.Join(t.CommandLines(cmd.Use), "\n")
	in := argv.New(t, cmd.Flags())
	cmd.Use += in.Usage()
	cmd.Args = in.Check
	cmd.ValidArgsFunction = p.completeWords(in.Word)
	w := defineWill(t, cmd.Flags())
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		obj, err := in.Arguments(cmd.Flags(), args)
		if err != nil {
			return err
		}
		if t.Effect != access.Reads {
			if obj, err = fromInput(cmd.Context(), cmd.InOrStdin(), obj); err != nil {
				return err
			}
		}
		return p.call(cmd.Context(), cmd.InOrStdin(), t, obj, *w)
	}
	for flag, choices := range in.Choices() {
		// The flag exists: it was made a few lines above.
		_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(choices, cobra.ShellCompDirectiveNoFileComp))
	}
	return cmd
}

const yesHelp = "apply without asking; deletions and other destructive changes still need confirmation"

// defineWill adds the flags that say what may happen.
func defineWill(t *tool.Tool, flags *pflag.FlagSet) *will {
	w := &will{}
	if t.Effect != access.Reads {
		flags.BoolVarP(&w.yes, "yes", "y", false, yesHelp)
		flags.BoolVar(&w.dry, "dry-run", false, "show what would change, without changing anything")
	}
	if t.Feed {
		flags.BoolVarP(&w.follow, "follow", "f", false, "keep printing new entries until interrupted")
	}
	return w
}

// fromInput puts what is read from standard input in the place of an argument
// that is "-".
func fromInput(ctx context.Context, in io.Reader, obj json.RawMessage) (json.RawMessage, error) {
	var m map[string]any
	if err := json.Unmarshal(obj, &m); err != nil {
		return obj, err
	}
	for k, v := range m {
		if v != "-" {
			continue
		}
		text, err := readAll(ctx, in)
		if err != nil {
			return nil, err
		}
		m[k] = text
		return json.Marshal(m)
	}
	return obj, nil
}

// long is the text above the flags.
func long(t *tool.Tool) string {
	switch {
	case t.Help.Short == "":
		return t.Doc
	case t.Help.Long == "":
		return t.Help.Short + "."
	}
	return t.Help.Short + ".\n\n" + t.Help.Long
}
