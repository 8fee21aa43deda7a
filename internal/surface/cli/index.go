package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"lore/internal/doctor"
	"lore/internal/fault"
	"lore/internal/surface/cli/argv"
	"lore/internal/tool"
	"lore/internal/tool/access"
	"lore/internal/workspace"
)

func (p *program) indexCommand() *cobra.Command {
	var rebuild, text, watch, accept bool
	cmd := &cobra.Command{
		Use: "index", Short: "Update the search index", Args: argv.None,
		Long: `Updates the vault's search index.

Reads the notes that changed and computes embeddings for semantic search. You can
interrupt it at any time; the next run continues. Other commands pick up changed
notes by themselves, but leave new embeddings to this command and to lore serve.`,
		Example: "lore index               update the index once\nlore index --watch       keep it up to date until Ctrl-C\nlore index --accept      confirm that missing notes were deleted",
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case accept && (rebuild || watch):
				return fault.Fix(fault.Invalid, "run lore index --accept by itself", "--accept cannot be combined with --rebuild or --watch")
			case accept:
				return p.acceptMissing(cmd.Context())
			}
			vectors := workspace.AllVectors
			if text {
				vectors = workspace.NoVectors
			}
			start := time.Now()
			return p.withSession(cmd.Context(), workspace.Options{UpToDate: true, Vectors: vectors, Rebuild: rebuild}, func(s *Session) error {
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
	cmd.Flags().BoolVar(&watch, "watch", false, "keep updating as notes change, until interrupted")
	cmd.Flags().BoolVar(&rebuild, "rebuild", false, "delete the index and build it again (embeddings are kept)")
	cmd.Flags().BoolVar(&text, "text-only", false, "skip embeddings for now")
	cmd.Flags().BoolVar(&accept, "accept", false, "confirm that missing notes were deleted (also works while lore serve is running)")
	return cmd
}

// acceptMissing takes the notes that the vault misses for deleted, in whichever
// process holds the vault.
func (p *program) acceptMissing(ctx context.Context) error {
	i := slices.IndexFunc(p.tools, func(t *tool.Tool) bool { return slices.Contains(t.Roles, tool.TellsMissing) })
	return p.withSession(ctx, workspace.Options{Mode: workspace.Insist, UpToDate: true, Vectors: workspace.NoVectors}, func(s *Session) error {
		res, err := s.Door.Call(ctx, access.Terminal(), p.tools[i].Name, json.RawMessage(`{"accept": true}`))
		if err != nil {
			return err
		}
		return p.show(res, s.Dir)
	})
}

func (p *program) showReport(r doctor.Report) error {
	if p.g.JSON {
		return p.encode(r)
	}
	var b strings.Builder
	pairs := [][2]string{
		{"vault", r.Vault},
		{"notes", fmt.Sprintf("%d, with %s and %s", r.Notes, count(r.Links, "link"), count(r.Attachments, "attachment"))},
		{"passages", fmt.Sprintf("%d, %d ready for semantic search", r.Passages, r.Embedded)},
		{"this run", fmt.Sprintf("%d added, %d changed, %d removed in %s", r.Added, r.Changed, r.Dropped, lasting(r.Seconds))},
		{"index", r.Index},
	}
	if r.Model != "" {
		pairs = append(pairs, [2]string{"model", r.Model})
	}
	if r.Rebuilt != "" {
		pairs = append(pairs, [2]string{"rebuilt", "the index was " + r.Rebuilt})
	}
	if r.Problems > 0 {
		pairs = append(pairs, [2]string{"problems", count(r.Problems, "note") + "; run lore doctor to list them"})
	}
	if !r.Fresh {
		pairs = append(pairs, [2]string{"out of date", r.Reason})
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
