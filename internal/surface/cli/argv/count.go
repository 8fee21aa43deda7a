package argv

import (
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"lore/internal/fault"
)

// Any as the most that Between allows means that there is no limit.
const Any = -1

// None refuses arguments after a command that takes none.
func None(cmd *cobra.Command, args []string) error { return Between(0, 0)(cmd, args) }

// Between checks how many arguments a command is given, in the same words for
// every command: cobra's own name neither the command nor its usage.
func Between(least, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		path := cmd.CommandPath()
		use := "usage: " + strings.TrimSuffix(cmd.UseLine(), " [flags]")
		switch {
		case len(args) < least:
			return fault.Fix(fault.Invalid, use, "%s needs %s, got %d", path, arguments(least), len(args))
		case most == Any || len(args) <= most:
			return nil
		case most == 0:
			return fault.Fix(fault.Invalid, "see "+path+" --help", "%s takes no arguments, got %q", path, args[0])
		}
		return fault.Fix(fault.Invalid, use, "%s takes at most %s, got %d", path, arguments(most), len(args))
	}
}

func arguments(n int) string {
	if n == 1 {
		return "1 argument"
	}
	return strconv.Itoa(n) + " arguments"
}
