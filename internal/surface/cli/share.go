package cli

import (
	"context"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"lore/internal/access"
	"lore/internal/fault"
	"lore/internal/policy"
)

func (p *program) shareCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "share", Short: "Show and limit which notes models and apps may read", Args: noWords,
		Long: `Lists who may read which notes, and who may not. A recipient is an app
(app:claude-desktop), the provider of a remote model (model:anthropic), or a
token (token:ID). A recipient that is not listed reads what the setting
approve.share says: everything (allow), nothing until you decide (ask), or
nothing (never).

Notes that were read already cannot be taken back.`,
		Example: "lore share\nlore share allow app:claude-desktop --folder Work --folder Journal\nlore share deny model:anthropic --folder Private\nlore share revoke app:claude-desktop",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return p.withRegistry(cmd.Context(), func(s *Session) error { return p.listShares(cmd.Context(), s) })
		},
	}
	cmd.AddCommand(p.shareWith("allow", "Let a recipient read all notes, or some folders only", policy.Allow),
		p.shareWith("deny", "Never let a recipient read notes, or some folders", policy.Deny), p.revokeShare())
	return cmd
}

func (p *program) shareWith(verb, short string, v policy.Verdict) *cobra.Command {
	var folders []string
	cmd := &cobra.Command{
		Use: verb + " RECIPIENT", Short: short, Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, words []string) error {
			return p.withRegistry(cmd.Context(), func(s *Session) error {
				return p.addShares(cmd.Context(), s, recipientOf(words[0]), folders, v)
			})
		},
	}
	cmd.Flags().StringArrayVar(&folders, "folder", nil, "a folder or a file; repeatable; without it all notes")
	return cmd
}

// recipientOf takes the name of an app without its kind.
func recipientOf(word string) string {
	for _, kind := range []string{"app:", "model:", "token:"} {
		if strings.HasPrefix(word, kind) {
			return word
		}
	}
	if strings.HasPrefix(word, "token-") {
		return "token:" + word
	}
	return access.AppRecipient(word)
}

func (p *program) addShares(ctx context.Context, s *Session, to string, folders []string, v policy.Verdict) error {
	what := "all notes"
	if len(folders) > 0 {
		what = strings.Join(folders, ", ")
	}
	if v == policy.Allow { // to share less needs no confirmation
		if err := p.askPerson(ctx, "Let "+to+" read "+what+"?"); err != nil {
			return err
		}
	}
	patterns := []string{"**"}
	if len(folders) > 0 {
		patterns = nil
		for _, f := range folders {
			patterns = append(patterns, policy.FolderPattern(f))
		}
	}
	for _, pat := range patterns {
		r := policy.Rule{Verdict: v, Tool: "*", To: to, Paths: pat, Made: time.Now()}
		if err := r.Check(policy.Share); err != nil {
			return err
		}
		if err := s.AddRule(ctx, r); err != nil {
			return err
		}
	}
	return p.listShares(ctx, s)
}

func (p *program) revokeShare() *cobra.Command {
	return &cobra.Command{
		Use: "revoke RECIPIENT", Short: "Forget what was decided about a recipient", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, words []string) error {
			return p.withRegistry(cmd.Context(), func(s *Session) error {
				to := recipientOf(words[0])
				if err := p.askPerson(cmd.Context(), "Forget the limits and permissions of "+to+"? approve.share decides then."); err != nil {
					return err
				}
				list, err := shares(cmd.Context(), s)
				if err != nil {
					return err
				}
				n := 0
				for _, r := range list {
					if r.To != to && r.ID != words[0] {
						continue
					}
					if err := s.Door.Forget(cmd.Context(), access.Terminal(), r.ID); err != nil {
						return err
					}
					n++
				}
				if n == 0 {
					return fault.Fix(fault.NotFound, "lore share lists the recipients", "nothing was decided about %s", to)
				}
				return p.listShares(cmd.Context(), s)
			})
		},
	}
}

// shares are the rules about sharing.
func shares(ctx context.Context, s *Session) ([]policy.Rule, error) {
	all, err := s.Door.Rules(ctx)
	list := []policy.Rule{}
	for _, r := range all {
		if r.To != "" {
			list = append(list, r)
		}
	}
	return list, err
}

func (p *program) listShares(ctx context.Context, s *Session) error {
	list, err := shares(ctx, s)
	if err != nil {
		return err
	}
	if p.g.JSON {
		return p.encode(struct {
			Rules []policy.Rule `json:"rules"`
		}{list})
	}
	if len(list) == 0 {
		p.say("No recipient is limited. The setting approve.share decides.")
		return nil
	}
	var rows [][]string
	for _, r := range list {
		lasts := "until revoked"
		if !r.Until.IsZero() {
			lasts = "until " + r.Until.Local().Format("2006-01-02 15:04")
		}
		rows = append(rows, []string{r.To, string(r.Verdict), r.Paths, lasts})
	}
	var b strings.Builder
	p.screen.Table(&b, []string{"recipient", "answer", "notes", "lasts"}, rows)
	_, err = io.WriteString(p.out, b.String())
	return err
}
