package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"lore/internal/surface/draw"
	"lore/internal/surface/talk"
	"lore/internal/tool"
)

// modelsCommand lists models; it opens no vault.
func (p *program) modelsCommand() *cobra.Command {
	return talk.ModelsCommand(p.host.Minds, func(*cobra.Command) talk.Terminal {
		return talk.Terminal{JSON: p.g.JSON, Out: p.out, Err: p.err, Screen: p.screen, Notice: p.notice, Encode: p.encode}
	})
}

// keyCommand keeps keys of providers; it opens no vault.
func (p *program) keyCommand() *cobra.Command {
	names := func() ([]string, error) {
		m, err := p.host.Minds()
		if err != nil {
			return nil, err
		}
		return m.Names(), nil
	}
	return talk.KeyCommand(p.host.Keys, names, func(*cobra.Command) talk.Terminal {
		return talk.Terminal{JSON: p.g.JSON, Out: p.out, Err: p.err, Screen: p.screen, Notice: p.notice, Encode: p.encode}
	})
}

// evalCommand tries models; it opens copies of vaults alone.
func (p *program) evalCommand() *cobra.Command {
	return talk.EvalCommand(p.host.Eval, func() string { return p.g.Vault }, func(*cobra.Command) talk.Terminal {
		return talk.Terminal{JSON: p.g.JSON, Out: p.out, Err: p.err, Screen: p.screen, Notice: p.notice, Encode: p.encode}
	})
}

// talkCommands are told of the terminal when they run: the flags are read then.
func (p *program) talkCommands() []*cobra.Command {
	return talk.Commands(func(ctx context.Context, cmd *cobra.Command) (*talk.Session, talk.Terminal, error) {
		s, err := p.host.Open(ctx, p.g, OpenOptions{Progress: p.progress(), Share: true, Patient: true})
		if err != nil {
			return nil, talk.Terminal{}, err
		}
		in := cmd.InOrStdin()
		t := talk.Terminal{
			JSON: p.g.JSON, Out: p.out, Err: p.err, Screen: p.screen, Notice: p.notice, Encode: p.encode,
			AtTerminal: p.notice.Terminal && draw.AtTerminal(in),
			Lines:      func() <-chan string { return p.typed(in) },
			Decide:     func(ctx context.Context, q tool.Question) (tool.Result, error) { return p.ask(ctx, s, in, q) },
			In:         in,
			Minds:      p.host.Minds,
			Pending:    errPending, Denied: errDenied,
		}
		mind, err := s.Mind(ctx)
		if err != nil {
			return nil, t, errors.Join(err, s.Close())
		}
		return mind, t, nil
	})
}
