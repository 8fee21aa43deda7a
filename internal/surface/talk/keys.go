package talk

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
	"lore/internal/keys"
	"lore/internal/surface/draw"
)

// KeyCommand keeps keys of providers. names are those that need one.
func KeyCommand(store func() keys.Store, names func() ([]string, error), at func(cmd *cobra.Command) Terminal) *cobra.Command {
	cmd := &cobra.Command{
		Use: "key", Short: "Keep the keys of providers of models",
		Long:    "Keeps keys in the keyring of the system, or, where there is none, in a file that only you can read. A key in the environment counts first. A key is typed or piped in: on a command line, others could read it.",
		Example: "lore key set anthropic\nlore key list\nlore key remove anthropic",
	}
	set := &cobra.Command{
		Use: "set PROVIDER", Short: "Keep a key: typed without being shown, or piped in", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			all, err := names()
			if err != nil {
				return err
			}
			if !slices.Contains(all, args[0]) {
				return fault.Fix(fault.NotFound, "there are "+strings.Join(all, ", "), "no provider is called %q", args[0])
			}
			t := at(cmd)
			key, err := t.secret(cmd.InOrStdin(), "key of "+args[0]+": ")
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
		Use: "list", Short: "Which providers have a key, and where it lies; never the key", Args: cobra.NoArgs,
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
		Use: "remove PROVIDER", Aliases: []string{"rm"}, Short: "Forget a key", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			had, err := store().Remove(args[0])
			switch {
			case err != nil:
				return err
			case !had:
				return fault.New(fault.NotFound, "no key of %q is kept here", args[0])
			}
			fmt.Fprintln(at(cmd).Err, "forgotten: "+draw.OneLine(args[0]))
			return nil
		},
	}
	cmd.AddCommand(set, list, remove)
	return cmd
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
	where := "in the keyring of the system"
	if place == keys.InFile {
		where = "in " + s.Path() + ", which only you can read: there is no keyring here"
	}
	fmt.Fprintln(t.Err, "kept "+where)
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
		fmt.Fprintln(t.Err, "No key is kept here. Those in the environment are not listed.")
		return nil
	}
	var rows [][]string
	for _, name := range slices.Sorted(maps.Keys(where)) {
		rows = append(rows, []string{draw.OneLine(name), where[name]})
	}
	var b strings.Builder
	t.Screen.Table(&b, []string{"provider", "kept in"}, rows)
	_, err := fmt.Fprint(t.Out, b.String())
	return err
}
