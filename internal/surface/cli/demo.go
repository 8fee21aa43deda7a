package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/spf13/cobra"

	"lore/internal/machine/home"
	"lore/internal/surface/cli/argv"
	"lore/internal/surface/cli/draw"
	"lore/internal/tool/access"
	"lore/internal/workspace"
)

func (p *program) demoCommand() *cobra.Command {
	return &cobra.Command{
		Use: "demo [FOLDER]", Short: "Try Lore on a sample vault",
		Long: `Copies a small vault about tea to FOLDER (default lore-demo), indexes it, and runs
some example commands.

It never overwrites files. If FOLDER is already a copy of the sample vault, Lore
uses it as it is; any other existing folder is refused.`,
		Example: "lore demo              copy the sample vault to lore-demo\nlore demo /tmp/tea     copy it to another folder",
		Args:    argv.Between(0, 1),
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
			return p.withSession(cmd.Context(), workspace.Options{UpToDate: true, Vectors: workspace.AllVectors}, func(s *Session) error { return p.tour(cmd.Context(), s) })
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
	fmt.Fprintf(p.out, "%s  %s, %s, %s ready for semantic search\n", p.screen.Bold(draw.OneLine(s.Dir)),
		count(r.Notes, "note"), count(r.Links, "link"), count(r.Embedded, "passage"))
	for _, t := range p.tools {
		for _, example := range t.Examples {
			fmt.Fprintf(p.out, "\n%s\n", p.screen.Dim("$ lore "+t.Command()+" "+example.Words))
			res, err := s.Door.Call(ctx, access.Terminal(), t.Name, json.RawMessage(example.Args))
			if err != nil {
				return err
			}
			if err := p.show(res, s.Dir); err != nil {
				return err
			}
		}
	}
	fmt.Fprintf(p.err, "\n%s\n  cd %s\n  %s --help\n", p.notice.Bold("Next:"), shellWord(s.Dir), ownName())
	return nil
}

// ownName is how this program can be started from any folder.
func ownName() string {
	exe, err := os.Executable()
	if found, e := exec.LookPath("lore"); e == nil && (err != nil || home.SameFolder(found, exe)) {
		return "lore"
	}
	return shellWord(exe)
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
