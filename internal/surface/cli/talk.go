package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"lore/internal/surface/cli/conversation"
	"lore/internal/tool"
	"lore/internal/workspace"
)

// modelsCommand lists models; it opens no vault.
func (p *program) modelsCommand() *cobra.Command {
	return conversation.ModelsCommand(p.host.Models, p.plainTerminal)
}

// keyCommand keeps keys of providers; it opens no vault.
func (p *program) keyCommand() *cobra.Command {
	names := func() ([]string, error) {
		m, err := p.host.Models()
		if err != nil {
			return nil, err
		}
		return m.Names(), nil
	}
	return conversation.KeyCommand(p.host.Keys, names, p.plainTerminal)
}

// evalCommand tries models; it opens copies of vaults alone.
func (p *program) evalCommand() *cobra.Command {
	return conversation.EvalCommand(p.host.Eval, func() string { return p.g.Vault }, p.plainTerminal)
}

// talkCommands are told of the terminal when they run: the flags are read then.
func (p *program) talkCommands() []*cobra.Command {
	return conversation.Commands(func(ctx context.Context, cmd *cobra.Command) (*conversation.Session, conversation.Terminal, error) {
		s, err := p.host.Open(ctx, p.g, workspace.Options{Mode: workspace.Insist, Progress: p.progress()})
		if err != nil {
			return nil, conversation.Terminal{}, err
		}
		in := cmd.InOrStdin()
		t := conversation.Terminal{
			Terminal:  p.terminal(cmd),
			Lines:     func() <-chan string { return p.typed(in) },
			Decide:    func(ctx context.Context, q tool.Question) (tool.Result, error) { return p.ask(ctx, s, in, q) },
			In:        in,
			Providers: p.host.Models,
			Pending:   errPending, Denied: errDenied, Undone: errSaid,
		}
		mind, err := s.Mind(ctx)
		if err != nil {
			return nil, t, errors.Join(err, s.Close())
		}
		return mind, t, nil
	})
}

// plainTerminal is for commands that talk with no model.
func (p *program) plainTerminal(cmd *cobra.Command) conversation.Terminal {
	return conversation.Terminal{Terminal: p.terminal(cmd)}
}
