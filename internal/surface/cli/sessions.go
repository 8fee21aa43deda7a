package cli

import (
	"context"
	"errors"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"lore/internal/fault"
	"lore/internal/surface/cli/argv"
	"lore/internal/surface/cli/draw"
	"lore/internal/surface/cli/tty"
	"lore/internal/tool/token"
)

// sessionsCommand shows the browsers that are signed in, and signs them out.
func (p *program) sessionsCommand() *cobra.Command {
	list := func(cmd *cobra.Command, _ []string) error {
		return p.withRegistry(cmd.Context(), func(s *Session) error { return p.listSessions(cmd.Context(), s) })
	}
	cmd := &cobra.Command{
		Use: "sessions", Short: "List signed-in browsers, or sign one out", Args: argv.None, RunE: list,
		Long: `Lists the browsers that are signed in to this vault's lore serve. A session ends
when you sign it out, or after 30 days without use.`,
		Example: "lore sessions                          list signed-in browsers\nlore sessions end session-k3f9a2b1     sign one out",
	}
	cmd.AddCommand(
		&cobra.Command{Use: "list", Short: "List signed-in browsers", Args: argv.None, RunE: list},
		&cobra.Command{
			Use: "end ID", Short: "Sign out a browser immediately", Args: argv.Between(1, 1),
			RunE: func(cmd *cobra.Command, args []string) error {
				return p.withRegistry(cmd.Context(), func(s *Session) error {
					if err := p.askPerson(cmd.Context(), "Sign out "+draw.OneLine(args[0])+"?"); err != nil {
						return err
					}
					if err := s.Tokens.SignOut(cmd.Context(), args[0]); err != nil {
						return err
					}
					p.say("Signed out " + args[0])
					return nil
				})
			},
		},
	)
	return cmd
}

func (p *program) listSessions(ctx context.Context, s *Session) error {
	list, err := s.Tokens.Sessions(ctx)
	if err != nil {
		return err
	}
	if p.g.JSON {
		return p.encode(struct {
			Sessions []token.Session `json:"sessions"`
		}{append([]token.Session{}, list...)})
	}
	if len(list) == 0 {
		p.say("No browsers are signed in. Run lore login to get a sign-in link.")
		return nil
	}
	var rows [][]string
	for _, in := range list {
		rows = append(rows, []string{in.ID, in.Browser, date(in.Created), in.Used.Local().Format("2006-01-02 15:04")})
	}
	var b strings.Builder
	p.screen.Table(&b, []string{"id", "browser", "signed in", "last used"}, rows)
	_, err = io.WriteString(p.out, b.String())
	return err
}

// pinCommand sets, changes and removes the PIN that approvals need.
func (p *program) pinCommand() *cobra.Command {
	var remove bool
	cmd := &cobra.Command{
		Use: "pin", Short: "Set, change or remove the approval PIN", Args: argv.None,
		Long: `Sets a PIN that every approval needs. In a terminal, you enter it each time; on the
web page, entering it once is enough for ten minutes. Set it in a terminal; Lore
stores only a hash of it.
After five wrong attempts, you must wait before each further attempt. You need the
PIN to change or remove it.`,
		Example: "lore approvals pin              set or change the PIN\nlore approvals pin --remove     remove it",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return p.withRegistry(cmd.Context(), func(s *Session) error { return p.changePIN(cmd.Context(), s, remove) })
		},
	}
	cmd.Flags().BoolVar(&remove, "remove", false, "remove the PIN")
	return cmd
}

func (p *program) changePIN(ctx context.Context, s *Session, remove bool) (err error) {
	has, err := s.Tokens.HasPIN(ctx)
	if err != nil {
		return err
	}
	if remove && !has {
		return fault.Fix(fault.NotFound, "run lore approvals pin to set one", "no PIN is set")
	}
	t, err := tty.Open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.Close()) }()
	if has {
		old, err := t.Secret(ctx, "Current PIN")
		if err != nil {
			return err
		}
		if err := s.Tokens.CheckPIN(ctx, old); err != nil {
			return err
		}
	}
	word := ""
	if !remove {
		if word, err = t.Secret(ctx, "New PIN"); err != nil {
			return err
		}
		again, err := t.Secret(ctx, "New PIN again")
		if err != nil {
			return err
		}
		if word == "" || word != again {
			return fault.New(fault.Invalid, "the PINs do not match; nothing was changed")
		}
	}
	if err := s.Tokens.SetPIN(ctx, word); err != nil {
		return err
	}
	p.say(map[bool]string{true: "PIN removed. Approvals no longer ask for it.", false: "PIN set. Approvals now ask for it."}[remove])
	return nil
}
