package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"lore/internal/doctor"
	"lore/internal/surface/cli/argv"
	"lore/internal/surface/cli/draw"
	"lore/internal/workspace"
)

func (p *program) doctorCommand() *cobra.Command {
	return &cobra.Command{
		Use: "doctor", Short: "Find problems with the vault and the setup", Args: argv.None,
		Long: `Checks the folder, every note, the index and the system limits, and says how
to fix each problem. It changes nothing. The exit code is 1 if there are errors, and
0 if there are only warnings.`,
		Example: "lore doctor                    check the current vault\nlore doctor --vault ~/notes    check another vault\nlore doctor --json             print the findings as JSON",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return p.withSession(cmd.Context(), workspace.Options{UpToDate: true}, func(s *Session) error {
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
