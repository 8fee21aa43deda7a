package conversation

import (
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"lore/internal/fault"
	"lore/internal/machine/keys"
	"lore/internal/surface/cli/argv"
	"lore/internal/surface/cli/draw"
)

const keyHelp = `Stores API keys in the system keyring or, if there is none, in a file that only you
can read. A key in an environment variable takes precedence. Type or pipe the key:
on the command line, other users could read it.`

// KeyCommand keeps keys of providers. names are those that need one.
func KeyCommand(store func() keys.Store, names func() ([]string, error), at func(cmd *cobra.Command) Terminal) *cobra.Command {
	cmd := &cobra.Command{
		Use: "key", Short: "Manage API keys for model providers",
		Long:    keyHelp,
		Example: "lore key set anthropic          type a key\nlore key list                   list providers that have a key\nlore key remove anthropic       delete a key",
	}
	set := &cobra.Command{
		Use: "set PROVIDER", Short: "Store a key, typed without echo or piped in", Args: argv.Between(1, 1), ValidArgsFunction: completeFrom(names),
		RunE: func(cmd *cobra.Command, args []string) error {
			all, err := names()
			if err != nil {
				return err
			}
			if !slices.Contains(all, args[0]) {
				return fault.Fix(fault.NotFound, "use one of "+strings.Join(all, ", "), "unknown provider %q", args[0])
			}
			t := at(cmd)
			key, err := t.secret(cmd.InOrStdin(), "API key for "+args[0]+": ")
			if err != nil {
				return err
			}
			place, err := store().Set(args[0], key)
			if err != nil {
				return err
			}
			return t.placed(args[0], place, store())
		},
	}
	list := &cobra.Command{
		Use: "list", Short: "List providers that have a key, without showing the keys", Args: argv.None,
		RunE: func(cmd *cobra.Command, _ []string) error {
			all, err := names()
			if err != nil {
				return err
			}
			where, err := store().Where(all)
			if err != nil {
				return err
			}
			return at(cmd).keys(where)
		},
	}
	remove := &cobra.Command{
		Use: "remove PROVIDER", Aliases: []string{"rm"}, Short: "Delete a stored key", Args: argv.Between(1, 1), ValidArgsFunction: completeFrom(names),
		RunE: func(cmd *cobra.Command, args []string) error {
			had, err := store().Remove(args[0])
			switch {
			case err != nil:
				return err
			case !had:
				return fault.New(fault.NotFound, "no key is stored for %q", args[0])
			}
			fmt.Fprintln(at(cmd).Err, "Deleted the key for "+draw.OneLine(args[0]))
			return nil
		},
	}
	cmd.AddCommand(set, list, remove)
	return cmd
}

// completeFrom offers names to a shell as the first argument.
func completeFrom(names func() ([]string, error)) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		all, err := names()
		if err != nil || len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return all, cobra.ShellCompDirectiveNoFileComp
	}
}

// secret reads one line that is not shown.
func (t Terminal) secret(in io.Reader, prompt string) (string, error) {
	if f, ok := in.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		fmt.Fprint(t.Err, prompt)
		b, err := term.ReadPassword(int(f.Fd()))
		fmt.Fprintln(t.Err)
		return string(b), err
	}
	b, err := io.ReadAll(io.LimitReader(in, 64<<10))
	return string(b), err
}

// placed tells where a key is kept.
func (t Terminal) placed(name, place string, s keys.Store) error {
	if t.JSON {
		return t.Encode(map[string]string{"provider": name, "place": place})
	}
	where := "in the system keyring"
	if place == keys.InFile {
		where = "in " + s.Path() + ", which only you can read (there is no system keyring)"
	}
	fmt.Fprintln(t.Err, "Stored "+where)
	return nil
}

// keys lists where keys lie.
func (t Terminal) keys(where map[string]string) error {
	if t.JSON {
		return t.Encode(struct {
			Keys map[string]string `json:"keys"`
		}{where})
	}
	if len(where) == 0 {
		fmt.Fprintln(t.Err, "No stored keys. Keys in environment variables are not listed.")
		return nil
	}
	var rows [][]string
	for _, name := range slices.Sorted(maps.Keys(where)) {
		rows = append(rows, []string{draw.OneLine(name), where[name]})
	}
	var b strings.Builder
	t.Screen.Table(&b, []string{"provider", "stored in"}, rows)
	_, err := fmt.Fprint(t.Out, b.String())
	return err
}
