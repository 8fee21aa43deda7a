package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"lore/internal/fault"
	"lore/internal/surface/draw"
	"lore/internal/surface/tty"
	"lore/internal/token"
)

// sessionsCommand shows the browsers that are signed in, and signs them out.
func (p *program) sessionsCommand() *cobra.Command {
	list := func(cmd *cobra.Command, _ []string) error {
		return p.withRegistry(cmd.Context(), func(s *Session) error { return p.listSessions(cmd.Context(), s) })
	}
	cmd := &cobra.Command{
		Use: "sessions", Short: "List the browsers that are signed in, or sign one out", Args: noWords, RunE: list,
		Long:    `Lists the browsers that are signed in to lore serve on this vault. A session ends when it is signed out, or after 30 days without use.`,
		Example: "lore sessions\nlore sessions end session-k3f9a2b1",
	}
	cmd.AddCommand(
		&cobra.Command{Use: "list", Short: "List the browsers that are signed in", Args: noWords, RunE: list},
		&cobra.Command{
			Use: "end ID", Short: "Sign a browser out, at once", Args: words(1, 1),
			RunE: func(cmd *cobra.Command, args []string) error {
				return p.withRegistry(cmd.Context(), func(s *Session) error {
					if err := p.askPerson(cmd.Context(), "Sign out "+draw.OneLine(args[0])+"?"); err != nil {
						return err
					}
					if err := s.Tokens.SignOut(cmd.Context(), args[0]); err != nil {
						return err
					}
					p.say("signed out " + args[0])
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
		p.say("no browser is signed in; lore login prints a sign-in link")
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
		Use: "pin", Short: "Set, change or remove the PIN that approvals ask for", Args: noWords,
		Long: `Sets a PIN, which every approval then asks for, in a terminal and on the page (there
once in ten minutes). It is typed in a terminal and kept only as a slow hash. After
five wrong tries each further one has to wait. Changing or removing it needs the PIN.`,
		Example: "lore approvals pin\nlore approvals pin --remove",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return p.withRegistry(cmd.Context(), func(s *Session) error { return p.changePIN(cmd.Context(), s, remove) })
		},
	}
	cmd.Flags().BoolVar(&remove, "remove", false, "approvals need no PIN any more")
	return cmd
}

func (p *program) changePIN(ctx context.Context, s *Session, remove bool) (err error) {
	has, err := s.Tokens.HasPIN(ctx)
	if err != nil {
		return err
	}
	if remove && !has {
		return fault.Fix(fault.NotFound, "lore approvals pin sets one", "there is no PIN")
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
			return fault.New(fault.Invalid, "the two are not the same; nothing was changed")
		}
	}
	if err := s.Tokens.SetPIN(ctx, word); err != nil {
		return err
	}
	p.say(fmt.Sprintf("approvals ask for a PIN: %v", !remove))
	return nil
}
