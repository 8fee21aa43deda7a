package cli

import (
	"context"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"lore/internal/fault"
	"lore/internal/mcpclient/installer"
	"lore/internal/surface/cli/argv"
	"lore/internal/surface/cli/install"
	"lore/internal/tool/access"
	"lore/internal/tool/policy"
)

func (p *program) shareCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "share", Short: "Choose which notes models and apps may read", Args: argv.None,
		Long: `Lists which notes each recipient may read. A recipient is an app
(app:claude-desktop), the provider of a remote model (model:anthropic), or a token
(token:ID). For other recipients, the setting approve.share applies: they read
everything (allow), nothing until you decide (ask), or nothing (never). The list
includes folders that you shared with lore install --share.

A recipient may keep notes that it has already read, even after you deny or revoke
access.`,
		Example: "lore share                                      list permissions\nlore share deny model:anthropic --folder Private\nlore share allow app:claude-desktop --folder Work --folder Journal\nlore share revoke app:claude-desktop",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return p.withRegistry(cmd.Context(), func(s *Session) error { return p.listShares(cmd.Context(), s) })
		},
	}
	cmd.AddCommand(p.shareWith("allow", "Let a recipient read all notes, or only some folders", policy.Allow),
		p.shareWith("deny", "Stop a recipient from reading any notes, or notes in some folders", policy.Deny), p.revokeShare())
	return cmd
}

func (p *program) shareWith(verb, short string, v policy.Verdict) *cobra.Command {
	var folders []string
	cmd := &cobra.Command{
		Use: verb + " RECIPIENT", Short: short, Args: argv.Between(1, 1),
		RunE: func(cmd *cobra.Command, words []string) error {
			return p.withRegistry(cmd.Context(), func(s *Session) error {
				return p.addShares(cmd.Context(), s, recipientOf(words[0]), folders, v)
			})
		},
	}
	cmd.Flags().StringArrayVar(&folders, "folder", nil, "folder or file (repeatable; default all notes)")
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
	folders, err := cleanFolders(folders)
	if err != nil {
		return err
	}
	what := "all notes"
	if len(folders) > 0 {
		what = strings.Join(folders, ", ")
	}
	p.warnMissing(s.Dir, folders)
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

// cleanFolders gives the folders and files that a person typed one form.
func cleanFolders(typed []string) ([]string, error) {
	out, err := policy.Choices(typed)
	for i, f := range out {
		if f != policy.TopLevel { // a file is written like a folder
			out[i] = strings.TrimSuffix(f, "/")
		}
	}
	return out, err
}

// warnMissing tells of folders that the vault does not have: a rule about a
// mistyped name holds for nothing.
func (p *program) warnMissing(vault string, folders []string) {
	for _, f := range install.MissingFolders(vault, folders) {
		p.say("Warning: " + vault + " has no file or folder " + strconv.Quote(f) + ".")
	}
}

func (p *program) revokeShare() *cobra.Command {
	return &cobra.Command{
		Use: "revoke RECIPIENT", Short: "Remove all permissions and limits for a recipient", Args: argv.Between(1, 1),
		RunE: func(cmd *cobra.Command, words []string) error {
			return p.withRegistry(cmd.Context(), func(s *Session) error {
				to := recipientOf(words[0])
				if err := p.askPerson(cmd.Context(), "Remove all permissions and limits of "+to+"? The setting approve.share will apply."); err != nil {
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
					return fault.Fix(fault.NotFound, "run lore share to list recipients", "%s has no permissions or limits", to)
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
	installed, err := p.installedShares(s.Dir)
	if err != nil {
		p.say("Warning: " + err.Error())
	}
	if p.g.JSON {
		return p.encode(struct {
			Rules     []policy.Rule     `json:"rules"`
			Installed []installer.Grant `json:"installed"`
		}{list, installed})
	}
	if len(list)+len(installed) == 0 {
		p.say("No permissions or limits. The setting approve.share applies to every recipient.")
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
	for _, g := range installed {
		rows = append(rows, []string{g.Title, string(policy.Allow), strings.Join(g.Folders, ", "), "while installed; revoke: " + g.Revoke()})
	}
	var b strings.Builder
	p.screen.Table(&b, []string{"recipient", "rule", "notes", "expires"}, rows)
	_, err = io.WriteString(p.out, b.String())
	return err
}

// installedShares are the folders of this vault that clients may read because
// they were installed so.
func (p *program) installedShares(vault string) ([]installer.Grant, error) {
	mine := []installer.Grant{}
	if p.host.Clients.Place == nil {
		return mine, nil
	}
	at, err := p.host.Clients.Place()
	if err != nil {
		return mine, err
	}
	all, err := installer.Grants(at, vault)
	for _, g := range all {
		if len(g.Folders) > 0 {
			mine = append(mine, g)
		}
	}
	return mine, err
}
